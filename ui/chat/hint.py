"""The muted line below the composer: temperature, how full the context is, why a message waits."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QTimer

from app.chat.controller import ChatController
from app.chat.rows import MessageRow
from app.worker.service import WorkerService
from engine.protocol.types import ModelInfo
from ui.chat.words import tokens_text

BUSY_MS = 6000
"""How long it is said that a message has to wait."""


def context_used(rows: Sequence[MessageRow]) -> int:
    """Tokens of the conversation after its last answer that has figures; 0 when unknown."""
    for row in reversed(rows):
        if row.stats is not None:
            return row.stats.prompt_tokens + row.stats.generated_tokens
    return 0


class HintLine(QObject):
    """Keeps the line true and hands it to ``show``."""

    def __init__(
        self,
        chat: ChatController,
        worker: WorkerService,
        show: Callable[[str], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._chat, self._worker, self._show = chat, worker, show
        self._busy = QTimer(self)
        self._busy.setSingleShot(True)
        self._busy.setInterval(BUSY_MS)
        self._busy.timeout.connect(self.refresh)
        rows = chat.transcript
        for signal in (rows.modelReset, rows.rowsInserted, rows.rowsRemoved):
            signal.connect(self.refresh)
        chat.busy_changed.connect(self._follow_busy)
        for signal in (worker.model_changed, chat.parameters.changed):
            signal.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Read everything again."""
        if self._busy.isActive():
            return
        temperature = self._chat.parameters.present.temperature
        parts = [self.tr("Temperature {value}").format(value=f"{temperature:g}")]
        if self._worker.model is not None:
            parts.append(self._context(self._worker.model))
        self._show(" · ".join(parts))

    def tell_busy(self) -> None:
        """Say for a moment why nothing was sent."""
        self._busy.start()
        self._show(self.tr("An answer is being written. Press Esc to stop it, then send."))

    def _follow_busy(self, busy: bool) -> None:
        if not busy:
            self._busy.stop()
        self.refresh()

    def _context(self, model: ModelInfo) -> str:
        rows = self._chat.transcript.rows
        used = context_used(rows)
        if rows and not used:
            return self.tr("context {all} tokens").format(all=tokens_text(model.n_ctx))
        return self.tr("context {used} of {all} tokens").format(used=tokens_text(used), all=tokens_text(model.n_ctx))

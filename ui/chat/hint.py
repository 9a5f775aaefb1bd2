"""The muted line below the composer: temperature, and how full the context is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject

from app.chat.controller import ChatController
from app.chat.rows import MessageRow
from app.chat.settings import ChatSettings
from app.settings.store import SettingsStore
from app.worker.service import WorkerService
from engine.protocol.types import ModelInfo
from ui.chat.words import tokens_text


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
        settings: SettingsStore,
        show: Callable[[str], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._chat, self._worker, self._settings, self._show = chat, worker, settings, show
        rows = chat.transcript
        for signal in (rows.modelReset, rows.rowsInserted, rows.rowsRemoved):
            signal.connect(self.refresh)
        for signal in (chat.busy_changed, worker.model_changed, settings.changed):
            signal.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Read everything again."""
        temperature = self._settings.get(ChatSettings).temperature
        parts = [self.tr("Temperature {value}").format(value=f"{temperature:g}")]
        if self._worker.model is not None:
            parts.append(self._context(self._worker.model))
        self._show(" · ".join(parts))

    def _context(self, model: ModelInfo) -> str:
        used = context_used(self._chat.transcript.rows)
        return self.tr("context {used} of {all} tokens").format(used=tokens_text(used), all=tokens_text(model.n_ctx))

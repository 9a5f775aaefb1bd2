"""The bar below the box: how the conversation fills the context."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.chat.context_use import ContextUse, context_use
from app.chat.controller import ChatController
from app.worker.service import WorkerService
from ui.chat.words import tokens_text
from ui.theme import Theme

WIDTH, HEIGHT, BAR = 150, 24, 8


class ContextMeter(QWidget):
    """System prompt, history, what is kept for the reply, free; the figures are in the tooltip.

    Hidden while no model is loaded.
    """

    def __init__(
        self, chat: ChatController, worker: WorkerService, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("contextMeter")
        self._chat, self._worker, self._theme = chat, worker, theme
        self._use: ContextUse | None = None
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("Context"))
        rows = chat.transcript
        for signal in (rows.modelReset, rows.rowsInserted, rows.rowsRemoved, chat.busy_changed):
            signal.connect(self.follow)
        for signal in (worker.model_changed, chat.parameters.changed, chat.current_changed):
            signal.connect(self.follow)
        theme.changed.connect(self.updateGeometry)
        self.follow()

    @property
    def use(self) -> ContextUse | None:
        """What is shown."""
        return self._use

    def follow(self, *_what: object) -> None:
        """Count again."""
        model = self._worker.model
        if model is None:
            self._use = None
        else:
            self._use = context_use(self._chat.transcript.rows, self._chat.parameters.present, model.n_ctx)
        self.setVisible(self._use is not None)
        words = self.words()
        self.setToolTip(words)
        self.setAccessibleDescription(words)
        self.update()

    def words(self) -> str:
        """The figures, one on a line."""
        use = self._use
        if use is None:
            return ""
        history = tokens_text(use.history) if use.exact else self.tr("about {}").format(tokens_text(use.history))
        lines = [
            self.tr("Context in tokens"),
            self.tr("System prompt: {}").format(tokens_text(use.system)),
            *([self.tr("Summary of earlier messages: {}").format(tokens_text(use.summary))] if use.summary else []),
            self.tr("Conversation: {}").format(history),
            self.tr("Kept for the answer: {}").format(tokens_text(use.reserve)),
            self.tr("Free: {}").format(tokens_text(use.free)),
            self.tr("Limit: {}").format(tokens_text(use.limit)),
        ]
        return "\n".join(lines)

    def sizeHint(self) -> QSize:
        """A short bar."""
        return QSize(self._theme.px(WIDTH), self._theme.px(HEIGHT))

    def paintEvent(self, event: QPaintEvent) -> None:
        """The parts from left to right; what is kept for the reply is hatched."""
        use = self._use
        if use is None or not use.limit:
            return
        tokens = self._theme.tokens
        painter = QPainter(self)
        height = self._theme.px(BAR)
        bar = QRectF(0.5, (self.height() - height) / 2, self.width() - 1, height)
        full = use.used + use.reserve > use.limit
        parts = (
            (use.system + use.summary, QBrush(QColor(tokens.muted))),
            (use.history, QBrush(QColor(tokens.warn if full else tokens.accent))),
            (use.reserve, QBrush(QColor(tokens.muted), Qt.BrushStyle.BDiagPattern)),
        )
        painter.fillRect(bar, QColor(tokens.raised))
        x = bar.left()
        for count, brush in parts:
            width = min(bar.right() - x, bar.width() * count / use.limit)
            painter.fillRect(QRectF(x, bar.top(), width, height), brush)
            x += width
        painter.setPen(QPen(QColor(tokens.outline), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(bar)

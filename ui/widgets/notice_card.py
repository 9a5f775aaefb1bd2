"""One notice as a card: what happened, what can be done, details that fold out."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QEnterEvent, QGuiApplication, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from app.notices import Action, Notice, Severity
from ui.theme import ICON_SIZE, SPACE_M, SPACE_S, SPACE_XS, TARGET_SIZE, Theme
from ui.widgets.empty_state import Emblem
from ui.widgets.icon_button import IconButton
from ui.widgets.text_button import TextButton

DETAIL_LINES = 8
_DIRECT = Qt.FindChildOption.FindDirectChildrenOnly
ICONS = {Severity.INFO: "info", Severity.WARN: "warning", Severity.ERROR: "warning-circle"}
TINTS = {Severity.INFO: "muted", Severity.WARN: "warn", Severity.ERROR: "bad"}


class Sentence(QLabel):
    """Wrapped plain text that is never lower than its lines, also where a window is too small for everything."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._least = 0
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)

    def set_least(self, height: int) -> None:
        """Be at least so high."""
        self._least = height
        self._stretch()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width needs another height."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._stretch()

    def changeEvent(self, event: QEvent) -> None:
        """So does another size of the text, which a style brings after the theme has told of it."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._stretch()

    def _stretch(self) -> None:
        self.setMinimumHeight(0)  # a label is never asked for less than its minimum
        self.setMinimumHeight(max(self._least, self.heightForWidth(self.width())))


class NoticeCard(QFrame):
    """Shows one `Notice`.

    Attributes:
        closed: The user closed it, an action was taken, or its time is over. The argument says
            whether it was the user.
    """

    closed = Signal(bool)

    def __init__(self, notice: Notice, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.notice = notice
        self._theme = theme
        self.setProperty("role", "notice")
        self.setProperty("severity", notice.severity.value)
        self._text = Sentence(notice.text)
        self._text.setMinimumWidth(160)
        self._text.setAlignment(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_M, SPACE_XS, SPACE_XS, SPACE_XS)
        column.setSpacing(0)
        column.addLayout(self._build_row())
        self._detail = self._build_detail()
        column.addWidget(self._detail)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(lambda: self.closed.emit(False))
        self._start_clock()
        theme.changed.connect(self._fit)
        self._fit()

    @property
    def text(self) -> str:
        """The sentence that is shown."""
        return self.notice.text

    @property
    def focusable(self) -> list[QWidget]:
        """What Tab visits, in the order in which it is seen; the details after the buttons."""
        text_buttons: list[QWidget] = list(self.findChildren(TextButton, options=_DIRECT))
        close: list[QWidget] = list(self.findChildren(IconButton, options=_DIRECT))
        buttons = [*close, *text_buttons] if len(text_buttons) > 1 else [*text_buttons, *close]
        return [*buttons, *self._detail.findChildren(QPlainTextEdit), *self._detail.findChildren(TextButton)]

    def enterEvent(self, event: QEnterEvent) -> None:
        """Do not vanish under the pointer."""
        self._timer.stop()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """Count anew."""
        self._start_clock()
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes the card that has the focus."""
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit(True)
        else:
            super().keyPressEvent(event)

    def _start_clock(self) -> None:
        if self.notice.timeout_ms > 0:
            self._timer.start(self.notice.timeout_ms)

    def _build_row(self) -> QVBoxLayout:
        """Text and close in one line; what can be done beside it, or below when it is more than one thing."""
        top = Qt.AlignmentFlag.AlignTop
        severity = self.notice.severity
        emblem = Emblem(self._theme, ICONS[severity], tint=TINTS[severity], size=ICON_SIZE)
        self._beside = beside = QVBoxLayout()
        beside.addWidget(emblem)
        beside.addStretch()
        row = QHBoxLayout()
        row.setSpacing(SPACE_S)
        row.addLayout(beside)
        row.addWidget(self._text, 1)
        buttons = [self._build_fold()] if self.notice.detail else []
        buttons += [self._build_action(action) for action in self.notice.actions]
        below = QHBoxLayout()
        below.setSpacing(SPACE_S)
        if len(buttons) > 1:
            below.addStretch()
        for button in buttons:
            (below if len(buttons) > 1 else row).addWidget(button, 0, top)
        close = IconButton(self._theme, "x", self.tr("Close notice"))
        close.clicked.connect(lambda: self.closed.emit(True))
        row.addWidget(close, 0, top)
        column = QVBoxLayout()
        column.setSpacing(0)
        column.addLayout(row)
        column.addLayout(below)
        return column

    def _build_action(self, action: Action) -> TextButton:
        button = TextButton(self._theme, action.label)

        def act() -> None:
            self.closed.emit(True)
            action.run()

        button.clicked.connect(act)
        return button

    def _build_fold(self) -> TextButton:
        fold = TextButton(self._theme, self.tr("Details"), "caret-down", role="quiet")
        fold.setCheckable(True)

        def turn(opened: bool) -> None:
            self._detail.setVisible(opened)
            if opened:
                self._show_last_lines()
            fold.set_icon("caret-up" if opened else "caret-down")

        fold.toggled.connect(turn)
        return fold

    def _fit(self) -> None:
        """Heights for the present text size."""
        self._text.set_least(self._theme.px(TARGET_SIZE))
        above = (self._theme.px(TARGET_SIZE) - self._theme.px(ICON_SIZE)) // 2
        self._beside.setContentsMargins(0, above, SPACE_XS, 0)
        lines = min(DETAIL_LINES, self.notice.detail.count("\n") + 2)
        for text in self._detail.findChildren(QPlainTextEdit):
            text.ensurePolished()
            text.setFixedHeight(text.fontMetrics().lineSpacing() * lines + 2 * SPACE_M)

    def _show_last_lines(self) -> None:
        """Logs and traces end with what matters."""
        for text in self._detail.findChildren(QPlainTextEdit):
            text.verticalScrollBar().setValue(text.verticalScrollBar().maximum())

    def _build_detail(self) -> QWidget:
        box = QWidget()
        text = QPlainTextEdit(self.notice.detail)
        text.setReadOnly(True)
        text.setProperty("role", "mono")
        text.setTabChangesFocus(True)
        text.setAccessibleName(self.tr("Details of the notice"))
        text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        copy = TextButton(self._theme, self.tr("Copy details"), "copy", role="quiet")
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(f"{self.notice.text}\n\n{self.notice.detail}"))
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 0, SPACE_S, SPACE_XS)
        column.setSpacing(0)
        column.addWidget(text)
        column.addWidget(copy, 0, Qt.AlignmentFlag.AlignRight)
        box.hide()
        return box

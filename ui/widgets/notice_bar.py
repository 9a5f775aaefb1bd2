"""The place where `app.notices.Notices` becomes visible: a short stack of cards."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from app.notices import Notice, Notices, Severity
from ui.theme import SPACE_S, Theme
from ui.widgets.notice_card import NoticeCard

MOST_CARDS = 3


class NoticeBar(QWidget):
    """The newest three notices; older ones come back when those are closed.

    Attributes:
        left: A card was closed by the user, so the focus may have to go somewhere.
    """

    left = Signal()

    def __init__(self, notices: Notices, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._notices, self._theme = notices, theme
        self._cards: list[NoticeCard] = []
        self.setObjectName("noticeBar")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(SPACE_S)
        self.hide()
        notices.posted.connect(self._post)
        notices.withdrawn.connect(self._withdraw)

    @property
    def cards(self) -> tuple[NoticeCard, ...]:
        """All cards, oldest first, also those that wait behind newer ones."""
        return tuple(self._cards)

    def _post(self, notice: Notice) -> None:
        self._withdraw(notice.key)
        card = NoticeCard(notice, self._theme)
        card.closed.connect(lambda by_user: self._close(card, by_user))
        self._cards.append(card)
        self._column.addWidget(card)
        self._order_tabs(card)
        self._arrange()
        self._announce(notice)

    def _order_tabs(self, card: NoticeCard) -> None:
        """Qt puts what is made later at the end of the window; a notice is reached where it is seen."""
        before: QWidget = self if len(self._cards) == 1 else self._cards[-2].focusable[-1]
        while not before.focusPolicy() & Qt.FocusPolicy.TabFocus:
            previous = before.previousInFocusChain()
            if previous is None or previous is self:
                return
            before = previous
        for widget in card.focusable:
            QWidget.setTabOrder(before, widget)
            before = widget

    def _withdraw(self, key: str) -> None:
        for card in [c for c in self._cards if c.notice.key == key]:
            self._remove(card)

    def _close(self, card: NoticeCard, by_user: bool) -> None:
        focused = QApplication.focusWidget()
        had_focus = focused is not None and card.isAncestorOf(focused)
        self._remove(card)
        self._notices.closed.emit(card.notice.key)
        if by_user or had_focus:
            self.left.emit()

    def _remove(self, card: NoticeCard) -> None:
        if card in self._cards:
            self._cards.remove(card)
            self._column.removeWidget(card)
            card.hide()
            card.deleteLater()
            self._arrange()

    def _arrange(self) -> None:
        for place, card in enumerate(reversed(self._cards)):
            card.setVisible(place < MOST_CARDS)
        self.setVisible(bool(self._cards))

    def _announce(self, notice: Notice) -> None:
        event = QAccessibleAnnouncementEvent(self, notice.text)
        if notice.severity is not Severity.INFO:
            event.setPoliteness(QAccessible.AnnouncementPoliteness.Assertive)
        QAccessible.updateAccessibility(event)

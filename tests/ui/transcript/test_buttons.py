"""The buttons over the transcript when what they do asks for others."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint
from PySide6.QtWidgets import QScrollArea
from pytestqt.qtbot import QtBot

from ui.chat.transcript.buttons import ActionButton, Buttons, Key, Wanted
from ui.chat.transcript.kinds import Kind
from ui.theme import Theme

EDIT, AGAIN, REMOVE = (
    Wanted(Key(kind, "m", 0), QPoint(0, 40 * place), from_right=False)
    for place, kind in enumerate((Kind.SUMMARY_EDIT, Kind.SUMMARY_AGAIN, Kind.SUMMARY_REMOVE))
)


class AsksOnHide(QObject):
    """Asks for ``wanted`` when the watched button goes, as a view does that gets mouse or focus then."""

    def __init__(self, buttons: Buttons, wanted: list[Wanted]) -> None:
        super().__init__()
        self._buttons, self._wanted = buttons, wanted

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Hide:
            self._buttons.show_these(self._wanted)
        return False


def test_others_are_asked_for_while_some_go(qtbot: QtBot) -> None:
    area = QScrollArea()
    qtbot.addWidget(area)
    buttons = Buttons(Theme(), area.viewport())
    area.show()
    buttons.show_these([EDIT, AGAIN, REMOVE])

    def seen() -> dict[str, int]:
        return {one.objectName(): one.y() for one in area.findChildren(ActionButton) if one.isVisible()}

    assert len(seen()) == 3
    first = next(one for one in area.findChildren(ActionButton) if one.kind is Kind.SUMMARY_EDIT)
    asks = AsksOnHide(buttons, [REMOVE])
    first.installEventFilter(asks)
    buttons.show_these([])
    assert seen() == {Kind.SUMMARY_REMOVE.value[0]: 80}
    first.removeEventFilter(asks)
    buttons.show_these([EDIT])
    assert seen() == {Kind.SUMMARY_EDIT.value[0]: 0}

"""The column of the picker with the places where looking begins."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QSizePolicy, QVBoxLayout, QWidget

from app.folders.look import StartPlace
from engine.library.names import shown
from engine.library.sizes import size_text
from ui.theme import SPACE_S, SPACE_XS, Theme
from ui.widgets.text_button import ElidedButton

WIDTH = 216
BESIDE, LEAST = 52, 80


class Places(QWidget):
    """Home, downloads, cards and drives, each drive with the room that is left on it.

    Attributes:
        chosen: Path of a place.
    """

    chosen = Signal(object)

    def __init__(self, home: Path, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._home, self._theme = home, theme
        self._buttons: dict[Path, ElidedButton] = {}
        self._group = QButtonGroup(self)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, SPACE_S, 0)
        self._column.setSpacing(SPACE_XS)
        self._column.addStretch()
        self.setFixedWidth(theme.px(WIDTH))

    def show_places(self, places: tuple[StartPlace, ...]) -> None:
        """Show these, in this order."""
        for number, place in enumerate(places):
            button = self._make(number, place)
            button.clicked.connect(self._choice_of(place.path))
            self._column.insertWidget(number, button)
            self._buttons[place.path] = button

    def mark(self, folder: Path) -> None:
        """Mark the place that ``folder`` lies in."""
        above = [place for place in self._buttons if folder.is_relative_to(place)]
        nearest = max(above, key=lambda place: len(place.parts), default=None)
        self._group.setExclusive(False)
        for place, button in self._buttons.items():
            button.setChecked(place == nearest)
        self._group.setExclusive(nearest is not None)

    def _choice_of(self, path: Path) -> Callable[[], None]:
        return lambda: self.chosen.emit(path)

    def _make(self, number: int, place: StartPlace) -> ElidedButton:
        icon = "hard-drive" if place.is_drive else "house-simple"
        if not place.is_drive and place.path != self._home:
            icon = "download-simple"
        button = ElidedButton(self._theme, icon, role="nav", beside=BESIDE, least=LEAST, most=WIDTH)
        button.setObjectName(f"pickerPlace{number}")
        button.setCheckable(True)
        button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._group.addButton(button)
        name = self.tr("Home") if place.path == self._home else shown(place.path.name)
        free = self.tr("{0} free").format(size_text(place.free)) if place.free is not None else ""
        button.set_full_text(f"{name} · {free}" if place.is_drive and free else name)
        button.setToolTip("\n".join(filter(None, (shown(place.path), free))))
        button.setAccessibleName(" ".join(filter(None, (name, free))))
        return button

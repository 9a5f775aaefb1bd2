"""One card in the list of devices: chosen or not, through which backend, in which place, with which share."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QVBoxLayout, QWidget

from app.settings.device_choice import Card
from ui.settings import words
from ui.settings.controls import Choice, Number
from ui.settings.row import plain_label
from ui.settings.two_parts import TwoParts
from ui.theme import SPACE_S, SPACE_XS, Theme
from ui.widgets.icon_button import IconButton

BACKEND_WIDTH, SHARE_WIDTH = 164, 96


class DeviceRow(TwoParts):
    """Shows `Card`.

    Args:
        chosen: How many cards are chosen, for what order and shares are good for.

    Attributes:
        picked: The card was chosen or left out.
        moved: One place up (-1) or down (+1).
        shared: Another share, in percent.
        backend_chosen: Another backend; "" the preferred one.
    """

    picked = Signal(bool)
    moved = Signal(int)
    shared = Signal(object)
    backend_chosen = Signal(object)

    def __init__(self, theme: Theme, card: Card, chosen: int, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._card, self._chosen = card, chosen
        device = card.shown
        self.name = device.name if device is not None else card.key
        left = QHBoxLayout()
        left.setSpacing(SPACE_XS)
        left.addWidget(self._build_box(), 0, Qt.AlignmentFlag.AlignTop)
        left.addLayout(self._build_texts(), 1)
        controls: list[QWidget] = [self._build_backend()] if len(card.devices) > 1 else []
        if card.place is not None and chosen > 1:
            controls += self._build_place(card.place)
        self.lay_out(left, controls)

    def _build_box(self) -> QCheckBox:
        card = self._card
        box = QCheckBox()
        box.setObjectName(f"device-{card.key}")
        box.setAccessibleName(self.tr("Use {0}").format(self.name))
        box.setAccessibleDescription(" ".join(self._lines()))
        box.setChecked(card.place is not None)
        box.setEnabled(card.place is not None or (card.shown is not None and card.shown.usable))
        box.clicked.connect(self.picked)
        return box

    def _lines(self) -> list[str]:
        card, device = self._card, self._card.shown
        if device is None:
            return [self.tr("Not there now. It is used again when it comes back.")]
        line = words.device_line(device)
        if card.place == 0 and self._chosen > 1:
            line = self.tr("{0} · main device").format(line)
        return [line]

    def _build_texts(self) -> QVBoxLayout:
        device = self._card.shown
        column = QVBoxLayout()
        column.setSpacing(SPACE_XS // 2)
        column.addSpacing(SPACE_S)
        column.addWidget(plain_label(self.name))
        for line in self._lines():
            column.addWidget(plain_label(line, "muted" if device is not None else "warn"))
        if device is not None and not device.usable:
            column.addWidget(plain_label(device.reason or self.tr("It cannot be used."), "warn"))
        column.addStretch()
        return column

    def _build_backend(self) -> Choice:
        first = self._card.devices[0].backend
        choices = [("", self.tr("{0} (preferred)").format(first))]
        choices += [(device.backend, device.backend) for device in self._card.devices[1:]]
        choice = Choice(self.theme, self.tr("Backend of {0}").format(self.name), choices, width=BACKEND_WIDTH)
        choice.setObjectName(f"device-backend-{self._card.key}")
        choice.show_value("" if self._card.backend == first else self._card.backend)
        choice.setEnabled(self._card.place is not None)
        choice.chosen.connect(self.backend_chosen)
        return choice

    def _build_place(self, place: int) -> list[QWidget]:
        built: list[QWidget] = []
        if self._card.share is not None:
            share = Number(
                self.theme, self.tr("Share of {0}").format(self.name), 0, 100, step=5, suffix=" %", width=SHARE_WIDTH
            )
            share.setObjectName(f"device-share-{self._card.key}")
            share.show_value(self._card.share)
            share.chosen.connect(self.shared)
            built.append(share)
        for icon, step, name, possible in (
            ("arrow-up", -1, self.tr("Move {0} up"), place > 0),
            ("arrow-down", 1, self.tr("Move {0} down"), place < self._chosen - 1),
        ):
            button = IconButton(self.theme, icon, name.format(self.name))
            button.setObjectName(f"device-{'up' if step < 0 else 'down'}-{self._card.key}")
            button.setEnabled(possible)
            button.clicked.connect(lambda _checked=False, step=step: self.moved.emit(step))
            built.append(button)
        return built

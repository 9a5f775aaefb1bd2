"""Where the model runs."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QComboBox, QWidget

from app.load.draft import LoadDraft
from app.load.places import PLACE_FIELDS, Place, PlaceKind, place_of, places, with_place
from engine.loading.profile import device_to_expect
from engine.protocol.types import DeviceInfo, DeviceKind, LoadOptions
from ui.chat.words import short_device
from ui.load.cards_list import CardsList
from ui.load.row import ChoiceRow
from ui.theme import Theme


class PlaceRow(ChoiceRow):
    """By itself, one device, several of them, or the CPU."""

    def __init__(self, draft: LoadDraft, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(
            draft,
            theme,
            self.tr("Where it runs"),
            self.tr("Automatic takes a graphics card before integrated graphics, and the CPU when there is neither."),
            PLACE_FIELDS,
            parent,
        )
        self._choices: tuple[Place, ...] = ()
        self.combo = QComboBox()
        self.combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.add_control(self.combo, "place")
        self.cards = CardsList(draft, theme, self)
        self.controls.addWidget(self.cards)
        self.combo.currentIndexChanged.connect(self._take)

    def show_options(self, options: LoadOptions) -> None:
        """The present choice, and the cards when there are several."""
        choices = places(options, self._draft.devices)
        texts = [self._text(place) for place in choices]
        with QSignalBlocker(self.combo):
            self._choices = choices
            if texts != [self.combo.itemText(index) for index in range(self.combo.count())]:
                self.combo.clear()
                self.combo.addItems(texts)
            self.combo.setCurrentIndex(place_of(options, choices) or 0)
        self.cards.setVisible(len(options.devices) > 1)
        self.cards.refresh()

    def hint(self) -> str:
        """Why a device is not there."""
        place = self._choices[self.combo.currentIndex()]
        gone = place.kind is PlaceKind.DEVICE and place.device is None and bool(self._draft.devices)
        self.warn(gone)
        return self.tr("This device is not there now; another one would be taken.") if gone else ""

    def _text(self, place: Place) -> str:
        if place.kind is PlaceKind.AUTO:
            device = device_to_expect(self._draft.devices, None)
            name = self._name(device) if device is not None else ""
            return self.tr("Automatic ({0})").format(name) if name else self.tr("Automatic")
        if place.kind is PlaceKind.SEVERAL:
            return self.tr("Several graphics cards together")
        if place.kind is PlaceKind.CPU:
            return self.tr("CPU")
        return (
            self._name(place.device) if place.device is not None else self.tr("{0}, not there now").format(place.name)
        )

    @staticmethod
    def _name(device: DeviceInfo) -> str:
        return "CPU" if device.kind is DeviceKind.CPU else f"{short_device(device.name)} · {device.backend}"

    def _take(self, index: int) -> None:
        options = with_place(self._draft.options, self._choices[index], self._draft.devices)
        self._draft.change(device=options.device, devices=options.devices, shares=options.shares)

"""Where models run: by itself, on the processor, or on chosen cards in an order and with shares."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QButtonGroup, QRadioButton, QVBoxLayout, QWidget

from app.settings import device_choice as choice
from app.settings.device_choice import Card, Mode
from app.settings.records import EngineSettings
from app.settings.rules import Rule, settled
from app.settings.store import SettingsStore
from app.worker.service import WorkerService
from engine.protocol.types import DeviceInfo, DeviceKind, SplitMode
from ui.settings.bound import BoundRow, RowMaker
from ui.settings.controls import Switch
from ui.settings.device_row import DeviceRow
from ui.settings.page import SettingsPage
from ui.settings.row import Row, plain_label
from ui.theme import SPACE_M, SPACE_S, SPACE_XS, Theme


class ModeBox(QWidget):
    """A radio button with an explanation below it."""

    def __init__(self, title: str, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.button = QRadioButton(title.replace("&", "&&"))
        self.button.setAccessibleDescription(text)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_S, SPACE_XS, SPACE_M, SPACE_S)
        column.setSpacing(0)
        column.addWidget(self.button)
        label = plain_label(text, "muted")
        label.setIndent(32)
        column.addWidget(label)


class DevicesPage(SettingsPage):
    """Follows the settings and what the engine tells."""

    def __init__(
        self, theme: Theme, store: SettingsStore, worker: WorkerService, parent: QWidget | None = None
    ) -> None:
        super().__init__(theme, parent)
        self._store, self._worker = store, worker
        self.set_title(self.tr("Devices"), self.tr("Where models run. Changes apply to the next load."))
        self._build_modes()
        self._devices = self.section(self.tr("Devices"))
        self._build_sharing()
        store.changed.connect(self._follow)
        worker.hello_received.connect(self._show)
        self._show()

    def opened(self) -> None:
        """The devices may have become known meanwhile."""
        self._show()

    def _build_modes(self) -> None:
        section = self.section()
        self._group = QButtonGroup(self)
        self._modes: dict[Mode, QRadioButton] = {}
        for mode, title, text in (
            (
                Mode.AUTO,
                self.tr("Choose by itself"),
                self.tr("A graphics card before integrated graphics before the processor."),
            ),
            (Mode.PICKED, self.tr("Use these devices"), self.tr("One, or several that share a model.")),
            (Mode.CPU, self.tr("Only the processor"), self.tr("Leaves every GPU free. Slow.")),
        ):
            box = ModeBox(title, text)
            box.button.setObjectName(f"deviceMode-{mode}")
            box.button.clicked.connect(partial(self._set_mode, mode))
            self._group.addButton(box.button)
            self._modes[mode] = box.button
            section.add(box, f"{title} {text}")

    def _build_sharing(self) -> None:
        self._sharing = self.section(
            self.tr("Several devices"), self.tr("How a model is shared when more than one device is chosen.")
        )
        self._split = RowMaker(self.theme, self._store, EngineSettings).choice(
            "split",
            self.tr("Share by"),
            "",
            [
                (SplitMode.LAYER, self.tr("Layers")),
                (SplitMode.ROW, self.tr("Rows")),
                (SplitMode.TENSOR, self.tr("Tensors")),
            ],
            take=self._set_split,
            words="layer row tensor split parallel",
        )
        self._sharing.add(self._split)
        self._own = Switch(self.theme, self.tr("Set the shares by hand"))
        self._own.setObjectName("ownShares")
        self._own.chosen.connect(lambda own: self._change(lambda settings: choice.with_own_shares(settings, own)))
        text = self.tr("Off: each device takes as much as it has free memory.")
        self._sharing.add(Row(self.theme, self.tr("Set the shares by hand"), text, [self._own], words="shares percent"))

    @property
    def split_row(self) -> BoundRow:
        """How devices share."""
        return self._split

    def _known(self) -> tuple[DeviceInfo, ...]:
        return self._worker.hello.devices if self._worker.hello is not None else ()

    def _follow(self, feature: str) -> None:
        if feature == "engine":
            self._show()

    def _show(self) -> None:
        settings = self._store.get(EngineSettings)
        mode, cards = choice.mode_of(settings), choice.cards_of(self._known(), settings)
        self._modes[mode].setChecked(True)
        usable = any(card.place is not None or (card.shown is not None and card.shown.usable) for card in cards)
        self._modes[Mode.PICKED].setEnabled(usable)
        focused = QApplication.focusWidget()
        name = focused.objectName() if focused is not None and self._devices.isAncestorOf(focused) else ""
        self._fill(cards)
        self._find_focus(name)
        several = len(choice.picks(settings)) > 1
        for row in self._sharing.rows:
            self._sharing.set_wanted(row, several)
        self._own.setChecked(bool(settings.shares))
        self._split.set_text(self._explained(settings.split))

    def _fill(self, cards: tuple[Card, ...]) -> None:
        self._devices.clear()
        chosen = sum(card.place is not None for card in cards)
        for card in cards:
            row = DeviceRow(self.theme, card, chosen)
            row.picked.connect(partial(self._pick, card))
            row.backend_chosen.connect(partial(self._set_backend, card))
            row.moved.connect(partial(self._move, card))
            row.shared.connect(partial(self._share, card))
            self._devices.add(row, f"{row.name} {card.key} gpu")
        processor = next((d for d in self._known() if d.kind is DeviceKind.CPU), None)
        if processor is not None:
            text = self.tr("The processor. It takes what the devices above leave over.")
            self._devices.add(Row(self.theme, processor.name, text), "cpu processor")
        if not self._known():
            text = self.tr("The engine has not told its devices yet.")
            self._devices.add(Row(self.theme, self.tr("No devices are known"), text))

    def _find_focus(self, name: str) -> None:
        """What had the focus was built anew; where it cannot be used now, its neighbour gets it."""
        if not name:
            return
        other = name.replace("-up-", "-down-") if "-up-" in name else name.replace("-down-", "-up-")
        for wanted in (name, other):
            for row in self._devices.rows:
                widget = row.findChild(QWidget, wanted)
                if isinstance(widget, QWidget) and widget.isEnabled():
                    widget.setFocus(Qt.FocusReason.OtherFocusReason)
                    return

    def _explained(self, split: SplitMode) -> str:
        return {
            SplitMode.LAYER: self.tr("Whole layers on each device, one after the other. Works everywhere."),
            SplitMode.ROW: self.tr("Rows of each matrix. Only some backends can; the others share by layers."),
            SplitMode.TENSOR: self.tr(
                "All devices compute each layer together. Fast between fast links; not every model can."
            ),
        }[split]

    def _set_mode(self, mode: Mode) -> None:
        cards = choice.cards_of(self._known(), self._store.get(EngineSettings))
        self._change(lambda settings: choice.with_mode(settings, mode, cards))
        self._show()

    def _pick(self, card: Card, chosen: bool) -> None:
        self._change(lambda settings: choice.with_card(settings, card, chosen))

    def _set_backend(self, card: Card, backend: str) -> None:
        place = card.place
        if place is not None:
            self._change(lambda settings: choice.with_backend(settings, place, backend))

    def _move(self, card: Card, step: int) -> None:
        place = card.place
        if place is not None:
            self._change(lambda settings: choice.moved(settings, place, step))

    def _share(self, card: Card, percent: int) -> None:
        place = card.place
        if place is not None:
            self._change(lambda settings: choice.with_share(settings, place, percent))

    def _set_split(self, split: SplitMode) -> None:
        self._change(lambda settings: msgspec.structs.replace(settings, split=split))

    def _change(self, change: Callable[[EngineSettings], EngineSettings]) -> None:
        before = self._store.get(EngineSettings)
        after, rules = settled(before, change(before))
        self._store.put(after)
        flash = self.tr("Flash attention is automatic again: the split by tensors needs it.")
        self._split.set_note(flash if Rule.FLASH_FOR_TENSOR in rules else "")

"""Two cards of the same name: nobody but the user can say which one is meant."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec
from PySide6.QtCore import QObject

from app.load.settings import LoadSettings
from app.notices import Action, Notice, Notices, Severity
from app.settings.records import EngineSettings
from app.settings.store import SettingsStore
from app.worker.service import WorkerService
from engine.loading.profile import device_to_expect
from engine.memory.sizes import gib_number
from engine.protocol.frames import Hello
from engine.protocol.types import DeviceInfo, DeviceKind

NOTICE = "equal-cards"
MOST_BUTTONS = 4


class EqualCards(QObject):
    """Asks once which of equal cards runs the models, where the choice would fall on one of them by itself.

    Until it is answered the one with most free memory is taken. The answer is kept as the address of the card, as if
    it had been chosen in the settings; closing the question leaves the choice to the engine.
    """

    def __init__(
        self, worker: WorkerService, store: SettingsStore, notices: Notices, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._store, self._notices = store, notices
        self._asked: tuple[str, ...] = ()
        worker.hello_received.connect(self._look)
        notices.closed.connect(self._closed)
        store.changed.connect(lambda _feature: self._withdraw_answered())

    def _look(self, hello: Hello) -> None:
        cards = equal_cards(hello.devices)
        addresses = tuple(sorted(card.pci or "" for card in cards))
        if not cards or self._chosen or addresses == self._store.get(LoadSettings).asked_cards:
            return
        self._asked = addresses
        text = f"There are {len(cards)} cards called {cards[0].name}. Which one should run the models?"
        actions = [Action(_label(card), partial(self._take, card.pci)) for card in cards[:MOST_BUTTONS]]
        self._notices.post(Notice(NOTICE, Severity.INFO, text, actions=(*actions, Action("All together", self._all))))

    @property
    def _chosen(self) -> bool:
        settings = self._store.get(EngineSettings)
        return settings.device is not None or bool(settings.devices) or settings.n_gpu_layers == 0

    def _take(self, address: str | None) -> None:
        settings = self._store.get(EngineSettings)
        self._store.put(msgspec.structs.replace(settings, device=address, devices=(), shares=()))

    def _all(self) -> None:
        settings = self._store.get(EngineSettings)
        self._store.put(msgspec.structs.replace(settings, device=None, devices=self._asked, shares=()))

    def _closed(self, key: str) -> None:
        if key == NOTICE and self._asked:
            self._store.put(msgspec.structs.replace(self._store.get(LoadSettings), asked_cards=self._asked))

    def _withdraw_answered(self) -> None:
        """It was chosen in the settings meanwhile."""
        if self._asked and self._chosen:
            self._notices.withdraw(NOTICE)
            self._asked = ()


def equal_cards(devices: Sequence[DeviceInfo]) -> tuple[DeviceInfo, ...]:
    """Usable cards with the name of the one that is chosen by itself, by address; empty when it is the only one."""
    best = device_to_expect(devices, None)
    if best is None or best.kind is not DeviceKind.GPU:
        return ()
    alike = {d.pci: d for d in devices if d.pci and d.usable and d.kind is best.kind and d.name == best.name}
    return tuple(alike[pci] for pci in sorted(alike)) if len(alike) > 1 else ()


def _label(card: DeviceInfo) -> str:
    place = (card.pci or "").removeprefix("0000:")
    return place if card.memory_free is None else f"{place} ({gib_number(card.memory_free)} GiB free)"

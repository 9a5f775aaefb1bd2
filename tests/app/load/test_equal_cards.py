"""Case 88: two cards of the same name, and the user is asked which one is meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from PySide6.QtCore import QObject, Signal
from pytestqt.qtbot import QtBot

from app.jobs import SerialRunner
from app.load.equal_cards import NOTICE, EqualCards, equal_cards
from app.load.settings import LoadSettings
from app.notices import Notice, Notices
from app.settings.records import EngineSettings
from app.settings.store import SettingsStore
from engine.protocol.frames import Hello
from engine.protocol.types import DeviceInfo, DeviceKind
from tests.app.chat.cranked import Cranked

GIB = 1 << 30
ONE, TWO = "0000:03:00.0", "0000:0a:00.0"
CPU = DeviceInfo(
    id="CPU", backend="CPU", name="CPU", pci=None, kind=DeviceKind.CPU, memory_total=64 * GIB,
    memory_free=50 * GIB, usable=True,
)  # fmt: skip
FIRST = DeviceInfo(
    id="Vulkan0", backend="Vulkan", name="AMD Radeon RX 7900 XTX", pci=ONE, kind=DeviceKind.GPU,
    memory_total=24 * GIB, memory_free=20 * GIB, usable=True,
)  # fmt: skip
SECOND = msgspec.structs.replace(FIRST, id="Vulkan1", pci=TWO, memory_free=23 * GIB)
APU = msgspec.structs.replace(
    FIRST, id="Vulkan2", name="AMD Radeon Graphics", pci="0000:c4:00.0", kind=DeviceKind.IGPU, memory_free=40 * GIB
)


class Worker(QObject):
    hello_received = Signal(object)

    def tell(self, *devices: DeviceInfo) -> None:
        hello = Hello(protocol=1, pid=1, engine="e", devices=devices)
        self.hello_received.emit(hello)


class World:
    def __init__(self, folder: Path) -> None:
        self.saves, self.notices, self.worker = Cranked(), Notices(), Worker()
        self.store = SettingsStore(folder / "settings.json", SerialRunner(self.saves), self.notices)
        self.posted: list[Notice] = []
        self.withdrawn: list[str] = []
        self.notices.posted.connect(self.posted.append)
        self.notices.withdrawn.connect(self.withdrawn.append)
        self.start()

    def start(self) -> None:
        """A new run of the program."""
        self.posted.clear()
        self.question = EqualCards(cast("Any", self.worker), self.store, self.notices)

    @property
    def settings(self) -> EngineSettings:
        return self.store.get(EngineSettings)

    def press(self, label: str) -> None:
        action = next(action for action in self.posted[-1].actions if label in action.label)
        action.run()
        self.notices.closed.emit(NOTICE)


@pytest.fixture
def world(tmp_path: Path, qtbot: QtBot) -> World:
    return World(tmp_path)


@pytest.mark.parametrize("order", [(FIRST, SECOND), (SECOND, FIRST)])
def test_the_user_is_asked_and_the_answer_is_kept_by_address(world: World, order: tuple[DeviceInfo, ...]) -> None:
    world.worker.tell(*order, APU, CPU)
    (notice,) = world.posted
    assert notice.key == NOTICE
    assert "2 cards called AMD Radeon RX 7900 XTX" in notice.text
    labels = [action.label for action in notice.actions]
    assert labels == ["03:00.0 (20.0 GiB free)", "0a:00.0 (23.0 GiB free)", "All together"]
    world.press("0a:00.0")
    assert world.settings.device == TWO
    assert world.settings.devices == ()
    world.start()
    world.worker.tell(*order, APU, CPU)
    assert world.posted == []


def test_all_together(world: World) -> None:
    world.worker.tell(FIRST, SECOND, CPU)
    world.press("All together")
    assert (world.settings.device, world.settings.devices) == (None, (ONE, TWO))


def test_a_question_that_was_closed_does_not_come_again(world: World) -> None:
    world.worker.tell(FIRST, SECOND, CPU)
    world.notices.closed.emit(NOTICE)
    assert world.settings.device is None
    assert world.store.get(LoadSettings).asked_cards == (ONE, TWO)
    world.start()
    world.worker.tell(SECOND, FIRST, CPU)
    assert world.posted == []
    third = msgspec.structs.replace(FIRST, id="Vulkan3", pci="0000:41:00.0")
    world.worker.tell(SECOND, FIRST, third, CPU)
    assert "3 cards" in world.posted[0].text


def test_a_choice_in_the_settings_answers_it(world: World) -> None:
    world.worker.tell(FIRST, SECOND, CPU)
    world.store.put(msgspec.structs.replace(world.settings, device=ONE))
    assert world.withdrawn == [NOTICE]
    world.start()
    world.worker.tell(FIRST, SECOND, CPU)
    assert world.posted == []


@pytest.mark.parametrize(
    "devices",
    [
        (FIRST, APU, CPU),
        (FIRST, msgspec.structs.replace(SECOND, name="AMD Radeon RX 7800 XT"), CPU),
        (FIRST, msgspec.structs.replace(FIRST, id="ROCm0", backend="ROCm"), CPU),
        (FIRST, msgspec.structs.replace(SECOND, usable=False), CPU),
        (APU, CPU),
        (CPU,),
        (),
    ],
)
def test_where_nothing_is_in_doubt_nobody_is_asked(world: World, devices: tuple[DeviceInfo, ...]) -> None:
    assert equal_cards(devices) == ()
    world.worker.tell(*devices)
    assert world.posted == []


def test_a_better_card_beside_two_equal_ones_is_in_no_doubt(world: World) -> None:
    better = msgspec.structs.replace(FIRST, id="Vulkan5", name="Better", pci="0000:51:00.0", memory_free=40 * GIB)
    world.worker.tell(FIRST, SECOND, better, CPU)
    assert world.posted == []

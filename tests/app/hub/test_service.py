"""The hub service with a real child and a local Hub."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication

from app.hub import service as module
from app.hub.service import HubService
from app.jobs import ThreadExecutor
from engine.errors import VrambleError
from engine.hub.records import RepoPage, SearchQuery
from engine.memory.fit.records import FitDevice
from engine.memory.sizes import GIB
from engine.protocol.types import DeviceInfo, DeviceKind
from tests.app.hub.conftest import World, code
from tests.fakes.hub_pages import row
from tests.fakes.local_hub import LocalHub, Refusal

Until = Callable[[Callable[[], bool]], None]
REPO = "maker/m-GGUF"


@pytest.fixture
def until(qtbot) -> Until:
    return lambda condition: qtbot.waitUntil(condition, timeout=60_000)


@pytest.fixture(autouse=True)
def _full(hub: LocalHub) -> None:
    hub.pages.rows = [row(f"maker/m{number}-GGUF", downloads=1000 - number) for number in range(40)]
    hub.add(REPO, "m-Q4_0.gguf", b"4" * 10)


def searched(service: HubService, until: Until, text: str = "m") -> None:
    service.search(SearchQuery(text=text), now=True)
    until(lambda: not service.searching)


def child_of(service: HubService) -> int | None:
    return service._child.pid


def repo(service: HubService) -> str:
    return "" if service.page is None else service.page.repo


def test_search_scroll_open(service: HubService, until: Until) -> None:
    searched(service, until)
    assert (len(service.results), service.has_more, service.problem, service.from_cache) == (30, True, None, False)
    service.more()
    until(lambda: not service.searching)
    assert (len(service.results), service.has_more) == (40, False)
    service.open(REPO)
    assert service.opening == REPO
    until(lambda: service.page is not None)
    assert service.page is not None
    assert [group.quant for group in service.page.groups] == ["Q4_0"]
    service.open("maker/none-GGUF")
    until(lambda: service.page_problem is not None)
    assert code(service.page_problem) == "hub-no-repo"
    service.leave_page()
    assert (repo(service), code(service.page_problem)) == ("", "")


def test_offline_opens_no_socket_and_shows_what_is_known(
    service: HubService, hub: LocalHub, world: World, until: Until
) -> None:
    searched(service, until)
    hub.log.clear()
    world.offline = True
    service.search(SearchQuery(text="m1"), now=True)
    until(lambda: not service.searching)
    assert {one.repo for one in service.results} == {f"maker/m{n}-GGUF" for n in (1, *range(10, 20))}
    service.open(REPO)
    until(lambda: service.page_problem is not None)
    assert code(service.page_problem) == "hub-offline"
    assert hub.log == []


def test_a_child_that_was_killed_is_said_and_the_next_search_has_another(
    service: HubService, hub: LocalHub, until: Until
) -> None:
    hub.pages.hold_after = 5
    service.search(SearchQuery(text="m"), now=True)
    until(lambda: bool(hub.pages.queries))
    first = child_of(service)
    assert first is not None
    os.kill(first, 9)
    until(lambda: not service.searching)
    assert code(service.problem) == "hub-died"
    hub.pages.hold_after = None
    service.retry()
    until(lambda: not service.searching)
    assert (code(service.problem), len(service.results)) == ("", 30)
    assert child_of(service) not in (None, first)


def test_the_child_ends_some_time_after_the_last_look(
    service: HubService, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.set_watched(True)
    assert child_of(service) is not None
    searched(service, until)
    service._rest()
    assert child_of(service) is not None
    service.set_watched(False)
    service._rest()
    assert child_of(service) is None
    assert module.UNUSED_MS >= 10_000
    searched(service, until, "m3")
    assert len(service.results) == 11


def test_another_mirror_is_asked_from_then_on(service: HubService, hub: LocalHub, world: World, until: Until) -> None:
    searched(service, until)
    first = child_of(service)
    service.settings_changed()
    assert child_of(service) == first
    with LocalHub() as mirror:
        mirror.pages.rows = [row("mirror/m-GGUF")]
        world.extra = {"HF_ENDPOINT": mirror.url}
        service.settings_changed()
        service.retry()
        until(lambda: not service.searching)
        assert [one.repo for one in service.results] == ["mirror/m-GGUF"]
        assert child_of(service) != first


def test_what_is_not_answered_is_asked_again_the_new_way(
    service: HubService, hub: LocalHub, world: World, until: Until
) -> None:
    hub.pages.hold_after = 5
    service.search(SearchQuery(text="m"), now=True)
    until(lambda: bool(hub.pages.queries))
    with LocalHub() as mirror:
        mirror.pages.rows = [row("mirror/m-GGUF")]
        world.extra = {"HF_ENDPOINT": mirror.url}
        service.settings_changed()
        until(lambda: not service.searching)
        assert [one.repo for one in service.results] == ["mirror/m-GGUF"]


def test_others_may_look_a_repository_up(service: HubService, hub: LocalHub, until: Until) -> None:
    found: list[RepoPage | VrambleError] = []
    service.look_up(REPO, found.append)
    service.look_up("maker/none-GGUF", found.append)
    assert found == []
    until(lambda: len(found) == 2)
    pages = [one for one in found if isinstance(one, RepoPage)]
    errors = [one for one in found if isinstance(one, VrambleError)]
    assert ([page.repo for page in pages], [error.code for error in errors]) == ([REPO], ["hub-no-repo"])
    assert service.page is None


def test_too_many_requests_are_waited_for(service: HubService, hub: LocalHub, until: Until) -> None:
    hub.pages.refusal = Refusal(429, headers={"Retry-After": "1"}, times=1)
    waits: list[float | None] = []
    service.results_changed.connect(lambda: waits.append(service.wait_left))
    service.search(SearchQuery(text="m"), now=True)
    until(lambda: len(service.results) == 30)
    assert any(left is not None for left in waits)
    first, second = [entry.at for entry in hub.requests("GET", "/api/models")]
    assert second - first >= 1.0
    assert service.problem is None


def test_after_the_end_nothing_is_asked(service: HubService, hub: LocalHub) -> None:
    service.shutdown()
    service.search(SearchQuery(text="m"), now=True)
    service.open(REPO)
    service.set_watched(True)
    assert child_of(service) is None


def device(gib: float) -> FitDevice:
    info = DeviceInfo(
        id="Vulkan0",
        backend="Vulkan",
        name="Card",
        pci="0000:03:00.0",
        kind=DeviceKind.GPU,
        memory_total=None,
        memory_free=None,
        usable=True,
    )
    return FitDevice(info=info, room=int(gib * GIB), bandwidth=300e9)


@pytest.fixture
def machine(qapp: QApplication, tmp_path: Path, world: World) -> Iterator[tuple[HubService, list[FitDevice]]]:
    owner, devices = QObject(), list[FitDevice]()
    made = HubService(tmp_path, ThreadExecutor("hub"), world.environ, lambda: True, lambda: tuple(devices), owner)
    yield made, devices
    made.shutdown()
    shiboken6.delete(owner)


def test_the_catalogue_is_read_and_recommended_by_the_room(
    machine: tuple[HubService, list[FitDevice]], until: Until
) -> None:
    service, devices = machine
    until(lambda: len(service.catalogue) >= 20)
    assert (service.room, service.recommended()) == (None, ())
    devices.append(device(7.5))
    assert service.room == int(7.5 * GIB)
    small = service.recommended()
    assert small
    assert all(model.size < 7.5 * GIB for model in small)
    devices[:] = [device(23.0)]
    assert service.recommended()[0].size > small[0].size
    assert child_of(service) is None


def test_after_the_end_nothing_begins_by_itself(hub: LocalHub, service: HubService, until: Until) -> None:
    """Neither what was typed, nor what was waited for, nor what others ask."""
    hub.pages.refusal = Refusal(429, headers={"Retry-After": "1000"})
    service.search(SearchQuery(text="refused"), now=True)
    until(lambda: service.wait_left is not None)
    service.search(SearchQuery(text="typed"))
    service.shutdown()
    asked = len(hub.log)
    service.retry()
    service.refresh()
    service.look_up("a/b", lambda _told: None)
    service.set_watched(True)
    service.set_watched(False)
    assert [timer for timer in service.findChildren(QTimer) if timer.isActive()] == []
    assert (service._child.pid, service.wait_left, len(hub.log)) == (None, None, asked)

"""The queue: order, pause, limits, restarts, offline mode, repair. Real children and a local Hub."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from app.downloads.awake import KeepAwake
from app.downloads.records import DownloadJob
from app.downloads.service import DownloadService, DownloadSettings, JobState
from app.jobs import SerialRunner, ThreadExecutor
from app.notices import Notices
from app.settings.store import SettingsStore
from engine.downloads.messages import Adjust, Limits, Nudge
from engine.downloads.queue_file import read
from engine.library.origin import Origin
from engine.loading.getting_back import FROM_ELSEWHERE
from tests.app.downloads.conftest import QUICK, job_of
from tests.engine.downloads.conftest import FILE, REPO, content, sha256
from tests.fakes.local_hub import LocalHub

pytestmark = pytest.mark.slow

MARK = 100_000
Until = Callable[[Callable[[], bool]], None]
PATIENT = Limits(stall_s=60, retries=2, first_wait_s=0.02, longest_wait_s=0.05, report_s=0, reserve=1, persistent=True)


@pytest.fixture
def until(qtbot) -> Until:
    return lambda condition: qtbot.waitUntil(condition, timeout=60_000)


class Sofa:
    """Remembers who was kept awake."""

    def __init__(self) -> None:
        self.held: list[str] = []

    def hold(self, why: str) -> str:
        self.held.append(why)
        return "org.example.Power"

    def release(self) -> None:
        self.held.clear()


class World:
    """One home in which services come and go."""

    def __init__(self, tmp_path: Path, hub: LocalHub) -> None:
        self.hub = hub
        self.models = tmp_path / "models"
        self.file = tmp_path / "data" / "downloads.json"
        self.owner = QObject()
        self.runner = SerialRunner(ThreadExecutor("files"), self.owner)
        self.store = SettingsStore(tmp_path / "settings.json", self.runner, Notices(self.owner), self.owner)
        self.sofa = Sofa()
        self.services: list[DownloadService] = []

    def start(self, **settings: object) -> DownloadService:
        if settings:
            self.store.put(DownloadSettings(**settings))  # type: ignore[arg-type]
        awake = KeepAwake(self.sofa, SerialRunner(ThreadExecutor("awake"), self.owner), self.owner)
        service = DownloadService(
            self.models,
            ThreadExecutor("downloads"),
            self.owner,
            limits=PATIENT,
            store=self.store,
            queue_file=self.file,
            awake=awake,
        )
        self.services.append(service)
        return service

    def add(self, *names: str, pause: bool = True) -> None:
        for seed, name in enumerate(names):
            self.hub.add(REPO, name, content(seed=seed), pause_after=MARK if pause else None)

    def close(self) -> None:
        for service in self.services:
            service.shutdown()
        self.runner.close()
        shiboken6.delete(self.owner)


@pytest.fixture
def world(qapp: QApplication, tmp_path: Path, hub: LocalHub) -> Iterator[World]:
    one = World(tmp_path, hub)
    yield one
    one.close()


def job(service: DownloadService, number: int) -> DownloadJob:
    found = job_of(service, number)
    assert found is not None
    return found


def ranges(world: World, name: str) -> list[str | None]:
    return [entry.range for entry in world.hub.requests("GET", name)]


def states(service: DownloadService) -> list[JobState]:
    return [one.state for one in service.jobs]


def test_paused_and_taken_up_again(world: World, until: Until) -> None:
    world.add(FILE)
    service = world.start()
    number = service.start(REPO, FILE)
    until(lambda: job(service, number).done == MARK)
    service.pause(number)
    assert job(service, number).state is JobState.PAUSED
    assert job(service, number).done == MARK
    world.hub.release()
    service.resume(number)
    until(lambda: job(service, number).state is JobState.DONE)
    assert ranges(world, FILE) == [None, f"bytes={MARK}-"]


def test_paused_and_taken_up_at_once(world: World, until: Until) -> None:
    """The process that was ended has to be gone before the next one opens the file."""
    world.add(FILE)
    service = world.start()
    number = service.start(REPO, FILE)
    until(lambda: job(service, number).done == MARK)
    for _ in range(5):
        service.pause(number)
        service.resume(number)
    world.hub.release()
    until(lambda: not job(service, number).state.active)
    assert job(service, number).state is JobState.DONE


def test_order_and_how_many_at_a_time(world: World, until: Until) -> None:
    names = ["a.gguf", "b.gguf", "c.gguf"]
    world.add(*names)
    service = world.start(parallel=1)
    first, second, third = (service.start(REPO, name) for name in names)
    until(lambda: job(service, first).done == MARK)
    assert states(service)[1:] == [JobState.QUEUED, JobState.QUEUED]
    service.move(third, 0)
    assert [one.id for one in service.jobs] == [third, first, second]
    service.pause(first)
    until(lambda: job(service, third).done == MARK)
    assert world.hub.requests("HEAD", "b.gguf") == []
    world.store.put(DownloadSettings(parallel=3))
    until(lambda: job(service, second).done == MARK)
    assert service.summary.active == 2
    assert service.summary.stopped == 1


def test_pause_all_and_resume_all(world: World, until: Until) -> None:
    world.add("a.gguf", "b.gguf", "c.gguf")
    service = world.start()
    numbers = [service.start(REPO, f"{letter}.gguf") for letter in "abc"]
    until(lambda: [job(service, number).done for number in numbers[:2]] == [MARK, MARK])
    service.pause_all()
    assert states(service) == [JobState.PAUSED] * 3
    world.hub.release()
    service.resume_all()
    until(lambda: states(service) == [JobState.DONE] * 3)


def test_the_limit_is_shared_and_changes_at_once(world: World, until: Until, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []
    monkeypatch.setattr("app.downloads.child.Child.tell", lambda _self, command: told.append(command))
    world.add("a.gguf", "b.gguf")
    service = world.start(limit_bytes_s=10_000_000)
    first = service.start(REPO, "a.gguf")
    until(lambda: job(service, first).done == MARK)
    second = service.start(REPO, "b.gguf")
    until(lambda: job(service, second).done == MARK)
    assert told == [Adjust(limit_bytes_s=5_000_000)]
    world.store.put(DownloadSettings(limit_bytes_s=None))
    assert told[1:] == [Adjust(), Adjust()]


def test_a_slow_download_gets_fast_while_it_runs(world: World, until: Until) -> None:
    """At 16 KiB/s it would take longer than anyone here waits."""
    world.hub.add(REPO, FILE, content(6_000_000))
    service = world.start(limit_bytes_s=16 * 1024)
    number = service.start(REPO, FILE)
    until(lambda: job(service, number).done > 0)
    world.store.put(DownloadSettings(limit_bytes_s=None))
    until(lambda: job(service, number).state is JobState.DONE)


def test_what_was_active_goes_on_after_a_restart_and_what_was_paused_stays(world: World, until: Until) -> None:
    world.add("a.gguf", "b.gguf", "c.gguf")
    service = world.start(parallel=2)
    first, second, third = (service.start(REPO, f"{letter}.gguf") for letter in "abc")
    until(lambda: job(service, first).done == job(service, second).done == MARK)
    service.pause(first)
    service.move(third, 0)
    until(lambda: job(service, third).done == MARK)
    service.shutdown()
    world.hub.release()
    later = world.start()
    until(lambda: len(later.jobs) == 3)
    assert [one.file for one in later.jobs] == ["c.gguf", "a.gguf", "b.gguf"]
    paused = later.jobs[1]
    assert (paused.state, paused.done, paused.total) == (JobState.PAUSED, MARK, 300_000)
    until(lambda: states(later) == [JobState.DONE, JobState.PAUSED, JobState.DONE])
    assert [ranges(world, name) for name in ("b.gguf", "c.gguf")] == [[None, f"bytes={MARK}-"]] * 2


def test_the_queue_is_kept_as_soon_as_it_changes(world: World, until: Until) -> None:
    """A kill -9 of the window comes without a farewell."""
    world.add(FILE)
    service = world.start()
    number = service.start(REPO, FILE)
    until(lambda: [kept.order.files[0].path for kept in read(world.file)] == [FILE])
    service.pause(number)
    until(lambda: [kept.stand.value for kept in read(world.file)] == ["paused"])
    service.cancel(number)
    until(lambda: read(world.file) == ())


def test_a_failure_is_still_there_after_a_restart(world: World, until: Until) -> None:
    from tests.fakes.local_hub import Refusal

    world.add(FILE, pause=False)
    world.hub.repos[REPO][FILE].refusal = Refusal(401, "GatedRepo")
    service = world.start()
    number = service.start(REPO, FILE)
    until(lambda: job(service, number).state is JobState.FAILED)
    assert job(service, number).page == f"{world.hub.url}/{REPO}"
    service.shutdown()
    later = world.start()
    until(lambda: bool(later.jobs))
    (one,) = later.jobs
    assert one.error is not None
    assert (one.state, one.error.code) == (JobState.FAILED, "hub-gated")


def test_a_network_that_is_away_is_waited_for(world: World, until: Until) -> None:
    world.add(FILE, pause=False)
    file = world.hub.repos[REPO][FILE]
    file.cut_after = 0
    service = world.start()
    number = service.start(REPO, FILE)
    waits = 0

    def waited() -> bool:
        nonlocal waits
        waits = max(waits, len(world.hub.requests("GET", FILE)))
        return waits > 2 * PATIENT.retries + 2

    until(waited)
    assert job(service, number).state.active
    file.cut_after = None
    until(lambda: job(service, number).state is JobState.DONE)


def test_a_wake_up_makes_new_connections(world: World, until: Until) -> None:
    """Without that the dead connection would be waited for."""
    world.add(FILE)
    service = world.start()
    number = service.start(REPO, FILE)
    until(lambda: job(service, number).done == MARK)
    before = len(world.hub.requests("GET", FILE))
    service._running.launcher.nudge(service._running.queue.jobs)
    until(lambda: len(world.hub.requests("GET", FILE)) > before)
    assert world.hub.requests("GET", FILE)[-1].range == f"bytes={MARK}-"
    assert Nudge() == Nudge()


def test_offline_mode_stops_and_starts_nothing(world: World, until: Until) -> None:
    world.add("a.gguf", "b.gguf")
    service = world.start()
    first = service.start(REPO, "a.gguf")
    until(lambda: job(service, first).done == MARK)
    world.store.put(DownloadSettings(offline=True))
    assert service.offline
    second = service.start(REPO, "b.gguf")
    assert states(service) == [JobState.QUEUED, JobState.QUEUED]
    assert job(service, second).note == "Offline mode is on."
    service.list_files(REPO)
    until(lambda: not service.listing)
    asked = len(world.hub.log)
    world.hub.release()
    world.store.put(DownloadSettings(offline=False))
    until(lambda: states(service) == [JobState.DONE, JobState.DONE])
    assert not [entry for entry in world.hub.log[:asked] if "api" in entry.path or "b.gguf" in entry.path]


def test_a_mirror_from_the_settings(world: World, until: Until, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    world.add(FILE, pause=False)
    service = world.start(endpoint=f" {world.hub.url}/ ")
    number = service.start(REPO, FILE)
    until(lambda: job(service, number).state is JobState.DONE)
    assert job(service, number).page == f"{world.hub.url}/{REPO}"


def test_the_computer_is_kept_awake_while_something_comes(world: World, until: Until) -> None:
    world.add("a.gguf", "b.gguf")
    service = world.start()
    number = service.start(REPO, "a.gguf")
    until(lambda: service.awake.by == "org.example.Power")
    assert world.sofa.held == ["A model is being downloaded"]
    service.pause(number)
    until(lambda: service.awake.by == "")
    world.store.put(DownloadSettings(inhibit_sleep=False))
    service.resume(number)
    until(lambda: job(service, number).state is JobState.LOADING)
    assert world.sofa.held == []


def test_into_another_models_folder(world: World, until: Until, tmp_path: Path) -> None:
    """Which is not made when it is not there: it may be a card."""
    world.add(FILE, pause=False)
    card = tmp_path / "card"
    service = world.start()
    number = service.start(REPO, FILE, root=card)
    until(lambda: job(service, number).state is JobState.FAILED)
    error = job(service, number).error
    assert error is not None
    assert (error.code, card.exists()) == ("folder-missing", False)
    card.mkdir()
    service.retry(number)
    until(lambda: job(service, number).state is JobState.DONE)
    assert sha256(card / REPO / FILE) == world.hub.repos[REPO][FILE].sha256


# ---- repair


def installed(world: World, service: DownloadService, until: Until) -> Path:
    world.hub.add(REPO, FILE, content(3 << 20))
    number = service.start(REPO, FILE)
    until(lambda: job(service, number).state is JobState.DONE)
    service.dismiss(number)
    world.hub.sent.clear()
    return world.models / REPO / FILE


def test_a_damaged_model_is_mended_by_its_wrong_part(world: World, until: Until) -> None:
    service = world.start()
    target = installed(world, service, until)
    with target.open("r+b") as file:
        file.seek(2_000_000)
        file.write(b"wrong")
    number = service.repair(target)
    assert service.repair(target) == number
    until(lambda: job(service, number).state is JobState.DONE)
    assert job(service, number).repair
    assert world.hub.sent[FILE] == 1 << 20
    assert sha256(target) == world.hub.repos[REPO][FILE].sha256


def test_a_model_of_which_nobody_knows_where_it_came_from(world: World, until: Until) -> None:
    service = world.start()
    target = world.models / "x.gguf"
    target.parent.mkdir()
    target.write_bytes(b"GGUF")
    number = service.repair(target)
    until(lambda: job(service, number).state is JobState.FAILED)
    error = job(service, number).error
    assert error is not None
    assert (error.code, error.next_step) == ("no-origin", FROM_ELSEWHERE)
    file = world.hub.add(REPO, FILE, content(1 << 20))
    service.dismiss(number)
    again = service.repair(target, Origin(repo=REPO, path=FILE, size=1 << 20, sha256=file.sha256))
    until(lambda: job(service, again).state is JobState.DONE)
    assert sha256(target) == file.sha256


def test_a_repair_survives_a_restart_and_gives_the_file_back_when_cancelled(world: World, until: Until) -> None:
    service = world.start()
    target = installed(world, service, until)
    with target.open("r+b") as file:
        file.write(b"wrong")
    damaged = target.read_bytes()
    world.hub.repos[REPO][FILE].pause_after = MARK
    number = service.repair(target)
    until(lambda: job(service, number).state is JobState.REPAIRING)
    service.shutdown()
    later = world.start()
    until(lambda: [one.state for one in later.jobs] == [JobState.REPAIRING])
    later.cancel(later.jobs[0].id)
    until(target.exists)
    assert target.read_bytes() in (damaged, content(3 << 20)), "as it was, or mended as far as bytes had come"
    assert later.jobs == ()


def test_limits_that_the_tests_use_are_quick() -> None:
    assert QUICK.stall_s < PATIENT.stall_s

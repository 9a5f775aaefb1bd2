"""Downloads: the queue on a stand-in, and a few on the real service with a local Hub."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton, QTabWidget, QWidget

from app.downloads.records import DownloadJob, JobState
from app.downloads.settings import DownloadSettings
from engine.downloads.messages import Failed
from tests.engine.downloads.conftest import content
from tests.engine.library.making import llama
from tests.fakes.local_hub import LocalHub, Refusal
from tests.ui.library.conftest import REPO, Manager
from tests.ui.library.fakes import GB, job
from ui.library.window import DISCOVER, DOWNLOADS
from ui.settings.controls import Choice, Number, Switch

FILE = "small-Q4_K_M.gguf"


def tell_jobs(manager: Manager, *jobs: DownloadJob) -> Manager:
    manager.downloads.set_jobs(*jobs)
    manager.tab(DOWNLOADS)
    return manager


def three() -> tuple[DownloadJob, ...]:
    return (
        job(1, "a/One", "One.gguf", JobState.LOADING, done=GB, total=4 * GB, speed=5e7, seconds_left=60, connections=4),
        job(2, "b/Two", "Two.gguf", JobState.QUEUED, total=2 * GB),
        job(3, "c/Three", "Three.gguf", JobState.PAUSED, done=GB, total=2 * GB),
    )


def row(manager: Manager, number: int) -> QWidget:
    return manager.find(f"download-{number}")


def button(manager: Manager, number: int, name: str) -> QPushButton:
    found = row(manager, number).findChild(QPushButton, name)
    assert isinstance(found, QPushButton)
    return found


def press_button(manager: Manager, number: int, name: str) -> None:
    found = button(manager, number, name)
    assert found.isVisible()
    assert found.isEnabled()
    QTest.mouseClick(found, Qt.MouseButton.LeftButton)


def lines(manager: Manager) -> list[str]:
    return [label.text() for label in manager.window.findChildren(QLabel, "downloadLine")]


def test_rows_say_how_far_and_how_fast_and_the_head_sums_up(fake: Manager) -> None:
    tell_jobs(fake, *three())
    assert lines(fake) == [
        "1.00 GB of 4.00 GB · 50.0 MB/s · 1 min left · 4 connections",
        "0 bytes of 2.00 GB · waiting for its turn",
        "1.00 GB of 2.00 GB · paused",
    ]
    assert "2 downloads · 1.00 GB of 6.00 GB · 50.0 MB/s" in fake.find("downloadsSum", QLabel).text()
    assert fake.find("managerTabs", QTabWidget).tabText(DOWNLOADS) == "Downloads 3"


def test_without_downloads_no_button_is_as_wide_as_the_page(fake: Manager) -> None:
    tell_jobs(fake)
    limits = fake.find("limitsButton", QPushButton)
    fake.until(lambda: 0 < limits.width() <= limits.sizeHint().width() + 4)
    tell_jobs(fake, three()[2])
    assert limits.width() <= limits.sizeHint().width() + 4


def test_pause_resume_and_all_at_once(fake: Manager) -> None:
    tell_jobs(fake, *three())
    press_button(fake, 1, "pauseDownloadButton")
    press_button(fake, 3, "retryDownloadButton")
    fake.click("pauseAllButton")
    fake.click("resumeAllButton")
    assert fake.downloads.calls == [("pause", 1), ("resume", 3), ("pause_all",), ("resume_all",)]


def test_cancel_asks_before_much_is_thrown_away(fake: Manager) -> None:
    tell_jobs(fake, *three())
    press_button(fake, 2, "cancelDownloadButton")
    assert fake.downloads.calls == [("cancel", 2)]
    press_button(fake, 1, "cancelDownloadButton")
    assert "1.00 GB, is deleted" in fake.find("questionBar").accessibleName()
    fake.click("keepButton")
    assert len(fake.downloads.calls) == 1
    press_button(fake, 1, "cancelDownloadButton")
    fake.click("confirmButton")
    assert fake.downloads.calls[-1] == ("cancel", 1)


def test_order_by_buttons_and_keys(fake: Manager) -> None:
    tell_jobs(fake, *three())
    press_button(fake, 1, "laterDownloadButton")
    assert fake.downloads.calls == [("move", 1, 1)]
    row(fake, 2).setFocus()
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    fake.press(Qt.Key.Key_Up, both)
    fake.press(Qt.Key.Key_Down, both)
    assert fake.downloads.calls[1:] == [("move", 2, 0), ("move", 2, 2)]
    row(fake, 1).setFocus()
    fake.press(Qt.Key.Key_Up, both)
    assert len(fake.downloads.calls) == 3


def test_order_by_dragging(fake: Manager) -> None:
    tell_jobs(fake, *three())
    handle = row(fake, 1).findChild(QWidget, "downloadHandle")
    assert isinstance(handle, QWidget)
    start, below = handle.rect().center(), QPoint(5, row(fake, 2).y() + row(fake, 2).height() - row(fake, 1).y())
    QTest.mousePress(handle, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(handle, below)
    fake.window.queue._show_mark(2)
    assert fake.shows("dropMark")
    QTest.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=below)
    assert fake.downloads.calls == [("move", 1, 1)]
    assert not fake.shows("dropMark")


def test_the_queue_by_keyboard_alone(fake: Manager) -> None:
    tell_jobs(fake, *three())
    assert fake.window.focusWidget() is row(fake, 1)
    fake.press(Qt.Key.Key_Space)
    fake.press(Qt.Key.Key_Down)
    fake.press(Qt.Key.Key_Down)
    assert fake.window.focusWidget() is row(fake, 3)
    fake.press(Qt.Key.Key_Return)
    fake.press(Qt.Key.Key_Up)
    fake.press(Qt.Key.Key_Delete)
    assert fake.downloads.calls == [("pause", 1), ("resume", 3), ("cancel", 2)]


def test_rows_keep_the_focus_when_the_order_changes(fake: Manager) -> None:
    tell_jobs(fake, *three())
    one, two, last = three()
    row(fake, 1).setFocus()
    fake.downloads.set_jobs(two, one, last)
    assert fake.window.focusWidget() is row(fake, 1)
    fake.until(lambda: row(fake, 2).y() < row(fake, 1).y())
    fake.press(Qt.Key.Key_Tab)
    assert row(fake, 1).isAncestorOf(fake.window.focusWidget())


def test_a_gated_failure_leads_to_its_page(fake: Manager) -> None:
    error = Failed(code="hub-gated", message="The repository is gated.", next_step="Accept its terms on its page.")
    tell_jobs(fake, job(1, "a/One", "One.gguf", JobState.FAILED, error=error, page="https://hub.example/a/One"))
    assert "Accept its terms" in fake.find("downloadProblem", QLabel).text()
    press_button(fake, 1, "openDownloadPage")
    assert fake.visited == ["https://hub.example/a/One"]
    press_button(fake, 1, "retryDownloadButton")
    assert fake.downloads.calls == [("retry", 1)]


def test_what_is_done_is_loaded_or_cleared(fake: Manager) -> None:
    done = job(1, "a/One", "One.gguf", JobState.DONE, done=GB, total=GB, verified=True)
    tell_jobs(fake, done)
    assert lines(fake) == ["1.00 GB · checksum right"]
    press_button(fake, 1, "loadDownloadedButton")
    assert fake.loads == [done.target]
    fake.click("clearFinishedButton")
    assert fake.downloads.calls == [("dismiss", 1)]


def test_a_repair_is_told_as_one(fake: Manager) -> None:
    tell_jobs(fake, job(1, "a/One", "One.gguf", JobState.REPAIRING, repair=True, done=GB, total=4 * GB, speed=1e6))
    assert "mending" in lines(fake)[0]
    assert "Repair of a file of a/One" in fake.texts()


def test_limits_are_kept_at_once(fake: Manager) -> None:
    tell_jobs(fake, *three())
    fake.click("limitsButton")
    fake.find("downloads-parallel", Number).setValue(5)
    fake.find("downloads-connections", Number).setValue(8)
    speed = fake.find("downloads-limit_bytes_s", Choice)
    speed.setCurrentIndex(speed.findText("10 MB/s"))
    speed.activated.emit(speed.currentIndex())
    fake.find("downloads-offline", Switch).click()
    kept = fake.parts.settings.get(DownloadSettings)
    assert (kept.parallel, kept.connections, kept.limit_bytes_s, kept.offline) == (5, 8, 10_000_000, True)
    fake.parts.settings.put(DownloadSettings(limit_bytes_s=3_500_000))
    assert speed.currentText() == "3.5 MB/s"
    assert not fake.find("downloads-offline", Switch).isChecked()


def test_offline_mode_says_so(fake: Manager) -> None:
    tell_jobs(fake, *three())
    fake.downloads.offline = True
    fake.downloads.jobs_changed.emit()
    assert "Offline" in fake.find("downloadsSum", QLabel).text()


def test_an_empty_queue_leads_to_discover(fake: Manager) -> None:
    tell_jobs(fake)
    assert "No downloads" in fake.texts()
    fake.click_text("Get a model")
    assert fake.page() == DISCOVER


# ---- on the real service


def begin(manager: Manager, state: JobState) -> None:
    manager.downloads.start(REPO, FILE)
    manager.tab(DOWNLOADS)
    manager.until(lambda: bool(manager.downloads.jobs) and manager.downloads.jobs[-1].state is state)


def test_a_download_from_start_to_load(manager: Manager, hub: LocalHub) -> None:
    file = hub.add(REPO, FILE, llama())
    begin(manager, JobState.DONE)
    manager.until(lambda: manager.shows("loadDownloadedButton"))
    target = manager.library.folder / REPO / FILE
    assert target.read_bytes() == file.data
    manager.click("loadDownloadedButton")
    assert manager.loads == [target]
    manager.until(lambda: any(model.path == target for model in manager.library.models))


def test_cancel_leaves_nothing(manager: Manager, hub: LocalHub) -> None:
    hub.add(REPO, FILE, content(), pause_after=100_000)
    begin(manager, JobState.LOADING)
    manager.until(lambda: manager.files() != [])
    manager.click("cancelDownloadButton")
    manager.until(lambda: manager.files() == [])
    assert manager.downloads.jobs == ()


def test_a_failed_download_says_why_and_goes_on(manager: Manager, hub: LocalHub) -> None:
    file = hub.add(REPO, FILE, content())
    file.body_refusal = Refusal(403)
    begin(manager, JobState.FAILED)
    manager.until(lambda: manager.shows("downloadProblem"))
    assert manager.find("downloadProblem", QLabel).text()
    file.body_refusal = None
    manager.click("retryDownloadButton")
    manager.until(lambda: manager.shows("loadDownloadedButton"))
    assert Path(manager.downloads.jobs[-1].target).read_bytes() == file.data


def test_pause_and_resume(manager: Manager, hub: LocalHub) -> None:
    file = hub.add(REPO, FILE, llama(), pause_after=50_000)
    begin(manager, JobState.LOADING)
    manager.click("pauseDownloadButton")
    manager.until(lambda: manager.downloads.jobs[-1].state is JobState.PAUSED)
    file.pause_after = None
    hub.release()
    manager.until(lambda: manager.shows("retryDownloadButton"))
    manager.click("retryDownloadButton")
    manager.until(lambda: manager.shows("loadDownloadedButton"))
    assert manager.downloads.jobs[-1].verified


@pytest.mark.parametrize("number", [DISCOVER, DOWNLOADS])
def test_the_foot_says_what_is_on_its_way(fake: Manager, number: int) -> None:
    tell_jobs(fake, *three())
    fake.tab(number)
    assert "2 downloads" in fake.texts()

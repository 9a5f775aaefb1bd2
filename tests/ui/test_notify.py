"""What is said when a download has ended, and where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.downloads.records import JobState
from app.notices import Notice, Notices
from engine.downloads.messages import Failed
from tests.ui.library.fakes import GB, FakeDesktop, FakeDownloads, job
from ui.game_mode import in_game_mode
from ui.notify import DownloadTeller, Notifier


class Teller:
    """A teller, and what it did."""

    def __init__(self) -> None:
        self.desktop, self.downloads = FakeDesktop(), FakeDownloads()
        self.looked_at = self.seen = False
        self.shown = 0
        self.loads: list[Path] = []
        self.posted: list[Notice] = []
        notices = Notices()
        notices.posted.connect(self.posted.append)
        desktop: Any = self.desktop
        downloads: Any = self.downloads
        notifier = Notifier(desktop, lambda: self.looked_at)
        self.teller = DownloadTeller(
            downloads, desktop, notices, self._show, self.loads.append, lambda: self.seen, None, notifier
        )

    def _show(self) -> None:
        self.shown += 1


@pytest.fixture
def told(qapp: object) -> Teller:
    return Teller()


DONE = job(1, "a/One", "One.gguf", JobState.DONE, done=GB, total=GB, verified=True)


def test_who_is_elsewhere_is_told_by_the_desktop(told: Teller) -> None:
    told.downloads.finished.emit(DONE)
    [note] = told.desktop.notes
    assert (note.key, note.title, note.text) == ("download-1", "Downloaded", "One.gguf")
    assert told.posted == []
    told.desktop.pressed.emit("download-1", "load")
    assert told.loads == [DONE.target]
    told.downloads.finished.emit(DONE)
    told.desktop.pressed.emit("download-1", "default")
    assert told.shown == 1
    told.desktop.pressed.emit("download-1", "default")
    assert told.shown == 1


def test_who_looks_is_told_in_the_window(told: Teller) -> None:
    told.looked_at = True
    told.downloads.finished.emit(DONE)
    assert told.desktop.notes == []
    [notice] = told.posted
    assert notice.text == "Downloaded: One.gguf"
    assert [action.label for action in notice.actions] == ["Load", "Show downloads"]
    notice.actions[0].run()
    notice.actions[1].run()
    assert (told.loads, told.shown) == ([DONE.target], 1)


def test_who_sees_the_downloads_needs_no_word(told: Teller) -> None:
    told.looked_at = told.seen = True
    told.downloads.finished.emit(DONE)
    assert (told.posted, told.desktop.notes) == ([], [])


def test_a_failure_says_why_and_a_repair_is_called_one(told: Teller) -> None:
    error = Failed(code="no-space", message="The disk is full.", next_step="Delete something.")
    told.downloads.finished.emit(job(2, "a/Two", "Two.gguf", JobState.FAILED, error=error))
    assert told.desktop.notes[0].text == "Two.gguf: The disk is full."
    told.downloads.finished.emit(job(3, "a/Three", "Three.gguf", JobState.DONE, repair=True))
    assert told.desktop.notes[1].title == "Repaired"
    named = Failed(code="checksum", message="Four.gguf arrived damaged.", next_step="Try again.")
    told.downloads.finished.emit(job(4, "a/Four", "Four.gguf", JobState.FAILED, error=named))
    assert told.desktop.notes[2].text == "Four.gguf arrived damaged."


def test_what_cannot_be_loaded_alone_offers_no_load(told: Teller) -> None:
    told.downloads.finished.emit(job(4, "a/One", "mmproj-One-F16.gguf", JobState.DONE, done=GB, total=GB))
    assert [name for name, _ in told.desktop.notes[0].actions] == ["default"]


def test_progress_is_drawn_and_taken_away(told: Teller) -> None:
    told.downloads.set_jobs(job(1, "a/One", "One.gguf", JobState.LOADING, done=GB, total=4 * GB))
    told.downloads.set_jobs(DONE)
    assert told.desktop.drawn == [(0.25, 1), (None, 0)]


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, False),
        ({"SteamDeck": "1", "XDG_CURRENT_DESKTOP": "KDE"}, False),
        ({"XDG_CURRENT_DESKTOP": "gamescope"}, True),
        ({"XDG_CURRENT_DESKTOP": "GNOME:gamescope"}, True),
        ({"GAMESCOPE_WAYLAND_DISPLAY": "gamescope-0"}, True),
    ],
)
def test_game_mode_is_told_by_gamescope(environ: dict[str, str], expected: bool) -> None:
    assert in_game_mode(environ) is expected

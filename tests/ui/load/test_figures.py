"""Where the figures of the dialog come from: the header, a dry run, earlier loads."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from engine.memory.fit import measured_by
from engine.memory.fit.records import LearnedBytes
from engine.protocol.frames import DryRan
from engine.protocol.types import LoadOptions, MemoryUse
from tests.ui.load.conftest import OpenDialog, Opened, Source

GIB = 1 << 30


def text(opened: Opened, name: str) -> str:
    return opened.find(name, QLabel).text()


def test_a_dry_run_makes_the_figures_exact(open_dialog: OpenDialog, source: Source, qtbot: QtBot) -> None:
    opened = open_dialog()
    assert text(opened, "fitSource").startswith("Estimated")
    qtbot.waitUntil(lambda: source.asked == [opened.options])
    assert "Asking the engine" in text(opened, "fitSource")
    assert source.known.fit is not None
    ran = DryRan(id=1, memory=(MemoryUse(device="Vulkan0", compute=3 * GIB), MemoryUse(device="CPU", compute=1)))
    source.runs[opened.options] = measured_by(source.known.fit, opened.options, source.machine(), ran)
    opened.draft.measured.emit()
    assert text(opened, "fitSource").startswith("Exact")
    opened.draft.change(n_ctx=8192)
    assert text(opened, "fitSource").startswith("Estimated")
    qtbot.waitUntil(lambda: source.asked[-1].n_ctx == 8192)
    opened.dialog.reject()
    assert source.left == 1


def test_options_that_cannot_be_loaded_are_not_tried(open_dialog: OpenDialog, source: Source, qtbot: QtBot) -> None:
    opened = open_dialog()
    qtbot.waitUntil(lambda: len(source.asked) == 1)
    opened.draft.set_unreadable("n_batch", "This is no number.")
    qtbot.wait(300)
    assert len(source.asked) == 1


def test_what_earlier_loads_taught_is_shown_and_can_be_forgotten(
    open_dialog: OpenDialog, source: Source, qtbot: QtBot
) -> None:
    opened = open_dialog()
    assert not opened.shows("forgetLearned")
    source.learned = LearnedBytes(share=0.012, loads=5)
    opened.draft.measured.emit()
    assert text(opened, "fitLearned") == "Learned from 5 loads: +1.2 %"
    source.learned = LearnedBytes(share=-0.004, loads=1)
    opened.draft.measured.emit()
    assert text(opened, "fitLearned") == "Learned from 1 load: \u22120.4 %"
    qtbot.mouseClick(opened.find("forgetLearned", QPushButton), Qt.MouseButton.LeftButton)
    opened.draft.measured.emit()
    assert source.forgotten == 1
    assert not opened.shows("forgetLearned")


def test_what_stays_free_is_said(open_dialog: OpenDialog) -> None:
    assert "1.0 GiB stay free for everything else." in text(open_dialog(LoadOptions()), "fitSource")

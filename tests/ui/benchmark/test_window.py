"""The benchmark window over a real service with fake workers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QCheckBox, QLabel, QPushButton, QTableView, QWidget
from pytestqt.qtbot import QtBot

from engine.client.session import WorkerState
from engine.protocol.frames import Hello
from engine.protocol.types import LoadOptions
from tests.app.benchmark.conftest import Bench
from tests.fakes.fake_worker import CPU, GPU
from tests.ui.shell.standins import FakeLibrary, installed, model_info
from ui.bench.chart import BarChart
from ui.bench.window import HISTORY, BenchWindow
from ui.settings.controls import Choice, Number
from ui.theme import Theme, ThemeMode

W = TypeVar("W", bound=QWidget)
HELLO = Hello(protocol=1, pid=1, engine="e", devices=(GPU, CPU))


class Page:
    """A shown window and what is behind it."""

    def __init__(self, window: BenchWindow, bench: Bench, library: FakeLibrary, qtbot: QtBot) -> None:
        self.window, self.bench, self.library, self.qtbot = window, bench, library, qtbot

    def find(self, name: str, kind: type[W] = QWidget) -> W:  # type: ignore[assignment]
        found = self.window.findChild(kind, name)
        assert isinstance(found, kind), f"no {name}"
        return found

    def choose(self, name: str, index: int) -> None:
        """As with the keyboard."""
        choice = self.find(name, Choice)
        choice.setCurrentIndex(index)
        choice.activated.emit(index)

    def press(self, name: str) -> None:
        self.qtbot.mouseClick(self.find(name, QPushButton), Qt.MouseButton.LeftButton)

    def run(self) -> None:
        self.press("benchRun")
        self.bench.wait()

    def enabled(self, name: str) -> bool:
        return self.find(name).isEnabled()

    def cells(self, name: str) -> list[list[str]]:
        model = self.find(name, QTableView).model()
        columns = range(model.columnCount())
        return [[str(model.index(row, c).data()) for c in columns] for row in range(model.rowCount())]

    def text(self, name: str) -> str:
        return self.find(name, QLabel).text()


MakePage = Callable[..., Page]


@pytest.fixture
def make_page(tmp_path: Path, qtbot: QtBot, theme: Theme) -> Iterator[MakePage]:
    made: list[Page] = []

    def make(*models: str, **script: Any) -> Page:
        bench, library = Bench(tmp_path, script, qtbot), FakeLibrary()
        library.models = tuple(installed(name) for name in models)
        bench.worker.set_hello(HELLO)
        window = BenchWindow(bench.service, library, bench.worker, theme)  # type: ignore[arg-type]
        made.append(Page(window, bench, library, qtbot))
        window.present()
        qtbot.waitUntil(window.isActiveWindow)
        return made[-1]

    yield make
    for page in made:
        page.bench.service.shutdown()
        shiboken6.delete(page.window)


def test_a_run_shows_figure_chart_and_table(make_page: MakePage) -> None:
    page = make_page("Qwen3 8B", bench={"speed": 41.2, "power": 206.0})
    page.run()
    assert page.text("benchFigure") == "41.2"
    (row,) = page.cells("benchTable")
    assert row[1:3] == ["512 generated", "41.2"]
    assert row[6:9] == ["", "206 W", "0.20"]
    chart = page.find("benchChart", BarChart)
    assert [bar.value for bar in chart.bars] == pytest.approx([41.2])
    assert "41.2 tok/s" in chart.accessibleDescription()
    button = page.find("benchRun", QPushButton)
    assert (button.isVisible(), button.hasFocus()) == (True, True)


def test_figures_appear_while_it_runs(make_page: MakePage) -> None:
    page = make_page("Qwen3 8B", bench=[{}, {"speed": 30.0}, {"speed": 50.0, "silence": True}])
    page.press("benchRun")
    page.qtbot.waitUntil(lambda: page.find("benchTable").isVisible(), timeout=60_000)
    assert page.text("benchFigure") == "30.0"
    assert "run 2 of 3" in page.text("benchStage")
    assert not page.enabled("benchModel")
    page.qtbot.keyClick(page.window, Qt.Key.Key_Escape)
    page.bench.wait()
    assert not page.bench.reports[0].finished
    seen = [page.window.isVisible()]
    page.qtbot.keyClick(page.window, Qt.Key.Key_Escape)
    seen.append(page.window.isVisible())
    assert seen == [True, False], "the first Escape stops, the second closes"


def test_the_speed_is_shown_while_a_run_goes_on(make_page: MakePage) -> None:
    page = make_page("Qwen3 8B", bench=[{}, {"tokens": True, "delay": 0.6}])
    page.press("benchRun")
    page.qtbot.waitUntil(lambda: "tok/s" in page.text("benchStage"), timeout=60_000)
    page.qtbot.keyClick(page.window, Qt.Key.Key_Escape)
    page.bench.wait()
    (report,) = page.bench.reports
    (outcome,) = report.variants[0].tests
    assert outcome.stopped
    assert float(page.text("benchFigure")) > 0
    notice = page.window._messages.notice
    assert notice is not None
    assert notice.text == "Stopped. What was measured until then is kept."
    assert "512 generated (stopped at" in page.cells("benchTable")[0][1]
    assert page.cells("benchHistory")[0][0].endswith(", stopped")
    assert any(label.text().startswith("stopped · ") for label in page.window.findChildren(QLabel))


def test_stopped_before_the_first_figure_it_says_so_and_runs_again(make_page: MakePage) -> None:
    page = make_page("Qwen3 8B", runs=[{"load": {"gate": "/nowhere"}}, {}])
    page.press("benchRun")
    page.qtbot.waitUntil(lambda: bool(page.bench.frames("load")), timeout=60_000)
    page.qtbot.keyClick(page.window, Qt.Key.Key_Escape)
    page.bench.wait()
    texts = [label.text() for label in page.window.findChildren(QLabel) if label.isVisible()]
    assert "Stopped before the first figure." in texts
    page.press("benchAgain")
    page.bench.wait()
    assert page.bench.reports[0].finished
    assert not page.find("benchAgain").isVisible()


def test_run_waits_for_the_chats_answer_which_can_be_stopped(make_page: MakePage) -> None:
    page = make_page("Qwen3 8B")
    page.bench.worker.set_state(WorkerState.GENERATING)
    assert not page.enabled("benchRun")
    texts = [label.text() for label in page.window.findChildren(QLabel) if label.isVisible()]
    assert any(text.startswith("The chat is answering.") for text in texts)
    page.window.present()
    assert page.find("benchStopAnswer", QPushButton).hasFocus()
    with page.qtbot.waitSignal(page.window.answer_unwanted):
        page.press("benchStopAnswer")
    page.bench.worker.set_state(WorkerState.READY)
    assert page.enabled("benchRun")
    assert not page.find("benchStopAnswer", QPushButton).isVisible()
    assert page.find("benchRun").hasFocus()


def test_a_race_names_the_winner_and_keeps_it(make_page: MakePage) -> None:
    page = make_page("Qwen3 8B", bench={"speed": {"Vulkan": 50.0, "CPU": 10.0}})
    page.choose("benchRace", 1)
    page.run()
    assert page.text("benchVerdict") == "Vulkan is the fastest: 5.00 times as fast as CPU."
    assert [bar.best for bar in page.find("benchChart", BarChart).bars] == [True, False]
    assert page.enabled("benchKeep")
    page.press("benchKeep")
    assert not page.enabled("benchKeep")
    (kept,) = page.bench.options.kept.values()
    assert kept.device == "0000:03:00.0"


def test_a_race_of_one_cannot_be_run(make_page: MakePage) -> None:
    page = make_page("Qwen3 8B")
    page.choose("benchRace", 1)
    page.find("benchBox-CPU", QCheckBox).click()
    assert not page.enabled("benchRun")
    page.find("benchBox-CPU", QCheckBox).click()
    assert page.enabled("benchRun")


def test_micro_batches_need_prompts(make_page: MakePage) -> None:
    page = make_page("Qwen3 8B")
    page.choose("benchRace", 3)
    assert page.find("benchProtocol", Choice).value.value == "llama-bench"
    assert not page.enabled("benchProtocol")
    page.choose("benchRace", 0)
    assert page.enabled("benchProtocol")


def test_guesses_are_raced_and_shown(make_page: MakePage) -> None:
    page = make_page(
        "Qwen3 8B", bench=[{}, {"speed": 30.0}, {"speed": 45.0, "drafted": 1000, "accepted": 620}, {"speed": 60.0}]
    )
    page.bench.options.kept[Path(page.find("benchModel", Choice).value)] = LoadOptions(draft="/m/small.gguf")
    page.choose("benchProtocol", 1)
    page.choose("benchRace", 4)
    assert page.find("benchProtocol", Choice).value.value == "decode512"
    page.find("benchRuns", Number).setValue(1)
    page.run()
    assert not page.enabled("benchProtocol"), "llama-bench's tests say nothing about guesses"
    loads = [frame["options"] for frame in page.bench.frames("load")]
    assert [(load["ngram"], load["draft"]) for load in loads] == [
        (False, None), (True, None), (False, "/m/small.gguf"),
    ]  # fmt: skip
    rows = page.cells("benchTable")
    assert [row[0] for row in rows] == ["No guesses", "N-gram lookup", "Draft model"]
    assert [row[6] for row in rows] == ["", "62 % of 1\u202f000", ""]
    assert not page.find("benchTable", QTableView).isColumnHidden(6)
    assert page.text("benchVerdict") == "Draft model is the fastest: 1.33 times as fast as N-gram lookup."
    page.press("benchKeep")
    (kept,) = page.bench.options.kept.values()
    assert (kept.draft, kept.ngram) == ("/m/small.gguf", False)
    page.press("benchCopy")
    assert "| 620 of 1000 (62%) |" in QGuiApplication.clipboard().text()


def test_without_guesses_nothing_is_said_of_them(make_page: MakePage) -> None:
    page = make_page("Qwen3 8B")
    page.run()
    assert page.find("benchTable", QTableView).isColumnHidden(6)
    page.press("benchCopy")
    assert "guesses" not in QGuiApplication.clipboard().text()


def test_the_chosen_device_and_runs_are_used(make_page: MakePage) -> None:
    page = make_page("Qwen3 8B")
    page.choose("benchDevice", 2)
    page.find("benchRuns", Number).setValue(1)
    page.run()
    assert [frame["options"]["device"] for frame in page.bench.frames("load")] == ["cpu"]
    assert len(page.bench.reports[0].variants[0].tests[0].samples) == 1


def test_it_says_what_happens_to_the_chat(make_page: MakePage) -> None:
    page = make_page("Qwen3 8B")
    page.bench.worker.set_model(model_info())
    page.bench.worker.set_state(WorkerState.READY)
    texts = [label.text() for label in page.window.findChildren(QLabel) if label.isVisible()]
    assert any("Qwen3 8B is unloaded first" in text for text in texts)
    page.run()
    texts = [label.text() for label in page.window.findChildren(QLabel) if label.isVisible()]
    assert any("The next message loads Qwen3 8B again." in text for text in texts)


def test_a_message_meanwhile_is_told(make_page: MakePage) -> None:
    page = make_page("Qwen3 8B", bench=[{}, {}, {"silence": True}])
    page.press("benchRun")
    page.qtbot.waitUntil(lambda: len(page.bench.frames("bench")) == 3, timeout=60_000)
    page.bench.worker.set_state(WorkerState.GENERATING)
    page.bench.wait()
    notice = page.window._messages.notice
    assert notice is not None
    assert "the chat needed its model" in notice.text


def test_a_failure_has_a_sentence_and_the_page_teaches_again(make_page: MakePage) -> None:
    fail = {"code": "not-gguf", "message": "This is no model.", "next_step": "", "detail": ""}
    page = make_page("Qwen3 8B", load={"fail": fail})
    page.run()
    notice = page.window._messages.notice
    assert notice is not None
    assert "This is no model." in notice.text
    assert not page.find("benchTable").isVisible()


def test_without_a_model_the_page_leads_to_one(make_page: MakePage) -> None:
    page = make_page()
    assert not page.enabled("benchRun")
    with page.qtbot.waitSignal(page.window.manager_wanted):
        page.window._welcome._get.click()
    page.library.put("Qwen3 8B")
    assert page.enabled("benchRun")
    assert not page.window._welcome._get.isVisible()


def test_exports(make_page: MakePage, tmp_path: Path) -> None:
    page = make_page("Qwen3 8B", bench={"speed": 41.2})
    page.run()
    page.press("benchCopy")
    copied = QGuiApplication.clipboard().text()
    assert "| 41.2 |" in copied
    result = page.window._result
    with page.qtbot.waitSignal(result.told) as told:
        result.save_to(tmp_path / "out.json", result._text("json"))
    assert told.args == ["Saved as out.json."]
    assert json.loads((tmp_path / "out.json").read_text())["decode_tps"]["median"] == 41.2
    with page.qtbot.waitSignal(result.told) as told:
        result.save_to(tmp_path / "no/folder.md", "x")
    assert "Not saved" in told.args[0]


def test_earlier_ones_show_the_change(make_page: MakePage) -> None:
    page = make_page("Qwen3 8B", runs=[{"bench": {"speed": 40.0}}, {"bench": {"speed": 44.0}}])
    page.find("benchRuns", Number).setValue(1)
    page.run()
    page.run()
    rows = page.cells("benchHistory")
    assert len(rows) == 2
    assert rows[1][-1] == ""
    assert rows[0][-1] == "+10.0 %"
    page.window._tabs.setCurrentIndex(HISTORY)
    view = page.find("benchHistory", QTableView)
    view.selectRow(1)
    view.setCurrentIndex(view.model().index(1, 0))
    page.qtbot.keyClick(view, Qt.Key.Key_Return)
    assert page.window._result.report == page.bench.reports[0]


@pytest.mark.parametrize("mode", [ThemeMode.LIGHT, ThemeMode.DARK])
@pytest.mark.parametrize("scale", [0.8, 1.0, 2.0])
def test_nothing_is_cut_at_any_text_size(make_page: MakePage, theme: Theme, mode: ThemeMode, scale: float) -> None:
    page = make_page("Qwen3 8B", bench={"speed": {"Vulkan": 50.0, "CPU": 10.0}})
    page.choose("benchRace", 1)
    theme.set_mode(mode)
    theme.set_scale(scale)
    page.window.resize(1280, 764)
    page.run()
    assert page.window._result.horizontalScrollBar().maximum() == 0
    chart = page.find("benchChart", BarChart)
    page.qtbot.waitUntil(lambda: chart.height() >= chart.sizeHint().height())
    view = page.find("benchTable", QTableView)
    assert view.verticalHeader().length() + view.horizontalHeader().height() <= view.height()
    for name in ("benchRun", "benchKeep", "benchCopy"):
        button = page.find(name, QPushButton)
        assert button.width() >= button.minimumSizeHint().width()

"""Thousands of rows: sorted, narrowed and kept chosen by the table itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import shiboken6
from PySide6.QtCore import QEvent, QObject, QPersistentModelIndex, QPoint, Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.fit.badges import UNKNOWN, Badge
from app.library.service import InstalledModel
from app.library.tasks import LibraryTask, TaskKind, TaskState
from engine.library.records import Deletion
from engine.memory.fit.records import Verdict
from tests.ui.library.conftest import Manager
from tests.ui.library.fakes import OLLAMA, OWN, installed, plan
from ui.library.keep.arranging import Order, arranged
from ui.library.keep.columns import Column
from ui.library.keep.models_table import ModelsTable
from ui.library.keep.models_view import ModelsView
from ui.library.keep.task_strip import TaskRow
from ui.library.queue.page import DownloadsPage
from ui.library.window import DISCOVER, DOWNLOADS, LIBRARY, ModelManagerWindow
from ui.theme import Theme

DOWN, UP = Qt.SortOrder.DescendingOrder, Qt.SortOrder.AscendingOrder


def many(count: int) -> tuple[InstalledModel, ...]:
    roots = (OWN, OLLAMA)
    return tuple(installed(f"Model-{n:04d}", "Q4_K_M", (n * 7) % 97 + 1, roots[n % 2]) for n in range(count))


def shown(table: ModelsTable) -> list[str]:
    return [model.name for model in table.shown]


@pytest.fixture
def table(theme: Theme) -> ModelsTable:
    return ModelsTable(theme)


def test_what_is_unknown_is_last_in_both_directions(table: ModelsTable) -> None:
    rows = tuple(installed(name, "", 1, last_used=used) for name, used in (("a", None), ("b", 5.0), ("c", 9.0)))
    table.set_rows(rows, {})
    table.sort(Column.USED, UP)
    assert shown(table) == ["b", "c", "a"]
    table.sort(Column.USED, DOWN)
    assert shown(table) == ["c", "b", "a"]


def test_badges_sort_once_they_are_known(table: ModelsTable) -> None:
    rows = tuple(installed(name, "", 1) for name in "abc")
    known: dict[Path, Badge] = {}
    table.set_badges(lambda path: known.get(path, UNKNOWN))
    table.set_rows(rows, {})
    table.sort(Column.FIT, UP)
    assert shown(table) == ["a", "b", "c"]
    known[rows[2].path], known[rows[1].path] = (Badge(plan(Verdict.FITS, "")), Badge(plan(Verdict.NO, "")))
    table.sort_again()
    assert shown(table) == ["c", "b", "a"]


def test_rows_keep_their_place_in_the_selection(table: ModelsTable) -> None:
    tester = QAbstractItemModelTester(table, QAbstractItemModelTester.FailureReportingMode.Fatal)
    rows = many(200)
    table.set_rows(rows, {})
    mark = QPersistentModelIndex(table.index(17, Column.NAME))
    for column in (Column.SIZE, Column.NAME, Column.SOURCE, Column.QUANT):
        for order in (UP, DOWN):
            table.sort(column, order)
            assert mark.data() == rows[17].name
            assert table.row_of(rows[17].path) == mark.row()
    table.narrow(OWN.id, "")
    assert table.rowCount() == 100
    table.narrow("", "model-01 ollama")
    assert shown(table) == [row.name for row in rows if row.name.startswith("Model-01") and row.root == OLLAMA.id]
    table.narrow("", "nothing is called that")
    assert (table.rowCount(), table.rows) == (0, rows)
    assert tester is not None


def test_the_same_rows_again_are_no_change(table: ModelsTable) -> None:
    rows = many(50)
    table.set_rows(rows, {})
    changes: list[str] = []
    table.modelReset.connect(lambda: changes.append("reset"))
    table.dataChanged.connect(lambda *_what: changes.append("data"))
    table.layoutChanged.connect(lambda *_what: changes.append("layout"))
    table.set_rows((*rows,), {})
    assert changes == []
    table.set_rows((msgspec.structs.replace(rows[0], last_used=1.0), *rows[1:]), {})
    assert changes == ["data"]
    table.set_rows(rows[::-1], {})
    table.set_rows(rows[1:], {})
    assert changes == ["data", "layout", "reset"]


def test_the_loaded_one_and_the_newer_one_are_found_by_their_words(table: ModelsTable) -> None:
    rows = many(4)
    table.set_rows(rows, {})
    table.narrow("", "newer")
    assert shown(table) == []
    table.set_updates(frozenset({rows[2].path}))
    table.narrow("", "newer one")
    assert shown(table) == ["Model-0002"]


def test_an_order_without_a_column_leaves_rows_as_they_are() -> None:
    rows = many(6)
    assert arranged(rows, Order(), lambda *_what: 0, lambda row: row.name) == rows


def test_no_row_has_a_widget_and_only_seen_ones_are_asked_for(fake: Manager) -> None:
    fake.library.set_models(*many(2000))
    fake.tab(1)
    view = fake.find("installedTable", ModelsView)
    fake.until(lambda: bool(fake.parts.badges.seen))  # type: ignore[union-attr]
    assert len(fake.parts.badges.seen) < 100  # type: ignore[union-attr]
    assert all(view.indexWidget(view.model().index(row, 0)) is None for row in range(0, 2000, 100))
    fake.until(lambda: view.model().index(0, Column.FIT).data() != "Unknown")
    assert view.model().index(1999, Column.FIT).data() == "Unknown"
    heights = {view.rowHeight(row) for row in range(0, 2000, 50)}
    assert len(heights) == 1


def test_the_chosen_model_stays_chosen_while_thousands_come(fake: Manager) -> None:
    rows = many(300)
    fake.library.set_models(*rows)
    fake.tab(1)
    view = fake.find("installedTable", ModelsView)
    view.choose_path(rows[250].path)
    fake.library.set_models(*many(2000))
    assert view.chosen_model is not None
    assert view.chosen_model.path == rows[250].path
    header = view.horizontalHeader()
    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=_middle(view, Column.SIZE))
    assert view.table.order.column is Column.SIZE
    assert view.chosen_model.path == rows[250].path


def _middle(view: ModelsView, column: Column) -> QPoint:
    header = view.horizontalHeader()
    return QPoint(header.sectionViewportPosition(column) + header.sectionSize(column) // 2, header.height() // 2)


class Shown(QObject):
    """Which windows are shown."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.names.append(watched.objectName() or type(watched).__name__)
        return False


def test_pages_are_made_when_they_are_wanted_and_nothing_flashes_up(
    fake: Manager, qapp: QApplication, theme: Theme
) -> None:
    """A part that is shown before it has a parent is a window of its own, which takes the keyboard away."""
    shown_ = Shown()
    qapp.installEventFilter(shown_)
    window = ModelManagerWindow(fake.parts)
    try:
        assert window.findChild(DownloadsPage) is None
        window.show()
        for number in (LIBRARY, DOWNLOADS, DISCOVER):
            window.turn(number - window._tabs.currentIndex())
        assert window.findChild(DownloadsPage) is not None
        assert shown_.names == ["modelManager"]
    finally:
        qapp.removeEventFilter(shown_)
        window.close()
        shiboken6.delete(window)


# ---- what is told


def test_the_question_says_what_stays_on_the_disk_and_why(fake: Manager, monkeypatch: pytest.MonkeyPatch) -> None:
    linked = installed("Linked", "Q8_0", 5, linked=True, frees_bytes=0)
    second = installed("Second", "Q8_0", 5, frees_bytes=0)
    partly = installed("Partly", "Q8_0", 5)
    stays = {linked.path: "Only the link goes, /x stays.", second.path: "It has another name.", partly.path: "Part 2."}

    def plan_delete(model: InstalledModel, done: Callable[[Deletion], None]) -> None:
        done(Deletion(model=model, paths=model.parts, frees_bytes=model.frees_bytes, stays=stays[model.path]))

    monkeypatch.setattr(fake.library, "plan_delete", plan_delete)
    fake.library.set_models(linked, second, partly)
    fake.tab(1)
    for model in (linked, second, partly):
        fake.choose("installedTable", model.name)
        fake.press(Qt.Key.Key_Delete)
        assert stays[model.path] in fake.find("questionBar").accessibleName()


@pytest.mark.parametrize("kind", list(TaskKind))
@pytest.mark.parametrize("state", list(TaskState))
def test_every_kind_of_work_has_a_line(theme: Theme, qtbot: Any, kind: TaskKind, state: TaskState) -> None:
    row = TaskRow(theme, LibraryTask(id=1, kind=kind, label="Qwen", state=state, total_bytes=5))
    qtbot.addWidget(row)
    assert "Qwen" in row._line(row._task) or state is TaskState.FAILED


def test_a_cancelled_import_does_not_say_that_nothing_was_changed(theme: Theme, qtbot: Any) -> None:
    row = TaskRow(theme, LibraryTask(id=1, kind=TaskKind.IMPORT, label="x", state=TaskState.CANCELLED))
    qtbot.addWidget(row)
    assert "by then stay" in row._line(row._task)

"""Library: real folders and files, deleting, the trash; folders, updates, long work and imports on stand-ins."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QCoreApplication, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QContextMenuEvent, QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QListView, QMenu, QPushButton, QTableView

from app.library.service import ImportMode
from app.library.tasks import LibraryTask, TaskKind, TaskState
from engine.errors import VrambleError
from engine.library.records import Mend, ModelUpdate
from engine.library.roots import RootState
from engine.library.states import FileState
from engine.protocol.types import ModelInfo
from tests.engine.library.making import llama
from tests.ui.library.conftest import GEMMA, QWEN, Manager
from tests.ui.library.fakes import CARD_ROOT, GB, OLLAMA, OWN, installed, root_info
from tests.ui.shell.standins import model_info
from ui.library.keep.columns import Column
from ui.library.keep.task_strip import GOOD_MS
from ui.library.window import DISCOVER, LIBRARY

TABLE = "installedTable"


def names(manager: Manager) -> list[str]:
    return [row[0] for row in manager.rows(TABLE)]


def status(manager: Manager) -> list[str]:
    return [row[Column.STATUS] for row in manager.rows(TABLE)]


def tell_models(manager: Manager, *models: object) -> Manager:
    manager.library.set_models(*models)
    manager.tab(LIBRARY)
    return manager


# ---- on real files


@pytest.mark.usefixtures("filled")
def test_installed_models_are_listed(manager: Manager) -> None:
    assert [row[:3] for row in manager.rows(TABLE)] == [
        ["gemma-3-4b-it", "Q4_K_M", "117 kB"],
        ["Qwen3-8B", "Q8_0", "117 kB"],
    ]
    assert manager.page() == LIBRARY
    details = manager.find("modelDetails", QLabel).text()
    for fact in ("llama", "117 kB", "in Own folder", "never used"):
        assert fact in details


@pytest.mark.usefixtures("filled")
def test_load_by_mouse_by_enter_and_by_double_click(manager: Manager) -> None:
    folder = manager.library.folder
    manager.choose(TABLE, "Qwen3-8B")
    manager.click("loadModelButton")
    manager.find(TABLE).setFocus()
    manager.press(Qt.Key.Key_Up)
    manager.press(Qt.Key.Key_Return)
    view = manager.find(TABLE, QTableView)
    place = view.visualRect(view.model().index(1, 0)).center()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert manager.loads == [folder / QWEN, folder / GEMMA, folder / QWEN]


@pytest.mark.usefixtures("filled")
def test_load_options_by_mouse_and_by_shift_enter(manager: Manager) -> None:
    wanted: list[Path] = []
    manager.window.options_requested.connect(wanted.append)
    manager.click("loadWithOptionsButton")
    manager.find(TABLE).setFocus()
    manager.press(Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    chosen = wanted[0]
    assert wanted == [chosen, chosen]
    assert manager.loads == []
    manager.worker.set_model(model_info(str(chosen)))
    assert manager.find("loadWithOptionsButton", QPushButton).text() == "Change options…"
    manager.click("loadWithOptionsButton")
    assert len(wanted) == 3


@pytest.mark.usefixtures("filled")
def test_the_loaded_model_is_marked(manager: Manager) -> None:
    info: ModelInfo = model_info(path=str(manager.library.folder / QWEN))
    manager.worker.set_model(info)
    assert status(manager) == ["Ready", "Loaded"]
    manager.choose(TABLE, "Qwen3-8B")
    assert not manager.find("loadModelButton", QPushButton).isEnabled()
    manager.worker.set_model(None)
    assert manager.find("loadModelButton", QPushButton).isEnabled()


@pytest.mark.usefixtures("filled")
def test_show_folder(manager: Manager) -> None:
    manager.choose(TABLE, "Qwen3-8B")
    manager.trigger("moreModelButton", "Show in file manager")
    manager.window.resize(1180, 740)
    manager.until(lambda: manager.shows("showFolderButton"))
    manager.click("showFolderButton")
    assert manager.opened == [(manager.library.folder / QWEN).parent] * 2


@pytest.mark.usefixtures("filled")
def test_a_right_click_chooses_a_model_and_shows_its_menu(manager: Manager) -> None:
    view = manager.find(TABLE, QTableView)
    manager.choose(TABLE, "Qwen3-8B")
    row = 1 - view.currentIndex().row()
    place = view.visualRect(view.model().index(row, 0)).center()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, view.viewport().mapToGlobal(place))
    QCoreApplication.sendEvent(view.viewport(), event)
    assert view.currentIndex().row() == row
    (menu,) = [one for one in manager.window.findChildren(QMenu) if one.isVisible()]
    assert "Copy path" in [action.text() for action in menu.actions()]
    menu.close()
    below = QPoint(place.x(), view.viewport().height() - 2)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, below, view.viewport().mapToGlobal(below))
    QCoreApplication.sendEvent(view.viewport(), event)
    assert not [one for one in manager.window.findChildren(QMenu) if one.isVisible()]


@pytest.mark.usefixtures("filled")
def test_deleting_for_good_asks_first_and_says_what_it_frees(manager: Manager) -> None:
    manager.choose(TABLE, "Qwen3-8B")
    manager.press(Qt.Key.Key_Delete, Qt.KeyboardModifier.ShiftModifier)
    manager.until(lambda: manager.shows("questionBar"))
    question: str = manager.find("questionBar").accessibleName()
    assert "Qwen3-8B Q8_0" in question
    assert "This frees" in question
    manager.click("keepButton")
    assert manager.files() == sorted([GEMMA, QWEN])
    manager.press(Qt.Key.Key_Delete, Qt.KeyboardModifier.ShiftModifier)
    manager.until(lambda: manager.shows("questionBar"))
    manager.press(Qt.Key.Key_Escape)
    assert not manager.shows("questionBar")
    manager.press(Qt.Key.Key_Delete, Qt.KeyboardModifier.ShiftModifier)
    manager.until(lambda: manager.shows("questionBar"))
    manager.click("confirmButton")
    manager.until(lambda: names(manager) == ["gemma-3-4b-it"])
    assert manager.files() == [GEMMA]


@pytest.mark.usefixtures("filled")
def test_a_loaded_model_is_unloaded_before_it_is_deleted(manager: Manager) -> None:
    manager.worker.set_model(model_info(path=str(manager.library.folder / QWEN)))
    manager.choose(TABLE, "Qwen3-8B")
    manager.press(Qt.Key.Key_Delete, Qt.KeyboardModifier.ShiftModifier)
    manager.until(lambda: manager.shows("questionBar"))
    assert "unloaded first" in manager.find("questionBar").accessibleName()
    manager.click("confirmButton")
    assert manager.worker.unloads == 1
    manager.until(lambda: manager.files() == [GEMMA])


@pytest.mark.usefixtures("filled")
def test_a_link_is_removed_as_a_link(manager: Manager, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere.gguf"
    target.write_bytes(llama())
    (manager.library.folder / "linked.gguf").symlink_to(target)
    manager.press(Qt.Key.Key_F5)
    manager.until(lambda: len(names(manager)) == 3)
    manager.choose(TABLE, "linked")
    manager.press(Qt.Key.Key_Delete, Qt.KeyboardModifier.ShiftModifier)
    manager.until(lambda: manager.shows("questionBar"))
    assert "stays" in manager.find("questionBar").accessibleName()
    manager.click("confirmButton")
    manager.until(lambda: len(names(manager)) == 2)
    assert target.exists()


def test_a_damaged_model_cannot_be_loaded_and_says_why(models: Path, request: pytest.FixtureRequest) -> None:
    (models / "cut.gguf").write_bytes(llama()[:-5000])
    manager: Manager = request.getfixturevalue("manager")
    assert status(manager) == ["Incomplete"]
    assert not manager.find("loadModelButton", QPushButton).isEnabled()
    assert "incomplete" in manager.find("modelProblem", QLabel).text()
    manager.find(TABLE).setFocus()
    manager.press(Qt.Key.Key_Return)
    assert manager.loads == []


def test_a_name_that_is_no_text_can_be_loaded_and_deleted(models: Path, request: pytest.FixtureRequest) -> None:
    odd = Path(os.fsdecode(os.fsencode(models) + b"/odd\xff.gguf"))
    odd.write_bytes(llama())
    manager: Manager = request.getfixturevalue("manager")
    assert names(manager) == ["odd\ufffd"]
    manager.click("loadModelButton")
    assert manager.loads == [odd]
    manager.find(TABLE).setFocus()
    manager.press(Qt.Key.Key_Delete, Qt.KeyboardModifier.ShiftModifier)
    manager.until(lambda: manager.shows("questionBar"))
    manager.click("confirmButton")
    manager.until(lambda: not odd.exists())


# ---- on stand-ins


def test_search_and_folder_narrow_the_table_down(fake: Manager) -> None:
    tell_models(
        fake, installed("Qwen3-8B", "Q8_0", 8.7), installed("Llama", "Q4_K_M", 4.9, OLLAMA, architecture="llama")
    )
    fake.find("searchEdit", QLineEdit).setFocus()
    fake.type("ollama")
    assert names(fake) == ["Llama"]
    fake.press(Qt.Key.Key_Escape)
    assert names(fake) == ["Llama", "Qwen3-8B"]
    fake.choose("rootsList", "Own folder")
    assert names(fake) == ["Qwen3-8B"]
    fake.choose("rootsList", "SD")
    assert not fake.shows(TABLE)
    fake.choose("rootsList", "All models")
    assert len(names(fake)) == 2


def test_folders_tell_room_and_state(fake: Manager) -> None:
    tell_models(fake, installed("Qwen3-8B", "Q8_0", 8.7))
    model = fake.find("rootsList", QListView).model()
    spoken = [model.index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole) for row in range(model.rowCount())]
    assert spoken == [
        "All models, 6 models · 35.0 GB",
        "Own folder, 3 models · 21.0 GB, 212 GB free of 512 GB",
        "Ollama, 2 models · 9.00 GB, 212 GB free of 512 GB",
        "SD, Not inserted",
    ]


def test_what_is_on_a_card_that_is_out_is_not_lost(fake: Manager) -> None:
    away = installed(
        "Phi-4", "Q6_K", 12.0, CARD_ROOT, state=FileState.ABSENT, can_chat=False, problem="The card is not inserted."
    )
    tell_models(fake, msgspec.structs.replace(away, mends=(Mend.INSERT,)))
    assert status(fake) == ["Not inserted"]
    assert "not inserted" in fake.find("modelProblem", QLabel).text()
    assert not fake.find("deleteModelButton", QPushButton).isEnabled()
    fake.click("mend-insert")
    assert ("rescan",) in fake.library.calls


@pytest.mark.parametrize(("mend", "call"), [(Mend.REPAIR, "repair"), (Mend.JOIN, "join"), (Mend.SHARE, "share")])
def test_what_is_wrong_can_be_mended(fake: Manager, mend: Mend, call: str) -> None:
    model = installed("Qwen3-8B", "Q8_0", 8.7, verified=False, mends=(mend, Mend.DELETE))
    tell_models(fake, model)
    assert status(fake) == ["Damaged"]
    fake.click(f"mend-{mend}")
    assert fake.library.calls[-1] == (call, model)


def test_a_file_whose_origin_is_known_is_downloaded_again(fake: Manager) -> None:
    model = installed("Qwen3-8B", "Q8_0", 8.7, state=FileState.DAMAGED, can_chat=False, mends=(Mend.DOWNLOAD,))
    tell_models(fake, model)
    fake.click("mend-download")
    assert fake.downloads.calls[-1][:3] == ("start", model.repo, model.file)


def test_a_duplicate_names_its_twin(fake: Manager) -> None:
    one = installed("Qwen3-8B", "Q8_0", 8.7)
    two = installed("Again", "Q8_0", 8.7, duplicate_of=one.path, mends=(Mend.SHARE,))
    tell_models(fake, one, two)
    fake.choose(TABLE, "Again")
    assert "Duplicate" in status(fake)
    problem = fake.find("modelProblem", QLabel).text()
    assert "Qwen3-8B Q8_0" in problem
    assert "8.70 GB twice" in problem


def test_the_trash_tells_what_comes_free_and_has_a_way_back(fake: Manager) -> None:
    model = installed("Qwen3-8B", "Q8_0", 8.7)
    fake.library.outcomes = {"trash": 8 * GB, "undo_trash": None}
    tell_models(fake, model)
    fake.click("deleteModelButton")
    question: str = fake.find("questionBar").accessibleName()
    assert "Move Qwen3-8B Q8_0 to the trash? 8.70 GB are free again when the trash is emptied." in question
    fake.click("confirmButton")
    assert ("trash", model) in fake.library.calls
    assert "8.00 GB are free again" in fake.texts()
    fake.click_text("Undo")
    assert ("undo_trash",) in fake.library.calls


def test_without_a_trash_deleting_for_good_is_asked_for(fake: Manager) -> None:
    model = installed("Qwen3-8B", "Q8_0", 8.7)
    fake.library.outcomes = {"trash": VrambleError("no-trash", "No trash."), "delete": 8 * GB}
    tell_models(fake, model)
    fake.click("deleteModelButton")
    fake.click("confirmButton")
    assert "no trash on this drive" in fake.find("questionBar").accessibleName()
    fake.click("confirmButton")
    assert fake.library.calls[-1] == ("delete", model)
    assert "8.00 GB are free again" in fake.texts()


def test_files_of_another_program_are_named_before_they_go(fake: Manager) -> None:
    tell_models(fake, installed("Llama", "Q4_K_M", 4.9, OLLAMA))
    fake.click("deleteModelButton")
    assert "belongs to Ollama" in fake.find("questionBar").accessibleName()


def test_menu_checks_moves_and_leads_to_the_repository(fake: Manager) -> None:
    model = installed("Qwen3-8B", "Q8_0", 8.7)
    card = root_info(CARD_ROOT, "SD", state=RootState.PRESENT, free=90 * GB, total=128 * GB)
    fake.library.roots = (root_info(OWN, "models"), card)
    fake.library.roots_changed.emit()
    tell_models(fake, model)
    fake.trigger("moreModelButton", "Check the file")
    assert fake.library.calls[-1] == ("verify", (model,))
    fake.trigger("moreModelButton", "SD, 90.0 GB free of 128 GB")
    assert fake.library.calls[-1] == ("move", model, card.id)
    fake.trigger("moreModelButton", "Look for a newer file")
    assert fake.library.calls[-1] == ("check_updates", (model,))
    fake.trigger("moreModelButton", "Show its repository")
    assert fake.page() == DISCOVER
    assert fake.hub.asked[-1] == f"open {model.repo}"


def test_newer_files_are_marked_and_can_be_had(fake: Manager) -> None:
    model = installed("Qwen3-8B", "Q8_0", 8.7)
    tell_models(fake, model)
    fake.click("checkUpdatesButton")
    assert fake.library.calls[-1] == ("check_updates",)
    fake.library.checking_updates = True
    fake.library.updates_changed.emit()
    assert fake.find("checkUpdatesButton", QPushButton).text() == "Checking…"
    update = ModelUpdate(path=model.path, repo="maker/Qwen3-8B-GGUF", file="Qwen3-8B-Q8_0.gguf", n_bytes=9 * GB)
    fake.library.checking_updates, fake.library.updates = False, {model.path: update}
    fake.library.updates_changed.emit()
    assert status(fake) == ["Newer one"]
    assert "1 model has a newer file." in fake.texts()
    fake.click("updateModelButton")
    assert fake.downloads.calls[-1][:3] == ("start", update.repo, update.file)


def test_a_check_that_fails_says_why(fake: Manager) -> None:
    tell_models(fake, installed("Qwen3-8B", "Q8_0", 8.7))
    fake.library.checking_updates = True
    fake.library.updates_changed.emit()
    fake.library.checking_updates = False
    fake.library.update_problem = VrambleError("hub-offline", "The Hub cannot be reached.", "Check the network.")
    fake.library.updates_changed.emit()
    assert "The Hub cannot be reached. Check the network." in fake.texts()


def test_long_work_has_a_row_with_progress_and_an_end(fake: Manager, monkeypatch: pytest.MonkeyPatch) -> None:
    tell_models(fake, installed("Qwen3-8B", "Q8_0", 8.7))
    task = LibraryTask(
        id=3, kind=TaskKind.MOVE, label="Qwen3-8B Q8_0", state=TaskState.RUNNING, done_bytes=GB, total_bytes=4 * GB,
        rate=1e8, seconds_left=30.0,
    )  # fmt: skip
    fake.library.set_tasks(task)
    line = fake.find("taskLine", QLabel).text()
    assert line == "Moving Qwen3-8B Q8_0 · 1.00 GB of 4.00 GB · 100 MB/s · 30 s left"
    fake.click("cancelTask")
    assert fake.library.calls[-1] == ("cancel", 3)
    fake.library.set_tasks(
        msgspec.structs.replace(task, state=TaskState.DONE, kind=TaskKind.VERIFY, wrong=(Path("x"),))
    )
    assert "not right" in fake.find("taskLine", QLabel).text()
    fake.click("dismissTask")
    assert fake.library.calls[-1] == ("dismiss", 3)
    monkeypatch.setattr("ui.library.keep.task_strip.GOOD_MS", 0)
    fake.library.calls.clear()
    fake.library.task_ended.emit(msgspec.structs.replace(task, state=TaskState.DONE))
    fake.until(lambda: ("dismiss", 3) in fake.library.calls)
    assert GOOD_MS > 0


def test_folders_are_taken_off_the_list_and_shown_again(fake: Manager) -> None:
    hidden = fake.library.roots[1]
    fake.library.hidden_roots = (hidden,)
    tell_models(fake, installed("Qwen3-8B", "Q8_0", 8.7))
    fake.choose("rootsList", "Own folder")
    fake.find("rootsList").setFocus()
    fake.press(Qt.Key.Key_Delete)
    assert not fake.shows("questionBar")
    fake.choose("rootsList", "Ollama")
    fake.press(Qt.Key.Key_Delete)
    assert "Its files stay as they are." in fake.find("questionBar").accessibleName()
    fake.click("confirmButton")
    assert fake.library.calls[-1] == ("remove_root", hidden.id)
    fake.trigger("moreRootButton", "Show in file manager")
    assert fake.opened == [hidden.path]
    fake.trigger("moreRootButton", "Ollama")
    assert fake.library.calls[-1] == ("show_root", hidden.id)


# ---- files from elsewhere


def drop(manager: Manager, *paths: Path) -> None:
    """Drag files over the page and let go."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    page, buttons, keys = manager.window.library, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(300, 300), Qt.DropAction.CopyAction, data, buttons, keys)
    page.dragEnterEvent(enter)
    if enter.isAccepted():
        page.dropEvent(QDropEvent(QPointF(300, 300), Qt.DropAction.CopyAction, data, buttons, keys))


@pytest.mark.parametrize(("button", "how"), [("Move", "MOVE"), ("Copy", "COPY"), ("Link", "LINK")])
def test_dropped_files_are_imported_as_one_likes(fake: Manager, button: str, how: str) -> None:
    tell_models(fake, installed("Qwen3-8B", "Q8_0", 8.7))
    files = (Path("/else/a.gguf"), Path("/else/b.GGUF"))
    drop(fake, *files, Path("/else/picture.png"))
    assert "Take 2 files over, a.gguf among them?" in fake.find("questionBar").accessibleName()
    fake.click_text(button)
    assert fake.library.calls[-1] == ("import_files", files, getattr(ImportMode, how), "")


def test_a_dropped_folder_is_used_where_it_is(fake: Manager) -> None:
    tell_models(fake, installed("Qwen3-8B", "Q8_0", 8.7))
    drop(fake, Path("/else/models"))
    assert "where they are" in fake.find("questionBar").accessibleName()
    fake.library.outcomes = {"add_root": VrambleError("root-inside", "It lies in a folder that is there already.")}
    fake.click("confirmButton")
    assert fake.library.calls[-1] == ("add_root", Path("/else/models"))
    assert "It lies in a folder that is there already." in fake.texts()


def test_other_files_are_not_taken(fake: Manager) -> None:
    tell_models(fake, installed("Qwen3-8B", "Q8_0", 8.7))
    drop(fake, Path("/else/picture.png"))
    assert not fake.shows("questionBar")


def test_an_empty_library_leads_to_discover_and_to_import(fake: Manager) -> None:
    fake.tab(LIBRARY)
    assert fake.shows("emptyImportButton")
    fake.click("emptyGetButton")
    assert fake.page() == DISCOVER
    assert fake.window.focusWidget() is fake.find("discoverSearch")

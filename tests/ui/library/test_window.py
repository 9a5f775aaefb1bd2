"""The model manager driven by mouse and keyboard, with real services and a local Hub."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit, QPushButton, QTableView, QTabWidget

from app.downloads.service import JobState
from engine.downloads.partial import PartRecord, part_path, write_record
from engine.protocol.types import ModelInfo
from tests.engine.downloads.conftest import content
from tests.engine.library.making import llama
from tests.fakes.local_hub import LocalHub, Refusal
from tests.ui.library.conftest import GEMMA, QWEN, REPO, Manager
from tests.ui.shell.standins import model_info
from ui.theme import TARGET_SIZE, Theme, ThemeMode

FILE = "small-Q4_K_M.gguf"
INSTALLED, GET, DOWNLOADS = range(3)


def tab(manager: Manager, number: int) -> None:
    manager.press(Qt.Key(Qt.Key.Key_1 + number), Qt.KeyboardModifier.ControlModifier)
    assert manager.find("managerTabs", QTabWidget).currentIndex() == number


def rows(manager: Manager, name: str) -> list[list[str]]:
    model = manager.find(name, QTableView).model()
    return [
        [model.index(row, column).data() for column in range(model.columnCount())] for row in range(model.rowCount())
    ]


def choose(manager: Manager, name: str, text: str) -> None:
    """Click the row whose first cell is ``text``."""
    view = manager.find(name, QTableView)
    for row in range(view.model().rowCount()):
        index = view.model().index(row, 0)
        if index.data() == text:
            QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(index).center())
            return
    raise AssertionError(f"no row {text}")


def list_files(manager: Manager, repo: str = REPO) -> None:
    tab(manager, GET)
    manager.find("repoEdit", QLineEdit).setFocus()
    manager.find("repoEdit", QLineEdit).clear()
    manager.type(repo)
    manager.click("listFilesButton")
    manager.until(lambda: not manager.downloads.listing)


def download(manager: Manager, state: JobState) -> None:
    list_files(manager)
    manager.click("downloadButton")
    manager.until(lambda: bool(manager.downloads.jobs) and manager.downloads.jobs[-1].state is state)
    manager.until(lambda: manager.shows("downloadsList"))


# ---- installed


@pytest.mark.usefixtures("filled")
def test_installed_models_are_listed(manager: Manager) -> None:
    assert [row[:3] for row in rows(manager, "installedTable")] == [
        ["gemma-3-4b-it", "Q4_K_M", "117 kB"],
        ["Qwen3-8B", "Q8_0", "117 kB"],
    ]
    assert manager.find("managerTabs", QTabWidget).tabText(INSTALLED) == "Installed 2"


@pytest.mark.usefixtures("filled")
def test_load_by_mouse_by_enter_and_by_double_click(manager: Manager) -> None:
    choose(manager, "installedTable", "Qwen3-8B")
    manager.click("loadModelButton")
    manager.press(Qt.Key.Key_Up)
    manager.find("installedTable").setFocus()
    manager.press(Qt.Key.Key_Up)
    manager.press(Qt.Key.Key_Return)
    view = manager.find("installedTable", QTableView)
    place = view.visualRect(view.model().index(1, 0)).center()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert manager.loads == [manager.models / QWEN, manager.models / GEMMA, manager.models / QWEN]


@pytest.mark.usefixtures("filled")
def test_load_options_by_mouse_and_by_shift_enter(manager: Manager) -> None:
    wanted: list[Path] = []
    manager.window.options_requested.connect(wanted.append)
    manager.click("loadWithOptionsButton")
    manager.find("installedTable").setFocus()
    manager.press(Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    chosen = wanted[0]
    assert wanted == [chosen, chosen]
    assert manager.loads == []
    manager.worker.set_model(model_info(str(chosen)))
    assert manager.find("loadWithOptionsButton", QPushButton).text() == "Change options…"
    manager.click("loadWithOptionsButton")
    assert len(wanted) == 3
    manager.worker.set_model(None)


@pytest.mark.usefixtures("filled")
def test_the_loaded_model_is_marked(manager: Manager) -> None:
    info: ModelInfo = model_info(path=str(manager.models / QWEN))
    manager.worker.set_model(info)
    assert [row[4] for row in rows(manager, "installedTable")] == ["Ready", "Loaded"]
    choose(manager, "installedTable", "Qwen3-8B")
    assert not manager.find("loadModelButton", QPushButton).isEnabled()
    manager.worker.set_model(None)
    assert manager.find("loadModelButton", QPushButton).isEnabled()


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize("page", range(3))
def test_escape_closes_the_window_from_every_page(manager: Manager, page: int) -> None:
    tab(manager, page)
    manager.press(Qt.Key.Key_Tab)
    manager.press(Qt.Key.Key_Escape)
    manager.until(lambda: not manager.window.isVisible())


@pytest.mark.usefixtures("filled")
def test_escape_answers_a_question_before_it_closes_the_window(manager: Manager) -> None:
    choose(manager, "installedTable", "Qwen3-8B")
    manager.click("deleteModelButton")
    manager.press(Qt.Key.Key_Escape)
    assert manager.window.isVisible()
    manager.press(Qt.Key.Key_Escape)
    assert not manager.window.isVisible()


@pytest.mark.parametrize("starter", [True, False])
def test_a_delete_that_frees_nothing_says_where_the_file_stays(
    manager: Manager, filled: Path, tmp_path: Path, starter: bool
) -> None:
    other = tmp_path / ("Qwen3-8B-Q8_0.gguf" if starter else "mine.gguf")
    os.link(filled / QWEN, other)
    manager.library._starter = other
    manager.library.rescan()
    manager.until(lambda: not manager.library.scanning)
    tab(manager, INSTALLED)
    choose(manager, "installedTable", "Qwen3-8B")
    manager.click("deleteModelButton")
    question: str = manager.find("questionBar").accessibleName()
    assert "No space is freed" in question
    assert ("the installation keeps its own copy" in question) is starter


@pytest.mark.usefixtures("filled")
def test_show_folder(manager: Manager) -> None:
    choose(manager, "installedTable", "Qwen3-8B")
    manager.click("showFolderButton")
    assert manager.opened == [(manager.models / QWEN).parent]


@pytest.mark.usefixtures("filled")
def test_delete_asks_first_and_says_what_it_frees(manager: Manager) -> None:
    choose(manager, "installedTable", "Qwen3-8B")
    manager.click("deleteModelButton")
    question: str = manager.find("questionBar").accessibleName()
    assert "Qwen3-8B Q8_0" in question
    assert "This frees" in question
    manager.click("keepButton")
    assert manager.files() == sorted([GEMMA, QWEN])
    manager.press(Qt.Key.Key_Delete)
    manager.find("questionBar")
    manager.press(Qt.Key.Key_Escape)
    assert not manager.shows("questionBar")
    manager.press(Qt.Key.Key_Delete)
    manager.click("confirmButton")
    manager.until(lambda: [row[0] for row in rows(manager, "installedTable")] == ["gemma-3-4b-it"])
    assert manager.files() == [GEMMA]


@pytest.mark.usefixtures("filled")
def test_a_loaded_model_is_unloaded_before_it_is_deleted(manager: Manager) -> None:
    manager.worker.set_model(model_info(path=str(manager.models / QWEN)))
    choose(manager, "installedTable", "Qwen3-8B")
    manager.click("deleteModelButton")
    assert "unloaded first" in manager.find("questionBar").accessibleName()
    manager.click("confirmButton")
    assert manager.worker.unloads == 1
    manager.until(lambda: manager.files() == [GEMMA])


@pytest.mark.usefixtures("filled")
def test_a_link_is_removed_as_a_link(manager: Manager, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere.gguf"
    target.write_bytes(llama())
    (manager.models / "linked.gguf").symlink_to(target)
    manager.press(Qt.Key.Key_F5)
    manager.until(lambda: len(rows(manager, "installedTable")) == 3)
    choose(manager, "installedTable", "linked")
    manager.click("deleteModelButton")
    assert "stays" in manager.find("questionBar").accessibleName()
    manager.click("confirmButton")
    manager.until(lambda: len(rows(manager, "installedTable")) == 2)
    assert target.exists()


def test_a_damaged_model_cannot_be_loaded_and_says_why(models: Path, request: pytest.FixtureRequest) -> None:
    (models / "cut.gguf").write_bytes(llama()[:-5000])
    manager: Manager = request.getfixturevalue("manager")
    assert rows(manager, "installedTable")[0][4] == "Incomplete"
    assert not manager.find("loadModelButton", QPushButton).isEnabled()
    assert "incomplete" in manager.find("modelDetails", QLabel).text()
    manager.find("installedTable").setFocus()
    manager.press(Qt.Key.Key_Return)
    assert manager.loads == []


def test_a_name_that_is_no_text_can_be_loaded_and_deleted(models: Path, request: pytest.FixtureRequest) -> None:
    odd = Path(os.fsdecode(os.fsencode(models) + b"/odd\xff.gguf"))
    odd.write_bytes(llama())
    manager: Manager = request.getfixturevalue("manager")
    assert rows(manager, "installedTable")[0][0] == "odd\ufffd"
    manager.click("loadModelButton")
    assert manager.loads == [odd]
    manager.click("deleteModelButton")
    manager.click("confirmButton")
    manager.until(lambda: not odd.exists())


def test_search_leaves_what_fits(models: Path, request: pytest.FixtureRequest) -> None:
    for number in range(8):
        (models / f"model-{number}x.gguf").write_bytes(llama())
    manager: Manager = request.getfixturevalue("manager")
    manager.find("searchEdit").setFocus()
    manager.type("5X")
    assert [row[0] for row in rows(manager, "installedTable")] == ["model-5x"]
    manager.click("loadModelButton")
    assert manager.loads == [models / "model-5x.gguf"]


def test_without_a_model_the_window_shows_where_to_get_one(manager: Manager) -> None:
    assert manager.find("managerTabs", QTabWidget).currentIndex() == GET
    tab(manager, INSTALLED)
    manager.click("emptyGetButton")
    assert manager.find("managerTabs", QTabWidget).currentIndex() == GET
    assert manager.window.focusWidget() is manager.find("repoEdit")


# ---- get and downloads


def test_a_download_by_mouse_from_listing_to_load(manager: Manager, hub: LocalHub) -> None:
    file = hub.add(REPO, FILE, llama())
    hub.add(REPO, "small-Q8_0.gguf", content(200_000))
    list_files(manager)
    assert [[*row[:2], row[3]] for row in rows(manager, "filesTable")] == [
        ["Q4_K_M", "117 kB", FILE],
        ["Q8_0", "200 kB", "small-Q8_0.gguf"],
    ]
    assert manager.find("downloadButton", QPushButton).text() == "Download (117 kB)"
    manager.click("downloadButton")
    manager.until(lambda: manager.shows("loadDownloadedButton"))
    assert "checksum right" in manager.find("downloadLine", QLabel).text()
    target = manager.models / REPO / FILE
    assert target.read_bytes() == file.data
    manager.click("loadDownloadedButton")
    assert manager.loads == [target]
    tab(manager, INSTALLED)
    manager.until(lambda: [row[0] for row in rows(manager, "installedTable")] == ["small"])
    tab(manager, GET)
    assert [row[4] for row in rows(manager, "filesTable")] == ["Installed", ""]


def test_a_download_by_keyboard_alone(manager: Manager, hub: LocalHub) -> None:
    hub.add(REPO, FILE, llama())
    tab(manager, GET)
    manager.window.show_get()
    manager.type(f"{hub.url}/{REPO}")
    manager.press(Qt.Key.Key_Return)
    manager.until(lambda: manager.shows("filesTable"))
    assert manager.window.focusWidget() is manager.find("filesTable")
    manager.press(Qt.Key.Key_Return)
    manager.until(lambda: manager.shows("loadDownloadedButton"))
    button = manager.find("loadDownloadedButton", QPushButton)
    button.setFocus()
    manager.press(Qt.Key.Key_Space)
    assert manager.loads == [manager.models / REPO / FILE]


def test_cancel_leaves_nothing(manager: Manager, hub: LocalHub) -> None:
    hub.add(REPO, FILE, content(), pause_after=100_000)
    download(manager, JobState.LOADING)
    manager.until(lambda: manager.files() != [])
    manager.click("cancelDownloadButton")
    manager.until(lambda: not manager.shows("cancelDownloadButton"))
    manager.until(lambda: manager.files() == [])
    assert manager.downloads.jobs == ()


def test_a_wrong_checksum_is_a_sentence_and_can_be_tried_again(manager: Manager, hub: LocalHub) -> None:
    data = content()
    file = hub.add(REPO, FILE, data, body=data[:-4] + b"oops")
    download(manager, JobState.FAILED)
    manager.until(lambda: manager.shows("downloadProblem"))
    assert "checksum is wrong" in manager.find("downloadProblem", QLabel).text()
    assert not [name for name in manager.files() if name.endswith(".gguf")]
    assert manager.find("retryDownloadButton", QPushButton).text() == "Try again"
    file.body = None
    manager.click("retryDownloadButton")
    manager.until(lambda: manager.shows("loadDownloadedButton"))
    assert manager.files() == [f"{REPO}/{FILE}"]


def test_a_failed_download_says_how_far_it_is_and_resumes(manager: Manager, hub: LocalHub) -> None:
    file = hub.add(REPO, FILE, content(), cut_after=100_000, cut_times=1)
    file.body_refusal = Refusal(403)
    download(manager, JobState.FAILED)
    manager.until(lambda: manager.shows("downloadProblem"))
    assert manager.find("downloadProblem", QLabel).text()
    file.body_refusal = None
    manager.click("retryDownloadButton")
    manager.until(lambda: manager.shows("loadDownloadedButton"))


@pytest.mark.parametrize(
    ("refusal", "words"),
    [
        (Refusal(401, "GatedRepo"), "gated"),
        (Refusal(401, "RepoNotFound"), "no repository"),
        (Refusal(429, headers={"Retry-After": "7"}), "7 seconds"),
    ],
)
def test_a_listing_that_is_refused_says_why(manager: Manager, hub: LocalHub, refusal: Refusal, words: str) -> None:
    hub.add(REPO, FILE, content(1000))
    hub.refusals[REPO] = refusal
    list_files(manager)
    assert any(words in label.text() for label in manager.window.findChildren(QLabel) if label.isVisible())
    del hub.refusals[REPO]
    again = next(b for b in manager.window.findChildren(QPushButton) if b.text() == "Try again" and b.isVisible())
    again.click()
    manager.until(lambda: manager.shows("filesTable"))


def test_a_name_that_is_no_repository_asks_nobody(manager: Manager, hub: LocalHub) -> None:
    list_files(manager, "just-words")
    assert any("does not name a repository" in label.text() for label in manager.window.findChildren(QLabel))
    assert hub.log == []


def test_a_repository_without_models(manager: Manager, hub: LocalHub) -> None:
    hub.add(REPO, "README.md", b"text")
    list_files(manager)
    assert any("holds no GGUF files" in label.text() for label in manager.window.findChildren(QLabel))


def test_a_listing_can_be_stopped(manager: Manager, hub: LocalHub) -> None:
    hub.add(REPO, FILE, content(1000))
    tab(manager, GET)
    edit = manager.find("repoEdit", QLineEdit)
    edit.setText(REPO)
    button = manager.find("listFilesButton", QPushButton)
    manager.click("listFilesButton")
    assert button.text() == "Stop"
    manager.click("listFilesButton")
    assert button.text() == "List files"
    assert not manager.downloads.listing


def test_a_wrong_name_ends_a_listing_that_runs(manager: Manager, hub: LocalHub) -> None:
    """Else the answer to the earlier question would appear below the error."""
    hub.add(REPO, FILE, llama())
    edit = manager.find("repoEdit", QLineEdit)
    edit.setText(REPO)
    manager.click("listFilesButton")
    edit.setText("no repository")
    edit.setFocus()
    manager.press(Qt.Key.Key_Return)
    assert not manager.downloads.listing
    assert manager.find("listFilesButton", QPushButton).text() == "List files"


def test_an_interrupted_download_offers_to_resume(models: Path, hub: LocalHub, request: pytest.FixtureRequest) -> None:
    file = hub.add(REPO, FILE, llama())
    target = models / REPO / FILE
    target.parent.mkdir(parents=True)
    part_path(target).write_bytes(file.data[:50_000])
    write_record(target, PartRecord(repo=REPO, path=FILE, size=len(file.data), sha256=file.sha256, etag=file.sha256))
    manager: Manager = request.getfixturevalue("manager")
    manager.until(lambda: bool(manager.downloads.jobs))
    tab(manager, DOWNLOADS)
    assert manager.find("managerTabs", QTabWidget).tabText(DOWNLOADS) == "Downloads 1"
    assert manager.find("retryDownloadButton", QPushButton).text() == "Resume"
    manager.click("retryDownloadButton")
    manager.until(lambda: manager.shows("loadDownloadedButton"))
    assert hub.requests("GET")[-1].range == "bytes=50000-"
    manager.click("dismissDownloadButton")
    manager.until(lambda: not manager.shows("dismissDownloadButton"))


# ---- size and reach


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize("page", [INSTALLED, GET, DOWNLOADS])
def test_targets_names_and_room(manager: Manager, theme: Theme, page: int) -> None:
    theme.set_mode(ThemeMode.DARK)
    manager.window.resize(900, 560)
    tab(manager, page)
    manager.qtbot.wait(1)
    for button in manager.window.findChildren(QAbstractButton):
        if button.isVisible() and button.objectName() not in ("", "qt_toolbar_ext_button"):
            assert button.height() >= TARGET_SIZE, button.objectName()
            assert button.accessibleName() or button.text(), button.objectName()
            assert manager.window.rect().contains(button.mapTo(manager.window, button.rect().bottomRight()))
    assert manager.window.size().width() == 900


@pytest.mark.usefixtures("filled")
def test_narrow_windows_leave_columns_out(manager: Manager) -> None:
    view = manager.find("installedTable", QTableView)
    manager.window.resize(1180, 740)
    manager.until(lambda: not view.isColumnHidden(5))
    manager.window.resize(900, 560)
    manager.until(lambda: view.isColumnHidden(5))
    assert view.horizontalScrollBar().maximum() == 0

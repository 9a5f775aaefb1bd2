"""The own file picker in place of file dialogs."""

from __future__ import annotations

import errno
import os

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QLabel, QLineEdit, QListView, QPushButton

from tests.ui.game.conftest import Stage
from ui.picker.wish import Filter, Kind, Wish, file_name, filter_of
from ui.shell.dialogs import show_dialog
from ui.shell.picking import wish_of

MODES = QFileDialog.FileMode


class Asked:
    """A file dialog and what it told."""

    def __init__(self, stage: Stage, mode: QFileDialog.FileMode = MODES.ExistingFiles, *, save: str = "") -> None:
        self.paths: list[str] = []
        self.ends: list[int] = []
        dialog = QFileDialog(stage.find("first"), "Import models", str(stage.home))
        dialog.setNameFilters(["Models (*.gguf)", "All files (*)"])
        dialog.setFileMode(mode)
        if save:
            dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
            dialog.setDefaultSuffix("json")
            dialog.selectFile(save)
        dialog.filesSelected.connect(self.paths.extend)
        dialog.finished.connect(self.ends.append)
        stage.find("first").setFocus()
        show_dialog(dialog)


def rows(stage: Stage) -> list[str]:
    view = stage.find("pickerList", QListView)
    assert isinstance(view, QListView)
    model = view.model()
    return [model.index(row, 0).data() for row in range(model.rowCount())] if view.isVisible() else []


def nothing(stage: Stage) -> str:
    place = stage.find("pickerNothing")
    return " ".join(label.text() for label in place.findChildren(QLabel)).strip() if place.isVisible() else ""


def take(stage: Stage) -> QPushButton:
    button = stage.find("pickerTake")
    assert isinstance(button, QPushButton)
    return button


def test_files_by_keyboard(stage: Stage) -> None:
    (stage.home / "folder").mkdir()
    (stage.home / "folder" / "model.gguf").write_bytes(b"x")
    (stage.home / "folder" / "notes.txt").write_bytes(b"x")
    asked = Asked(stage)
    stage.until(lambda: rows(stage) == ["folder"])
    assert stage.focus() == "pickerList"
    stage.press(Qt.Key.Key_Return)
    stage.until(lambda: rows(stage) == ["model.gguf"])
    assert not take(stage).isEnabled()
    stage.press(Qt.Key.Key_Return)
    assert asked.paths == [str(stage.home / "folder/model.gguf")]
    assert asked.ends == [1]
    assert stage.focus() == "first"


def test_several_files_by_taps(stage: Stage) -> None:
    for name in ("a.gguf", "b.gguf", "c.gguf"):
        (stage.home / name).write_bytes(b"x")
    asked = Asked(stage)
    stage.until(lambda: len(rows(stage)) == 3)
    view = stage.find("pickerList", QListView)
    assert isinstance(view, QListView)
    for row in (0, 2):
        middle = view.visualRect(view.model().index(row, 0)).center()
        stage.qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    assert take(stage).text() == "Take 2 files"
    stage.click("pickerTake")
    assert asked.paths == [str(stage.home / "a.gguf"), str(stage.home / "c.gguf")]


def test_a_tap_opens_a_folder_and_backspace_goes_up_to_it(stage: Stage) -> None:
    for name in ("one", "two"):
        (stage.home / name).mkdir()
    (stage.home / "two" / "inside").mkdir()
    asked = Asked(stage, MODES.Directory)
    stage.until(lambda: rows(stage) == ["one", "two"])
    view = stage.find("pickerList", QListView)
    assert isinstance(view, QListView)
    middle = view.visualRect(view.model().index(1, 0)).center()
    stage.qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    stage.until(lambda: rows(stage) == ["inside"])
    stage.press(Qt.Key.Key_Backspace)
    stage.until(lambda: rows(stage) == ["one", "two"])
    assert view.currentIndex().data() == "two"
    stage.press(Qt.Key.Key_Return)
    stage.until(lambda: rows(stage) == ["inside"])
    assert take(stage).text() == "Use this folder"
    stage.click("pickerTake")
    assert asked.paths == [str(stage.home / "two")]


def test_empty_folders_say_so_and_keep_a_way_out_by_keyboard(stage: Stage) -> None:
    (stage.home / "empty").mkdir()
    Asked(stage)
    stage.until(lambda: rows(stage) == ["empty"])
    stage.press(Qt.Key.Key_Return)
    stage.until(lambda: nothing(stage) == "Nothing to choose in here. Only files that end in .gguf are shown.")
    assert stage.focus() == "pickerUp"
    stage.press(Qt.Key.Key_Space)
    stage.until(lambda: rows(stage) == ["empty"])


def test_a_forbidden_folder_is_one_sentence(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    (stage.home / "locked").mkdir()
    Asked(stage, MODES.Directory)
    stage.until(lambda: rows(stage) == ["locked"])

    def refuse(_path: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "scandir", refuse)
    stage.press(Qt.Key.Key_Return)
    stage.until(lambda: nothing(stage) == "You are not allowed to look into this folder.")
    assert not take(stage).isEnabled()


def test_other_files_are_shown_on_request(stage: Stage) -> None:
    (stage.home / "adapter.bin").write_bytes(b"x")
    Asked(stage, MODES.ExistingFile)
    stage.until(lambda: nothing(stage) != "")
    filters = stage.find("pickerFilter")
    filters.setCurrentIndex(1)  # type: ignore[attr-defined]
    stage.until(lambda: rows(stage) == ["adapter.bin"])


def test_saving_asks_before_it_replaces(stage: Stage) -> None:
    (stage.home / "Report.json").write_text("old")
    asked = Asked(stage, save="Report.json")
    field = stage.find("pickerName", QLineEdit)
    assert isinstance(field, QLineEdit)
    assert field.text() == "Report.json"
    assert stage.focus() == "pickerName"
    stage.until(lambda: stage.find("pickerPath").text() == str(stage.home))  # type: ignore[attr-defined]
    filters = stage.find("pickerFilter")
    filters.setCurrentIndex(1)  # type: ignore[attr-defined]
    stage.until(lambda: rows(stage) == ["Report.json"])
    field.setFocus()
    stage.press(Qt.Key.Key_Return)
    assert "Report.json is there already." in stage.find("questionBar").accessibleName()
    stage.press(Qt.Key.Key_Escape)
    assert asked.paths == []
    field.setText("New/name")
    field.setFocus()
    stage.press(Qt.Key.Key_Return)
    assert asked.paths == [str(stage.home / "New-name.json")]


def test_escape_picks_nothing_and_the_next_picker_begins_there(stage: Stage) -> None:
    (stage.home / "deep").mkdir()
    asked = Asked(stage)
    stage.until(lambda: rows(stage) == ["deep"])
    stage.press(Qt.Key.Key_Return)
    stage.until(lambda: nothing(stage) != "")
    stage.press(Qt.Key.Key_Escape)
    stage.until(lambda: asked.ends == [0])
    assert asked.paths == []
    assert stage.pages.last_folder == stage.home / "deep"
    plain = QFileDialog(stage.find("first"))
    assert wish_of(plain, stage.pages.last_folder).start == stage.home / "deep"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Models (*.gguf)", Filter("Models", (".gguf",))),
        ("Exports (*.json *.JSONL)", Filter("Exports", (".json", ".jsonl"))),
        ("All files (*)", Filter("All files", ("",))),
        ("Anything", Filter("Anything", ("",))),
    ],
)
def test_filters_as_qt_writes_them(text: str, expected: Filter) -> None:
    assert filter_of(text) == expected


@pytest.mark.parametrize(
    ("typed", "chosen", "expected"),
    [
        (" a ", 0, "a.json"),
        ("a.md", 0, "a.md"),
        ("Qwen2.5-7B", 0, "Qwen2.5-7B.json"),
        ("Qwen2.5-7B", 1, "Qwen2.5-7B.md"),
        ("A.JSON", 1, "A.JSON"),
        ("", 0, ""),
        ("..", 0, ""),
        ("a/b", 0, "a-b.json"),
    ],
)
def test_names_of_files(typed: str, chosen: int, expected: str) -> None:
    wish = Wish(Kind.SAVE, "Save", (Filter("JSON", (".json",)), Filter("Markdown", (".md",))), suffix="json")
    assert file_name(typed, wish, chosen) == expected


def test_the_suffix_holds_where_every_file_is_shown() -> None:
    assert file_name("a", Wish(Kind.SAVE, "Save", suffix="zip"), -1) == "a.zip"
    assert file_name("a", Wish(Kind.SAVE, "Save"), -1) == "a"

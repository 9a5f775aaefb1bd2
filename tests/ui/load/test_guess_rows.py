"""Draft model and n-gram lookup in the load dialog."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QLineEdit, QSpinBox

from app.load.drafts import DraftChoice
from tests.ui.load.conftest import GIB, OpenDialog, Source
from ui.load.guess_rows import DraftRow

SMALL = DraftChoice(Path("/models/owner/repo/Qwen3-0.6B-Q4_K_M.gguf"), "Qwen3 0.6B Q4_K_M", GIB // 2)
LARGER = DraftChoice(Path("/models/owner/repo/Qwen3-1.7B-Q4_K_M.gguf"), "Qwen3 1.7B Q4_K_M", GIB)
DEPENDENT = ("draft_gpu_layersRow", "n_draftRow", "n_draft_minRow", "draft_p_minRow")


def test_without_a_smaller_model_it_says_so(open_dialog: OpenDialog) -> None:
    opened = open_dialog()
    opened.dialog.show_advanced()
    row = opened.find("draftRow", DraftRow)
    assert any("no much smaller model" in label.text() for label in row.findChildren(QLabel))
    assert not any(opened.shows(name) for name in DEPENDENT)
    assert opened.changes() == {}


def test_a_model_of_the_library_is_chosen_and_left_out_again(open_dialog: OpenDialog, source: Source) -> None:
    source.smaller = (SMALL, LARGER)
    opened = open_dialog()
    opened.dialog.show_advanced()
    combo = opened.find("draft", QComboBox)
    assert [combo.itemText(place) for place in range(combo.count())] == [
        "None",
        "Qwen3 0.6B Q4_K_M, 0.5 GiB",
        "Qwen3 1.7B Q4_K_M, 1.0 GiB",
        "Choose a file…",
    ]
    combo.setCurrentIndex(1)
    combo.activated.emit(1)
    assert opened.changes() == {"draft": str(SMALL.path)}
    assert all(opened.shows(name) for name in DEPENDENT)
    opened.find("n_draft", QSpinBox).setValue(12)
    opened.find("draft_p_min", QLineEdit).setText("0.75")
    opened.find("draft_p_min", QLineEdit).textEdited.emit("0.75")
    assert (opened.options.n_draft, opened.options.draft_p_min) == (12, 0.75)
    combo.activated.emit(0)
    assert opened.options.draft is None
    assert not any(opened.shows(name) for name in DEPENDENT)


def test_a_file_from_elsewhere_stays_in_the_list(open_dialog: OpenDialog, source: Source) -> None:
    source.smaller = (SMALL,)
    opened = open_dialog()
    opened.dialog.show_advanced()
    opened.find("draftRow", DraftRow).take_file("/elsewhere/guesser.gguf")
    combo = opened.find("draft", QComboBox)
    assert combo.currentText() == "guesser.gguf"
    assert opened.options.draft == "/elsewhere/guesser.gguf"


def test_one_that_was_remembered_is_shown_without_unfolding(open_dialog: OpenDialog) -> None:
    opened = open_dialog(draft="/gone/guesser.gguf")
    assert opened.find("draft", QComboBox).currentText() == "guesser.gguf"
    assert opened.shows("draftRow")


def test_a_model_appears_when_its_header_was_read(open_dialog: OpenDialog, source: Source) -> None:
    opened = open_dialog()
    opened.dialog.show_advanced()
    source.smaller = (SMALL,)
    opened.dialog.refresh()
    assert opened.find("draft", QComboBox).itemText(1).startswith("Qwen3 0.6B")


def test_lookup_by_itself(open_dialog: OpenDialog) -> None:
    opened = open_dialog()
    opened.dialog.show_advanced()
    opened.find("ngram", QCheckBox).click()
    assert opened.changes() == {"ngram": True}
    assert (opened.shows("n_draftRow"), opened.shows("draft_p_minRow")) == (True, False)
    opened.find("n_draft_min", QSpinBox).setValue(20)
    assert opened.draft.problems[0].field == "n_draft_min"
    opened.draft.recommend()
    assert opened.options.ngram

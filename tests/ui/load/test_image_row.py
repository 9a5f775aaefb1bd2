"""The image encoder in the load dialog."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QAbstractButton, QCheckBox, QComboBox, QLabel, QPushButton

from engine.library.records import InstalledModel
from engine.memory.fit.image import Encoder
from engine.memory.fit.records import Piece
from engine.protocol.types import LoadOptions
from tests.ui.load.conftest import GIB, OpenDialog, Source, fit_model, model_facts
from ui.load.image_row import ImageRow
from ui.load.suggestions import WrappedButton

SMALL = Encoder(path="/models/owner/repo/mmproj-Q8_0.gguf", weights=GIB // 2, work=GIB // 4, widths=(4096,))
LARGE = Encoder(path="/models/owner/repo/mmproj-F16.gguf", weights=GIB, work=GIB // 4, widths=(4096,))


def test_without_one_beside_the_model_nothing_is_asked(open_dialog: OpenDialog) -> None:
    assert not open_dialog().shows("mmprojRow")


def test_it_is_off_unless_asked_and_its_memory_is_shown(open_dialog: OpenDialog, source: Source) -> None:
    source.beside = (SMALL,)
    opened = open_dialog()
    assert opened.shows("mmprojRow")
    assert opened.changes() == {}
    before = opened.draft.forecast()
    row = opened.find("mmprojRow", ImageRow)
    assert any("mmproj-Q8_0.gguf, 0.8 GiB" in label.text() for label in row.findChildren(QLabel))
    assert not opened.shows("mmprojFile")
    opened.find("mmproj", QCheckBox).click()
    assert opened.changes() == {"mmproj": SMALL.path}
    after = opened.draft.forecast()
    assert before is not None
    assert after is not None
    assert after.total - before.total == SMALL.size
    assert opened.find("loadOptionsButton", QPushButton).text().startswith("Load (")
    opened.find("mmproj", QCheckBox).click()
    assert opened.changes() == {}


def test_one_of_several_is_chosen(open_dialog: OpenDialog, source: Source) -> None:
    source.beside = (SMALL, LARGE)
    opened = open_dialog()
    combo = opened.find("mmprojFile", QComboBox)
    assert opened.shows("mmprojFile")
    assert not combo.isEnabled()
    opened.find("mmproj", QCheckBox).click()
    assert opened.options.mmproj == SMALL.path
    combo.setCurrentIndex(1)
    assert opened.options.mmproj == LARGE.path
    opened.find("mmprojReset", QAbstractButton).click()
    assert opened.options.mmproj is None


def test_one_that_was_remembered_and_is_gone_can_be_switched_off(open_dialog: OpenDialog) -> None:
    opened = open_dialog(mmproj="/elsewhere/mmproj.gguf")
    box = opened.find("mmproj", QCheckBox)
    assert opened.shows("mmprojRow")
    assert box.isChecked()
    box.click()
    assert opened.options.mmproj is None


def test_it_appears_when_its_header_was_read(open_dialog: OpenDialog, source: Source) -> None:
    opened = open_dialog()
    source.beside = (SMALL,)
    opened.draft.refresh()
    assert opened.shows("mmprojRow")


def test_leaving_it_out_is_offered_where_only_it_is_too_much(open_dialog: OpenDialog, source: Source) -> None:
    source.beside = (Encoder(path="/m/huge.gguf", weights=300 * GIB),)
    source.known = model_facts(fit=fit_model())
    opened = open_dialog(mmproj="/m/huge.gguf")
    found = opened.draft.suggestions()
    assert [one.kind for one in found][-1:] == ["image"]
    assert found[-1].plan.options.mmproj is None


OTHER = InstalledModel(
    path=Path("/models/owner/repo/Qwen3-8B-IQ2_XS.gguf"), name="Qwen3-8B", label="Qwen3-8B IQ2_XS", quant="IQ2_XS",
    size_bytes=3 * GIB, folder=Path("/models/owner/repo"), can_chat=True,
)  # fmt: skip


def test_another_quant_that_is_here_is_one_click(open_dialog: OpenDialog, source: Source) -> None:
    source.known = model_facts(fit=fit_model(pieces=tuple(Piece(layer, 3 * GIB) for layer in range(37))))
    opened = open_dialog()
    assert not opened.shows("otherQuant")
    source.other = OTHER
    opened.draft.change(n_ctx=2048)
    assert opened.shows("otherQuant")
    button = opened.find("otherQuant", WrappedButton)
    assert button.full_text() == "Load IQ2_XS instead (3.0 GiB)"
    button.click()
    assert opened.loads == [(OTHER.path, LoadOptions(n_ctx=2048), False)]


def test_where_the_model_fits_no_other_one_is_offered(open_dialog: OpenDialog, source: Source) -> None:
    source.other = OTHER
    assert not open_dialog().shows("otherQuant")

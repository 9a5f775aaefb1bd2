"""Controls and options say the same, for any options."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import shiboken6
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QSlider, QSpinBox, QWidget

from app.load.draft import LoadDraft
from engine.protocol.types import LoadOptions
from tests.app.load.strategies import load_options
from tests.ui.load.conftest import MODEL, Source
from ui.load.dialog import LoadDialog
from ui.theme import Theme


@pytest.fixture
def dialog(source: Source, theme: Theme) -> Iterator[LoadDialog]:
    """With everything folded out."""
    made = LoadDialog(LoadDraft(MODEL, "m", LoadOptions(), source), theme)
    made.show_advanced()
    yield made
    shiboken6.delete(made)


def draft_of(dialog: LoadDialog) -> LoadDraft:
    found = dialog.findChild(LoadDraft)
    assert found is not None
    return found


def touch(widget: QWidget) -> None:
    """What a control says when its value is entered again."""
    if isinstance(widget, QSpinBox):
        widget.valueChanged.emit(widget.value())
    elif isinstance(widget, QComboBox):
        widget.currentIndexChanged.emit(widget.currentIndex())
    elif isinstance(widget, QCheckBox):
        widget.toggled.emit(widget.isChecked())
    elif isinstance(widget, QLineEdit):
        widget.textEdited.emit(widget.text())


EXACT = (
    *("n_ctx", "n_gpu_layers", "n_cpu_moe", "n_batch", "n_ubatch", "n_threads", "yarn_orig_ctx"),
    *("flash_attention", "mmap", "kv_on_cpu", "kv_type_k", "kv_type_v", "split", "rope_scaling"),
    *("rope_freq_scale", "rope_freq_base"),
    *("yarn_ext_factor", "yarn_attn_factor", "yarn_beta_fast", "yarn_beta_slow"),
)
"""Controls that show the exact value of the field they are called by."""


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)
@given(options=load_options())
def test_what_is_shown_and_entered_again_is_the_same(options: LoadOptions, dialog: LoadDialog) -> None:
    draft_of(dialog).take(options)
    assert dialog.options == options
    for name in EXACT:
        widget = dialog.findChild(QWidget, name)
        assert widget is not None, name
        touch(widget)
        assert dialog.options == options, name
    assert dialog.footer.load_button.isEnabled()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10, deadline=None)
@given(before=load_options(), after=load_options())
def test_resetting_leaves_nothing_behind(before: LoadOptions, after: LoadOptions, dialog: LoadDialog) -> None:
    draft = draft_of(dialog)
    draft.defaults = after
    draft.take(before)
    for row in dialog.rows:
        if row.reset_button.isVisibleTo(row):
            row.reset_button.click()
    assert dialog.options == after
    assert not any(row.reset_button.isVisibleTo(row) for row in dialog.rows)
    draft.take(before)
    dialog.footer.reset_all.click()
    assert dialog.options == after


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15, deadline=None)
@given(place=st.integers(0, 40))
def test_every_place_of_a_slider_is_what_it_says(place: int, dialog: LoadDialog) -> None:
    for name, field in (("n_ctxSlider", "n_ctx"), ("n_gpu_layersSlider", "n_gpu_layers")):
        slider, spin = dialog.findChild(QSlider, name), dialog.findChild(QSpinBox, field)
        assert slider is not None
        assert spin is not None
        slider.setValue(min(place, slider.maximum()))
        assert getattr(dialog.options, field) == spin.value()
        assert slider.value() == min(place, slider.maximum())

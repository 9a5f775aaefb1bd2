"""What each control changes, what keeps a load back, what the dialog says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QPushButton,
    QSlider,
    QSpinBox,
    QWidget,
)
from pytestqt.qtbot import QtBot

from engine.loading.facts import ModelFacts
from engine.memory.fit.records import Piece
from engine.protocol.types import (
    DeviceKind,
    FlashAttention,
    KvType,
    LoadOptions,
    LoraAdapter,
    RopeScaling,
    SplitMode,
)
from tests.ui.load.conftest import GIB, LAYERS, MODEL, OpenDialog, Source, fit_model, model_facts
from tests.ui.shell.standins import HELLO_CPU, PROCESSOR, RADEON
from ui.load.lora_row import LoraRow
from ui.load.row import ChoiceRow
from ui.load.suggestions import WrappedButton

SECOND = msgspec.structs.replace(RADEON, id="Vulkan1", name="AMD Radeon RX 6600 (RADV NAVI23)", pci="0000:0a:00.0")
ROCM = msgspec.structs.replace(RADEON, id="ROCm0", backend="ROCm")


def choose(combo: QComboBox, text: str) -> None:
    index = next(i for i in range(combo.count()) if text in combo.itemText(i))
    combo.setCurrentIndex(index)


def entries(combo: QComboBox) -> list[str]:
    return [combo.itemText(i) for i in range(combo.count())]


def hint_of(row: QWidget) -> str:
    assert isinstance(row, ChoiceRow)
    return "\n".join(label.text() for label in row.findChildren(QLabel) if label.isVisibleTo(row))


NUMBERS = [
    ("n_ctx", 12_345),
    ("n_gpu_layers", 7),
    ("n_batch", 64),
    ("n_ubatch", 32),
    ("n_threads", 3),
]


@pytest.mark.parametrize(("field", "value"), NUMBERS)
def test_a_typed_number_is_taken_and_reset(open_dialog: OpenDialog, qtbot: QtBot, field: str, value: int) -> None:
    opened = open_dialog()
    opened.dialog.show_advanced()
    spin = opened.find(field, QSpinBox)
    reset = opened.find(f"{field}Reset", QPushButton)
    assert not reset.isVisibleTo(opened.dialog)
    spin.setFocus()
    spin.selectAll()
    QTest.keyClicks(spin, str(value))
    QTest.keyClick(spin, Qt.Key.Key_Tab)
    assert opened.changes() == {field: value}
    assert reset.isVisibleTo(opened.dialog)
    qtbot.mouseClick(reset, Qt.MouseButton.LeftButton)
    assert opened.changes() == {}
    assert QApplication.focusWidget() is not None


COMBOS: list[tuple[str, str, dict[str, Any]]] = [
    ("kvFormat", "8-bit", {"kv_type_k": KvType.Q8_0, "kv_type_v": KvType.Q8_0}),
    ("kvFormat", "4-bit", {"kv_type_k": KvType.Q4_0, "kv_type_v": KvType.Q4_0}),
    ("kv_type_k", "8-bit", {"kv_type_k": KvType.Q8_0}),
    ("kv_type_v", "4-bit", {"kv_type_v": KvType.Q4_0}),
    ("flash_attention", "Off", {"flash_attention": FlashAttention.OFF}),
    ("mmap", "Read", {"mmap": False}),
    ("mmap", "Map", {"mmap": True}),
    ("rope_scaling", "YaRN", {"rope_scaling": RopeScaling.YARN}),
    ("place", "CPU", {"device": "cpu"}),
]


@pytest.mark.parametrize(("name", "text", "expected"), COMBOS)
def test_a_choice_is_taken(open_dialog: OpenDialog, name: str, text: str, expected: dict[str, Any]) -> None:
    opened = open_dialog()
    opened.dialog.show_advanced()
    choose(opened.find(name, QComboBox), text)
    assert opened.changes() == expected


@pytest.mark.parametrize(
    ("field", "typed", "value"),
    [
        ("rope_freq_scale", "0,5", 0.5),
        ("rope_freq_base", "1000000", 1e6),
        ("yarn_beta_fast", "32", 32.0),
        ("yarn_ext_factor", "0", 0.0),
    ],
)
def test_a_number_with_decimals_is_taken(open_dialog: OpenDialog, field: str, typed: str, value: float) -> None:
    opened = open_dialog(rope_scaling=RopeScaling.YARN)
    edit = opened.find(field, QLineEdit)
    QTest.keyClicks(edit, typed)
    assert getattr(opened.options, field) == value
    assert edit.text() == typed
    edit.selectAll()
    QTest.keyClick(edit, Qt.Key.Key_Delete)
    assert getattr(opened.options, field) == getattr(LoadOptions(), field)


def test_what_is_no_number_keeps_the_load_back(open_dialog: OpenDialog) -> None:
    opened = open_dialog(rope_scaling=RopeScaling.LINEAR)
    edit = opened.find("rope_freq_scale", QLineEdit)
    QTest.keyClicks(edit, "0.5x")
    assert "no number" in hint_of(opened.find("rope_freq_scaleRow"))
    assert not opened.dialog.footer.load_button.isEnabled()
    assert "no number" in opened.dialog.footer.load_button.accessibleDescription()
    assert edit.text() == "0.5x"
    QTest.keyClick(edit, Qt.Key.Key_Backspace)
    assert opened.dialog.footer.load_button.isEnabled()
    assert opened.options.rope_freq_scale == 0.5


def test_values_out_of_bounds_are_explained_at_their_row(open_dialog: OpenDialog) -> None:
    opened = open_dialog(rope_scaling=RopeScaling.YARN)
    QTest.keyClicks(opened.find("yarn_ext_factor", QLineEdit), "3")
    assert "from 0 to 1" in hint_of(opened.find("yarn_ext_factorRow"))
    assert "from 0 to 1" in opened.find("fitReason", QLabel).text()
    assert not opened.dialog.footer.load_button.isEnabled()
    QTest.keyClick(opened.dialog, Qt.Key.Key_Return)
    assert opened.loads == []


def test_a_quantised_cache_switches_flash_attention_on_and_says_so(open_dialog: OpenDialog) -> None:
    opened = open_dialog(flash_attention=FlashAttention.OFF)
    choose(opened.find("kvFormat", QComboBox), "8-bit")
    assert opened.options.flash_attention is FlashAttention.AUTO
    assert "switched from off" in hint_of(opened.find("kv_type_kRow"))
    choose(opened.find("flash_attention", QComboBox), "Off")
    assert not opened.dialog.footer.load_button.isEnabled()
    assert "flash attention" in hint_of(opened.find("flash_attentionRow"))
    choose(opened.find("kvFormat", QComboBox), "16-bit")
    assert opened.dialog.footer.load_button.isEnabled()


def test_odd_heads_leave_only_16_bits(open_dialog: OpenDialog, source: Source) -> None:
    source.known = model_facts(head=80)
    opened = open_dialog()
    combo = opened.find("kvFormat", QComboBox)
    enabled = [bool(combo.model().flags(combo.model().index(i, 0)) & Qt.ItemFlag.ItemIsEnabled) for i in range(3)]
    assert enabled == [True, False, False]
    assert "80" in hint_of(opened.find("kv_type_kRow"))


def test_an_odd_cache_from_before_is_refused(open_dialog: OpenDialog, source: Source) -> None:
    source.known = model_facts(head=80)
    opened = open_dialog(kv_type_k=KvType.Q8_0)
    assert not opened.dialog.footer.load_button.isEnabled()
    assert "multiples of 32" in opened.find("fitReason", QLabel).text()


def test_a_mixed_cache_is_shown_and_kept(open_dialog: OpenDialog) -> None:
    opened = open_dialog(kv_type_k=KvType.Q8_0)
    combo = opened.find("kvFormat", QComboBox)
    assert combo.currentText() == "Keys 8-bit, values 16-bit"
    choose(combo, "16-bit (f16)")
    assert opened.changes() == {}
    assert combo.count() == 3


def test_experts_are_only_asked_about_where_there_are_some(open_dialog: OpenDialog, source: Source) -> None:
    opened = open_dialog()
    assert not opened.shows("n_cpu_moeRow")
    source.known = model_facts(n_experts=128)
    opened.draft.refresh()
    assert opened.shows("n_cpu_moeRow")
    slider = opened.find("n_cpu_moeSlider", QSlider)
    assert slider.maximum() == LAYERS
    slider.setValue(12)
    assert opened.changes() == {"n_cpu_moe": 12}
    assert "128 experts" in hint_of(opened.find("n_cpu_moeRow"))


def test_the_slider_of_layers_ends_in_all(open_dialog: OpenDialog) -> None:
    opened = open_dialog()
    slider, spin = opened.find("n_gpu_layersSlider", QSlider), opened.find("n_gpu_layers", QSpinBox)
    assert (slider.maximum(), slider.value(), spin.text()) == (LAYERS + 1, LAYERS + 1, "All")
    slider.setValue(LAYERS)
    assert opened.options.n_gpu_layers == LAYERS
    slider.setValue(LAYERS + 1)
    assert opened.options.n_gpu_layers == -1
    choose(opened.find("place", QComboBox), "CPU")
    assert not slider.isEnabled()


def test_a_context_beyond_the_training_is_explained_and_can_be_stretched(open_dialog: OpenDialog, qtbot: QtBot) -> None:
    opened = open_dialog()
    slider, spin = opened.find("n_ctxSlider", QSlider), opened.find("n_ctx", QSpinBox)
    slider.setValue(slider.maximum())
    assert opened.options.n_ctx == 32768
    stretch = opened.find("stretchButton", QPushButton)
    assert not stretch.isVisibleTo(opened.dialog)
    spin.setValue(65536)
    assert "fall apart" in hint_of(opened.find("n_ctxRow"))
    qtbot.mouseClick(stretch, Qt.MouseButton.LeftButton)
    assert opened.options.rope_scaling is RopeScaling.YARN
    assert "Stretched" in hint_of(opened.find("n_ctxRow"))
    assert not stretch.isVisibleTo(opened.dialog)
    spin.setValue(0)
    assert "Full" in spin.text()
    assert slider.value() == slider.maximum()


def test_the_same_card_through_another_backend(open_dialog: OpenDialog, source: Source) -> None:
    source.devices = (RADEON, ROCM, PROCESSOR)
    opened = open_dialog()
    combo = opened.find("place", QComboBox)
    assert entries(combo) == ["Automatic (RX 7900 XTX · Vulkan)", "RX 7900 XTX · Vulkan", "RX 7900 XTX · ROCm", "CPU"]
    combo.setCurrentIndex(2)
    assert opened.changes() == {"device": "0000:03:00.0/ROCm"}
    combo.setCurrentIndex(1)
    assert opened.changes() == {"device": "0000:03:00.0"}


def test_several_cards_order_and_shares(open_dialog: OpenDialog, source: Source, qtbot: QtBot) -> None:
    source.devices = (RADEON, SECOND, PROCESSOR)
    opened = open_dialog()
    choose(opened.find("place", QComboBox), "Several")
    assert opened.changes() == {"devices": ("0000:03:00.0", "0000:0a:00.0")}
    down = next(b for b in opened.dialog.findChildren(QPushButton) if b.accessibleName() == "Use RX 7900 XTX later")
    qtbot.mouseClick(down, Qt.MouseButton.LeftButton)
    assert opened.options.devices == ("0000:0a:00.0", "0000:03:00.0")
    opened.find("ownShares", QCheckBox).setChecked(True)
    opened.find("cardShare0", QSpinBox).setValue(25)
    assert opened.options.shares == (25.0, 75.0)
    opened.find("split", QComboBox).setCurrentIndex(list(SplitMode).index(SplitMode.ROW))
    assert opened.options.split is SplitMode.ROW
    opened.find("card0", QCheckBox).setChecked(False)
    assert opened.changes() == {"device": "0000:03:00.0", "split": SplitMode.ROW}
    assert not opened.shows("ownShares")


def test_a_device_that_is_gone_is_kept_and_told(open_dialog: OpenDialog) -> None:
    opened = open_dialog(device="0000:44:00.0")
    combo = opened.find("place", QComboBox)
    assert combo.currentText() == "0000:44:00.0, not there now"
    assert "not there now" in hint_of(opened.find("deviceRow"))
    assert opened.options.device == "0000:44:00.0"


def test_adapters_are_added_scaled_and_removed(open_dialog: OpenDialog, qtbot: QtBot) -> None:
    opened = open_dialog()
    opened.dialog.show_advanced()
    row = opened.find("loraRow", LoraRow)
    row.add_file("/adapters/tone.gguf")
    row.add_file("/adapters/tone.gguf")
    row.add_file("/adapters/facts.gguf")
    opened.find("adapterScale1", QDoubleSpinBox).setValue(0.5)
    assert opened.options.lora == (
        LoraAdapter(path="/adapters/tone.gguf"),
        LoraAdapter(path="/adapters/facts.gguf", scale=0.5),
    )
    qtbot.mouseClick(opened.find("removeAdapter0"), Qt.MouseButton.LeftButton)
    assert [adapter.path for adapter in opened.options.lora] == ["/adapters/facts.gguf"]


def test_the_file_dialog_does_not_block(open_dialog: OpenDialog, qtbot: QtBot) -> None:
    opened = open_dialog()
    opened.dialog.show_advanced()
    opened.find("addAdapter", QPushButton).click()
    qtbot.waitUntil(lambda: bool(opened.dialog.findChildren(QFileDialog)))
    chooser = opened.dialog.findChildren(QFileDialog)[0]
    assert Path(chooser.directory().path()) != Path()
    chooser.fileSelected.emit("/adapters/tone.gguf")
    chooser.reject()
    assert opened.options.lora == (LoraAdapter(path="/adapters/tone.gguf"),)
    qtbot.waitUntil(lambda: not opened.dialog.findChildren(QFileDialog))


def test_recommended_says_what_it_chose(open_dialog: OpenDialog, source: Source, qtbot: QtBot) -> None:
    source.kind = DeviceKind.IGPU
    opened = open_dialog(n_ctx=777, lora=(LoraAdapter(path="/a.gguf"),), device="0000:03:00.0")
    note = opened.find("profileNote", QLabel)
    assert not note.isVisibleTo(opened.dialog)
    qtbot.mouseClick(opened.dialog.footer.recommended, Qt.MouseButton.LeftButton)
    assert opened.changes() == {
        "n_ubatch": 128,
        "mmap": False,
        "kv_type_k": KvType.Q8_0,
        "kv_type_v": KvType.Q8_0,
        "lora": (LoraAdapter(path="/a.gguf"),),
        "device": "0000:03:00.0",
    }
    assert note.text().startswith("Chosen for integrated graphics. Prompts are read in small steps")
    qtbot.mouseClick(opened.dialog.footer.reset_all, Qt.MouseButton.LeftButton)
    assert opened.changes() == {}
    assert not note.isVisibleTo(opened.dialog)


def test_the_button_and_the_bars_say_what_it_takes(open_dialog: OpenDialog) -> None:
    opened = open_dialog()
    verdict = opened.find("fitVerdict", QLabel)
    assert verdict.text() == "Fits"
    before = opened.dialog.footer.load_button.text()
    assert before.startswith("Load (")
    assert before.endswith("of 21.0 GiB)")
    opened.find("n_ctx", QSpinBox).setValue(32768)
    assert opened.dialog.footer.load_button.text() != before
    opened.find("n_ctx", QSpinBox).setValue(1_000_000)
    assert verdict.text() in ("Does not fit", "Fits in part")


def heavy(layer_bytes: int) -> ModelFacts:
    return model_facts(fit=fit_model(pieces=tuple(Piece(layer, layer_bytes) for layer in range(LAYERS + 1))))


def test_what_would_fit_is_one_click(open_dialog: OpenDialog, source: Source, qtbot: QtBot) -> None:
    source.known = heavy(GIB)
    opened = open_dialog()
    assert opened.find("fitVerdict", QLabel).text() == "Fits in part"
    qtbot.waitUntil(lambda: opened.dialog.findChild(QPushButton, "suggestion0") is not None)
    found = [b for b in opened.dialog.findChildren(WrappedButton) if b.objectName().startswith("suggestion")]
    buttons = {b.full_text(): b for b in found}
    layers = next(text for text in buttons if "layers on the GPU" in text)
    qtbot.mouseClick(buttons[layers], Qt.MouseButton.LeftButton)
    assert layers == f"{opened.options.n_gpu_layers} of 37 layers on the GPU"
    assert opened.find("fitVerdict", QLabel).text().startswith("Fits")
    assert not opened.find("suggestion0").isVisible()


def test_a_suggestion_keeps_the_focus_while_the_memory_changes(
    open_dialog: OpenDialog, source: Source, qtbot: QtBot
) -> None:
    source.known = heavy(GIB)
    opened = open_dialog()
    qtbot.waitUntil(lambda: opened.dialog.findChild(WrappedButton, "suggestion0") is not None)
    button = next(b for b in opened.dialog.findChildren(WrappedButton) if "layers on the GPU" in b.full_text())
    button.setFocus(Qt.FocusReason.TabFocusReason)
    before = button.full_text()
    source.known = heavy(GIB * 9 // 10)
    opened.draft.refresh()
    qtbot.waitUntil(lambda: button.full_text() != before)
    assert button.hasFocus()
    qtbot.keyClick(button, Qt.Key.Key_Return)
    assert opened.find("fitVerdict", QLabel).text().startswith("Fits")


def test_suggestions_that_the_heads_forbid_are_left_out(open_dialog: OpenDialog, source: Source, qtbot: QtBot) -> None:
    spare = fit_model(pieces=tuple(Piece(layer, 455 << 20) for layer in range(LAYERS + 1)))
    source.known = model_facts(fit=spare)
    opened = open_dialog(n_ctx=40960)
    kinds = [suggestion.kind for suggestion in opened.draft.suggestions()]
    assert "kv" in kinds
    source.known = model_facts(fit=spare, head=80)
    opened.draft.refresh()
    assert "kv" not in [suggestion.kind for suggestion in opened.draft.suggestions()]


def test_recommended_makes_it_fit_and_says_how(open_dialog: OpenDialog, source: Source, qtbot: QtBot) -> None:
    source.known = heavy(GIB)
    opened = open_dialog()
    qtbot.mouseClick(opened.dialog.footer.recommended, Qt.MouseButton.LeftButton)
    assert opened.find("fitVerdict", QLabel).text().startswith("Fits")
    assert "So that it fits: " in opened.find("profileNote", QLabel).text()
    opened.find("n_ctx", QSpinBox).setValue(512)
    assert not opened.shows("profileNote")


def test_the_figures_follow_other_programs(open_dialog: OpenDialog, source: Source) -> None:
    opened = open_dialog()
    assert opened.dialog.footer.load_button.text().endswith("of 21.0 GiB)")
    source.devices = (msgspec.structs.replace(RADEON, memory_free=3 * GIB), PROCESSOR)
    opened.dialog._clock.timeout.emit()
    assert opened.dialog.footer.load_button.text().endswith("of 2.0 GiB)")
    assert opened.find("fitVerdict", QLabel).text() == "Fits in part"


def test_before_anything_is_known_it_can_be_loaded(open_dialog: OpenDialog, source: Source) -> None:
    source.known = ModelFacts()
    source.devices = ()
    opened = open_dialog(again=True)
    assert opened.dialog.footer.load_button.text() == "Load again"
    assert opened.dialog.footer.load_button.isEnabled()
    source.devices = HELLO_CPU.devices
    source.known = model_facts()
    opened.draft.refresh()
    assert "of 18.5 GiB)" in opened.dialog.footer.load_button.text()
    assert opened.find("place", QComboBox).currentText() == "Automatic (CPU)"


def test_enter_loads_escape_does_not(open_dialog: OpenDialog, qtbot: QtBot) -> None:
    opened = open_dialog()
    spin = opened.find("n_ctx", QSpinBox)
    spin.setFocus()
    spin.selectAll()
    QTest.keyClicks(spin, "2048")
    QTest.keyClick(spin, Qt.Key.Key_Return)
    assert opened.loads == [(MODEL, LoadOptions(n_ctx=2048), True)]
    other = open_dialog()
    other.dialog.footer.remember.setChecked(False)
    QTest.keyClick(other.dialog, Qt.Key.Key_Escape)
    assert other.loads == []
    third = open_dialog()
    third.dialog.footer.remember.setChecked(False)
    third.dialog.footer.load_button.click()
    assert third.loads == [(MODEL, LoadOptions(), False)]


def test_what_is_changed_is_not_folded_away(open_dialog: OpenDialog) -> None:
    assert not open_dialog().find("advancedButton", QPushButton).isChecked()
    assert open_dialog(n_threads=2).find("advancedButton", QPushButton).isChecked()
    assert open_dialog(kv_type_k=KvType.Q8_0).find("advancedButton", QPushButton).isChecked()
    assert not open_dialog(n_ctx=2).find("advancedButton", QPushButton).isChecked()


def wheel_over(widget: QWidget) -> None:
    middle = QPointF(widget.rect().center())
    event = QWheelEvent(
        middle,
        widget.mapToGlobal(middle),
        QPoint(),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(widget, event)


def test_the_wheel_changes_only_what_has_the_focus(open_dialog: OpenDialog) -> None:
    opened = open_dialog()
    opened.dialog.footer.load_button.setFocus()
    for name in ("n_ctx", "n_ctxSlider", "place", "kvFormat"):
        wheel_over(opened.find(name))
    assert opened.changes() == {}
    opened.find("n_ctx").setFocus()
    wheel_over(opened.find("n_ctx"))
    assert opened.changes()


def test_a_click_on_the_line_goes_there(open_dialog: OpenDialog, qtbot: QtBot) -> None:
    opened = open_dialog()
    slider = opened.find("n_ctxSlider", QSlider)
    qtbot.mouseClick(slider, Qt.MouseButton.LeftButton, pos=QPoint(slider.width() - 3, slider.height() // 2))
    assert opened.options.n_ctx == 32768
    qtbot.mouseClick(slider, Qt.MouseButton.LeftButton, pos=QPoint(2, slider.height() // 2))
    assert opened.options.n_ctx == 512


def test_tab_goes_as_the_eye_does(open_dialog: OpenDialog, qtbot: QtBot) -> None:
    opened = open_dialog()
    opened.dialog.show_advanced()
    row = opened.find("loraRow", LoraRow)
    row.add_file("/a.gguf")
    qtbot.wait(20)
    opened.find("n_batch").setFocus()
    names = []
    for _ in range(40):
        widget = QApplication.focusWidget()
        assert widget is not None
        names.append(widget.objectName())
        if names[-1] == "loadOptionsButton":
            break
        qtbot.keyClick(widget, Qt.Key.Key_Tab)
    tail = ["adapterScale0", "removeAdapter0", "addAdapter", "loraReset", "recommendedButton"]
    start = names.index("adapterScale0")
    assert names[start : start + 5] == tail
    assert names[0] == "n_batch"
    assert names.index("n_ubatch") < names.index("n_threads") < names.index("mmap")


def test_tab_visits_everything_and_all_of_it_has_a_name(open_dialog: OpenDialog, qtbot: QtBot) -> None:
    opened = open_dialog(n_ctx=2048, kv_type_k=KvType.Q8_0, lora=(LoraAdapter(path="/a.gguf"),))
    qtbot.wait(20)
    targets = [
        w
        for w in opened.dialog.findChildren(QWidget)
        if w.isVisible() and w.isEnabled() and w.focusPolicy() & Qt.FocusPolicy.TabFocus and w.focusProxy() is None
    ]
    seen = []
    for _ in range(len(targets)):
        widget = QApplication.focusWidget()
        assert widget is not None
        seen.append(widget)
        qtbot.keyClick(widget, Qt.Key.Key_Tab)
    assert {id(w) for w in seen} == {id(w) for w in targets}
    names = [w.accessibleName() or getattr(w, "text", str)() for w in targets]
    assert all(names), [w.objectName() for w, name in zip(targets, names, strict=True) if not name]
    order = [w.objectName() for w in seen]
    assert order.index("n_ctxSlider") < order.index("n_ctx") < order.index("n_ctxReset") < order.index("place")
    assert order[-1] == "loadOptionsButton"


def test_devices_may_be_told_late(open_dialog: OpenDialog, source: Source) -> None:
    source.devices = ()
    opened = open_dialog(device="0000:03:00.0")
    assert "not there" in opened.find("place", QComboBox).currentText()
    source.devices = (RADEON, PROCESSOR)
    opened.draft.refresh()
    assert opened.find("place", QComboBox).currentText() == "RX 7900 XTX · Vulkan"

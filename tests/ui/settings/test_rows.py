"""Rows: saved at once, reset by an arrow, in step with the store, explained."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget

from app.load.settings import LoadSettings
from app.settings.records import EngineSettings
from app.worker.settings import WorkerSettings
from engine.protocol.types import FlashAttention, KvType
from tests.ui.settings.conftest import Settings
from ui.settings.bound import BoundRow
from ui.settings.controls import Choice, Number, Switch
from ui.settings.section import Section
from ui.theme import ThemeMode
from ui.window_settings import WindowSettings


def row_of(widget: QWidget) -> BoundRow:
    parent = widget.parentWidget()
    while parent is not None and not isinstance(parent, BoundRow):
        parent = parent.parentWidget()
    assert isinstance(parent, BoundRow)
    return parent


def arrow_of(widget: QWidget) -> QPushButton:
    return next(b for b in row_of(widget).findChildren(QPushButton) if b.accessibleName().startswith("Reset"))


def choose(settings: Settings, choice: Choice, value: object) -> None:
    """Take ``value`` by the keyboard."""
    choice.setFocus()
    wanted = choice._values.index(value)
    while choice.currentIndex() != wanted:
        step = Qt.Key.Key_Down if choice.currentIndex() < wanted else Qt.Key.Key_Up
        settings.qtbot.keyClick(choice, step)


def unfold(settings: Settings, page: str) -> None:
    for section in settings.window.page_of(page).findChildren(Section):
        if section.fold is not None:
            section.fold.setChecked(True)


def test_a_number_is_saved_when_it_is_typed_and_reset_by_the_arrow(settings: Settings) -> None:
    settings.window.show_page("engine")
    field = settings.find("engine-n_ctx", Number)
    arrow = arrow_of(field)
    assert not arrow.isVisible()
    field.setFocus()
    field.selectAll()
    settings.qtbot.keyClicks(field, "8000")
    assert settings.engine.n_ctx == 4096, "not before it is finished"
    settings.qtbot.keyClick(field, Qt.Key.Key_Return)
    assert settings.saved("engine") == {"n_ctx": 8000}
    assert arrow.isVisible()
    settings.qtbot.keyClick(field, Qt.Key.Key_Up)
    assert settings.engine.n_ctx == 8192
    settings.qtbot.mouseClick(arrow, Qt.MouseButton.LeftButton)
    assert settings.engine == EngineSettings()
    assert field.value() == 4096
    assert not arrow.isVisible()


def test_the_focus_does_not_vanish_with_the_arrow(settings: Settings) -> None:
    settings.put(EngineSettings, n_ctx=8192)
    settings.window.show_page("engine")
    field = settings.find("engine-n_ctx", Number)
    arrow = arrow_of(field)
    arrow.setFocus()
    settings.qtbot.keyClick(arrow, Qt.Key.Key_Return)
    assert field.hasFocus()


def test_words_stand_for_special_numbers(settings: Settings) -> None:
    settings.window.show_page("engine")
    assert settings.find("engine-n_gpu_layers", Number).text() == "All"
    settings.put(EngineSettings, n_ctx=0)
    assert settings.find("engine-n_ctx", Number).text() == "As trained"
    settings.put(WorkerSettings, idle_unload_minutes=0)
    assert settings.find("worker-idle_unload_minutes", Number).text() == "Never"


@pytest.mark.parametrize("name", ["engine-n_ctx", "engine-flash_attention"])
def test_the_wheel_turns_the_page_and_not_the_value(settings: Settings, name: str) -> None:
    settings.window.show_page("engine")
    field = settings.find(name, QWidget)
    field.setFocus()
    middle = QPointF(field.rect().center())
    turn = QWheelEvent(
        middle,
        QPointF(field.mapToGlobal(field.rect().center())),
        QPoint(),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(field, turn)
    assert settings.engine == EngineSettings()


def test_a_change_elsewhere_is_shown(settings: Settings) -> None:
    settings.window.show_page("engine")
    switch = settings.find("worker-self_test", Switch)
    assert switch.isChecked()
    settings.put(WorkerSettings, self_test=False)
    assert not switch.isChecked()
    assert arrow_of(switch).isVisible()


def test_a_switch_is_turned_by_mouse_and_by_space(settings: Settings) -> None:
    settings.window.show_page("engine")
    settings.click("worker-self_test")
    assert settings.saved("worker") == {"self_test": False}
    settings.qtbot.keyClick(settings.find("worker-self_test", Switch), Qt.Key.Key_Space)
    assert settings.store.get(WorkerSettings).self_test


def test_one_choice_sets_keys_and_values(settings: Settings) -> None:
    settings.window.show_page("engine")
    choose(settings, settings.find("engine-kv", Choice), KvType.Q8_0)
    assert (settings.engine.kv_type_k, settings.engine.kv_type_v) == (KvType.Q8_0, KvType.Q8_0)
    settings.put(EngineSettings, kv_type_k=KvType.F16)
    choice = settings.find("engine-kv", Choice)
    assert choice.currentText() == "Mixed"
    assert arrow_of(choice).isVisible()
    choose(settings, choice, KvType.F16)
    assert [choice.itemText(i) for i in range(choice.count())] == ["Full (f16)", "Half (q8_0)", "A quarter (q4_0)"]
    assert settings.engine == EngineSettings()


def test_quantised_values_bring_flash_attention_back_and_say_so(settings: Settings) -> None:
    settings.window.show_page("engine")
    flash, kv = settings.find("engine-flash_attention", Choice), settings.find("engine-kv", Choice)
    choose(settings, flash, FlashAttention.OFF)
    assert row_of(flash).note == ""
    choose(settings, kv, KvType.Q8_0)
    assert settings.engine.flash_attention is FlashAttention.AUTO
    assert flash.currentText() == "Automatic"
    assert "Flash attention is automatic again" in row_of(kv).note
    choose(settings, flash, FlashAttention.OFF)
    assert (settings.engine.kv_type_k, settings.engine.kv_type_v) == (KvType.F16, KvType.F16)
    assert "full precision again" in row_of(flash).note
    assert row_of(kv).note == ""
    assert "full precision again" in flash.accessibleDescription()


def test_every_value_of_the_page_reaches_the_file(settings: Settings) -> None:
    settings.window.show_page("engine")
    unfold(settings, "engine")
    for name in ("n_ctx", "n_gpu_layers", "n_batch", "n_ubatch", "n_threads"):
        settings.find(f"engine-{name}", Number).stepUp()
    for name in ("load_timeout_s", "answer_timeout_s", "idle_unload_minutes"):
        settings.find(f"worker-{name}", Number).stepUp()
    settings.click("engine-kv_on_cpu")
    choose(settings, settings.find("engine-mmap", Choice), False)
    assert settings.saved("engine") == {
        "n_ctx": 5120, "n_gpu_layers": 0, "n_batch": 576, "n_ubatch": 576, "n_threads": 1, "kv_on_cpu": True,
        "mmap": False,
    }  # fmt: skip
    assert settings.saved("worker") == {"load_timeout_s": 70, "answer_timeout_s": 70, "idle_unload_minutes": 35}
    for row in settings.window.page_of("engine").findChildren(BoundRow):
        row.reset.emit()
    assert settings.engine == EngineSettings()
    assert settings.store.get(WorkerSettings) == WorkerSettings()


def test_looks_are_settings_too(settings: Settings) -> None:
    choose(settings, settings.find("window-theme", Choice), ThemeMode.DARK)
    assert settings.store.get(WindowSettings).theme is ThemeMode.DARK
    settings.put(WindowSettings, scale=1.33)
    assert settings.find("window-scale", Choice).currentText() == "1.33"
    assert msgspec.structs.asdict(settings.store.get(WindowSettings))["scale"] == 1.33


def test_models_with_options_of_their_own_can_be_forgotten(settings: Settings) -> None:
    models = {
        "/m/a.gguf": {"size": 1, "options": {"n_ctx": 8192, "device": "cpu", "lora": []}},
        "/m/b.gguf": {"size": 2, "options": {}},
        "/m/c.gguf": "nonsense",
    }
    settings.put(LoadSettings, models=models)
    settings.window.show_page("engine")
    texts = [label.text() for label in settings.window.page_of("engine").findChildren(QLabel) if label.isVisible()]
    assert "n_ctx 8192, device cpu" in texts
    settings.click("forget-a.gguf")
    assert list(settings.store.get(LoadSettings).models) == ["/m/b.gguf", "/m/c.gguf"]
    assert not settings.shown("forget-a.gguf")
    for name in ("b", "c"):
        settings.click(f"forget-{name}.gguf")
    assert not settings.shown("forget-b.gguf")
    assert settings.store.get(LoadSettings).models == {}


def test_what_was_typed_is_kept_when_the_window_is_closed(settings: Settings) -> None:
    settings.window.show_page("engine")
    field = settings.find("engine-n_ctx", Number)
    field.setFocus()
    field.selectAll()
    settings.qtbot.keyClicks(field, "6000")
    settings.qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert not settings.window.isVisible()
    assert settings.engine.n_ctx == 6000

"""Devices: who chooses, which cards, in which order, with which shares, through which backend."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QCheckBox, QPushButton, QRadioButton, QWidget

from app.settings.records import EngineSettings
from engine.protocol.types import FlashAttention, SplitMode
from tests.ui.settings.conftest import FIRST, GONE, SECOND, Settings
from tests.ui.settings.test_rows import choose
from ui.settings.controls import Choice, Number
from ui.settings.device_row import DeviceRow


def rows(settings: Settings) -> list[DeviceRow]:
    page = settings.window.page_of("devices")
    return [row for row in page.findChildren(DeviceRow) if row.isVisible()]


def texts(settings: Settings, key: str) -> str:
    row = next(r for r in rows(settings) if r._card.key == key)
    return " ".join(str(w.property("text")) for w in row.findChildren(QWidget) if w.property("text"))


def test_what_there_is_is_told(settings: Settings) -> None:
    settings.window.show_page("devices")
    assert [row._card.key for row in rows(settings)] == [FIRST, SECOND, "Software0"]
    assert "Graphics card · Vulkan · 0000:03:00.0 · 16.0 GiB" in texts(settings, FIRST)
    assert "GiB" not in texts(settings, SECOND), "unknown is no number"
    assert "Too slow." in texts(settings, "Software0")
    assert not settings.find("device-Software0", QCheckBox).isEnabled()
    assert settings.find("deviceMode-auto", QRadioButton).isChecked()


def test_picking_a_card_by_mouse_is_saved_by_its_address(settings: Settings) -> None:
    settings.window.show_page("devices")
    settings.click(f"device-{SECOND}")
    assert settings.saved("engine") == {"devices": [SECOND]}
    assert settings.find("deviceMode-picked", QRadioButton).isChecked()
    assert rows(settings)[0]._card.key == SECOND
    settings.click(f"device-{SECOND}")
    assert settings.engine == EngineSettings()
    assert settings.find("deviceMode-auto", QRadioButton).isChecked()


def test_modes_by_keyboard(settings: Settings) -> None:
    settings.window.show_page("devices")
    auto = settings.find("deviceMode-auto", QRadioButton)
    auto.setFocus()
    settings.qtbot.keyClick(auto, Qt.Key.Key_Down)
    assert settings.engine == EngineSettings(devices=(FIRST,))
    settings.qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Down)
    assert settings.engine == EngineSettings(device="cpu")


def test_order_by_keyboard_keeps_the_focus_on_the_button(settings: Settings) -> None:
    settings.put(EngineSettings, devices=(FIRST, SECOND))
    settings.window.show_page("devices")
    down = settings.find(f"device-down-{FIRST}", QPushButton)
    assert not settings.find(f"device-up-{FIRST}", QPushButton).isEnabled()
    down.setFocus()
    settings.qtbot.keyClick(down, Qt.Key.Key_Return)
    assert settings.engine.devices == (SECOND, FIRST)
    focused = QApplication.focusWidget()
    assert focused is not None
    assert focused.objectName() == f"device-up-{FIRST}", "down cannot be pressed any more"
    settings.qtbot.keyClick(focused, Qt.Key.Key_Space)
    assert settings.engine.devices == (FIRST, SECOND)
    assert "main device" in texts(settings, FIRST)


def test_shares_in_percent(settings: Settings) -> None:
    settings.put(EngineSettings, devices=(FIRST, SECOND))
    settings.window.show_page("devices")
    assert not settings.shown(f"device-share-{FIRST}")
    settings.click("ownShares")
    share = settings.find(f"device-share-{FIRST}", Number)
    assert share.text() == "50 %"
    share.stepUp()
    assert list(settings.engine.shares) == [55.0, 45.0]
    assert settings.find(f"device-share-{SECOND}", Number).value() == 45
    settings.click("ownShares")
    assert list(settings.engine.shares) == []


def test_sharing_is_offered_for_several_devices_only(settings: Settings) -> None:
    settings.window.show_page("devices")
    assert not settings.shown("engine-split")
    settings.put(EngineSettings, devices=(FIRST, SECOND))
    split = settings.find("engine-split", Choice)
    choose(settings, split, SplitMode.TENSOR)
    assert settings.engine.split is SplitMode.TENSOR
    assert "together" in split.accessibleDescription()


def test_the_split_by_tensors_brings_flash_attention_back(settings: Settings) -> None:
    settings.put(EngineSettings, devices=(FIRST, SECOND), flash_attention=FlashAttention.OFF)
    settings.window.show_page("devices")
    choose(settings, settings.find("engine-split", Choice), SplitMode.TENSOR)
    assert settings.engine.flash_attention is FlashAttention.AUTO
    assert "Flash attention is automatic again" in settings.find("engine-split", Choice).accessibleDescription()


def test_a_card_that_is_gone_is_shown_and_kept(settings: Settings) -> None:
    settings.put(EngineSettings, devices=(GONE, FIRST))
    settings.window.show_page("devices")
    assert "Not there now" in texts(settings, GONE)
    settings.click(f"device-down-{GONE}")
    assert list(settings.engine.devices) == [FIRST, GONE]
    settings.click(f"device-{GONE}")
    assert list(settings.engine.devices) == [FIRST]
    assert GONE not in [row._card.key for row in rows(settings)]


def test_a_card_through_two_backends_is_there_once_with_a_choice(settings: Settings) -> None:
    settings.window.show_page("devices")
    choice = settings.find(f"device-backend-{FIRST}", Choice)
    assert [choice.itemText(i) for i in range(choice.count())] == ["Vulkan (preferred)", "ROCm"]
    assert not choice.isEnabled(), "of a card that is not chosen"
    settings.click(f"device-{FIRST}")
    choose(settings, settings.find(f"device-backend-{FIRST}", Choice), "ROCm")
    assert settings.engine.devices == (f"{FIRST}/ROCm",)
    assert "ROCm · 0000:03:00.0" in texts(settings, FIRST)


def test_without_an_engine_nothing_is_claimed(settings: Settings) -> None:
    settings.worker.hello = None
    settings.put(EngineSettings, devices=(FIRST,))
    settings.window.show_page("devices")
    assert "Not there now" in texts(settings, FIRST)
    settings.put(EngineSettings, devices=())
    assert rows(settings) == []
    assert not settings.find("deviceMode-picked", QRadioButton).isEnabled()

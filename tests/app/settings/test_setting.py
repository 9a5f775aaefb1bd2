"""One setting by itself."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from app.jobs import SerialRunner
from app.notices import Notices
from app.settings.records import BackendSettings, EngineSettings
from app.settings.setting import Setting
from app.settings.store import SettingsStore
from engine.protocol.types import KvType


class Now:
    """Runs everything at once."""

    def submit(self, work) -> None:
        work()

    def close(self) -> None:
        pass


@pytest.fixture
def store(qtbot: QtBot, tmp_path: Path) -> SettingsStore:
    return SettingsStore(tmp_path / "settings.json", SerialRunner(Now()), Notices())


def test_a_change_is_saved_and_told_and_reset(store: SettingsStore, qtbot: QtBot) -> None:
    setting = Setting(store, EngineSettings, "kv_type_k")
    assert (setting.feature, setting.value, setting.is_changed) == ("engine", KvType.F16, False)
    with qtbot.waitSignal(store.changed, check_params_cb=lambda name: name == "engine"):
        setting.set(KvType.Q8_0)
    assert (setting.value, setting.is_changed) == (KvType.Q8_0, True)
    assert msgspec.json.decode(store.path.read_bytes())["engine"] == {"kv_type_k": "q8_0"}
    setting.reset()
    assert (setting.value, setting.is_changed) == (KvType.F16, False)


def test_others_of_the_record_stay(store: SettingsStore) -> None:
    Setting(store, EngineSettings, "n_ctx").set(8192)
    Setting(store, EngineSettings, "n_batch").set(256)
    assert store.get(EngineSettings) == EngineSettings(n_ctx=8192, n_batch=256)


@pytest.mark.parametrize(("field", "value"), [("n_ctx", -5), ("n_batch", 0), ("devices", tuple("x" * 17))])
def test_what_the_field_does_not_take_is_refused(store: SettingsStore, field: str, value: object) -> None:
    setting = Setting(store, EngineSettings, field)
    with pytest.raises(msgspec.ValidationError):
        setting.set(value)
    assert not setting.is_changed


def test_tables_are_settings_too(store: SettingsStore) -> None:
    setting = Setting(store, BackendSettings, "environment")
    setting.set({"Vulkan": {"GGML_VK_DISABLE_F16": "1"}})
    assert store.get(BackendSettings).environment == {"Vulkan": {"GGML_VK_DISABLE_F16": "1"}}
    assert setting.is_changed

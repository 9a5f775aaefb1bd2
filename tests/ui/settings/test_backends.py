"""Backends: switches, reasons, variables, strays, and what the running engine has not got yet."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QPushButton

from app.settings.records import BackendSettings, EngineSettings
from app.settings.variables import KNOWN
from engine.client.session import WorkerState
from engine.protocol.types import SWITCHED_OFF, BackendInfo, LoadOptions
from tests.ui.settings.conftest import HELLO, Settings
from tests.ui.shell.standins import model_info
from ui.settings import words
from ui.settings.badge import Badge
from ui.settings.controls import Switch
from ui.settings.pending_bar import PendingBar


def state(settings: Settings, name: str) -> str:
    return settings.find(f"backendState-{name}", Badge).text()


def shown(settings: Settings) -> str:
    """All texts of the page."""
    page = settings.window.page_of("backends")
    return "\n".join(label.text() for label in page.findChildren(QLabel) if label.isVisible())


@pytest.fixture
def page(settings: Settings) -> Settings:
    settings.window.show_page("backends")
    return settings


def test_each_backend_with_its_true_reason(page: Settings) -> None:
    assert (state(page, "Vulkan"), state(page, "ROCm")) == ("Loaded", "Not loaded")
    assert "libamdhip64.so.6: not found" in shown(page)
    assert "/lib/libggml-vulkan.so" in shown(page)


def test_a_backend_is_switched_off_and_on(page: Settings) -> None:
    page.click("backend-Vulkan")
    assert page.saved("backend") == {"off": ["Vulkan"]}
    assert state(page, "Vulkan") == "Loaded; off from the next start on"
    page.qtbot.keyClick(page.find("backend-Vulkan", Switch), Qt.Key.Key_Space)
    assert page.backends.off == ()
    assert state(page, "Vulkan") == "Loaded"


def test_the_processor_cannot_be_switched_off(page: Settings) -> None:
    assert not page.find("backend-CPU", Switch).isEnabled()
    page.put(BackendSettings, off=("CPU",))
    assert page.find("backend-CPU", Switch).isChecked()


def test_what_the_engine_says_after_a_restart(page: Settings) -> None:
    page.put(BackendSettings, off=("vulkan",))
    off = BackendInfo(name="Vulkan", path="/lib/libggml-vulkan.so", loaded=False, error=SWITCHED_OFF)
    page.worker.set_hello(msgspec.structs.replace(HELLO, backends=(HELLO.backends[0], off)))
    assert state(page, "Vulkan") == "Switched off"
    assert not page.find("backend-Vulkan", Switch).isChecked()
    page.click("backend-Vulkan")
    assert page.backends.off == (), "whatever the case of the letters"
    assert state(page, "Vulkan") == "Off; on from the next start on"


def test_a_switched_off_backend_that_is_gone_can_be_switched_on_again(page: Settings) -> None:
    page.put(BackendSettings, off=("SYCL",))
    assert state(page, "SYCL") == "Switched off"
    page.click("backend-SYCL")
    assert page.backends.off == ()


def add(page: Settings, backend: str, name: str, value: str) -> None:
    if not page.shown(f"variableName-{backend}"):
        page.click(f"variables-{backend}")
    edit = page.find(f"variableName-{backend}", QComboBox).lineEdit()
    assert edit is not None
    edit.clear()
    page.qtbot.keyClicks(edit, name)
    field = page.find(f"variableValue-{backend}", QLineEdit)
    field.clear()
    page.qtbot.keyClicks(field, value)
    page.qtbot.keyClick(field, Qt.Key.Key_Return)


def test_a_variable_is_added_changed_and_removed(page: Settings) -> None:
    add(page, "ROCm", "HSA_OVERRIDE_GFX_VERSION", "10.3.0")
    assert page.saved("backend") == {"environment": {"ROCm": {"HSA_OVERRIDE_GFX_VERSION": "10.3.0"}}}
    assert page.find("variables-ROCm", QPushButton).text() == "Variables (1)"
    field = page.find("variable-HSA_OVERRIDE_GFX_VERSION", QLineEdit)
    field.selectAll()
    page.qtbot.keyClicks(field, "11.0")
    page.qtbot.keyClick(field, Qt.Key.Key_Return)
    assert "three numbers" in shown(page)
    assert page.backends.environment["ROCm"] == {"HSA_OVERRIDE_GFX_VERSION": "10.3.0"}
    page.qtbot.keyClicks(field, ".1")
    page.qtbot.keyClick(field, Qt.Key.Key_Return)
    assert page.backends.environment["ROCm"] == {"HSA_OVERRIDE_GFX_VERSION": "11.0.1"}
    page.click("variableRemove-HSA_OVERRIDE_GFX_VERSION")
    assert page.backends == BackendSettings()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("HSA_OVERRIDE_GFX_VERSION", "gfx1030", "three numbers"),
        ("HIP_VISIBLE_DEVICES", "all", "numbers with commas"),
        ("GGML_VK_DISABLE_F16", "0", "remove it to switch it off"),
        ("lower", "1", "capital letters"),
        ("VRAMBLE_HOME", "/x", "sets this one itself"),
    ],
)
def test_what_is_not_taken_is_explained(page: Settings, name: str, value: str, words: str) -> None:
    add(page, "ROCm", name, value)
    assert page.backends == BackendSettings()
    assert words in shown(page)
    assert not page.find("variableAdd-ROCm", QPushButton).isEnabled()


def test_a_switch_variable_needs_no_value(page: Settings) -> None:
    add(page, "Vulkan", "GGML_VK_DISABLE_F16", "")
    assert page.backends.environment == {"Vulkan": {"GGML_VK_DISABLE_F16": "1"}}
    combo = page.find("variableName-Vulkan", QComboBox)
    offered = [combo.itemText(i) for i in range(combo.count())]
    assert "GGML_VK_DISABLE_F16" not in offered
    assert "GGML_VK_DISABLE_COOPMAT" in offered


def test_strays_are_shown_and_can_be_kept_away(page: Settings) -> None:
    assert "HIP_VISIBLE_DEVICES=-1." in shown(page)
    page.click("stray-HIP_VISIBLE_DEVICES")
    assert page.saved("backend") == {"ignored": ["HIP_VISIBLE_DEVICES"]}
    page.click("stray-HIP_VISIBLE_DEVICES")
    assert page.backends.ignored == ()


def test_overlays_that_were_kept_away_are_named(page: Settings) -> None:
    assert "Kept away at this start: MANGOHUD=1." in shown(page)


def test_the_folder_for_plugins_is_made_and_opened(page: Settings) -> None:
    page.click("openBackendsFolder")
    assert page.opened == []
    page.settle()
    assert page.opened == [page.services.paths.backends]
    assert page.opened[0].is_dir()


def test_how_to_add_hip_is_told_until_it_is_there(page: Settings) -> None:
    assert "build-backend hip" in shown(page)
    loaded = BackendInfo(name="ROCm", path="/b/libggml-hip.so", loaded=True)
    page.worker.set_hello(msgspec.structs.replace(HELLO, backends=(*HELLO.backends[:2], loaded)))
    assert "build-backend hip" not in shown(page)


# ---- what the running engine has not got yet


def bar(settings: Settings) -> str:
    found = settings.window.findChild(PendingBar)
    assert isinstance(found, PendingBar)
    return found.text() if found.isVisible() else ""


def test_a_restart_is_offered_and_done(page: Settings) -> None:
    assert bar(page) == ""
    page.click("backend-Vulkan")
    assert bar(page) == "The engine that runs was started with other settings."
    page.click("restartEngine")
    assert page.worker.started == 1
    page.worker.set_state(WorkerState.STARTING)
    assert bar(page) == ""


def test_a_loaded_model_comes_back_after_the_restart(page: Settings) -> None:
    wanted: list[Path] = []
    page.services.changes.reload_wanted.connect(wanted.append)
    page.worker.last_load = (Path("/models/a.gguf"), LoadOptions())
    page.worker.set_model(model_info())
    page.worker.set_state(WorkerState.READY)
    page.click("backend-Vulkan")
    assert "The model is loaded again" in bar(page)
    page.click("restartEngine")
    assert wanted == [Path("/models/a.gguf")]
    assert page.worker.started == 0


def test_other_options_say_that_the_model_keeps_its_own(page: Settings) -> None:
    page.worker.last_load = (Path("/models/a.gguf"), LoadOptions())
    page.put(EngineSettings, n_ctx=8192)
    assert bar(page) == "", "nothing is loaded"
    page.put(EngineSettings, n_ctx=4096)
    page.worker.set_model(model_info())
    page.worker.set_state(WorkerState.READY)
    page.put(EngineSettings, n_ctx=8192)
    assert "keeps its options" in bar(page)
    page.put(EngineSettings, n_ctx=4096)
    assert bar(page) == ""


def test_an_answer_that_is_written_is_not_ended_without_saying_so(page: Settings) -> None:
    page.click("backend-Vulkan")
    page.worker.set_state(WorkerState.GENERATING)
    assert "An answer is being written" in bar(page)
    assert page.find("restartEngine", QPushButton).text() == "End it and restart"


def test_a_load_that_runs_is_not_cut_off(page: Settings) -> None:
    page.click("backend-Vulkan")
    page.worker.set_state(WorkerState.LOADING)
    assert not page.find("restartEngine", QPushButton).isEnabled()
    page.worker.set_state(WorkerState.READY)
    assert page.find("restartEngine", QPushButton).isEnabled()


def test_each_known_variable_is_explained() -> None:
    assert [variable.name for variable in KNOWN if not words.variable(variable.name)] == []

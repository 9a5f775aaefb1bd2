"""Variables of the backends: what is taken, what strays, what the worker gets."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.settings.fields import decode
from app.settings.records import BackendSettings
from app.settings.variables import KNOWN, OFF_ENV, Problem, backend_environment, known_for, problem_with, strays
from engine.doctor.checks.surroundings import PREFIXES, SINGLE


@pytest.mark.parametrize("variable", KNOWN, ids=lambda variable: variable.name)
def test_the_example_of_each_variable_is_taken(variable) -> None:
    assert problem_with(variable.name, variable.example) is None


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("HSA_OVERRIDE_GFX_VERSION", "10.3", Problem.VALUE),
        ("HSA_OVERRIDE_GFX_VERSION", "gfx1030", Problem.VALUE),
        ("HSA_OVERRIDE_GFX_VERSION", "11.0.0", None),
        ("HIP_VISIBLE_DEVICES", "-1", None),
        ("HIP_VISIBLE_DEVICES", "0, 1", Problem.VALUE),
        ("ROCR_VISIBLE_DEVICES", "GPU-0123abcd,1", None),
        ("GGML_VK_VISIBLE_DEVICES", "0,1", None),
        ("GGML_VK_VISIBLE_DEVICES", "-1", Problem.VALUE),
        ("GGML_VK_DISABLE_COOPMAT", "0", Problem.VALUE),
        ("GGML_VK_DISABLE_COOPMAT", "", Problem.EMPTY),
        ("GGML_VK_SUBALLOCATION_BLOCK_SIZE", "1 GiB", Problem.VALUE),
        ("MY_OWN_SWITCH", "anything at all", None),
        ("MY_OWN_SWITCH", "two\nlines", Problem.VALUE),
        ("LD_LIBRARY_PATH", "/opt/rocm/lib", None),
        ("lower_case", "1", Problem.NAME),
        ("A=B", "1", Problem.NAME),
        ("", "1", Problem.NAME),
        ("PYTHONPATH", "/tmp", Problem.OWN),
        ("VRAMBLE_WORKER_COMMAND", "sh", Problem.OWN),
        ("LD_PRELOAD", "/a.so", Problem.OWN),
        ("PATH", "/bin", Problem.OWN),
    ],
)
def test_what_a_variable_takes(name, value, problem) -> None:
    assert problem_with(name, value) is problem


def test_the_plugin_reads_each_variable_of_vulkan() -> None:
    found = importlib.util.find_spec("llama_cpp")
    plugin = Path(found.origin).parent / "lib/libggml-vulkan.so" if found and found.origin else Path("/nowhere")
    if not plugin.exists():
        pytest.skip("the engine was built without Vulkan")
    content = plugin.read_bytes()
    names = [variable.name for variable in known_for("Vulkan") if variable.name.startswith("GGML_")]
    assert len(names) > 8
    assert [name for name in names if name.encode() + b"\0" not in content] == []


def test_each_backend_has_its_own_variables() -> None:
    names = {variable.name for variable in known_for("rocm")}
    assert {"HSA_OVERRIDE_GFX_VERSION", "HIP_VISIBLE_DEVICES", "GGML_CUDA_NO_PINNED"} <= names
    assert not any(name.startswith("GGML_VK_") for name in names)
    assert known_for("RPC") == ()


def test_strays_are_what_steers_a_gpu_and_nothing_else() -> None:
    environ = {
        "HSA_OVERRIDE_GFX_VERSION": "10.3.0",
        "RADV_DEBUG": "nodcc",
        "AMD_VULKAN_ICD": "AMDVLK",
        "VK_LOADER_DEBUG": "all",
        "HOME": "/home/me",
        "MANGOHUD": "1",
        "LD_PRELOAD": "/a.so",
    }
    assert list(strays(environ)) == ["AMD_VULKAN_ICD", "HSA_OVERRIDE_GFX_VERSION", "RADV_DEBUG", "VK_LOADER_DEBUG"]


def test_the_doctor_looks_for_the_same_variables() -> None:
    names = [*SINGLE, *(f"{prefix}ANYTHING" for prefix in PREFIXES)]
    assert list(strays(dict.fromkeys(names, "1"))) == sorted(names)


def test_nothing_set_leaves_the_environment_as_it_is() -> None:
    assert backend_environment(BackendSettings(), {"HIP_VISIBLE_DEVICES": "-1"}) == {"HIP_VISIBLE_DEVICES": "-1"}


def test_the_worker_gets_what_the_user_set() -> None:
    settings = BackendSettings(
        off=("ROCm", "RPC"),
        environment={"Vulkan": {"GGML_VK_DISABLE_F16": "1"}, "ROCm": {"HSA_OVERRIDE_GFX_VERSION": "10.3.0"}},
        ignored=("HIP_VISIBLE_DEVICES",),
    )
    environ = {"HIP_VISIBLE_DEVICES": "-1", "GGML_VK_DISABLE_F16": "yes", "HOME": "/h"}
    assert backend_environment(settings, environ) == {
        "HOME": "/h",
        "GGML_VK_DISABLE_F16": "1",
        OFF_ENV: "ROCm,RPC",
    }


def test_what_the_user_switched_off_outside_stays_off() -> None:
    assert backend_environment(BackendSettings(off=("rpc",)), {OFF_ENV: "Vulkan, rpc"})[OFF_ENV] == "Vulkan,rpc"
    assert backend_environment(BackendSettings(), {OFF_ENV: "Vulkan"})[OFF_ENV] == "Vulkan"


def test_only_strays_can_be_ignored() -> None:
    assert backend_environment(BackendSettings(ignored=("HOME", "PATH")), {"HOME": "/h"}) == {"HOME": "/h"}


TEXT = st.text(max_size=12)


@given(
    st.fixed_dictionaries(
        {
            "off": st.lists(TEXT) | TEXT,
            "environment": st.dictionaries(TEXT, st.dictionaries(TEXT, TEXT) | st.integers()) | st.none(),
            "ignored": st.lists(TEXT),
        }
    )
)
def test_no_file_makes_an_environment_that_a_process_cannot_have(values) -> None:
    environment = backend_environment(decode(BackendSettings, values), {"HOME": "/h"})
    assert environment.pop("HOME") == "/h"
    for name, value in environment.items():
        assert name
        assert "=" not in name
        assert "\0" not in name + value

"""The engine as it lies in this environment."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from vramble_setup.engine_install import PROBE

SHARED = Path(sys.prefix) / "share" / "vramble"


@pytest.fixture(scope="module")
def libraries():
    (folder,) = Path(sys.prefix).glob("lib/python3*/site-packages/llama_cpp/lib")
    return folder


@pytest.fixture(scope="module")
def record():
    return json.loads((SHARED / "build.json").read_text())


def test_no_library_is_there_twice(libraries):
    real = [file for file in libraries.iterdir() if not file.is_symlink()]
    assert len({hashlib.sha256(file.read_bytes()).digest() for file in real}) == len(real)
    assert all(file.exists() for file in libraries.iterdir())


def test_all_parts_lie_in_one_folder(libraries, record):
    expected = {"libllama.so", "libggml.so", "libggml-base.so", "libmtmd.so", "libggml-cpu.so", "libggml-rpc.so"}
    if record["vulkan"]:
        expected.add("libggml-vulkan.so")
    assert expected <= {file.name for file in libraries.iterdir()}


def test_the_record_says_what_was_built(record):
    assert record["llama_cpp_python"] == "0.3.36"
    assert record["cpu_level"]
    assert record["vulkan"] == (record["vulkan_reason"] is None)
    assert record["options"]["GGML_BACKEND_DL"] == "ON"


def test_the_starter_model_is_linked():
    (model,) = (SHARED / "starter").glob("*.gguf")
    with model.open("rb") as file:
        assert file.read(4) == b"GGUF"


def devices(what: str, **environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROBE, what], capture_output=True, text=True, env=environment, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def test_the_processor_is_a_device():
    assert devices("cpu") == ["CPU"]


def test_software_vulkan_shows_when_it_is_asked_for(record):
    if not record["vulkan"]:
        pytest.skip(record["vulkan_reason"])
    assert "Vulkan0" in devices("all", GGML_VK_VISIBLE_DEVICES="0")

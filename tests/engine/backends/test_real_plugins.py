"""The real worker with plugins in the user's folder: ones that work, and ones that break in each way."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from engine.backends import reasons
from engine.protocol.types import BackendInfo
from tests.engine.backends.test_elf import engine_library
from tests.engine.backends.toy_plugins import ToyPlugins
from tests.engine.worker.driver import ROOT, Worker, user
from tests.fakes.tiny_gguf import small_llama

StartWorker = Callable[..., Worker]
OTHER_GLIBC = (b"GLIBC_2.2.5\0", b"GLIBC_2.9.9\0")


@pytest.fixture
def users(tmp_path: Path) -> Path:
    folder = tmp_path / "backends"
    folder.mkdir()
    return folder


@pytest.fixture
def start(tmp_path: Path, users: Path) -> Iterator[StartWorker]:
    """Starts a worker with the user's folder; more variables may be given."""
    with ExitStack() as stack:

        def begin(**variables: str) -> Worker:
            worker = Worker(log=tmp_path / "worker.log", env={"VRAMBLE_BACKENDS_DIR": str(users), **variables})
            stack.callback(worker.process.kill)
            return stack.enter_context(worker)

        yield begin


def of(worker: Worker, name: str) -> list[BackendInfo]:
    return [backend for backend in worker.hello.backends if backend.name == name]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "small.gguf"
    path.write_bytes(small_llama())
    return path


def test_a_copy_of_the_cpu_plugin_computes(start: StartWorker, users: Path, model: Path) -> None:
    shutil.copy(engine_library("libggml-cpu.so"), users)
    worker = start()
    assert [(info.path, info.loaded) for info in of(worker, "CPU")] == [(str(users / "libggml-cpu.so"), True)]
    assert [device.id for device in worker.hello.devices if device.backend == "CPU"] == ["CPU"]
    worker.loaded(model, n_ctx=128, n_threads=1)
    assert worker.finished(user("ab ba"), max_tokens=4)[1].stats.generated_tokens > 0
    assert str(users / "libggml-cpu.so") in Path(f"/proc/{worker.process.pid}/maps").read_text()


@pytest.mark.slow
def test_a_copy_of_the_vulkan_plugin_computes(start: StartWorker, users: Path, model: Path) -> None:
    shutil.copy(engine_library("libggml-vulkan.so"), users)
    worker = start(VRAMBLE_ALLOW_SOFTWARE_GPU="1")
    assert [(info.path, info.loaded, info.error) for info in of(worker, "Vulkan")] == [
        (str(users / "libggml-vulkan.so"), True, None)
    ]
    assert [device.id for device in worker.hello.devices if device.backend == "Vulkan"] == ["Vulkan0"]
    maps = Path(f"/proc/{worker.process.pid}/maps").read_text()
    assert str(engine_library("libggml-vulkan.so")) not in maps, "never both"
    loaded = worker.loaded(model, device="Vulkan0", n_ctx=128, n_threads=1).model
    assert (loaded.device.id, loaded.gpu_layers > 0) == ("Vulkan0", True)
    on_copy = worker.finished(user("ab ba"), max_tokens=8)[0]
    worker.loaded(model, device="cpu", n_ctx=128, n_threads=1)
    assert on_copy == worker.finished(user("ab ba"), max_tokens=8)[0]


@pytest.mark.slow
def test_a_second_vulkan_under_another_name_is_not_kept(start: StartWorker, users: Path) -> None:
    shutil.copy(engine_library("libggml-vulkan.so"), users / "libggml-another.so")
    worker = start(VRAMBLE_ALLOW_SOFTWARE_GPU="1")
    assert [info.loaded for info in worker.hello.backends if "ulkan" in f"{info.path}{info.error}"] == [True, False]
    assert [device.id for device in worker.hello.devices if device.backend == "Vulkan"] == ["Vulkan0"]


def test_any_backend_is_loaded_and_what_does_not_fit_says_why(
    start: StartWorker, users: Path, toys: ToyPlugins
) -> None:
    toys.put(users / "libggml-toy.so")
    toys.put(users / "libggml-sycl.so", "API=9")
    toys.put(users / "libggml-cann.so", "NO_ENTRY")
    toys.put(users / "libggml-opencl.so", links="libOpenCL-nowhere.so.1")
    toys.put(users / "libggml-musa.so", "UNDEFINED=ggml_that_is_not_there")
    toys.put(users / "libggml-blas.so", "SCORE=0")
    toys.put(users / "libggml-openvino.so", "AT_START=return NULL")
    worker = start()
    found = {info.name: info.error for info in worker.hello.backends}
    folder = str(users)
    assert found["Toy"] == "No device: it found nothing on this computer that it can use."
    assert found["SYCL"] == "It is made for version 9 of ggml's plugin interface; this engine has version 2."
    assert found["CANN"] == "It is no plugin of ggml: it has no ggml_backend_init."
    assert found["OpenCL"] == ("libOpenCL-nowhere.so.1: cannot open shared object file: No such file or directory")
    assert found["MUSA"] == (
        f"It was built for another llama.cpp. {folder}/libggml-musa.so: undefined symbol: ggml_that_is_not_there."
    )
    assert found["BLAS"] == "It says that this system cannot run it."
    assert found["OPENVINO"] == "No device: it found nothing on this computer that it can use."
    assert {info.name for info in worker.hello.backends if info.loaded} == {"Toy", "RPC", "Vulkan", "CPU"}
    assert list(users.glob(".*")) == [], "no marker is left"


@pytest.mark.slow
def test_a_newer_c_library_is_named(start: StartWorker, users: Path, toys: ToyPlugins) -> None:
    raw = toys.build().read_bytes()
    assert OTHER_GLIBC[0] in raw
    (users / "libggml-hip.so").write_bytes(raw.replace(*OTHER_GLIBC).replace(b"GLIBC_2.9.9", b"GLIBC_2.999"))
    error = of(start(), "ROCm")[0].error
    assert error is not None
    ours = ".".join(map(str, reasons.system_glibc()))
    assert error.startswith(f"It needs glibc 2.999 or newer; this system has {ours}.")
    assert "GLIBC_2.999' not found" in error


def test_cut_off_while_it_was_copied(start: StartWorker, users: Path) -> None:
    whole = engine_library("libggml-cpu.so").read_bytes()
    (users / "libggml-cpu.so").write_bytes(whole[: len(whole) // 2])
    (info,) = of(start(), "CPU")
    assert (info.loaded, info.path) == (True, str(engine_library("libggml-cpu.so")))
    assert info.error is not None
    assert info.error.startswith(f"{users / 'libggml-cpu.so'} is not used: The file is cut off")


def test_switched_off(start: StartWorker, users: Path, toys: ToyPlugins) -> None:
    toys.put(users / "libggml-toy.so")
    worker = start(VRAMBLE_BACKENDS_OFF="vulkan,Toy,cpu")
    off = {info.name: (info.loaded, info.error) for info in worker.hello.backends}
    assert off["Vulkan"] == off["toy"] == (False, "It is switched off in the settings.")
    assert off["CPU"] == (True, None)
    assert [device.kind for device in worker.hello.devices] == ["cpu"]
    assert "libvulkan" not in Path(f"/proc/{worker.process.pid}/maps").read_text(), "not even the driver is asked"


def run_until_it_ends(users: Path) -> int:
    """A worker whose stdin stays open ends by itself."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "VRAMBLE_BACKENDS_DIR": str(users)}
    command = [sys.executable, "-P", "-m", "engine.worker"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        return process.wait(60)


@pytest.mark.parametrize(
    "how", ["AT_LOAD=abort()", pytest.param("AT_START=*(volatile int*)0=1", marks=pytest.mark.slow)]
)
def test_a_plugin_that_ends_the_engine_does_so_once(
    start: StartWorker, users: Path, toys: ToyPlugins, how: str
) -> None:
    plugin = toys.put(users / "libggml-toy.so", how)
    assert run_until_it_ends(users) in (-signal.SIGABRT, -signal.SIGSEGV)
    error = of(start(), "toy")[0].error
    assert error is not None
    assert error.startswith("Loading it ended or blocked the engine the last time, so it is left out")
    assert str(users / ".libggml-toy.so.loading") in error
    assert of(start(), "toy")[0].error == error, "it stays left out"
    toys.put(plugin)
    assert of(start(), "Toy")[0].loaded, "a repaired one is tried"


def hanging(users: Path) -> subprocess.Popen[bytes]:
    """A worker that is loading a plugin that never comes back."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "VRAMBLE_BACKENDS_DIR": str(users)}
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "engine.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    marker = users / ".libggml-toy.so.loading"
    deadline = time.monotonic() + 60
    while not (marker.exists() and marker.stat().st_size):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.02)
    return process


@pytest.mark.slow
def test_a_plugin_that_hangs_does_so_once(start: StartWorker, users: Path, toys: ToyPlugins) -> None:
    toys.put(users / "libggml-toy.so", "AT_START=pause()")
    with hanging(users) as process:
        process.kill()
    error = of(start(), "toy")[0].error
    assert error is not None
    assert error.startswith("Loading it ended or blocked the engine the last time")


@pytest.mark.slow
def test_an_end_that_was_wanted_blames_no_plugin(users: Path, toys: ToyPlugins) -> None:
    toys.put(users / "libggml-toy.so", "AT_START=pause()")
    with hanging(users) as process:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 0
    assert not (users / ".libggml-toy.so.loading").exists()


@pytest.mark.slow
def test_another_process_that_loads_the_same_is_no_crash(start: StartWorker, users: Path, toys: ToyPlugins) -> None:
    toys.put(users / "libggml-toy.so", 'AT_START=if (access(getenv("GO_ON"), F_OK)) pause()')
    os.environ.pop("GO_ON", None)
    with hanging(users) as process:
        assert of(start(GO_ON=str(users)), "Toy")[0].loaded
        process.kill()


@pytest.mark.slow
def test_the_interface_version_is_the_engines(start: StartWorker, users: Path, toys: ToyPlugins) -> None:
    toys.put(users / "libggml-toy.so", f"API={reasons.API_VERSION}")
    toys.put(users / "libggml-sycl.so", f"API={reasons.API_VERSION + 1}")
    worker = start()
    assert of(worker, "Toy")[0].loaded
    assert not of(worker, "SYCL")[0].loaded

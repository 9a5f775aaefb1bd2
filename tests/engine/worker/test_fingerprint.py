"""What makes a load another one for the self-test, and what does not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.protocol.types import (
    BackendInfo,
    DeviceInfo,
    DeviceKind,
    FlashAttention,
    KvType,
    LoadOptions,
    LoraAdapter,
    ModelInfo,
)
from engine.worker.fingerprint import driver_files, fingerprint
from tests.engine.worker.conftest import StartWorker

GPU = DeviceInfo(
    id="Vulkan0",
    backend="Vulkan",
    name="AMD Radeon RX 7900 XTX (RADV NAVI31)",
    pci="0000:03:00.0",
    kind=DeviceKind.GPU,
    memory_total=24 << 30,
    memory_free=20 << 30,
    usable=True,
)
CPU = msgspec.structs.replace(GPU, id="CPU", backend="CPU", name="A processor", pci=None, kind=DeviceKind.CPU)


class Case:
    """A load whose facts can be changed one by one."""

    def __init__(self, folder: Path) -> None:
        self.model = self._file(folder / "m.gguf", b"weights")
        self.plugin = self._file(folder / "libggml-vulkan.so", b"plugin")
        self.driver = self._file(folder / "libvulkan_radeon.so", b"driver")
        self.maps = folder / "maps"
        self.maps.write_text(f"7f00-7f01 r-xp 00000000 00:00 1    {self.driver}\n7f02-7f03 rw-p 0 0 0 [heap]\n")
        self.info = ModelInfo(
            path=str(self.model),
            name="m",
            architecture="llama",
            quant="Q4_0",
            n_params=1,
            size_bytes=1,
            n_ctx=4096,
            n_ctx_train=4096,
            n_layers=4,
            gpu_layers=4,
            device=GPU,
            devices=(GPU,),
            flash_attention=True,
        )
        self.options = LoadOptions()
        self.environ: dict[str, str] = {"HOME": "/root"}
        self.engine = "0.3.36"

    @staticmethod
    def _file(path: Path, data: bytes) -> Path:
        path.write_bytes(data)
        return path

    def mark(self) -> str:
        backends = (
            BackendInfo(name="CPU", path="/nowhere/libggml-cpu.so", loaded=True),
            BackendInfo(name="Vulkan", path=str(self.plugin), loaded=True),
        )
        return fingerprint(self.info, self.options, backends, self.engine, self.environ, self.maps)

    def set(self, **options: Any) -> None:
        self.options = msgspec.structs.replace(self.options, **options)


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path)


def touch(path: Path) -> None:
    os.utime(path, ns=(1, 1))


def test_the_same_load_twice(case: Case) -> None:
    assert case.mark() == case.mark() != ""


@pytest.mark.parametrize("part", ["model", "plugin", "driver"])
def test_other_files(case: Case, part: str) -> None:
    before = case.mark()
    touch(getattr(case, part))
    assert case.mark() != before


@pytest.mark.parametrize(
    "options",
    [
        {"n_ubatch": 128},
        {"kv_type_k": KvType.Q8_0},
        {"kv_on_cpu": True},
        {"n_cpu_moe": 2},
        {"rope_freq_base": 1e6},
        {"lora": (LoraAdapter(path="/adapters/a.gguf"),)},
    ],
)
def test_options_that_choose_kernels_or_values(case: Case, options: dict[str, Any]) -> None:
    before = case.mark()
    case.set(**options)
    assert case.mark() != before


@pytest.mark.parametrize("options", [{"n_ctx": 8192}, {"n_threads": 3}, {"mmap": True}, {"device": "0000:03:00.0"}])
def test_options_that_do_not_matter(case: Case, options: dict[str, Any]) -> None:
    before = case.mark()
    case.set(**options)
    assert case.mark() == before


@pytest.mark.parametrize(
    "outcome",
    [{"gpu_layers": 3}, {"flash_attention": False}, {"devices": (msgspec.structs.replace(GPU, name="Another"),)}],
)
def test_what_came_of_the_options(case: Case, outcome: dict[str, Any]) -> None:
    before = case.mark()
    case.info = msgspec.structs.replace(case.info, **outcome)
    assert case.mark() != before


def test_asking_for_what_is_chosen_anyway_changes_nothing(case: Case) -> None:
    before = case.mark()
    case.set(flash_attention=FlashAttention.ON)
    assert case.mark() == before


def test_the_engine_and_its_switches(case: Case) -> None:
    marks = {case.mark()}
    case.environ = {"HOME": "/home/other"}
    assert case.mark() in marks
    case.environ["GGML_VK_DISABLE_COOPMAT"] = "1"
    marks.add(case.mark())
    case.engine = "0.3.37"
    marks.add(case.mark())
    assert len(marks) == 3


def test_the_driver_is_nothing_to_the_cpu(case: Case) -> None:
    case.info = msgspec.structs.replace(case.info, device=CPU, devices=(CPU,), gpu_layers=0)
    before = case.mark()
    touch(case.driver)
    touch(case.plugin)
    assert case.mark() == before


def test_all_parts_of_a_split_set_count(case: Case, tmp_path: Path) -> None:
    parts = [tmp_path / f"big-0000{no}-of-00002.gguf" for no in (1, 2)]
    for part in parts:
        part.write_bytes(b"x")
    case.info = msgspec.structs.replace(case.info, path=str(parts[0]))
    before = case.mark()
    touch(parts[1])
    assert case.mark() != before


def test_files_of_drivers_among_what_is_mapped(tmp_path: Path) -> None:
    maps = tmp_path / "maps"
    names = (
        "/usr/lib/x86_64-linux-gnu/libvulkan_radeon.so",
        "/opt/rocm-6.4/lib/libamdhip64.so.6.4.0",
        "/usr/lib/x86_64-linux-gnu/libc.so.6",
        "/usr/lib/x86_64-linux-gnu/libvulkan.so.1.3.239",
    )
    lines = [f"7f0{i}-7f1{i} r--p 00000000 08:01 {i} {'':20}{name}" for i, name in enumerate(names)]
    maps.write_text("\n".join([*lines, lines[0]]))
    assert driver_files(maps) == [names[1], names[0]]
    assert driver_files(tmp_path / "none") == []


def test_a_real_load_has_one(start_worker: StartWorker, tiny: Path) -> None:
    worker = start_worker()
    first = worker.loaded(tiny, n_ctx=128, n_threads=1).model.fingerprint
    assert len(first) == 24
    assert worker.loaded(tiny, n_ctx=256, n_threads=2).model.fingerprint == first
    assert worker.loaded(tiny, n_ctx=128, n_threads=1, n_ubatch=64).model.fingerprint != first

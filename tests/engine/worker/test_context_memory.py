"""A context that does not fit into memory is refused before anything is loaded."""

from __future__ import annotations

from pathlib import Path

from engine.backends.placement import Placement
from engine.errors import VrambleError
from engine.memory.tree import Tree
from engine.protocol.frames import Failed
from engine.protocol.types import DeviceInfo, DeviceKind, KvType, LoadOptions
from engine.worker.context_memory import RESERVE, check_context_memory, weight_bytes
from engine.worker.plan import Plan
from engine.worker.validate import check_file
from tests.engine.worker.conftest import StartWorker
from tests.engine.worker.driver import starter_model
from tests.fakes.tiny_gguf import split_set

GIB = 1 << 30
FOR_A_TOKEN = 30 * 3 * 128 * 2
"""Bytes that a token takes in the KV cache of the starter model."""


def machine(folder: Path, available: int) -> Path:
    (folder / "proc").mkdir(exist_ok=True)
    text = f"MemTotal: {64 << 20} kB\nMemFree: 1000 kB\nMemAvailable: {available >> 10} kB\nSwapTotal: 0 kB\n"
    (folder / "proc/meminfo").write_text(text)
    return folder


def plan(options: LoadOptions, kind: DeviceKind = DeviceKind.CPU, path: Path | None = None) -> Plan:
    device = DeviceInfo(
        id="x", backend="x", name="x", pci=None, kind=kind, memory_total=None, memory_free=None, usable=True
    )
    path = path or starter_model()
    return Plan(path, check_file(path), options, Placement((device,)), ())


def refusal(folder: Path, available: int, kind: DeviceKind = DeviceKind.CPU, **options: object) -> VrambleError | None:
    try:
        check_context_memory(plan(LoadOptions(**options), kind), tree=Tree(machine(folder, available)))  # type: ignore[arg-type]
    except VrambleError as error:
        return error
    return None


def test_both_sizes_and_what_would_fit(tmp_path: Path) -> None:
    error = refusal(tmp_path, 8 * GIB, n_ctx=1_048_576)
    assert error is not None
    assert error.code == "context-memory"
    assert "context of 1048576 tokens" in error.message
    assert "need 22.6 GiB, and 7.5 GiB can be used" in error.message
    longest = (8 * GIB - RESERVE - plan(LoadOptions()).header.tensor_bytes) // FOR_A_TOKEN // 256 * 256
    assert f" {longest} tokens or less" in error.next_step
    assert refusal(tmp_path, 8 * GIB, n_ctx=longest) is None
    assert refusal(tmp_path, 8 * GIB, n_ctx=longest + 1) is not None


def test_a_quantised_cache_takes_less(tmp_path: Path) -> None:
    assert refusal(tmp_path, 2 * GIB, n_ctx=100_000)
    assert not refusal(tmp_path, 2 * GIB, n_ctx=100_000, kv_type_k=KvType.Q8_0, kv_type_v=KvType.Q4_0)


def test_the_trained_length_counts_too(tmp_path: Path) -> None:
    assert refusal(tmp_path, RESERVE + 200 * 1024 * 1024, n_ctx=0)
    assert not refusal(tmp_path, RESERVE + 300 * 1024 * 1024, n_ctx=0)


def test_only_on_the_cpu(tmp_path: Path) -> None:
    assert not refusal(tmp_path, 8 * GIB, DeviceKind.GPU, n_ctx=1_048_576)
    assert not refusal(tmp_path, 8 * GIB, DeviceKind.IGPU, n_ctx=1_048_576)


def test_weights_that_fill_the_memory_are_no_matter_of_the_context(tmp_path: Path) -> None:
    """They are mapped: the model runs, slowly."""
    assert not refusal(tmp_path, RESERVE + 80 * 1024 * 1024, n_ctx=2048)
    error = refusal(tmp_path, RESERVE + 80 * 1024 * 1024, n_ctx=8192)
    assert error is not None
    assert error.next_step.startswith("Choose a smaller model")


def test_unknown_memory_refuses_nothing(tmp_path: Path) -> None:
    check_context_memory(plan(LoadOptions(n_ctx=1_048_576)), tree=Tree(tmp_path))


def test_all_parts_of_a_split_set_count(tmp_path: Path) -> None:
    parts = split_set(3, stem="big")
    for name, data in parts.items():
        (tmp_path / name).write_bytes(data)
    assert weight_bytes(plan(LoadOptions(), path=tmp_path / min(parts))) == sum(map(len, parts.values()))


def test_the_worker_refuses_and_goes_on(start_worker: StartWorker, tmp_path: Path) -> None:
    worker = start_worker(env={"VRAMBLE_SYSROOT": str(machine(tmp_path, 8 * GIB))})
    error = worker.load(starter_model(), n_ctx=1_048_576, n_threads=1, device="cpu")
    assert isinstance(error, Failed)
    assert error.code == "context-memory"
    assert "22.6 GiB" in error.message
    assert "tokens or less" in error.next_step
    worker.loaded(starter_model(), n_ctx=512, n_threads=1, device="cpu")

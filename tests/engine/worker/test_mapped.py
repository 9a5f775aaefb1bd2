"""Weights of the processor out of a mapped file: what is needed, not what the mapping spans."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.memory.fit import fit_devices, predict, read_model
from engine.memory.fit.records import FitModel
from engine.protocol.frames import Load, Loaded
from engine.protocol.types import LoadOptions
from engine.worker.log import LoadReport
from engine.worker.mapped import needed_of_mapping
from tests.engine.worker.conftest import StartWorker
from tests.fakes import sparse_gguf as sparse
from tests.fakes.sparse_gguf import Sizes

MIB = 1 << 20


def told(*lines: str) -> LoadReport:
    report = LoadReport()
    for line in lines:
        report.take(f"load_tensors: {line}")
    return report


def test_what_was_copied_is_not_needed_twice() -> None:
    report = told("CPU_Mapped model buffer size = 1000.00 MiB", "CPU_REPACK model buffer size = 700.00 MiB")
    assert (report.mapped, report.copied) == (1000 * MIB, 700 * MIB)
    assert needed_of_mapping(report, 1000 * MIB, 0) == 300 * MIB


def test_tied_embeddings_are_needed_in_both_places() -> None:
    report = told("CPU_Mapped model buffer size = 150.00 MiB", "Vulkan0 model buffer size = 1000.00 MiB")
    assert needed_of_mapping(report, 1000 * MIB, 150 * MIB) == 150 * MIB


def test_a_span_that_is_right_stays() -> None:
    report = told("CPU_Mapped model buffer size = 200.00 MiB", "Vulkan0 model buffer size = 800.00 MiB")
    assert needed_of_mapping(report, 1000 * MIB, 0) == 200 * MIB
    assert needed_of_mapping(told("CPU_Mapped model buffer size = 9.00 MiB"), 10 * MIB, 0) == 9 * MIB


def test_other_buffers_are_no_weights() -> None:
    report = told(
        "CPU_Mapped model buffer size = 9.00 MiB",
        "CPU KV buffer size = 5.00 MiB",
        "Vulkan0 LoRA buffer size = 5.00 MiB",
    )
    assert report.copied == 0


SHAPE = Sizes(layers=8, width=1024, heads=16, kv_heads=2, ff=3072, vocabulary=32000)


@pytest.mark.parametrize("tied", [False, True])
def test_a_mapped_file_takes_what_a_read_one_takes(start_worker: StartWorker, tmp_path: Path, tied: bool) -> None:
    """Q4_0 is repacked for the processor: the mapping spans the whole file nevertheless."""
    path = sparse.llama(SHAPE, "Q4_0", tied=tied).write(tmp_path / "model.gguf")
    worker = start_worker()
    weights = []
    for number, mmap in enumerate((True, False), start=1):
        worker.send(Load(id=number, path=str(path), options=LoadOptions(n_ctx=512, device="cpu", mmap=mmap)))
        _, end = worker.until_terminal(number)
        assert isinstance(end, Loaded)
        weights.append(sum(use.weights for use in end.model.memory))
    assert weights[0] == pytest.approx(weights[1], rel=0.02)
    model = read_model(path)
    assert isinstance(model, FitModel)
    plan = predict(model, LoadOptions(n_ctx=512, device="cpu"), fit_devices(worker.hello.devices))
    assert weights[0] == pytest.approx(sum(use.weights for use in plan.uses), rel=0.02)

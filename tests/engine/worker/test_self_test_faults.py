"""The self-test with the real engine on files and devices that are wrong: which faults it shows."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import msgspec
import pytest

from engine.client.agreement import Outcome, compare, look_at
from tests.engine.worker.conftest import StartWorker
from tests.engine.worker.driver import ROOT, Worker
from tests.engine.worker.probing import changed_tensors, load_and_probe, probed
from tests.fakes.tiny_gguf import SMALL, TINY, gguf, llama_parts, tiny_llama

FAULTY = ROOT / "tests" / "fakes" / "faulty_worker.py"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory, models: Path) -> Path:
    return models / "small.gguf"


def test_weights_without_numbers(worker: Worker, tmp_path: Path) -> None:
    def change(name: str, data: bytes) -> bytes:
        return struct.pack("<f", float("nan")) * (len(data) // 4) if name == "blk.0.ffn_down.weight" else data

    path = tmp_path / "nan.gguf"
    path.write_bytes(changed_tensors(change))
    probe, _ = load_and_probe(worker, path)
    assert look_at(probe).outcome is Outcome.NO_NUMBERS


def test_weights_that_know_no_difference(worker: Worker, tmp_path: Path) -> None:
    """All tokens have the same embedding, so whatever is read, the same is expected."""

    def change(name: str, data: bytes) -> bytes:
        row = 4 * TINY.embd
        return data[:row] * (len(data) // row) if name == "token_embd.weight" else data

    path = tmp_path / "constant.gguf"
    path.write_bytes(changed_tensors(change))
    probe, _ = load_and_probe(worker, path)
    assert look_at(probe).outcome is Outcome.CONSTANT


@pytest.mark.parametrize(
    ("mode", "seen", "compared"),
    [
        ("none", Outcome.OK, Outcome.OK),
        ("nan", Outcome.NO_NUMBERS, None),
        ("constant", Outcome.CONSTANT, None),
        ("garbage", Outcome.OK, Outcome.DISAGREES),
    ],
)
def test_a_device_that_computes_wrongly(
    cpu: Worker, start_worker: StartWorker, small: Path, mode: str, seen: Outcome, compared: Outcome | None
) -> None:
    faulty = start_worker(command=[sys.executable, str(FAULTY), mode])
    probe, reference = load_and_probe(faulty, small)
    assert look_at(probe).outcome is seen
    if compared is not None:
        assert compare(probe, probed(cpu, reference)).outcome is compared


@pytest.mark.parametrize(
    "part", ["token_embd.weight", "blk.0.attn_v.weight", "blk.1.ffn_down.weight", "blk.0.attn_norm.weight"]
)
def test_one_tensor_computed_wrongly_is_enough(
    cpu: Worker, worker: Worker, small: Path, tmp_path: Path, part: str
) -> None:
    """The device has rows of one matrix exchanged; the CPU reads the right file."""
    kvs, tensors = llama_parts(SMALL, 1, name="small")
    half = next(len(tensor.data) // 2 for tensor in tensors if tensor.name == part)

    def fault(data: bytes) -> bytes:
        return data[half:] + data[:half] if "norm" not in part else struct.pack("<f", 8.0) * (len(data) // 4)

    path = tmp_path / "fault.gguf"
    path.write_bytes(gguf(kvs, [t._replace(data=fault(t.data)) if t.name == part else t for t in tensors]))
    probe, reference = load_and_probe(worker, path)
    right = msgspec.structs.replace(reference, path=str(small))
    assert compare(probe, probed(cpu, right)).outcome is Outcome.DISAGREES
    assert compare(probe, probed(cpu, reference)).outcome is Outcome.OK


def test_bytes_of_a_tiny_model_are_what_the_tests_think() -> None:
    assert changed_tensors(lambda _name, data: data) == tiny_llama()

"""The self-test with the real engine: what it reads off, what it leaves behind, which faults it shows."""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from engine.client.agreement import Outcome, compare, look_at
from engine.protocol.frames import Failed, SelfTest, SelfTested
from engine.protocol.probe import Probe, Reference
from engine.protocol.types import FlashAttention, KvType, LoadOptions, LoraAdapter, RopeScaling
from engine.worker.logits import KEPT
from engine.worker.self_test import FIRST_SLICE, ON_CPU
from tests.engine.worker.conftest import StartWorker
from tests.engine.worker.driver import ROOT, Worker, starter_model, user
from tests.engine.worker.test_real_vulkan import ALLOWED, software_of
from tests.fakes.tiny_gguf import SMALL, TINY, gguf, llama_parts, tiny_llama
from tests.fakes.tiny_recurrent import mamba
from tests.fakes.tiny_variants import lora_adapter, moe_llama

FAULTY = ROOT / "tests" / "fakes" / "faulty_worker.py"
SMALL_CONTEXT: dict[str, Any] = {"n_ctx": 256, "n_threads": 1}


def asked(worker: Worker, reference: Reference | None = None) -> SelfTested | Failed:
    request = SelfTest(id=worker.new_id(), reference=reference)
    worker.send(request)
    answer = worker.until_terminal(request.id)[1]
    assert isinstance(answer, SelfTested | Failed)
    return answer


def probed(worker: Worker, reference: Reference | None = None) -> Probe:
    answer = asked(worker, reference)
    assert isinstance(answer, SelfTested), answer
    return answer.probe


def load_and_probe(worker: Worker, path: Path, **options: Any) -> tuple[Probe, Reference]:
    worker.loaded(path, **SMALL_CONTEXT, **options)
    probe = probed(worker)
    return probe, Reference(path=str(path), options=LoadOptions(**SMALL_CONTEXT, **options), probe=probe)


def changed_tensors(change: Callable[[str, bytes], bytes]) -> bytes:
    kvs, tensors = llama_parts(TINY, 1)
    return gguf(kvs, [tensor._replace(data=change(tensor.name, tensor.data)) for tensor in tensors])


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory, models: Path) -> Path:
    return models / "small.gguf"


def test_what_is_read_off(worker: Worker, tiny: Path) -> None:
    probe, _ = load_and_probe(worker, tiny)
    assert [place.read for place in probe.positions] == list(range(ON_CPU, 2 * ON_CPU))
    assert (len(probe.tokens), probe.chosen) == (2 * ON_CPU - 1, 0)
    for place in probe.positions:
        assert len(place.best) == KEPT
        logprobs = [candidate.logprob for candidate in place.best]
        assert logprobs == sorted(logprobs, reverse=True)
        assert sum(np.exp(logprobs)) <= 1 + 1e-6
    assert look_at(probe).outcome is Outcome.OK


def test_it_leaves_nothing_behind(worker: Worker, tiny: Path) -> None:
    worker.loaded(tiny, **SMALL_CONTEXT)
    before = worker.finished(user("abc"), max_tokens=8)
    worker.loaded(tiny, **SMALL_CONTEXT)
    probed(worker)
    text, finished = worker.finished(user("abc"), max_tokens=8)
    assert text == before[0]
    assert finished.stats.prompt_tokens == before[1].stats.prompt_tokens
    assert finished.stats.cached_tokens == 0
    again = probed(worker)
    assert again == probed(worker), "the same every time, whatever was said between"


def test_without_a_model(start_worker: StartWorker) -> None:
    answer = asked(start_worker())
    assert isinstance(answer, Failed)
    assert answer.code == "no-model"


@pytest.mark.parametrize("n_batch", [1, 5, 512])
def test_small_batches(worker: Worker, tiny: Path, n_batch: int) -> None:
    probe, _ = load_and_probe(worker, tiny, n_batch=n_batch)
    assert look_at(probe).outcome is Outcome.OK
    assert len(probe.positions) == ON_CPU


def test_a_context_of_sixteen_tokens(worker: Worker, tiny: Path) -> None:
    worker.loaded(tiny, n_ctx=16, n_threads=1)
    assert look_at(probed(worker)).outcome is Outcome.OK


@pytest.mark.parametrize("make", [moe_llama, mamba])
def test_experts_and_recurrent_states(worker: Worker, tmp_path: Path, make: Callable[[], bytes]) -> None:
    path = tmp_path / "other.gguf"
    path.write_bytes(make())
    probe, reference = load_and_probe(worker, path)
    before = worker.finished(user("abc"), max_tokens=8)[0]
    assert probed(worker) == probe
    assert worker.finished(user("abc"), max_tokens=8)[0] == before
    assert look_at(probe).outcome is Outcome.OK
    assert compare(probe, probed(worker, reference)).outcome is Outcome.OK


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"kv_type_k": KvType.Q8_0, "kv_type_v": KvType.Q4_0},
        {"flash_attention": FlashAttention.OFF},
        {"rope_scaling": RopeScaling.YARN, "n_ctx": 4096},
        {"rope_freq_base": 500.0},
    ],
)
def test_the_reference_agrees_with_the_same_file(worker: Worker, small: Path, options: dict[str, Any]) -> None:
    options = {**SMALL_CONTEXT, **options}
    worker.loaded(small, **options)
    probe = probed(worker)
    reference = Reference(path=str(small), options=LoadOptions(**options), probe=probe)
    cpu = probed(worker, reference)
    assert cpu.tokens == probe.tokens
    assert [place.read for place in cpu.positions] == [place.read for place in probe.positions]
    for ours, theirs in zip(probe.positions, cpu.positions, strict=True):
        assert {c.token for c in ours.best} <= {c.token for c in theirs.best}, "it tells of the device's tokens"
    assert compare(probe, cpu).outcome is Outcome.OK


def test_options_that_change_the_numbers_reach_the_reference(worker: Worker, small: Path, tmp_path: Path) -> None:
    """Without the adapter the CPU would compute something else, and a healthy device would be warned of."""
    adapter = tmp_path / "adapter.gguf"
    adapter.write_bytes(lora_adapter(SMALL))
    probe, reference = load_and_probe(worker, small, lora=(LoraAdapter(path=str(adapter), scale=4.0),))
    plain = msgspec.structs.replace(reference, options=LoadOptions(**SMALL_CONTEXT))
    assert compare(probe, probed(worker, reference)).outcome is Outcome.OK
    assert compare(probe, probed(worker, plain)).outcome is Outcome.DISAGREES


def test_a_reference_gives_the_model_up(worker: Worker, tiny: Path) -> None:
    _, reference = load_and_probe(worker, tiny)
    probed(worker, reference)
    answer = asked(worker)
    assert isinstance(answer, Failed)
    assert answer.code == "no-model"


def test_a_reference_without_its_file(worker: Worker, tiny: Path, tmp_path: Path) -> None:
    _, reference = load_and_probe(worker, tiny)
    answer = asked(worker, msgspec.structs.replace(reference, path=str(tmp_path / "gone.gguf")))
    assert isinstance(answer, Failed)
    assert answer.code == "missing-file"


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
    start_worker: StartWorker, small: Path, mode: str, seen: Outcome, compared: Outcome | None
) -> None:
    faulty = start_worker(command=[sys.executable, str(FAULTY), mode])
    probe, reference = load_and_probe(faulty, small)
    assert look_at(probe).outcome is seen
    if compared is not None:
        assert compare(probe, probed(start_worker(), reference)).outcome is compared


@pytest.mark.parametrize(
    "part", ["token_embd.weight", "blk.0.attn_v.weight", "blk.1.ffn_down.weight", "blk.0.attn_norm.weight"]
)
def test_one_tensor_computed_wrongly_is_enough(worker: Worker, small: Path, tmp_path: Path, part: str) -> None:
    """The device has rows of one matrix exchanged; the CPU reads the right file."""
    kvs, tensors = llama_parts(SMALL, 1, name="small")
    half = next(len(tensor.data) // 2 for tensor in tensors if tensor.name == part)

    def fault(data: bytes) -> bytes:
        return data[half:] + data[:half] if "norm" not in part else struct.pack("<f", 8.0) * (len(data) // 4)

    path = tmp_path / "fault.gguf"
    path.write_bytes(gguf(kvs, [t._replace(data=fault(t.data)) if t.name == part else t for t in tensors]))
    probe, reference = load_and_probe(worker, path)
    right = msgspec.structs.replace(reference, path=str(small))
    assert compare(probe, probed(worker, right)).outcome is Outcome.DISAGREES
    assert compare(probe, probed(worker, reference)).outcome is Outcome.OK


def test_a_real_graphics_path_agrees_with_the_cpu(start_worker: StartWorker, small: Path) -> None:
    worker = start_worker(env=ALLOWED)
    probe, reference = load_and_probe(worker, small, device=software_of(worker).id)
    assert len(probe.tokens) > FIRST_SLICE
    own = [place.best[0].token for place in probe.positions if place.read >= len(probe.tokens) - probe.chosen]
    assert probe.chosen >= 2
    assert list(probe.tokens[-probe.chosen :]) == own[:-1], "greedy: the best token is the next one"
    assert look_at(probe).outcome is Outcome.OK
    cpu = probed(start_worker(), reference)
    assert compare(probe, cpu).outcome is Outcome.OK


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"kv_type_k": KvType.Q8_0, "kv_type_v": KvType.Q8_0}])
def test_the_starter_model_on_the_graphics_path(start_worker: StartWorker, options: dict[str, Any]) -> None:
    worker = start_worker(env=ALLOWED)
    device = software_of(worker)
    probe, reference = load_and_probe(worker, starter_model(), device=device.id, n_gpu_layers=3, **options)
    assert compare(probe, probed(start_worker(), reference)).outcome is Outcome.OK


@pytest.mark.slow
def test_the_starter_model_on_the_cpu(start_worker: StartWorker) -> None:
    probe, reference = load_and_probe(start_worker(), starter_model())
    assert look_at(probe).outcome is Outcome.OK
    assert compare(probe, probed(start_worker(), reference)).outcome is Outcome.OK


def test_bytes_of_a_tiny_model_are_what_the_tests_think() -> None:
    assert changed_tensors(lambda _name, data: data) == tiny_llama()

"""The self-test with the real engine: what it reads off, what it leaves behind, which faults it shows."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from engine.client.agreement import Outcome, compare, look_at
from engine.protocol.frames import Failed
from engine.protocol.probe import Reference
from engine.protocol.types import FlashAttention, KvType, LoadOptions, LoraAdapter, RopeScaling
from engine.worker.logits import KEPT
from engine.worker.self_test import FIRST_SLICE, ON_CPU
from tests.engine.worker.conftest import StartWorker
from tests.engine.worker.driver import Worker, starter_model, user
from tests.engine.worker.probing import SMALL_CONTEXT, asked, load_and_probe, probed
from tests.engine.worker.test_real_vulkan import ALLOWED, software_of
from tests.fakes.tiny_gguf import SMALL
from tests.fakes.tiny_recurrent import mamba
from tests.fakes.tiny_variants import lora_adapter, moe_llama


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
def test_experts_and_recurrent_states(cpu: Worker, worker: Worker, tmp_path: Path, make: Callable[[], bytes]) -> None:
    path = tmp_path / "other.gguf"
    path.write_bytes(make())
    probe, reference = load_and_probe(worker, path)
    before = worker.finished(user("abc"), max_tokens=8)[0]
    assert probed(worker) == probe
    assert worker.finished(user("abc"), max_tokens=8)[0] == before
    assert look_at(probe).outcome is Outcome.OK
    assert compare(probe, probed(cpu, reference)).outcome is Outcome.OK


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
def test_the_reference_agrees_with_the_same_file(
    cpu: Worker, worker: Worker, small: Path, options: dict[str, Any]
) -> None:
    options = {**SMALL_CONTEXT, **options}
    worker.loaded(small, **options)
    probe = probed(worker)
    reference = Reference(path=str(small), options=LoadOptions(**options), probe=probe)
    computed = probed(cpu, reference)
    assert computed.tokens == probe.tokens
    assert [place.read for place in computed.positions] == [place.read for place in probe.positions]
    for ours, theirs in zip(probe.positions, computed.positions, strict=True):
        assert {c.token for c in ours.best} <= {c.token for c in theirs.best}, "it tells of the device's tokens"
    assert compare(probe, computed).outcome is Outcome.OK


def test_options_that_change_the_numbers_reach_the_reference(
    cpu: Worker, worker: Worker, small: Path, tmp_path: Path
) -> None:
    """Without the adapter the CPU would compute something else, and a healthy device would be warned of."""
    adapter = tmp_path / "adapter.gguf"
    adapter.write_bytes(lora_adapter(SMALL))
    probe, reference = load_and_probe(worker, small, lora=(LoraAdapter(path=str(adapter), scale=4.0),))
    plain = msgspec.structs.replace(reference, options=LoadOptions(**SMALL_CONTEXT))
    assert compare(probe, probed(cpu, reference)).outcome is Outcome.OK
    assert compare(probe, probed(cpu, plain)).outcome is Outcome.DISAGREES


def test_a_reference_gives_the_model_up_and_yields_to_all_others(cpu: Worker, tiny: Path) -> None:
    _, reference = load_and_probe(cpu, tiny)
    probed(cpu, reference)
    answer = asked(cpu)
    assert isinstance(answer, Failed)
    assert answer.code == "no-model"
    assert os.getpriority(os.PRIO_PROCESS, cpu.process.pid) == 19


def test_a_reference_without_its_file(cpu: Worker, worker: Worker, tiny: Path, tmp_path: Path) -> None:
    _, reference = load_and_probe(worker, tiny)
    answer = asked(cpu, msgspec.structs.replace(reference, path=str(tmp_path / "gone.gguf")))
    assert isinstance(answer, Failed)
    assert answer.code == "missing-file"


def test_a_real_graphics_path_agrees_with_the_cpu(cpu: Worker, start_worker: StartWorker, small: Path) -> None:
    worker = start_worker(env=ALLOWED)
    probe, reference = load_and_probe(worker, small, device=software_of(worker).id)
    assert len(probe.tokens) > FIRST_SLICE
    own = [place.best[0].token for place in probe.positions if place.read >= len(probe.tokens) - probe.chosen]
    assert probe.chosen >= 2
    assert list(probe.tokens[-probe.chosen :]) == own[:-1], "greedy: the best token is the next one"
    assert look_at(probe).outcome is Outcome.OK
    computed = probed(cpu, reference)
    assert compare(probe, computed).outcome is Outcome.OK


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"kv_type_k": KvType.Q8_0, "kv_type_v": KvType.Q8_0}])
def test_the_starter_model_on_the_graphics_path(
    cpu: Worker, start_worker: StartWorker, options: dict[str, Any]
) -> None:
    worker = start_worker(env=ALLOWED)
    device = software_of(worker)
    probe, reference = load_and_probe(worker, starter_model(), device=device.id, n_gpu_layers=3, **options)
    assert compare(probe, probed(cpu, reference)).outcome is Outcome.OK


@pytest.mark.slow
def test_the_starter_model_on_the_cpu(cpu: Worker, start_worker: StartWorker) -> None:
    probe, reference = load_and_probe(start_worker(), starter_model())
    assert look_at(probe).outcome is Outcome.OK
    assert compare(probe, probed(cpu, reference)).outcome is Outcome.OK

"""What loads teach, and what they must not."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.memory.fit import predict
from engine.memory.fit.correction import KEPT, KEPT_KEYS, FitHistory, LoadKey, LoadRecord, learned, records_of
from engine.memory.fit.records import LearnedBytes
from engine.memory.records import WorkerGpu, WorkerMemory
from engine.memory.sizes import GIB
from engine.protocol.types import LoadOptions, MemoryUse
from tests.engine.memory.fit.conftest import MIB, apu, cpu, gpu
from tests.engine.memory.fit.test_plan import model

CARD = LoadKey(card="0000:03:00.0", backend="Vulkan", driver="radv 25.2")


def loads(*pairs: tuple[float, float], key: LoadKey = CARD) -> tuple[LoadRecord, ...]:
    """Predicted and measured in GiB."""
    return tuple(LoadRecord(key=key, predicted=int(a * GIB), measured=int(b * GIB)) for a, b in pairs)


def after(*pairs: tuple[float, float]) -> LearnedBytes:
    found = learned(loads(*pairs))
    assert found is not None
    return found


def test_nothing_without_loads() -> None:
    assert learned(()) is None
    assert learned(loads((0, 5), (5, 0))) is None, "an unknown figure is no load"


def test_what_the_driver_takes_beside() -> None:
    assert after((4, 4.2)).for_total(4 * GIB) == pytest.approx(0.1 * GIB, rel=0.01), "one load goes half of the way"
    twenty = after(*[(4, 4.2)] * 20)
    assert twenty.for_total(8 * GIB) == pytest.approx(0.2 * GIB, rel=0.06)
    assert twenty.share == 0, "loads of one size say nothing of a share"


def test_a_share_of_the_size() -> None:
    many = after(*[(size, size * 1.05 + 0.1) for size in (1, 2, 4, 8, 12, 3, 6, 9)])
    assert many.share == pytest.approx(0.05, rel=0.15)
    assert many.for_total(10 * GIB) == pytest.approx(0.6 * GIB, rel=0.15)


def test_single_wrong_measurements_change_little() -> None:
    good = [(size, size + 0.2) for size in (1, 2, 4, 8, 12, 3, 6, 9)]
    spoilt = after(*good, (5, 40), (7, 0.1))
    assert spoilt.for_total(8 * GIB) == pytest.approx(after(*good).for_total(8 * GIB), abs=80 * MIB)


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, 1000)), max_size=30), st.integers(0, 64 * GIB))
def test_a_correction_is_bounded(pairs: list[tuple[float, float]], total: int) -> None:
    found = learned(loads(*pairs))
    if found is None:
        return
    assert -0.1 * total - 128 * MIB - 1 <= found.for_total(total) <= 0.25 * total + 768 * MIB + 1
    assert total + found.for_total(total) >= 0


def test_the_forecast_uses_it() -> None:
    options = LoadOptions(n_ctx=4096)
    plain = predict(model(), options, [gpu(20 * GIB), cpu()]).uses[0]
    card = msgspec.structs.replace(gpu(20 * GIB), learned=LearnedBytes(share=0.1, extra=200 * MIB, loads=5))
    use = predict(model(), options, [card, cpu()]).uses[0]
    assert use.learned == pytest.approx(plain.total * 0.1 + 200 * MIB, abs=2)
    assert use.total == plain.total + use.learned
    assert (use.weights, use.kv, use.compute) == (plain.weights, plain.kv, plain.compute)


def test_records_by_key_and_the_oldest_go() -> None:
    other = msgspec.structs.replace(CARD, driver="radv 26.0")
    history = FitHistory()
    for number in range(KEPT + 5):
        history = history.with_record(LoadRecord(key=CARD, predicted=number + 1, measured=1))
    history = history.with_record(LoadRecord(key=other, predicted=7, measured=7))
    assert [record.predicted for record in history.of(CARD)] == list(range(6, KEPT + 6))
    assert len(history.of(other)) == 1, "another driver starts anew"
    for number in range(KEPT_KEYS + 3):
        key = msgspec.structs.replace(CARD, card=str(number))
        history = history.with_record(LoadRecord(key=key, predicted=1, measured=1))
    assert len({record.key for record in history.records}) == KEPT_KEYS
    assert history.of(CARD) == ()


def test_a_history_survives_being_stored() -> None:
    history = FitHistory(loads((1, 2), (3, 4)))
    assert msgspec.json.decode(msgspec.json.encode(history), type=FitHistory) == history


def held(**figures: int) -> WorkerMemory:
    return WorkerMemory(pid=1, gpus=(WorkerGpu(pci="0000:00:00.0", **figures),))


def test_what_a_load_taught() -> None:
    options = LoadOptions(n_ctx=4096)
    plan = predict(model(), options, [gpu(20 * GIB), cpu()])
    card = gpu(20 * GIB).info
    (record,) = records_of(plan, [msgspec.structs.replace(card, driver="radv")], held(vram=5 * GIB, gtt=GIB, evicted=0))
    assert record.key == LoadKey(card="0000:00:00.0", backend="Vulkan", driver="radv")
    assert (record.predicted, record.measured) == (plan.uses[0].total, 5 * GIB)
    assert records_of(plan, [card], held(vram=3 * GIB, gtt=2 * GIB, evicted=GIB)) == (), "something was pushed out"
    assert records_of(plan, [card], held()) == (), "the kernel does not say"
    assert records_of(plan, [card], WorkerMemory(pid=1)) == ()
    assert records_of(plan, [cpu().info], held(vram=1)) == ()


def test_the_correction_does_not_learn_from_itself() -> None:
    card = msgspec.structs.replace(gpu(20 * GIB), learned=LearnedBytes(extra=500 * MIB, loads=3))
    plain = predict(model(), LoadOptions(n_ctx=4096), [gpu(20 * GIB), cpu()])
    corrected = predict(model(), LoadOptions(n_ctx=4096), [card, cpu()])
    (record,) = records_of(corrected, [card.info], held(vram=5 * GIB))
    assert record.predicted == plain.uses[0].total


def test_an_apu_holds_everything_in_one_memory() -> None:
    shared = msgspec.structs.replace(apu(12 * GIB), info=msgspec.structs.replace(apu(1).info, pci="0000:00:00.0"))
    plan = predict(model(), LoadOptions(n_ctx=4096), [shared, cpu()])
    (record,) = records_of(plan, [shared.info], held(vram=GIB, gtt=4 * GIB))
    assert record.measured == 5 * GIB
    assert record.predicted == plan.everything


def test_a_card_that_the_kernel_does_not_know() -> None:
    """llama.cpp's own report stands in; what lies on the processor is not learned from."""
    plan = predict(model(), LoadOptions(n_ctx=4096), [gpu(20 * GIB), cpu()])
    told = (MemoryUse(device="Vulkan0", weights=3 * GIB, kv=GIB, compute=MIB), MemoryUse(device="CPU", weights=GIB))
    (record,) = records_of(plan, [gpu(20 * GIB).info], WorkerMemory(pid=1), told)
    assert (record.predicted, record.measured) == (plan.uses[0].total, 4 * GIB + MIB)
    assert records_of(plan, [cpu().info], WorkerMemory(pid=1), told) == ()


def test_forgetting_takes_every_driver_of_a_card() -> None:
    other = msgspec.structs.replace(CARD, card="0000:09:00.0")
    newer = msgspec.structs.replace(CARD, driver="radv 26.0")
    history = FitHistory((*loads((1, 2)), *loads((1, 2), key=newer), *loads((1, 2), key=other)))
    assert history.without([CARD]).records == loads((1, 2), key=other)

"""A dry run replaces the formula, and corrects it for other options."""

from __future__ import annotations

import msgspec

from engine.memory.fit import Measured, measured_by, predict
from engine.memory.sizes import GIB
from engine.protocol.frames import DryRan
from engine.protocol.types import LoadOptions, MemoryUse
from tests.engine.memory.fit.conftest import MIB, cpu, gpu
from tests.engine.memory.fit.test_plan import model

OPTIONS = LoadOptions(n_ctx=4096)
DEVICES = [gpu(20 * GIB), cpu()]


def ran(gpu_bytes: int, cpu_bytes: int, caches: int = 0) -> DryRan:
    memory = (MemoryUse(device="Vulkan0", compute=gpu_bytes), MemoryUse(device="CPU", compute=cpu_bytes))
    return DryRan(id=1, memory=memory, caches=caches)


def measured(gpu_bytes: int = 300 * MIB, cpu_bytes: int = 20 * MIB, caches: int = 0) -> Measured:
    return measured_by(model(), OPTIONS, DEVICES, ran(gpu_bytes, cpu_bytes, caches))


def test_the_same_options_get_the_measured_buffers() -> None:
    plan = predict(model(), OPTIONS, DEVICES, measured())
    assert [use.compute for use in plan.uses] == [300 * MIB, 20 * MIB]
    assert plan.exact


def test_what_makes_no_difference_to_memory_is_the_same() -> None:
    options = msgspec.structs.replace(OPTIONS, n_threads=3, mmap=False, rope_freq_base=1e6)
    assert predict(model(), options, DEVICES, measured()).exact


def test_other_options_get_the_formula_corrected() -> None:
    options = LoadOptions(n_ctx=8192)
    plain = predict(model(), options, DEVICES)
    twice = {use.device: 2 * use.compute for use in predict(model(), OPTIONS, DEVICES).uses}
    corrected = predict(model(), options, DEVICES, measured(twice["Vulkan0"], twice["CPU"]))
    assert not corrected.exact
    assert [use.compute for use in corrected.uses] == [2 * use.compute for use in plain.uses]


def test_the_correction_has_bounds() -> None:
    options = LoadOptions(n_ctx=8192)
    plain = predict(model(), options, DEVICES)
    wild = predict(model(), options, DEVICES, measured(500 * GIB, 1))
    assert wild.uses[0].compute == 4 * plain.uses[0].compute
    assert wild.uses[1].compute == plain.uses[1].compute // 4


def test_caches_that_are_only_guessed_are_scaled() -> None:
    guessed = predict(model(), OPTIONS, DEVICES).uses[0].kv
    plan = predict(model(), OPTIONS, DEVICES, measured(caches=3 * guessed // 2))
    assert plan.uses[0].kv == 3 * guessed // 2
    longer = predict(model(), LoadOptions(n_ctx=8192), DEVICES, measured(caches=3 * guessed // 2))
    assert longer.uses[0].kv == 3 * guessed

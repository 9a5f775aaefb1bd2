"""What would make a model fit."""

from __future__ import annotations

import msgspec
import pytest

from engine.loading.check import check_options
from engine.memory.fit import Verdict, predict, suggest, weights_that_fit
from engine.memory.sizes import GIB
from engine.protocol.types import FlashAttention, KvType, LoadOptions
from tests.engine.memory.fit.conftest import cpu, gpu
from tests.engine.memory.fit.test_plan import model

LONG = LoadOptions(n_ctx=32768)


def kinds(*arguments) -> dict[str, LoadOptions]:
    """The last suggestion of each kind."""
    return {item.kind: item.plan.options for item in suggest(*arguments)}


def test_nothing_where_it_fits_or_nothing_is_known() -> None:
    assert suggest(model(), LONG, [gpu(24 * GIB), cpu()]) == ()
    assert suggest(model(), LONG, [gpu(None), cpu()]) == ()


def test_every_suggestion_fits_and_changes_what_it_says() -> None:
    sizes, devices = model(4 * GIB, experts=4 * GIB), [gpu(10 * GIB), cpu()]
    found = suggest(sizes, LONG, devices)
    assert {"kv", "context", "experts", "layers"} <= {item.kind for item in found}
    for item in found:
        check_options(item.plan.options)
        assert item.plan.verdict in (Verdict.FITS, Verdict.TIGHT)
        assert predict(sizes, item.plan.options, devices) == item.plan
    changed = kinds(sizes, LONG, devices)
    same = {name: getattr(LONG, name) for name in LONG.__struct_fields__}
    assert changed["context"] == msgspec.structs.replace(LONG, n_ctx=changed["context"].n_ctx)
    assert changed["experts"] == msgspec.structs.replace(LONG, n_cpu_moe=changed["experts"].n_cpu_moe)
    assert changed["layers"] == msgspec.structs.replace(LONG, n_gpu_layers=changed["layers"].n_gpu_layers)
    assert same["n_cpu_moe"] == 0


def test_the_longest_context_and_the_fewest_experts() -> None:
    sizes, devices = model(4 * GIB, experts=4 * GIB), [gpu(10 * GIB), cpu()]
    changed = kinds(sizes, LONG, devices)
    longer = msgspec.structs.replace(LONG, n_ctx=changed["context"].n_ctx + 1024)
    fewer = msgspec.structs.replace(LONG, n_cpu_moe=changed["experts"].n_cpu_moe - 1)
    assert predict(sizes, longer, devices).verdict is Verdict.PARTLY
    assert predict(sizes, fewer, devices).verdict is Verdict.PARTLY


def test_no_context_shorter_than_a_conversation() -> None:
    assert "context" not in kinds(model(), LONG, [gpu(4 * GIB + 100 * (1 << 20)), cpu()])


def test_a_quantised_cache_needs_flash_attention() -> None:
    off = LoadOptions(n_ctx=32768, flash_attention=FlashAttention.OFF)
    for options in (LONG, off):
        quantised = kinds(model(), options, [gpu(7 * GIB), cpu()])["kv"]
        assert quantised.kv_type_v is not KvType.F16
        assert quantised.flash_attention is FlashAttention.AUTO


def test_several_changes_together() -> None:
    """Neither alone is enough on the processor: the last suggestion combines them."""
    heavy = model(4 * GIB, context_length=131072, n_ff=400_000)
    options = LoadOptions(n_ctx=8192, device="cpu", n_ubatch=512)
    devices = [cpu(4 * GIB + 500 * (1 << 20))]
    assert predict(heavy, options, devices).verdict is Verdict.NO
    found = suggest(heavy, options, devices)
    assert [item.kind for item in found] == ["context"]
    assert found[0].plan.options.kv_type_k is KvType.Q8_0
    assert found[0].plan.options.n_ubatch == 128
    assert found[0].plan.verdict in (Verdict.FITS, Verdict.TIGHT)


def test_a_longer_context_with_a_smaller_cache() -> None:
    options, devices = LoadOptions(n_ctx=32768, device="cpu"), [cpu(5 * GIB)]
    alone, together = (item.plan.options for item in suggest(model(), options, devices) if item.kind == "context")
    assert alone.kv_type_k is KvType.F16
    assert together.kv_type_k is KvType.Q8_0
    assert together.n_ctx > 1.7 * alone.n_ctx


def test_a_mixture_of_experts_on_a_small_card() -> None:
    """Neither the cache nor the experts alone: both together keep most of the context."""
    sizes, devices = model(2 * GIB, experts=14 * GIB), [gpu(6 * GIB), cpu(32 * GIB)]
    found = [item for item in suggest(sizes, LoadOptions(n_ctx=65536), devices) if item.kind == "together"]
    assert len(found) == 1
    assert "the experts in RAM, the KV cache in q8_0 and 128 tokens computed at once" in found[0].text
    options = found[0].plan.options
    assert (options.n_cpu_moe, options.kv_type_k, options.n_ctx > 32768) == (32, KvType.Q8_0, True)


def test_nothing_helps() -> None:
    assert suggest(model(100 * GIB), LONG, [gpu(2 * GIB), cpu(2 * GIB)]) == ()


@pytest.mark.parametrize("room", [6 * GIB, 12 * GIB])
def test_weights_of_another_quant(room: int) -> None:
    options, devices = LoadOptions(n_ctx=4096), [gpu(room), cpu(64 * GIB)]
    most = weights_that_fit(model(20 * GIB), options, devices)
    assert most is not None
    assert predict(model(most), options, devices).verdict in (Verdict.FITS, Verdict.TIGHT)
    assert predict(model(most + GIB // 2), options, devices).verdict is Verdict.PARTLY


def test_weights_are_not_guessed_without_room() -> None:
    assert weights_that_fit(model(20 * GIB), LONG, [gpu(None), cpu()]) is None
    assert weights_that_fit(model(20 * GIB), LONG, [gpu(2 * GIB), cpu()]) is None, "the cache alone is larger"


def test_heads_that_do_not_divide_keep_their_cache() -> None:
    odd = model(quantised_kv=False)
    assert "kv" not in kinds(odd, LONG, [gpu(7 * GIB), cpu()])
    assert "kv" in kinds(model(), LONG, [gpu(7 * GIB), cpu()])

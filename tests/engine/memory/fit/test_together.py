"""What is loaded together: several answers at once, a draft model, an image encoder, a KV cache in RAM."""

from __future__ import annotations

import msgspec
import pytest

from engine.memory.fit import FitModel, Verdict, measured_by, predict, suggest
from engine.memory.fit.records import LayerCache
from engine.memory.fit.sizes import layer_bytes
from engine.memory.sizes import GIB
from engine.protocol.frames import DryRan
from engine.protocol.types import KvType, LoadOptions, MemoryUse
from tests.engine.memory.fit.conftest import MIB, apu, cpu, gpu
from tests.engine.memory.fit.test_plan import LAYERS, model

SMALL = LoadOptions(n_ctx=4096)
TOGETHER = LoadOptions(n_ctx=4096, n_parallel=4)


def changed(options: LoadOptions = SMALL, **values: object) -> LoadOptions:
    return msgspec.structs.replace(options, **values)


def test_answers_at_once_share_the_context_but_not_windows_and_states() -> None:
    assert layer_bytes(LayerCache(256, 256), TOGETHER, 4096, 512) == layer_bytes(LayerCache(256, 256), SMALL, 4096, 512)
    slides = LayerCache(256, 256, window=512)
    assert layer_bytes(slides, SMALL, 4096, 512) == 1024 * 512 * 2
    assert layer_bytes(slides, TOGETHER, 4096, 512) == 2560 * 512 * 2, "four windows and a micro-batch"
    assert layer_bytes(slides, changed(n_parallel=16), 4096, 512) == 4096 * 512 * 2, "never longer than the context"
    assert layer_bytes(LayerCache(state=1000), TOGETHER, 4096, 512) == 4000
    assert layer_bytes(LayerCache(256, 256, state=1000), TOGETHER, 256, 512) == 256 * 512 * 2 + 4000


def test_each_answer_has_logits_of_its_own() -> None:
    alone, four = (predict(model(), options, [gpu(20 * GIB), cpu()]) for options in (SMALL, TOGETHER))
    assert four.uses[-1].output == 4 * alone.uses[-1].output == 4 * 32000 * 4
    assert four.uses[0].kv == alone.uses[0].kv


def test_a_cache_in_ram_leaves_the_card_to_the_weights() -> None:
    devices = [gpu(20 * GIB), cpu()]
    on_card, in_ram = (predict(model(), changed(kv_on_cpu=on), devices) for on in (False, True))
    assert (in_ram.uses[0].kv, in_ram.uses[1].kv) == (0, on_card.uses[0].kv)
    assert in_ram.uses[0].weights == on_card.uses[0].weights
    tight = [gpu(on_card.uses[0].total - on_card.uses[0].kv // 2), cpu()]
    assert predict(model(), SMALL, tight).verdict is Verdict.PARTLY
    assert predict(model(), changed(kv_on_cpu=True), tight).proposal == changed(kv_on_cpu=True)


DRAFT = model(GIB // 2)


def drafted(**more: object) -> FitModel:
    return msgspec.structs.replace(model(), draft=DRAFT, **more)


def test_a_draft_model_takes_what_it_would_take_alone() -> None:
    options = changed(draft="/d.gguf")
    plain, both = predict(model(), options, [gpu(20 * GIB), cpu()]), predict(drafted(), options, [gpu(20 * GIB), cpu()])
    alone = predict(DRAFT, SMALL, [gpu(20 * GIB), cpu()])
    assert [use.draft for use in both.uses] == [use.total for use in alone.uses]
    assert [use.total - use.draft for use in both.uses] == [use.total for use in plain.uses]


def test_its_layers_can_stay_with_the_processor() -> None:
    options = changed(draft="/d.gguf", draft_gpu_layers=0)
    on_card, in_ram = predict(drafted(), options, [gpu(20 * GIB), cpu()]).uses
    assert on_card.draft == 0
    assert in_ram.draft == predict(DRAFT, changed(device="cpu"), [cpu()]).everything


def test_it_answers_alone_and_its_cache_may_stay_in_16_bits() -> None:
    odd = msgspec.structs.replace(DRAFT, quantised_kv=False)
    options = changed(draft="/d.gguf", n_parallel=4, kv_type_k=KvType.Q4_0, kv_type_v=KvType.Q4_0)
    uses = predict(msgspec.structs.replace(model(), draft=odd), options, [gpu(20 * GIB), cpu()]).uses
    alone = predict(odd, SMALL, [gpu(20 * GIB), cpu()]).uses
    assert [use.draft for use in uses] == [use.total for use in alone]


def test_on_the_processor_everything_is_there() -> None:
    for devices in ([cpu()], [gpu(20 * GIB), cpu()]):
        (use,) = predict(drafted(image=MIB), changed(draft="/d.gguf", device="cpu"), devices).uses
        assert use.draft > GIB // 2
        assert use.image == MIB


def test_an_image_encoder_needs_some_ram_beside_a_card() -> None:
    on_card, in_ram = predict(model(image=800 * MIB, image_host=9 * MIB), SMALL, [gpu(20 * GIB), cpu()]).uses
    assert (on_card.image, in_ram.image) == (800 * MIB, 9 * MIB)


@pytest.mark.parametrize("kind", ["draft", "image"])
def test_leaving_it_out_is_a_way_to_fit(kind: str) -> None:
    options = changed(draft="/d.gguf") if kind == "draft" else changed(mmproj="/i.gguf")
    whole = drafted() if kind == "draft" else model(image=GIB)
    bare = predict(model(), SMALL, [gpu(20 * GIB), cpu()]).uses[0].total
    devices = [gpu(bare + 200 * MIB), cpu()]
    assert predict(whole, options, devices).verdict is Verdict.PARTLY
    found = {one.kind: one for one in suggest(whole, options, devices)}[kind]
    assert found.plan.verdict is Verdict.FITS
    assert found.plan.options == SMALL
    assert suggest(model(), SMALL, devices) == ()


def test_where_it_helps_nobody_leaving_it_out_is_not_offered() -> None:
    found = suggest(drafted(), changed(draft="/d.gguf"), [gpu(GIB), cpu()])
    assert "draft" not in {one.kind for one in found}


def test_a_dry_run_holds_whichever_draft_model_is_named() -> None:
    devices = [apu(20 * GIB), cpu()]
    ran = DryRan(id=1, memory=(MemoryUse(device="Vulkan0", compute=77 * MIB),))
    measured = measured_by(model(), changed(draft="/a.gguf"), devices, ran)
    for options in (changed(draft="/b.gguf", draft_gpu_layers=3), changed(ngram=True), changed(draft="/a.gguf")):
        plan = predict(model(), options, devices, measured)
        assert plan.exact
        assert plan.uses[0].compute == 77 * MIB
    assert not predict(model(), SMALL, devices, measured).exact


def test_a_model_with_a_draft_model_can_be_kept() -> None:
    data = msgspec.json.encode(drafted())
    assert msgspec.json.decode(data, type=FitModel) == drafted()
    assert DRAFT.n_layers == LAYERS

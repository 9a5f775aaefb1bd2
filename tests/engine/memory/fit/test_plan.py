"""Need against room: verdicts, proposals, words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import VrambleError
from engine.memory.fit import FitModel, Verdict, fit_devices, measured_by, predict
from engine.memory.fit import plan as plan_module
from engine.memory.fit.placement import lay_out
from engine.memory.fit.records import LayerCache, Piece
from engine.memory.records import GpuMemory, MemorySnapshot, Pool, RamMemory
from engine.memory.room import room as room_of
from engine.memory.sizes import GIB
from engine.protocol.frames import DryRan
from engine.protocol.types import DeviceKind, KvType, LoadOptions, MemoryUse, SplitMode
from tests.engine.memory.fit.conftest import MIB, apu, cpu, gpu, info

LAYERS = 32


def model(weights: int = 4 * GIB, experts: int = 0, **more) -> FitModel:
    """Thirty-two equal layers, embeddings and an output of a hundredth of the weights each."""
    ends = weights // 100
    layer = (weights - 2 * ends) // LAYERS
    pieces = [Piece(-1, ends), Piece(LAYERS, ends), *(Piece(n, layer) for n in range(LAYERS))]
    if experts:
        pieces += [Piece(n, experts // LAYERS, expert=True) for n in range(LAYERS)]
    basics = {
        "n_layers": LAYERS,
        "context_length": 32768,
        "width": 4096,
        "n_vocab": 32000,
        "n_ff": 3 * 11008,
        "n_heads": 32,
        "n_attention": 8192,
        "n_experts": 8 if experts else 0,
        "n_experts_used": 2 if experts else 0,
        "caches": (LayerCache(1024, 1024),) * LAYERS,
    }
    return FitModel(pieces=tuple(pieces), **{**basics, **more})


SMALL = LoadOptions(n_ctx=4096)


def test_everything_on_a_gpu() -> None:
    plan = predict(model(), SMALL, [gpu(20 * GIB), cpu()])
    on_gpu, in_ram = plan.uses
    assert (on_gpu.device, in_ram.device) == ("Vulkan0", "CPU")
    assert in_ram.weights == 4 * GIB // 100, "the embeddings stay with the processor"
    assert on_gpu.weights + in_ram.weights == pytest.approx(4 * GIB, abs=100)
    assert on_gpu.kv == 32 * 4096 * 2048 * 2
    assert in_ram.kv == 0
    assert (plan.verdict, plan.gpu_layers, plan.max_layers) == (Verdict.FITS, 33, 33)
    assert plan.proposal == SMALL
    assert plan.total == on_gpu.total
    assert plan.everything == on_gpu.total + in_ram.total
    assert plan.reason.startswith("Needs 4.5 GiB of the 20.0 GiB")


def test_the_cpu_takes_everything_when_told() -> None:
    for options in (LoadOptions(device="cpu"), LoadOptions(n_gpu_layers=0)):
        plan = predict(model(), options, [gpu(20 * GIB), cpu()])
        assert [use.device for use in plan.uses] == ["CPU"]
        assert plan.gpu_layers == 0
        assert plan.room == 16 * GIB


def test_tight_is_less_to_spare_than_a_forecast_errs() -> None:
    need = predict(model(), SMALL, [gpu(20 * GIB), cpu()]).total
    verdicts = {spare: predict(model(), SMALL, [gpu(need + spare * MIB), cpu()]).verdict for spare in (0, 100, 200)}
    assert verdicts == {0: Verdict.TIGHT, 100: Verdict.TIGHT, 200: Verdict.FITS}
    assert predict(model(), SMALL, [gpu(need - 1), cpu()]).verdict is Verdict.PARTLY


def test_partly_is_the_most_layers_that_fit() -> None:
    devices = [gpu(3 * GIB), cpu()]
    plan = predict(model(), SMALL, devices)
    assert plan.verdict is Verdict.PARTLY
    assert plan.gpu_layers == 33
    assert plan.proposal is not None
    assert plan.proposal.n_gpu_layers == plan.proposed_layers
    again = predict(model(), plan.proposal, devices)
    assert again.verdict in (Verdict.FITS, Verdict.TIGHT)
    assert again.gpu_layers == plan.proposed_layers
    more = predict(model(), LoadOptions(n_ctx=4096, n_gpu_layers=plan.proposed_layers + 1), devices)
    assert more.verdict is Verdict.PARTLY
    assert f"{plan.proposed_layers} of 33 layers" in plan.reason


def test_not_even_one_layer_leaves_the_processor() -> None:
    plan = predict(model(), SMALL, [gpu(50 * MIB), cpu()])
    assert (plan.verdict, plan.proposed_layers) == (Verdict.PARTLY, 0)
    assert "processor only" in plan.reason


def test_no_with_the_numbers() -> None:
    plan = predict(model(40 * GIB), SMALL, [gpu(8 * GIB), cpu(10 * GIB)])
    assert (plan.verdict, plan.proposal, plan.speed) == (Verdict.NO, None, None)
    assert plan.reason.startswith("Needs 40.")
    assert "8.0 GiB" in plan.reason
    alone = predict(model(40 * GIB), SMALL, [cpu(10 * GIB)])
    assert alone.verdict is Verdict.NO
    assert "10.0 GiB of the RAM" in alone.reason


def test_unknown_room_is_no_verdict() -> None:
    plan = predict(model(), SMALL, [gpu(None), cpu()])
    assert (plan.verdict, plan.room) == (Verdict.UNKNOWN, None)
    assert "not known" in plan.reason
    assert predict(model(), SMALL, [cpu(None)]).verdict is Verdict.UNKNOWN
    assert predict(model(), SMALL, [gpu(20 * GIB), cpu(None)]).verdict is Verdict.UNKNOWN, "the embeddings need RAM"
    assert predict(model(40 * GIB), SMALL, [gpu(1 * GIB), cpu(None)]).verdict is not Verdict.FITS


def test_a_cache_that_is_only_guessed_is_no_verdict() -> None:
    """Until llama.cpp was asked. That the weights alone are too much is known all the same."""
    special, devices = model(known_cache=False), [gpu(20 * GIB), cpu()]
    plan = predict(special, SMALL, devices)
    assert (plan.verdict, plan.proposal) == (Verdict.UNKNOWN, SMALL)
    assert "only guessed" in plan.reason
    asked = measured_by(special, SMALL, devices, DryRan(id=1, caches=3 * GIB))
    assert predict(special, SMALL, devices, asked).verdict is Verdict.FITS
    assert predict(model(40 * GIB, known_cache=False), SMALL, [gpu(8 * GIB), cpu(9 * GIB)]).verdict is Verdict.NO


def apu_devices(available: int, held: tuple[MemoryUse, ...] = ()):
    """A 16 GiB machine: carve-out of 512 MiB with 32 free, 8 GiB of GTT with 7 free."""
    vram, gtt = Pool(512 * MIB, 480 * MIB), Pool(8 * GIB, GIB)
    ram = RamMemory(total=16 * GIB, available=available)
    kind = DeviceKind.IGPU
    card = GpuMemory(pci="0000:04:00.0", name="APU", kind=kind, vram=vram, gtt=gtt, room=room_of(kind, vram, gtt, ram))
    snapshot = MemorySnapshot(gpus=(card,), ram=ram, taken=0.0)
    devices = [
        info("Vulkan0", DeviceKind.IGPU, 14 * GIB, "APU", "0000:04:00.0"),
        info("CPU", DeviceKind.CPU, 16 * GIB),
    ]
    return fit_devices(devices, snapshot, held)


def test_one_memory_is_counted_once() -> None:
    """A game is running: the driver still shows 7 GiB of GTT free, the RAM has 1.5 GiB."""
    options = LoadOptions(n_ctx=8192)
    game = predict(model(), options, apu_devices(3 * GIB // 2))
    assert game.verdict is Verdict.NO
    assert game.reason == "Processor and GPU together need 5.1 GiB, and a model can use 0.0 GiB of the RAM."
    assert predict(model(), options, apu_devices(10 * GIB)).verdict is Verdict.FITS


def test_gpu_and_processor_share_the_ram_of_an_apu() -> None:
    """Either part fits alone; together they do not, however the layers are laid."""
    half = LoadOptions(n_ctx=4096, n_gpu_layers=16)
    room = 5 * GIB
    plan = predict(model(8 * GIB), half, [apu(room), cpu(room)])
    assert all(use.total < room for use in plan.uses)
    assert plan.verdict is Verdict.NO
    assert predict(model(8 * GIB), half, [gpu(room), cpu(room)]).verdict is Verdict.FITS


def test_a_carve_out_is_no_ram() -> None:
    plan = predict(model(8 * GIB), SMALL, [apu(10 * GIB, own=8 * GIB), cpu(2 * GIB)])
    assert plan.verdict is Verdict.FITS
    assert predict(model(8 * GIB), SMALL, [apu(10 * GIB), cpu(2 * GIB)]).verdict is Verdict.NO


def test_what_is_loaded_now_is_given_back() -> None:
    held = (MemoryUse(device="Vulkan0", weights=4 * GIB), MemoryUse(device="CPU", weights=GIB))
    options = LoadOptions(n_ctx=4096)
    assert predict(model(), options, apu_devices(4 * GIB)).verdict is Verdict.NO
    assert predict(model(), options, apu_devices(4 * GIB, held)).verdict in (Verdict.FITS, Verdict.TIGHT)


def test_two_gpus_by_shares_and_by_free_memory() -> None:
    devices = [gpu(6 * GIB, 0), gpu(6 * GIB, 1), cpu()]
    named = LoadOptions(n_ctx=4096, devices=("Vulkan0", "Vulkan1"), shares=(3.0, 1.0))
    first, second, _ = predict(model(8 * GIB), named, devices).uses
    assert first.weights / (first.weights + second.weights) == pytest.approx(0.75, abs=0.03)
    assert first.kv / second.kv == pytest.approx(25 / 7), "a layer's cache lies where the layer is"
    even = predict(model(8 * GIB), LoadOptions(n_ctx=4096, devices=("Vulkan0", "Vulkan1")), devices)
    assert abs(even.uses[0].weights - even.uses[1].weights) < GIB
    assert even.room == 12 * GIB
    assert even.total == even.uses[0].total + even.uses[1].total
    assert "2 GPUs" in even.reason


def test_the_words_are_about_the_memory_that_is_short() -> None:
    """Together they would have room; the second one has not."""
    devices = [gpu(20 * GIB, 0), gpu(2 * GIB, 1, "AMD Radeon RX 580"), cpu(64 * GIB)]
    named = LoadOptions(n_ctx=4096, devices=("Vulkan0", "Vulkan1"), shares=(1.0, 1.0))
    plan = predict(model(8 * GIB), named, devices)
    assert plan.verdict is Verdict.PARTLY
    assert "2.0 GiB of AMD Radeon RX 580" in plan.reason
    assert str(plan.proposed_layers) in plan.reason


def test_tensors_that_are_divided() -> None:
    devices = [gpu(6 * GIB, 0), gpu(6 * GIB, 1), cpu()]
    options = LoadOptions(n_ctx=4096, devices=("Vulkan0", "Vulkan1"), shares=(1.0, 1.0), split=SplitMode.TENSOR)
    first, second, _ = predict(model(8 * GIB), options, devices).uses
    assert first.weights == pytest.approx(second.weights, abs=4)
    assert first.kv == second.kv


def test_experts_in_ram() -> None:
    sizes = model(4 * GIB, experts=16 * GIB)
    on_gpu = predict(sizes, SMALL, [gpu(24 * GIB), cpu(24 * GIB)])
    moved = predict(sizes, LoadOptions(n_ctx=4096, n_cpu_moe=16), [gpu(24 * GIB), cpu(24 * GIB)])
    assert on_gpu.uses[0].weights - moved.uses[0].weights == 8 * GIB
    assert moved.uses[1].weights - on_gpu.uses[1].weights == 8 * GIB


def test_the_cache_in_ram() -> None:
    plan = predict(model(), LoadOptions(n_ctx=4096, kv_on_cpu=True), [gpu(20 * GIB), cpu()])
    assert plan.uses[0].kv == 0
    assert plan.uses[1].kv == 512 * MIB


def test_tied_embeddings_lie_on_the_gpu_a_second_time() -> None:
    tied = model(tied=300 * MIB, tied_kind="Q6_K")
    plain = predict(model(), SMALL, [gpu(20 * GIB), cpu()])
    both = predict(tied, SMALL, [gpu(20 * GIB), cpu()])
    assert both.uses[0].weights - plain.uses[0].weights == 300 * MIB
    assert both.uses[1].weights == plain.uses[1].weights
    in_ram = LoadOptions(n_ctx=4096, device="cpu")
    assert predict(tied, in_ram, [cpu()]).total == predict(model(), in_ram, [cpu()]).total


def test_the_image_encoder_goes_to_the_first_device() -> None:
    plan = predict(model(image=800 * MIB), SMALL, [gpu(20 * GIB), cpu()])
    assert (plan.uses[0].image, plan.uses[1].image) == (800 * MIB, 0)
    assert predict(model(image=800 * MIB), LoadOptions(device="cpu"), [cpu()]).uses[0].image == 800 * MIB


def test_a_context_of_the_model() -> None:
    trained = predict(model(), LoadOptions(n_ctx=0), [gpu(20 * GIB), cpu()])
    assert trained.uses[0].kv == 32 * 32768 * 2048 * 2
    quantised = LoadOptions(n_ctx=0, kv_type_k=KvType.Q8_0, kv_type_v=KvType.Q8_0)
    assert predict(model(), quantised, [gpu(20 * GIB), cpu()]).uses[0].kv == trained.uses[0].kv * 34 // 64


def test_no_processor_is_an_error() -> None:
    two = LoadOptions(devices=("Vulkan0", "Vulkan1"))
    for options, devices in ((SMALL, []), (SMALL, [gpu(GIB)]), (two, [gpu(GIB, 0), gpu(GIB, 1)])):
        with pytest.raises(VrambleError) as caught:
            predict(model(), options, devices)
        assert caught.value.code == "no-cpu-backend"


@settings(deadline=None)
@given(
    st.builds(
        LoadOptions,
        n_ctx=st.integers(0, 1 << 20),
        n_gpu_layers=st.integers(-1, 40),
        n_batch=st.integers(1, 4096),
        n_ubatch=st.integers(1, 4096),
        kv_type_k=st.sampled_from(KvType),
        kv_type_v=st.sampled_from(KvType),
        kv_on_cpu=st.booleans(),
        n_cpu_moe=st.integers(0, 40),
    ),
    st.none() | st.integers(0, 64 * GIB),
    st.none() | st.integers(0, 64 * GIB),
)
def test_what_must_always_hold(options: LoadOptions, on_gpu: int | None, in_ram: int | None) -> None:
    sizes = model(6 * GIB, experts=2 * GIB)
    devices = [gpu(on_gpu), cpu(in_ram)]
    plan = predict(sizes, options, devices)
    assert sum(use.weights for use in plan.uses) == pytest.approx(sizes.weights, abs=4)
    assert all(min(use.weights, use.kv, use.compute, use.output) >= 0 for use in plan.uses)
    assert (plan.proposal is None) is (plan.verdict is Verdict.NO)
    if plan.verdict in (Verdict.FITS, Verdict.TIGHT):
        assert all(use.room is not None and use.total <= use.room for use in plan.uses)
    if plan.verdict is Verdict.PARTLY:
        assert plan.proposal is not None
        assert plan.proposed_layers < plan.gpu_layers
        assert predict(sizes, plan.proposal, devices).verdict in (Verdict.FITS, Verdict.TIGHT)


def test_a_slider_can_ask_at_each_move(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search for the layers that fit is a bisection: work for 80 layers as for 8."""
    layouts: list[tuple[Any, ...]] = []

    def counted(*given: Any) -> Any:
        layouts.append(given)
        return lay_out(*given)

    monkeypatch.setattr(plan_module, "lay_out", counted)
    many = model(40 * GIB, n_layers=500, caches=(LayerCache(1024, 1024),) * 500)
    assert predict(many, SMALL, [gpu(1 * GIB), cpu(64 * GIB)]).verdict is Verdict.PARTLY
    assert len(layouts) <= 13

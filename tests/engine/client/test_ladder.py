"""The ladder as a table: which change comes next, after which failure, on which device."""

from __future__ import annotations

from itertools import islice

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.client.death_words import HANG
from engine.client.ladder import (
    CLIMBING,
    GPU_MEMORY,
    SENTENCES,
    WRONG_RESULTS,
    Rung,
    apply,
    cause,
    environment,
    main_gpu,
    next_rung,
    rungs_named,
    sentences,
)
from engine.loading.check import check_options
from engine.protocol.types import DeviceInfo, DeviceKind, FlashAttention, KvType, LoadOptions
from tests.fakes.fake_worker import CPU, GPU

NORMAL = LoadOptions()
ROCM = msgspec.structs.replace(GPU, id="ROCm0", backend="ROCm")
APU = msgspec.structs.replace(GPU, id="Vulkan1", pci="0000:c4:00.0", kind=DeviceKind.IGPU)
SOFTWARE = msgspec.structs.replace(GPU, id="Vulkan2", pci=None, kind=DeviceKind.SOFTWARE)

WHOLE = [rung.value for rung in Rung]
NO_FLASH = [name for name in WHOLE if name != "flash-attention-off"]
NO_LAYERS = [name for name in WHOLE if not name.startswith("layers")]


def climb(options: LoadOptions, device: DeviceInfo, code: str, n_layers: int) -> list[str]:
    """All rungs, one after the other."""
    tried: list[Rung] = []
    while (rung := next_rung(options, device, code, tried, n_layers)) is not None:
        tried.append(rung)
    return [rung.value for rung in tried]


def without(names: list[str], *left_out: str) -> list[str]:
    return [name for name in names if name not in left_out]


@pytest.mark.parametrize(
    ("options", "device", "code", "n_layers", "expected"),
    [
        (NORMAL, GPU, "device-lost", 32, WHOLE),
        (NORMAL, APU, HANG, 32, WHOLE),
        (NORMAL, GPU, "engine-assert", 32, WHOLE),
        (NORMAL, GPU, GPU_MEMORY, 32, NO_FLASH),
        (NORMAL, GPU, WRONG_RESULTS, 32, without(WHOLE, "micro-batch-128", "micro-batch-64")),
        (NORMAL, GPU, "device-lost", 0, NO_LAYERS),
        (NORMAL, GPU, "device-lost", 1, NO_LAYERS),
        (NORMAL, ROCM, "device-lost", 32, without(WHOLE, "host-visible-memory-off")),
        (LoadOptions(n_ubatch=128), GPU, "device-lost", 32, without(WHOLE, "micro-batch-128")),
        (LoadOptions(n_ubatch=32), GPU, "device-lost", 32, without(WHOLE, "micro-batch-128", "micro-batch-64")),
        (LoadOptions(kv_type_v=KvType.Q8_0), GPU, "device-lost", 32, NO_FLASH),
        (LoadOptions(flash_attention=FlashAttention.OFF), GPU, "device-lost", 32, NO_FLASH),
        (LoadOptions(kv_on_cpu=True), GPU, "device-lost", 32, without(WHOLE, "kv-on-cpu")),
        (NORMAL, CPU, "device-lost", 32, []),
        (NORMAL, SOFTWARE, "device-lost", 32, []),
        *((NORMAL, GPU, code, 32, []) for code in ("killed", "out-of-memory", "not-gguf", "cut-file", "cancelled")),
        *((NORMAL, GPU, code, 32, []) for code in ("worker-silent", "processor-too-old", "bad-load-options", "")),
    ],
)
def test_order(options: LoadOptions, device: DeviceInfo, code: str, n_layers: int, expected: list[str]) -> None:
    assert climb(options, device, code, n_layers) == expected


@pytest.mark.parametrize(
    ("rungs", "changes"),
    [
        ((), {}),
        ((Rung.MICRO_BATCH_128,), {"n_ubatch": 128}),
        ((Rung.MICRO_BATCH_128, Rung.MICRO_BATCH_64), {"n_ubatch": 64}),
        ((Rung.MICRO_BATCH_64, Rung.FLASH_ATTENTION_OFF), {"n_ubatch": 64, "flash_attention": FlashAttention.OFF}),
        ((Rung.HOST_VISIBLE_OFF,), {}),
        ((Rung.KV_ON_CPU,), {"kv_on_cpu": True}),
        ((Rung.LAYERS_THREE_QUARTERS,), {"n_gpu_layers": 24}),
        ((Rung.LAYERS_THREE_QUARTERS, Rung.LAYERS_HALF), {"n_gpu_layers": 16}),
        (tuple(Rung), {"device": "cpu"}),
    ],
)
def test_what_the_rungs_change(rungs: tuple[Rung, ...], changes: dict[str, object]) -> None:
    assert apply(NORMAL, rungs, 32) == msgspec.structs.replace(NORMAL, **changes)


def test_layers_the_user_gave_are_the_whole() -> None:
    assert apply(LoadOptions(n_gpu_layers=20), (Rung.LAYERS_HALF,), 32).n_gpu_layers == 10
    assert apply(LoadOptions(n_gpu_layers=99), (Rung.LAYERS_HALF,), 32).n_gpu_layers == 16
    assert apply(LoadOptions(n_gpu_layers=8), (Rung.LAYERS_THREE_QUARTERS,)).n_gpu_layers == 6


def test_the_environment_goes_with_its_rung_and_not_to_the_cpu() -> None:
    assert environment(()) == {}
    assert environment((Rung.MICRO_BATCH_64, Rung.HOST_VISIBLE_OFF)) == {"GGML_VK_DISABLE_HOST_VISIBLE_VIDMEM": "1"}
    assert environment(tuple(Rung)) == {}


def test_sentences_leave_out_what_was_replaced() -> None:
    assert set(SENTENCES) == set(Rung)
    assert sentences((Rung.MICRO_BATCH_128, Rung.MICRO_BATCH_64)) == (SENTENCES[Rung.MICRO_BATCH_64],)
    assert sentences(tuple(Rung)) == (SENTENCES[Rung.CPU],)


def test_names_of_another_version_are_left_out() -> None:
    assert rungs_named(["micro-batch-64", "turbo", ""]) == (Rung.MICRO_BATCH_64,)


@pytest.mark.parametrize(
    ("code", "detail", "expected"),
    [
        ("out-of-memory", "ggml_gallocr_reserve: failed to allocate Vulkan0 buffer of size 4831838208", GPU_MEMORY),
        ("context-memory", "vk::Device::allocateMemory: ErrorOutOfDeviceMemory", GPU_MEMORY),
        ("out-of-memory", "failed to allocate CPU buffer of size 4831838208", "out-of-memory"),
        ("out-of-memory", "", "out-of-memory"),
        ("not-gguf", "ErrorOutOfDeviceMemory", "not-gguf"),
    ],
)
def test_the_log_tells_whose_memory_was_short(code: str, detail: str, expected: str) -> None:
    assert cause(code, detail) == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (NORMAL, GPU),
        (LoadOptions(device="0000:C4:00.0"), APU),
        (LoadOptions(device="vulkan1"), APU),
        (LoadOptions(devices=("0000:c4:00.0", "0000:03:00.0")), APU),
        (LoadOptions(device="0000:99:00.0"), GPU),
        (LoadOptions(device="cpu"), None),
        (LoadOptions(device="CPU"), None),
        (LoadOptions(device="Vulkan2"), None),
        (LoadOptions(n_gpu_layers=0), None),
    ],
)
def test_where_a_load_goes(options: LoadOptions, expected: DeviceInfo | None) -> None:
    assert main_gpu((CPU, SOFTWARE, APU, GPU), options) == expected


def test_where_there_is_no_gpu_nothing_is_lowered() -> None:
    unusable = msgspec.structs.replace(GPU, usable=False)
    assert main_gpu((CPU, SOFTWARE, unusable), NORMAL) is None
    assert next_rung(NORMAL, None, "device-lost", ()) is None


OPTIONS = st.builds(
    LoadOptions,
    n_gpu_layers=st.integers(-1, 100),
    n_ubatch=st.sampled_from((16, 64, 100, 128, 512, 4096)),
    flash_attention=st.sampled_from(FlashAttention),
    kv_type_k=st.sampled_from(KvType),
    kv_on_cpu=st.booleans(),
)


@given(OPTIONS, st.lists(st.sampled_from(sorted(CLIMBING)), min_size=20, max_size=20), st.integers(0, 200))
def test_it_ends_on_the_cpu_whatever_fails(options: LoadOptions, codes: list[str], n_layers: int) -> None:
    """Each failure with a code of its own: no rung twice, every one allowed and another load than the one before."""
    tried: list[Rung] = []
    loads = [(apply(options, (), n_layers), environment(()))]
    for code in islice(codes, len(Rung) + 1):
        rung = next_rung(options, GPU, code, tried, n_layers)
        if rung is None:
            break
        tried.append(rung)
        loads.append((apply(options, tried, n_layers), environment(tried)))
        check_options(loads[-1][0])
        assert loads[-1] not in loads[:-1]
    assert tried[-1] is Rung.CPU
    assert next_rung(options, GPU, "device-lost", tried, n_layers) is None

"""Load options that need a device beside the CPU: llvmpipe, once or shown twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.protocol.types import DeviceKind, FinishReason, KvType, LoraAdapter, MemoryUse, ModelInfo, SplitMode
from tests.engine.worker.driver import Worker, user
from tests.fakes.tiny_gguf import SMALL
from tests.fakes.tiny_variants import MOE, MOE_EXPERT_BYTES, lora_adapter, moe_llama

ROUNDING = 0.011 * (1 << 20)
OPTIONS: dict[str, Any] = {"n_ctx": 128, "n_threads": 1}
TWO = ("Vulkan0", "Vulkan1")


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    """A worker that sees the software device as two."""
    env = {"VRAMBLE_ALLOW_SOFTWARE_GPU": "1", "GGML_VK_VISIBLE_DEVICES": "0,0"}
    with Worker(log=tmp_path_factory.mktemp("two") / "worker.log", env=env) as worker:
        found = [device.id for device in worker.hello.devices if device.kind is DeviceKind.SOFTWARE]
        assert found == list(TWO), "no software Vulkan driver: ./dev test installs mesa-vulkan-drivers"
        yield worker


@pytest.fixture(scope="module")
def moe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("moe") / "moe.gguf"
    path.write_bytes(moe_llama())
    return path


@pytest.fixture
def small(models: Path) -> Path:
    return models / "small.gguf"


def use_of(info: ModelInfo, device: str) -> MemoryUse:
    return next((use for use in info.memory if use.device == device), MemoryUse(device=device))


def test_experts_stay_in_ram_layer_by_layer(two: Worker, moe: Path) -> None:
    weights = {}
    for layers in (0, 1, 2, 3, 99):
        info = two.loaded(moe, **OPTIONS, device="Vulkan0", n_cpu_moe=layers, mmap=False).model
        weights[layers] = [use_of(info, place).weights for place in ("Vulkan0", "CPU")]
        assert info.gpu_layers == MOE.layers + 1
    for layers in (1, 2, 3):
        moved = layers * MOE_EXPERT_BYTES
        assert weights[0][0] - weights[layers][0] == pytest.approx(moved, abs=ROUNDING)
        assert weights[layers][1] - weights[0][1] == pytest.approx(moved, abs=ROUNDING)
    assert weights[99] == weights[3]


def test_experts_in_ram_say_what_the_cpu_says(two: Worker, moe: Path) -> None:
    """One token at a time: Mesa 22.3's llvmpipe crashes when several tokens follow a single one, without us as well."""
    texts = []
    for options in ({"device": "cpu"}, {"device": "Vulkan0", "n_cpu_moe": 9}):
        two.loaded(moe, **OPTIONS, **options, n_batch=1)
        text, end = two.finished(user("ab"), max_tokens=4)
        texts.append(text)
        assert end.stats.generated_tokens > 0
    assert texts[0] == texts[1]


def test_no_experts_is_said(two: Worker, small: Path) -> None:
    info = two.loaded(small, **OPTIONS, device="Vulkan0", n_cpu_moe=1).model
    assert any("no experts" in warning for warning in info.warnings)
    assert use_of(info, "Vulkan0").weights > 4e6


def test_the_kv_cache_in_ram(two: Worker, small: Path) -> None:
    info = two.loaded(small, **OPTIONS, device="Vulkan0", kv_on_cpu=True).model
    assert (use_of(info, "Vulkan0").kv, use_of(info, "CPU").kv) == (0, 2 * 256 * SMALL.layers * SMALL.embd * 2)


def test_a_quantised_cache_on_the_device(two: Worker, small: Path) -> None:
    info = two.loaded(small, **OPTIONS, device="Vulkan0", kv_type_k=KvType.Q8_0, kv_type_v=KvType.Q8_0).model
    expected = 256 * SMALL.layers * SMALL.embd * (34 / 32) * 2
    assert use_of(info, "Vulkan0").kv == pytest.approx(expected, abs=ROUNDING)
    assert info.flash_attention is True


@pytest.mark.parametrize(
    ("devices", "shares", "larger"),
    [(TWO, (3.0, 1.0), "Vulkan0"), (TWO, (1.0, 3.0), "Vulkan1"), (TWO[::-1], (3.0, 1.0), "Vulkan1")],
)
def test_shares_follow_the_order(
    two: Worker, moe: Path, devices: tuple[str, ...], shares: tuple[float, ...], larger: str
) -> None:
    info = two.loaded(moe, **OPTIONS, devices=devices, shares=shares).model
    assert tuple(device.id for device in info.devices) == devices
    assert info.device.id == devices[0]
    (smaller,) = set(devices) - {larger}
    assert use_of(info, larger).weights >= 2 * use_of(info, smaller).weights > 0
    assert info.gpu_layers == MOE.layers + 1


def test_two_devices_say_what_one_says(two: Worker, small: Path) -> None:
    """Tensor split takes one token at a time: with batches, the shaders of Mesa 22.3's llvmpipe corrupt memory."""
    two.loaded(small, **OPTIONS, device="cpu")
    expected = two.finished(user("ab ba"), max_tokens=8)[0]
    for split in SplitMode:
        batch = 1 if split is SplitMode.TENSOR else 128
        info = two.loaded(small, **OPTIONS, devices=TWO, shares=(1, 1), split=split, n_batch=batch).model
        assert [use_of(info, device).weights > 2e5 for device in TWO] == [True, True]
        assert two.finished(user("ab ba"), max_tokens=8)[0] == expected
        told = any("cannot share rows" in warning for warning in info.warnings)
        assert told == (split is SplitMode.ROW), "Vulkan has no buffers that are split by rows"


def test_what_is_not_there_is_left_out(two: Worker, small: Path) -> None:
    devices = ("Vulkan1", "0000:fe:00.0", "cpu", "Vulkan1")
    info = two.loaded(small, **OPTIONS, devices=devices, shares=(1, 2, 3, 4)).model
    assert [device.id for device in info.devices] == ["Vulkan1"]
    said = " ".join(info.warnings)
    for words in ("0000:fe:00.0 was not found", "is left out", "named twice"):
        assert words in said
    assert two.finished(user("a"), max_tokens=2)[1].reason in {FinishReason.LENGTH, FinishReason.STOP}


def test_an_adapter_on_the_device(two: Worker, small: Path, tmp_path: Path) -> None:
    path = tmp_path / "style.gguf"
    path.write_bytes(lora_adapter(SMALL))
    texts = {}
    for device in ("cpu", "Vulkan0"):
        two.loaded(small, **OPTIONS, device=device, lora=(LoraAdapter(path=str(path)),))
        texts[device] = two.finished(user("ab ba"), max_tokens=8)[0]
    two.loaded(small, **OPTIONS, device="cpu")
    assert texts["cpu"] == texts["Vulkan0"] != two.finished(user("ab ba"), max_tokens=8)[0]

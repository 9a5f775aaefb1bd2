"""Load options that are refused before the engine sees them."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import VrambleError
from engine.loading.check import MAX_DEVICES, check_options
from engine.protocol.types import FlashAttention, KvType, LoadOptions, LoraAdapter, SplitMode


def problem(**options: Any) -> str | None:
    try:
        check_options(LoadOptions(**options))
    except VrambleError as error:
        return error.message if error.code == "bad-load-options" and error.next_step else ""
    return None


def test_the_defaults_and_the_limits_pass() -> None:
    assert problem() is None
    assert problem(n_ctx=0, n_gpu_layers=0, n_threads=512, n_batch=1, n_ubatch=1, n_cpu_moe=10_000) is None
    assert problem(yarn_ext_factor=0.0, yarn_beta_fast=32.0, rope_freq_base=1e6, rope_freq_scale=0.25) is None


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, -1.0, 1e30])
@pytest.mark.parametrize("name", ["rope_freq_base", "rope_freq_scale", "yarn_attn_factor", "yarn_beta_slow"])
def test_numbers_that_are_none(name: str, bad: float) -> None:
    assert problem(**{name: bad})
    assert problem(devices=("a", "b"), shares=(1.0, bad))
    assert problem(lora=(LoraAdapter(path="a", scale=-bad * 1e3),))


@pytest.mark.parametrize("keys", KvType)
@pytest.mark.parametrize("values", KvType)
@pytest.mark.parametrize("flash", FlashAttention)
def test_quantised_values_need_flash_attention(keys: KvType, values: KvType, flash: FlashAttention) -> None:
    found = problem(kv_type_k=keys, kv_type_v=values, flash_attention=flash)
    assert bool(found) == (values is not KvType.F16 and flash is FlashAttention.OFF)


def test_devices_and_shares() -> None:
    assert problem(devices=("a", "b"), shares=(3, 1)) is None
    assert problem(devices=("a", "b"), shares=(1, 0)) is None
    assert "3 shares for 2 devices" in str(problem(devices=("a", "b"), shares=(1, 1, 1)))
    assert "1 shares for 0 devices" in str(problem(shares=(1,)))
    assert problem(devices=("a", "b"), shares=(0, 0))
    assert problem(devices=("a",) * (MAX_DEVICES + 1))
    assert problem(devices=("a", "b"), split=SplitMode.TENSOR, flash_attention=FlashAttention.OFF)
    assert problem(devices=("a",), split=SplitMode.TENSOR, flash_attention=FlashAttention.OFF) is None


def test_adapters() -> None:
    assert problem(lora=(LoraAdapter(path="a"), LoraAdapter(path="b", scale=-2))) is None
    assert "twice" in str(problem(lora=(LoraAdapter(path="a"), LoraAdapter(path="a", scale=2))))


@given(
    st.fixed_dictionaries(
        {name: st.integers() for name in ("n_ctx", "n_gpu_layers", "n_batch", "n_ubatch", "n_threads", "n_cpu_moe")}
    )
)
def test_what_passes_fits_native_integers(options: dict[str, int]) -> None:
    if problem(**options) is None:
        for value in options.values():
            assert ctypes.c_int32(value).value == value


def test_a_frame_of_before_still_means_what_it_meant() -> None:
    old = {"n_ctx": 2048, "n_gpu_layers": 5, "device": None, "n_batch": 256, "n_ubatch": 128, "mmap": None}
    assert msgspec.convert(old, LoadOptions) == LoadOptions(n_ctx=2048, n_gpu_layers=5, n_batch=256, n_ubatch=128)

"""Settings of the engine: bounds, and the load options that they make."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.settings.fields import decode
from app.settings.records import ANSWERS_AT_ONCE, EngineSettings
from engine.loading.check import check_options
from engine.protocol.types import FlashAttention, KvType, LoadOptions, SplitMode


def test_the_defaults_are_those_of_the_engine() -> None:
    """But for the answers at once: the engine's own default is one."""
    assert EngineSettings().load_options() == LoadOptions(n_parallel=ANSWERS_AT_ONCE)


def test_everything_reaches_the_options() -> None:
    settings = EngineSettings(
        n_ctx=777,
        n_gpu_layers=5,
        device="cpu",
        devices=("0000:0a:00.0", "0000:03:00.0"),
        shares=(3.0, 1.0),
        split=SplitMode.TENSOR,
        n_batch=256,
        n_ubatch=64,
        n_threads=3,
        flash_attention=FlashAttention.ON,
        kv_type_k=KvType.Q8_0,
        kv_type_v=KvType.Q4_0,
        kv_on_cpu=True,
        mmap=False,
        last_model="/models/a.gguf",
    )
    options = settings.load_options()
    common = {field.name for field in msgspec.structs.fields(EngineSettings)} - {"last_model"}
    for name in common:
        assert getattr(options, name) == getattr(settings, name) != getattr(LoadOptions(), name)
    assert decode(EngineSettings, msgspec.to_builtins(settings)) == settings


@pytest.mark.parametrize("shares", [(1.0,), (0.0, 0.0), (1.0, 2.0, 3.0)])
def test_shares_of_other_devices_are_left_out(shares: tuple[float, ...]) -> None:
    assert EngineSettings(devices=("a", "b"), shares=shares).load_options().shares == ()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_batch", 0),
        ("n_batch", 65_537),
        ("n_ubatch", -1),
        ("n_threads", 513),
        ("kv_type_k", "q5_1"),
        ("split", "none"),
        ("flash_attention", True),
        ("devices", ["a"] * 17),
        ("devices", "0000:03:00.0"),
        ("shares", [1, -1]),
        ("shares", [1e30]),
        ("mmap", "yes"),
    ],
)
def test_a_value_out_of_bounds_is_the_default(name: str, value: object) -> None:
    assert decode(EngineSettings, {name: value, "n_ctx": 999}) == EngineSettings(n_ctx=999)


VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.lists(st.integers()))
NAMES = st.sampled_from([field.name for field in msgspec.structs.fields(EngineSettings)])


@given(st.dictionaries(NAMES, VALUES))
def test_no_file_makes_options_out_of_bounds(values: dict[str, Any]) -> None:
    check_options(decode(EngineSettings, values).load_options())

"""Settings that exclude each other."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.settings.records import EngineSettings
from app.settings.rules import Rule, settled
from engine.loading.check import check_options
from engine.protocol.types import FlashAttention, KvType, SplitMode

OFF, AUTO = FlashAttention.OFF, FlashAttention.AUTO
TWO = ("0000:03:00.0", "0000:0a:00.0")


@pytest.mark.parametrize(
    ("before", "change", "expected", "rules"),
    [
        ({}, {"kv_type_v": KvType.Q8_0}, {"kv_type_v": KvType.Q8_0}, ()),
        (
            {"flash_attention": OFF},
            {"kv_type_v": KvType.Q4_0},
            {"kv_type_v": KvType.Q4_0, "flash_attention": AUTO},
            (Rule.FLASH_FOR_KV,),
        ),
        ({"flash_attention": OFF}, {"kv_type_k": KvType.Q4_0}, {"kv_type_k": KvType.Q4_0, "flash_attention": OFF}, ()),
        (
            {"kv_type_k": KvType.Q8_0, "kv_type_v": KvType.Q8_0},
            {"flash_attention": OFF},
            {"flash_attention": OFF, "kv_type_k": KvType.F16, "kv_type_v": KvType.F16},
            (Rule.F16_WITHOUT_FLASH,),
        ),
        (
            {"kv_type_k": KvType.Q4_0, "kv_type_v": KvType.Q8_0},
            {"flash_attention": OFF},
            {"flash_attention": OFF, "kv_type_k": KvType.Q4_0, "kv_type_v": KvType.F16},
            (Rule.F16_WITHOUT_FLASH,),
        ),
        (
            {"devices": TWO, "split": SplitMode.TENSOR},
            {"flash_attention": OFF},
            {"devices": TWO, "flash_attention": OFF, "split": SplitMode.LAYER},
            (Rule.LAYERS_WITHOUT_FLASH,),
        ),
        (
            {"devices": TWO, "flash_attention": OFF},
            {"split": SplitMode.TENSOR},
            {"devices": TWO, "flash_attention": AUTO, "split": SplitMode.TENSOR},
            (Rule.FLASH_FOR_TENSOR,),
        ),
    ],
)
def test_what_was_changed_last_stays(before, change, expected, rules) -> None:
    start = EngineSettings(**before)
    result, told = settled(start, msgspec.structs.replace(start, **change))
    assert told == rules
    assert msgspec.structs.replace(result, **expected) == result


CHOICES = st.tuples(
    st.sampled_from(["flash_attention", "kv_type_k", "kv_type_v", "split", "devices"]), st.integers(0, 2)
)
VALUES = {
    "flash_attention": tuple(FlashAttention),
    "kv_type_k": tuple(KvType),
    "kv_type_v": tuple(KvType),
    "split": tuple(SplitMode),
    "devices": ((), TWO[:1], TWO),
}


@given(st.lists(CHOICES))
def test_the_engine_takes_whatever_was_chosen(choices: list[tuple[str, int]]) -> None:
    settings = EngineSettings()
    for field, number in choices:
        value = VALUES[field][number]
        settings, _ = settled(settings, msgspec.structs.replace(settings, **{field: value}))
        check_options(settings.load_options())
        assert getattr(settings, field) == value

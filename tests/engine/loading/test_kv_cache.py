"""The size of the KV cache, from what files of several kinds say."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.library.gguf.metadata import Metadata
from engine.loading.kv_cache import STEP, KvCache, kv_cache
from engine.protocol.types import KvType, LoadOptions

LLAMA = {
    "block_count": 32,
    "embedding_length": 4096,
    "attention.head_count": 32,
    "attention.head_count_kv": 8,
}


def metadata(*lists: str, **entries: Any) -> Metadata:
    named = {name.replace("__", "."): value for name, value in entries.items()}
    values = {f"some.{name}": value for name, value in {**LLAMA, **named}.items() if value is not None}
    return Metadata({"general.architecture": "some", **values}, {f"some.{name}": 32 for name in lists})


def size(n_ctx: int, found: Metadata, **options: Any) -> int | None:
    cache = kv_cache(found, LoadOptions(**options))
    return None if cache is None else cache.size(n_ctx)


@pytest.mark.parametrize(
    ("entries", "bytes_each"),
    [
        ({}, 32 * 8 * 256 * 2),
        ({"attention__head_count_kv": None}, 32 * 32 * 256 * 2),
        ({"attention__key_length": 256, "attention__value_length": 64}, 32 * 8 * 320 * 2),
        ({"attention__shared_kv_layers": 12}, 20 * 8 * 256 * 2),
    ],
)
def test_bytes_for_each_token(entries: dict[str, Any], bytes_each: int) -> None:
    assert size(4096, metadata(**entries)) == 4096 * bytes_each
    assert size(4097, metadata(**entries)) == (4096 + STEP) * bytes_each


def test_quantised_caches() -> None:
    halves = {"kv_type_k": KvType.Q8_0, "kv_type_v": KvType.Q4_0}
    assert size(1024, metadata(), **halves) == 1024 * 32 * 8 * 128 * (34 + 18) // 32


def test_layers_with_a_window_take_no_more_than_it() -> None:
    each = 8 * 256 * 2
    found = metadata(attention__sliding_window=1024, attention__sliding_window_pattern=4)
    assert size(512, found) == 512 * 32 * each
    assert size(65_536, found) == 65_536 * 8 * each + (1024 + 512) * 24 * each
    assert size(65_536, metadata(attention__sliding_window=1024)) == 65_536 * 5 * each + 1536 * 27 * each
    assert size(65_536, found, n_ubatch=128) == 65_536 * 8 * each + 1280 * 24 * each


@pytest.mark.parametrize(
    "found",
    [
        Metadata(),
        metadata(block_count=None),
        metadata(embedding_length=0),
        metadata("attention.head_count_kv", attention__head_count_kv=None),
        metadata(attention__kv_lora_rank=512),
        metadata(ssm__state_size=16),
    ],
)
def test_nothing_is_guessed(found: Metadata) -> None:
    assert size(4096, found) is None


@given(
    st.builds(KvCache, st.integers(1, 1 << 20), st.integers(0, 1 << 20), st.integers(0, 64).map(lambda n: n * STEP)),
    st.integers(-(1 << 30), 1 << 42),
)
def test_the_longest_context_fits_and_the_next_does_not(cache: KvCache, room: int) -> None:
    if cache.window == 0 or cache.sliding == 0:
        cache = KvCache(cache.whole, 0, 0)
    longest = cache.longest(room)
    assert longest % STEP == 0
    assert longest == 0 or cache.size(longest) <= room
    assert cache.size(longest + STEP) > room

"""What each layer keeps. The expected numbers follow from llama.cpp's ``create_memory`` and ``load_arch_hparams``."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.library.gguf.metadata import Metadata
from engine.memory.fit.caches import layer_caches
from engine.memory.fit.records import LayerCache
from engine.memory.fit.shape import read_shape
from engine.memory.fit.sizes import layer_bytes, row_bytes
from engine.protocol.types import KvType, LoadOptions

FULL = 0


def metadata(arch: str, **entries: Any) -> Metadata:
    """Entries below the architecture's name; ``__`` stands for a dot, a list stays a list."""
    made = Metadata(values={"general.architecture": arch})
    basics = {"block_count": 6, "embedding_length": 1024, "attention.head_count": 16, "attention.head_count_kv": 4}
    for name, value in {**basics, **{key.replace("__", "."): value for key, value in entries.items()}}.items():
        if isinstance(value, list):
            made.values.pop(f"{arch}.{name}", None)
            made.lists[f"{arch}.{name}"] = tuple(value)
            made.list_lengths[f"{arch}.{name}"] = len(value)
        elif value is not None:
            made.values[f"{arch}.{name}"] = value
    return made


def caches(arch: str, **entries: Any) -> tuple[LayerCache, ...]:
    made = metadata(arch, **entries)
    shape = read_shape(made)
    assert shape is not None
    return layer_caches(made, shape)


def windows(arch: str, **entries: Any) -> list[int]:
    return [cache.window for cache in caches(arch, **entries)]


def test_grouped_heads() -> None:
    assert caches("llama") == (LayerCache(256, 256),) * 6
    assert caches("llama", attention__head_count_kv=None) == (LayerCache(1024, 1024),) * 6
    assert caches("llama", attention__key_length=128, attention__value_length=96) == (LayerCache(512, 384),) * 6


def test_heads_by_layer() -> None:
    kept = caches("openelm", attention__head_count_kv=[1, 1, 2, 2, 4, 0])
    assert [cache.keys for cache in kept] == [64, 64, 128, 128, 256, 0]


def test_latent_attention_keeps_keys_only() -> None:
    latent = {"attention__key_length": 576, "attention__value_length": 512, "attention__head_count_kv": 1}
    mla = {"attention__key_length_mla": 192, "attention__value_length_mla": 128}
    assert caches("deepseek2", **latent, **mla) == (LayerCache(576, 0),) * 6
    assert caches("deepseek2", **latent) == (LayerCache(576, 512),) * 6, "an old file is computed like any other"


def test_windows_by_architecture() -> None:
    assert windows("gemma3", attention__sliding_window=512) == [512, 512, 512, 512, 512, FULL]
    assert windows("gpt-oss", attention__sliding_window=128) == [128, FULL, 128, FULL, 128, FULL]
    assert windows("gemma2") == [4096, FULL] * 3
    assert windows("llama4") == [8192, 8192, 8192, FULL, 8192, 8192]
    assert windows("llama4", attention__sliding_window=0) == [FULL] * 6
    assert windows("smallthinker", attention__sliding_window=2048) == [FULL, 4096, 4096, 4096, FULL, 4096]
    assert windows("cohere2moe", attention__sliding_window=64) == [FULL, 64, 64, 64, FULL, 64]


def test_a_pattern_of_the_file_goes_first() -> None:
    pattern = [1, 0, 1, 1, 1, 0]
    given = {"attention__sliding_window": 512, "attention__sliding_window_pattern": pattern}
    assert windows("gemma3", **given) == [512 * item for item in pattern]
    assert windows("gemma4", **given) == [512 * item for item in pattern]
    assert windows("gemma3", attention__sliding_window=512, attention__sliding_window_pattern=3)[:3] == [512, 512, FULL]
    assert windows("gemma3", attention__sliding_window=512, attention__sliding_window_pattern=0) == [512] * 6


def test_windows_that_llama_cpp_ignores() -> None:
    assert windows("phi3", attention__sliding_window=2048) == [FULL] * 6
    assert windows("llama", attention__sliding_window=2048) == [FULL] * 6
    assert windows("exaone4", attention__sliding_window=4096) == [FULL] * 6, "only the one of 64 layers has windows"
    assert windows("exaone4", attention__sliding_window=4096, block_count=64)[:4] == [4096, 4096, 4096, FULL]


def test_heads_of_another_size_in_windows() -> None:
    kept = caches(
        "gemma4",
        attention__sliding_window=512,
        attention__sliding_window_pattern=[1, 1, 0, 1, 1, 0],
        attention__key_length=512,
        attention__value_length=512,
        attention__key_length_swa=256,
        attention__value_length_swa=256,
        attention__shared_kv_layers=2,
    )
    assert kept[0] == LayerCache(1024, 1024, 512)
    assert kept[2] == LayerCache(2048, 2048)
    assert kept[4] == kept[5] == LayerCache(), "the last two use the cache of earlier ones"


def test_layers_that_share() -> None:
    kept = caches("gemma3n", block_count=30, attention__sliding_window=512)
    assert [bool(cache.keys) for cache in kept] == [True] * 20 + [False] * 10


def test_prediction_layers_keep_nothing() -> None:
    kept = caches("glm4moe", nextn_predict_layers=1)
    assert [bool(cache.keys) for cache in kept] == [True] * 5 + [False]


SSM = {"ssm__conv_kernel": 4, "ssm__inner_size": 2048, "ssm__state_size": 128, "ssm__group_count": 8}
STATE = (3 * (2048 + 2 * 8 * 128) + 128 * 2048) * 4


def test_recurrent_models_keep_a_state() -> None:
    assert caches("mamba2", attention__head_count=None, **SSM) == (LayerCache(state=STATE),) * 6
    assert caches("rwkv7", wkv__head_size=64) == (LayerCache(state=(2 + 64) * 1024 * 4),) * 6


def test_hybrids() -> None:
    attends = LayerCache(256, 256)
    recurs = LayerCache(state=STATE)
    assert caches("qwen3next", **SSM) == (recurs, recurs, recurs, attends, recurs, recurs)
    assert caches("qwen35", full_attention_interval=2, **SSM) == (recurs, attends) * 3
    assert caches("qwen35", attention__recurrent_layers=[1, 1, 0, 1, 1, 0], **SSM) == (recurs, recurs, attends) * 2
    assert caches("granitehybrid", attention__head_count_kv=[0, 0, 4, 0, 0, 4], **SSM) == (recurs, recurs, attends) * 2
    assert caches("falcon-h1", **SSM) == (LayerCache(256, 256, 0, STATE),) * 6
    ff = [0, 0, 512, 0, 0, 512]
    heads = [0, 4, 0, 0, 4, 0]
    assert caches("nemotron_h", attention__head_count_kv=heads, feed_forward_length=ff, **SSM) == (
        recurs,
        attends,
        LayerCache(),
        recurs,
        attends,
        LayerCache(),
    )
    short = caches("lfm2", attention__head_count_kv=[0, 4, 0, 4, 0, 4], shortconv__l_cache=3)
    assert short[:2] == (LayerCache(state=1024 * 2 * 4), attends)


def test_bytes_of_a_layer() -> None:
    layer = LayerCache(256, 256)
    f16, q8 = LoadOptions(), LoadOptions(kv_type_k=KvType.Q8_0, kv_type_v=KvType.Q8_0)
    assert layer_bytes(layer, f16, 4096, 512) == 4096 * 512 * 2
    assert layer_bytes(layer, q8, 4096, 512) == 4096 * 512 * 34 // 32
    assert row_bytes(256, KvType.Q4_0) == 144
    slides = LayerCache(256, 256, window=512)
    assert layer_bytes(slides, f16, 4096, 512) == 1024 * 512 * 2, "the window and a micro-batch"
    assert layer_bytes(slides, f16, 4096, 100) == 768 * 512 * 2, "rounded up to 256"
    assert layer_bytes(slides, f16, 256, 512) == 256 * 512 * 2, "never longer than the context"
    assert layer_bytes(LayerCache(256, 128), f16, 256, 512, widest=256) == 256 * 512 * 2, (
        "padded without flash attention"
    )
    assert layer_bytes(LayerCache(256, 0), f16, 256, 512, widest=256) == 256 * 256 * 2


@settings(deadline=None)
@given(
    st.sampled_from(["llama", "gemma3", "gemma4", "qwen3next", "nemotron_h", "lfm2", "deepseek2", "rwkv7", "exaone4"]),
    st.dictionaries(
        st.sampled_from(
            [
                "block_count",
                "embedding_length",
                "attention.head_count",
                "attention.head_count_kv",
                "attention.key_length",
                "attention.sliding_window",
                "attention.sliding_window_pattern",
                "attention.recurrent_layers",
                "attention.shared_kv_layers",
                "feed_forward_length",
                "nextn_predict_layers",
                "full_attention_interval",
                "ssm.state_size",
                "ssm.conv_kernel",
                "wkv.head_size",
                "shortconv.l_cache",
            ]
        ),
        st.integers(0, 2**32 - 1)
        | st.integers(0, 40)
        | st.lists(st.integers(-3, 300) | st.floats(), max_size=8)
        | st.text(max_size=3),
    ),
)
def test_any_entries_give_caches_or_no_shape(arch: str, entries: dict[str, Any]) -> None:
    made = metadata(arch, **entries)
    shape = read_shape(made)
    if shape is None:
        return
    kept = layer_caches(made, shape)
    assert len(kept) == shape.n_layers
    assert all(min(cache.keys, cache.values, cache.window, cache.state) >= 0 for cache in kept)


@pytest.mark.parametrize("layers", [0, 1025, 2**32 - 1])
def test_an_impossible_number_of_layers_is_no_shape(layers: int) -> None:
    assert read_shape(metadata("llama", block_count=layers)) is None

"""From files to a `FitModel`."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.library.gguf import HeaderProblem
from engine.library.states import FileState
from engine.memory.fit import predict, read_model
from engine.memory.fit.records import HUGE, INPUT, FitModel
from engine.protocol.types import LoadOptions
from tests.engine.memory.fit.conftest import cpu, gpu
from tests.fakes import sparse_gguf
from tests.fakes.sparse_gguf import Sizes, Weight, tensor_bytes
from tests.fakes.tiny_gguf import F32, U32, tiny_llama

SMALL_FILE = tiny_llama()


def model_at(path: Path) -> FitModel:
    found = read_model(path)
    assert not isinstance(found, HeaderProblem), found
    return found


def in_layer(model: FitModel, layer: int, *, expert: bool = False) -> int:
    return sum(piece.n_bytes for piece in model.pieces if piece.layer == layer and piece.expert is expert)


def test_every_tensor_has_its_place(fit) -> None:
    source = sparse_gguf.llama()
    model = fit(source)
    assert model.weights == sum(map(tensor_bytes, source.weights))
    matrix = 512 * 8000 * 2
    assert in_layer(model, INPUT) == matrix
    assert in_layer(model, model.n_layers) == matrix + 512 * 4, "the norm belongs to the output"
    blocks = [w for w in source.weights if w.name.startswith("blk.0.")]
    assert in_layer(model, 0) == sum(map(tensor_bytes, blocks))
    assert (model.n_layers, model.max_layers, model.n_vocab, model.tied) == (6, 7, 8000, 0)
    assert model.largest == 512 * 1536 * 2


def test_tied_embeddings(fit) -> None:
    model = fit(sparse_gguf.llama(tied=True))
    assert model.tied == 512 * 8000 * 2
    assert model.tied_kind == "F16"


def test_experts_are_apart(fit) -> None:
    model = fit(sparse_gguf.moe())
    assert in_layer(model, 3, expert=True) == 3 * 8 * 512 * 512 * 2
    assert (model.n_experts, model.n_experts_used) == (8, 2)
    assert model.largest_expert == 8 * 512 * 512 * 2
    assert model.largest == 512 * 512 * 2, "the router is none of the experts"


def test_norms_and_factors_that_belong_to_the_first_layer(fit) -> None:
    source = sparse_gguf.llama()
    more = [Weight("rope_freqs.weight", (32,), "F32"), Weight("token_embd_norm.weight", (512,), "F32")]
    plain, extended = fit(source), fit(source._replace(weights=source.weights + more))
    assert in_layer(extended, 0) - in_layer(plain, 0) == 32 * 4 + 512 * 4
    more = [Weight("per_layer_token_embd.weight", (256, 8000), "F16")]
    assert in_layer(fit(source._replace(weights=source.weights + more)), INPUT) == (512 + 256) * 8000 * 2


def test_prediction_layers_are_not_loaded(fit) -> None:
    source = sparse_gguf.llama()
    kvs = {**source.kvs, "llama.nextn_predict_layers": (U32, 1)}
    model = fit(source._replace(kvs=kvs))
    assert in_layer(model, 5) == 0
    assert model.max_layers == 7, "llama.cpp counts them all the same"


def test_a_huge_tensor_stands_alone(fit) -> None:
    model = fit(sparse_gguf.llama(Sizes(layers=1, width=1024, heads=16, vocabulary=80000), tied=True))
    assert [piece.n_bytes for piece in model.pieces if piece.huge] == [1024 * 80000 * 2]
    assert HUGE < 1024 * 80000 * 2


def test_heads_of_a_quantised_cache(fit) -> None:
    assert fit(sparse_gguf.llama()).quantised_kv
    assert not fit(sparse_gguf.llama(Sizes(heads=8, head=80))).quantised_kv


def test_a_split_set_is_one_model(tmp_path) -> None:
    source = sparse_gguf.llama(Sizes(kv_heads=2))
    whole = model_at(source.write(tmp_path / "whole.gguf"))
    first = source.write_split(tmp_path, "parts", 3)
    assert model_at(first) == whole
    assert model_at(first) == model_at(tmp_path / "parts-00001-of-00003.gguf")


def test_a_first_part_without_tensors(tmp_path) -> None:
    """Its own size says nothing: the sum over the set counts."""
    sizes = Sizes(layers=60, width=8192, heads=64, kv_heads=8, head=128, ff=28672, vocabulary=2000)
    source = sparse_gguf.llama(sizes, "F16")
    names = [w.name for w in source.weights]
    empty = source._replace(weights=[])
    sparse_gguf.write_sparse(tmp_path / "big-00001-of-00002.gguf", _split(empty.kvs, 0, len(names)), [])
    sparse_gguf.write_sparse(tmp_path / "big-00002-of-00002.gguf", _split({}, 1, len(names)), source.weights)
    model = model_at(tmp_path / "big-00001-of-00002.gguf")
    assert model.weights > 60e9
    assert (tmp_path / "big-00002-of-00002.gguf").stat().st_blocks < 2000, "sparse blocks do not change it"


def _split(kvs, number: int, tensors: int):
    split = {"split.no": (2, number), "split.count": (2, 2), "split.tensors.count": (5, tensors)}
    return [(key, *value) for key, value in {**kvs, **split}.items()]


def test_a_missing_part_is_a_problem(tmp_path) -> None:
    first = sparse_gguf.llama().write_split(tmp_path, "parts", 3)
    (tmp_path / "parts-00002-of-00003.gguf").unlink()
    found = read_model(first)
    assert isinstance(found, HeaderProblem)
    assert found.state is FileState.UNREADABLE


def test_a_file_that_says_nothing_of_its_shape(fit) -> None:
    model = fit(sparse_gguf.Model({"general.architecture": (8, "mystery")}, [Weight("a", (64,), "F32")]))
    assert (model.weights, model.n_layers, model.known_cache) == (256, 0, False)


def test_special_caches_are_known_to_be_guesses(fit) -> None:
    source = sparse_gguf.llama()
    renamed = {key.replace("llama.", "glm-dsa.", 1): value for key, value in source.kvs.items()}
    renamed["general.architecture"] = (8, "glm-dsa")
    assert not fit(source._replace(kvs=renamed)).known_cache
    assert fit(source._replace(kvs={**source.kvs, "llama.rope.freq_base": (F32, 1e6)})).known_cache


@settings(deadline=None)
@given(st.data())
def test_damaged_headers_never_raise(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Whatever the bytes are: a problem, or a model whose forecast has sizes that can be stored."""
    raw = bytearray(SMALL_FILE)
    places = st.integers(0, min(len(raw), 3000) - 1)
    for place, value in data.draw(st.lists(st.tuples(places, st.integers(0, 255)), max_size=6)):
        raw[place] = value
    path = tmp_path_factory.getbasetemp() / "damaged.gguf"
    path.write_bytes(raw)
    found = read_model(path)
    if not isinstance(found, HeaderProblem):
        plan = predict(found, LoadOptions(n_ctx=data.draw(st.sampled_from([0, 4096]))), [gpu(8 << 30), cpu()])
        assert plan.everything >= 0
        msgspec.json.encode(plan)


HUGE_NUMBERS = {
    "heads": {"attention.head_count": 2**32 - 1, "attention.head_count_kv": 2**32 - 1},
    "keys": {"attention.key_length": 2**32 - 1, "attention.value_length": 2**32 - 1},
    "context": {"context_length": 2**32 - 1},
    "width": {"embedding_length": 2**32 - 1},
    "feed forward": {"feed_forward_length": 2**32 - 1},
    "experts": {"expert_count": 2**32 - 1, "expert_used_count": 2**32 - 1, "expert_feed_forward_length": 2**32 - 1},
    "window": {"attention.sliding_window": 2**32 - 1},
    "state": {"ssm.inner_size": 2**32 - 1, "ssm.state_size": 2**32 - 1, "wkv.head_size": 2**32 - 1},
    "blocks": {"block_count": 1025},
}


@pytest.mark.parametrize("what", [*HUGE_NUMBERS, "all"])
@pytest.mark.parametrize("arch", ["llama", "gemma3", "rwkv7", "falcon-h1"])
def test_numbers_that_no_model_has(fit, what: str, arch: str) -> None:
    source = sparse_gguf.llama(Sizes(layers=2, vocabulary=300))
    kvs = {key.replace("llama.", f"{arch}.", 1): value for key, value in source.kvs.items()}
    kvs["general.architecture"] = (8, arch)
    groups = HUGE_NUMBERS.values() if what == "all" else [HUGE_NUMBERS[what]]
    wild = {f"{arch}.{name}": (U32, number) for group in groups for name, number in group.items()}
    plan = predict(fit(source._replace(kvs={**kvs, **wild})), LoadOptions(n_ctx=0), [gpu(8 << 30), cpu()])
    assert all(0 <= use.total < 2**63 for use in plan.uses)
    msgspec.json.encode(plan)

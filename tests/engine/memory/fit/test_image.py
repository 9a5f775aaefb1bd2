"""What an image encoder takes, out of its header."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.library.gguf import HeaderProblem, read_file_contents
from engine.memory.fit.image import Encoder, encoder_of, read_encoder, with_encoder
from engine.protocol.types import LoadOptions
from tests.fakes.tiny_gguf import STR, U32, tiny_llama
from tests.fakes.tiny_mmproj import Tower, encoder_size, mmproj

MIB = 1 << 20


def read(path: Path, data: bytes) -> Encoder:
    path.write_bytes(data)
    found = read_encoder(path)
    assert isinstance(found, Encoder)
    return found


LOADED = [
    (Tower(768, 12, 3072, 2, 512, 16, 4), 21.00),
    (Tower(1152, 16, 4304, 2, 896, 14, 4), 121.25),
    (Tower(1152, 16, 4304, 3, 364, 14, 2), 20.01),
    (Tower(1280, 16, 3420, 3, 644, 14, 2), 58.60),
    (Tower(512, 8, 512, 3, 512, 16, 4), 10.00),
]
"""Towers, and MiB of the compute buffer that libmtmd of llama.cpp 0c1e57098 named when it loaded them."""


@pytest.mark.parametrize(("tower", "buffer"), LOADED)
def test_the_buffer_is_as_libmtmd_reserves_it(tmp_path: Path, tower: Tower, buffer: float) -> None:
    small = Tower(64, 4, 64, 1, tower.image, tower.patch, tower.merge)
    values = {
        "embedding_length": (U32, tower.width),
        "feed_forward_length": (U32, tower.ff),
    }
    found = read(tmp_path / "e.gguf", mmproj(256, small, 3, **values))
    assert found.work / MIB == pytest.approx(buffer, abs=0.01)
    assert found.host == tower.image**2 * 3 * 4


def test_weights_are_all_tensors(tmp_path: Path) -> None:
    found = read(tmp_path / "e.gguf", mmproj(256))
    assert found.weights == encoder_size(256)
    assert found.size == found.weights + found.work
    assert found.name == "tiny encoder"
    assert found.path == str(tmp_path / "e.gguf")


@pytest.mark.parametrize(("kind", "tokens", "merge"), [("qwen2.5vl_merger", 46, 2), ("pixtral", 16, 2)])
def test_pictures_of_any_size_are_reserved_for_a_usual_one(tmp_path: Path, kind: str, tokens: int, merge: int) -> None:
    found = read(tmp_path / "e.gguf", mmproj(256, projector_type=(STR, kind)))
    side = tokens * merge * Tower().patch
    assert found.host == side * side * 3 * 4


def test_other_files_are_none(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(tiny_llama())
    assert read_encoder(tmp_path / "m.gguf") is None
    assert isinstance(read_encoder(tmp_path / "nothing.gguf"), HeaderProblem)


def test_it_belongs_to_models_of_its_width(tmp_path: Path) -> None:
    from engine.memory.fit import FitModel

    found = read(tmp_path / "e.gguf", mmproj(576))
    assert found.suits(FitModel(n_layers=1, width=576))
    assert not found.suits(FitModel(n_layers=1, width=2048))
    assert not found.suits(FitModel(n_layers=1))


def test_a_model_with_it_takes_that_much_more(tmp_path: Path) -> None:
    from engine.memory.fit import FitModel

    encoder = read(tmp_path / "e.gguf", mmproj(256))
    model = with_encoder(FitModel(n_layers=1, width=256), encoder)
    assert (model.image, model.image_host) == (encoder.size, encoder.host)
    assert with_encoder(model, None) is model
    assert LoadOptions().mmproj is None


@given(
    st.dictionaries(
        st.sampled_from(["image_size", "patch_size", "embedding_length", "feed_forward_length", "scale_factor"]),
        st.integers(0, 2**32 - 1),
    ),
    st.sampled_from(["idefics3", "qwen2vl_merger", "gemma4v", "nobody", ""]),
)
def test_no_header_makes_it_fail(tmp_path_factory: pytest.TempPathFactory, sizes: dict[str, int], kind: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any.gguf"
    values = {name: (U32, size) for name, size in sizes.items()}
    path.write_bytes(mmproj(64, Tower(32, 2, 32, 1, 32, 16, 2), 3, projector_type=(STR, kind), **values))
    contents = read_file_contents(path)
    assert not isinstance(contents, HeaderProblem)
    found = encoder_of(contents)
    assert found is not None
    assert 0 <= found.work < 1 << 60
    assert 0 <= found.host < 1 << 45

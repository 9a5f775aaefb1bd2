"""Which image encoders are offered for a model, and what files beside it take."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.load.companions import Companions
from app.load.headers import Headers
from engine.library.index import Index
from engine.library.roots import LibraryRoot, RootKind
from engine.library.scan import scan, scan_root
from engine.memory.fit import FitModel, read_model
from engine.memory.fit.image import Encoder
from engine.protocol.types import LoadOptions, LoraAdapter
from tests.app.chat.cranked import Cranked
from tests.fakes.model_homes import OLLAMA_MODEL, OLLAMA_PROJECTOR, ollama_model
from tests.fakes.tiny_gguf import SMALL, TINY, small_llama, tiny_llama
from tests.fakes.tiny_mmproj import Tower, encoder_size, mmproj


class Folder:
    """Models on a disk, with what the library finds there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.reading = Cranked()
        self.headers = Headers(self.reading, lambda _path: None)
        self.companions = Companions(self.headers, lambda: scan(path).companions)

    def put(self, name: str, data: bytes) -> Path:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        return file

    def offered(self, path: Path) -> list[str]:
        model = read_model(path)
        assert isinstance(model, FitModel)
        self.companions.encoders(path, model)
        self.reading.drain()
        return [Path(encoder.path).name for encoder in self.companions.encoders(path, model)]


@pytest.fixture
def folder(tmp_path: Path, qtbot: QtBot) -> Folder:
    return Folder(tmp_path)


def test_case_11_only_where_it_matches_whatever_its_name(folder: Folder) -> None:
    """Case 11: a projector is told by its header, and is nothing for a model that it was not made for."""
    a, b = folder.put("A.gguf", tiny_llama()), folder.put("B.gguf", small_llama())
    folder.put("vision.gguf", mmproj(SMALL.embd))
    assert folder.offered(b) == ["vision.gguf"]
    assert folder.offered(a) == []
    assert [model.path.name for model in scan(folder.path).models] == ["A.gguf", "B.gguf"]


def test_only_in_the_folder_of_the_model_the_smallest_first(folder: Folder) -> None:
    model = folder.put("one/A.gguf", tiny_llama())
    folder.put("one/mmproj-big.gguf", mmproj(TINY.embd, Tower(layers=3)))
    folder.put("one/mmproj-small.gguf", mmproj(TINY.embd))
    folder.put("two/mmproj.gguf", mmproj(TINY.embd))
    assert folder.offered(model) == ["mmproj-small.gguf", "mmproj-big.gguf"]


def test_in_one_folder_for_all_the_owner_says_what_belongs_together(tmp_path: Path, folder: Folder) -> None:
    """Ollama keeps the files of all models side by side."""
    root = tmp_path / "ollama"
    projector = (OLLAMA_PROJECTOR, mmproj(TINY.embd))
    (sees, image) = ollama_model(root, "library/llava/1b", [(OLLAMA_MODEL, tiny_llama()), projector])
    (blind,) = ollama_model(root, "library/other/1b", [(OLLAMA_MODEL, tiny_llama(2))])
    found = scan_root(LibraryRoot(kind=RootKind.OLLAMA, path=str(root)), root, Index())
    folder.companions = Companions(folder.headers, lambda: found.companions)
    assert (folder.offered(sees), folder.offered(blind)) == ([image.name], [])


def test_nothing_is_offered_before_the_model_is_known(folder: Folder) -> None:
    folder.put("mmproj.gguf", mmproj(TINY.embd))
    assert folder.companions.encoders(folder.path / "A.gguf", None) == ()
    assert not folder.reading.waiting


def test_files_beside_a_model_count(folder: Folder) -> None:
    model = read_model(folder.put("A.gguf", tiny_llama()))
    assert isinstance(model, FitModel)
    image, adapter = folder.put("mmproj.gguf", mmproj(TINY.embd)), folder.put("lora.gguf", b"x" * 1000)
    options = LoadOptions(mmproj=str(image), lora=(LoraAdapter(path=str(adapter)),))
    assert folder.companions.together(model, LoadOptions()) is model
    assert folder.companions.together(model, options).image == 0
    folder.reading.drain()
    together = folder.companions.together(model, options)
    assert together.adapters == 1000
    known = folder.headers.encoder(image)
    assert isinstance(known, Encoder)
    assert together.image == known.size > encoder_size(TINY.embd)


def test_a_file_that_is_none_takes_nothing(folder: Folder) -> None:
    model = read_model(folder.put("A.gguf", tiny_llama()))
    assert isinstance(model, FitModel)
    options = LoadOptions(mmproj=str(folder.path / "A.gguf"))
    folder.companions.together(model, options)
    folder.reading.drain()
    assert folder.companions.together(model, options) == model
    assert not folder.reading.waiting


def test_a_draft_model_counts_once_it_was_read(folder: Folder) -> None:
    model, draft = folder.put("A.gguf", small_llama()), folder.put("D.gguf", tiny_llama())
    large = read_model(model)
    assert isinstance(large, FitModel)
    options = LoadOptions(draft=str(draft))
    assert folder.companions.together(large, options).draft is None
    folder.reading.drain()
    assert folder.companions.together(large, options).draft == read_model(draft)

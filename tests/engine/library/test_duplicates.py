"""The same model twice."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from engine.errors import VrambleError
from engine.library import duplicates
from engine.library.hashing import Progress, hashed_now
from engine.library.index import Index
from engine.library.joining import share
from engine.library.records import InstalledModel, Mend, ScanResult
from engine.library.survey import Survey
from engine.library.whereabouts import Whereabouts
from tests.engine.library.making import llama
from tests.fakes.model_homes import OLLAMA_MODEL, hub_file, machine, ollama_model, put
from tests.fakes.tiny_gguf import split_set

DATA = llama()


class Home:
    """An own folder and a machine around it."""

    def __init__(self, folder: Path) -> None:
        self.own = folder / "own"
        self.around = machine(folder)
        self.survey = Survey(Whereabouts(self.own, self.around), Index())

    def scan(self) -> ScanResult:
        return self.survey.scan()

    def second(self) -> InstalledModel:
        """The only model that is a duplicate."""
        (model,) = [model for model in self.scan().models if model.duplicate_of is not None]
        return model

    def duplicates(self) -> int:
        return sum(model.duplicate_of is not None for model in self.scan().models)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_the_same_checksum_is_the_same_model(home: Home) -> None:
    hub_file(home.around.home / ".cache/huggingface/hub", "a/b", "c", "m-Q8_0.gguf", DATA)
    ollama_model(home.around.home / ".ollama/models", "library/m/1b", [(OLLAMA_MODEL, DATA)])
    model = home.second()
    assert (model.likely_duplicate, model.same_file, model.mends) == (False, False, (Mend.SHARE, Mend.DELETE))


def test_the_own_one_is_the_first(home: Home) -> None:
    first = put(home.own / "z.gguf", DATA)
    put(home.around.home / ".lmstudio/models/a/b/a.gguf", DATA)
    assert home.second().duplicate_of == first


def test_one_file_with_two_names_takes_no_space(home: Home) -> None:
    first = put(home.own / "a.gguf", DATA)
    os.link(first, home.own / "b.gguf")
    model = home.second()
    assert (model.same_file, model.mends) == (True, ())


def test_without_checksums_it_is_likely(home: Home) -> None:
    put(home.own / "a.gguf", DATA)
    put(home.own / "b.gguf", DATA)
    model = home.second()
    assert (model.duplicate_of, model.likely_duplicate) == (home.own / "a.gguf", True)


def test_other_weights_with_the_same_header_are_no_duplicate(home: Home) -> None:
    put(home.own / "a.gguf", DATA)
    put(home.own / "b.gguf", DATA[:-1] + bytes([DATA[-1] ^ 1]))
    assert home.duplicates() == 0


def test_a_hash_settles_what_samples_could_not(home: Home) -> None:
    big = DATA + bytes(8 << 20)
    other = bytearray(big)
    other[len(DATA) + 100_000] = 1
    a, b = put(home.own / "a.gguf", big), put(home.own / "b.gguf", bytes(other))
    assert home.second().likely_duplicate
    assert {model.path for model in duplicates.unsure(home.scan().models)} == {a, b}
    hashes = [hashed_now(path, hashlib.sha256(path.read_bytes()).hexdigest()) for path in (a, b)]
    home.survey.remember(hashes, 1.0)
    assert home.duplicates() == 0


def test_split_sets_are_compared_part_by_part(home: Home) -> None:
    for folder in ("one", "two"):
        for name, data in split_set(3).items():
            put(home.own / folder / name, data)
    assert home.second().duplicate_of == home.own / "one/big-00001-of-00003.gguf"


def test_damaged_files_are_no_duplicates(home: Home) -> None:
    put(home.own / "a.gguf", DATA[:-9])
    put(home.own / "b.gguf", DATA[:-9])
    assert home.duplicates() == 0


def test_samples_are_a_megabyte_at_most(tmp_path: Path) -> None:
    with (tmp_path / "x").open("wb") as file:
        file.truncate(1 << 40)
    assert duplicates.sample_of(tmp_path / "x", 1 << 40) != duplicates.sample_of(tmp_path / "x", 1 << 30)


def test_sharing_makes_one_file_of_two(home: Home) -> None:
    put(home.own / "a.gguf", DATA)
    put(home.own / "b.gguf", DATA)
    model = home.second()
    first = next(one for one in home.scan().models if one.path == model.duplicate_of)
    outcome = share(model, first, Progress())
    assert (home.own / "a.gguf").samefile(home.own / "b.gguf")
    home.survey.remember(outcome.hashed, 1.0)
    assert home.second().same_file
    assert sorted(path.name for path in home.own.iterdir()) == ["a.gguf", "b.gguf"]


def test_sharing_compares_every_byte_first(home: Home) -> None:
    big = DATA + bytes(8 << 20)
    other = bytearray(big)
    other[len(DATA) + 100_000] = 1
    put(home.own / "a.gguf", big)
    put(home.own / "b.gguf", bytes(other))
    model = home.second()
    first = next(one for one in home.scan().models if one.path == model.duplicate_of)
    with pytest.raises(VrambleError) as caught:
        share(model, first, Progress())
    assert caught.value.code == "not-the-same"
    assert (home.own / "b.gguf").read_bytes() == bytes(other)

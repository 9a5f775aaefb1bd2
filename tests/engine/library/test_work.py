"""Checking, moving and importing whole models."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
import pytest

from engine.errors import VrambleError
from engine.library import transfer
from engine.library.hashing import Hashed, Progress, StoppedError
from engine.library.index import Index
from engine.library.joining import join
from engine.library.mounts import FAT_LIMIT
from engine.library.origin import Origin, origin_path, read_origin
from engine.library.records import InstalledModel
from engine.library.roots import RootInfo, RootKind
from engine.library.states import FileState
from engine.library.survey import Survey, Wishes
from engine.library.transfer import How
from engine.library.whereabouts import Whereabouts
from engine.library.work import bring, move, verify
from tests.engine.library.making import llama
from tests.fakes.model_homes import OLLAMA_MODEL, hub_file, machine, ollama_model, put
from tests.fakes.tiny_gguf import STR, gguf, split_set

DATA = llama()
SHA256 = hashlib.sha256(DATA).hexdigest()


class Home:
    """An own folder, another one, and the programs of a machine."""

    def __init__(self, folder: Path) -> None:
        self.own = folder / "own"
        self.other = folder / "other"
        self.other.mkdir()
        self.around = machine(folder)
        where = Whereabouts(self.own, self.around)
        self.survey = Survey(where, Index())
        self.wishes = Wishes(roots=(where.root_for(self.other),))
        self.roots: tuple[RootInfo, ...] = ()

    def models(self) -> list[InstalledModel]:
        found = self.survey.scan(self.wishes)
        self.roots = found.roots
        return list(found.models)

    def only(self) -> InstalledModel:
        (model,) = self.models()
        return model

    def root(self, kind: RootKind) -> RootInfo:
        return next(root for root in self.roots if root.root.kind is kind)

    def move(self, kind: RootKind = RootKind.FOLDER, along: tuple[Path, ...] = ()) -> Path:
        model = self.only()
        source = next(root for root in self.roots if root.id == model.root)
        return move(model, source, self.root(kind), Progress(), along).paths[0]

    def bring(self, path: Path, how: How) -> Path:
        self.models()
        return bring([path], how, self.root(RootKind.OWN), Progress(), self.roots).paths[0]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def code_of(call: object, *arguments: object) -> str:
    with pytest.raises(VrambleError) as caught:
        call(*arguments)  # type: ignore[operator]
    return caught.value.code


def described(path: Path, sha256: str = SHA256) -> Path:
    origin = Origin(repo="a/x", path=path.name, commit="c", sha256=sha256, size=len(DATA))
    put(origin_path(path), msgspec.json.encode(origin))
    return path


# ---- checking


def test_right_wrong_and_unknown(home: Home) -> None:
    described(put(home.own / "a/x/right.gguf", DATA))
    wrong = described(put(home.own / "a/x/wrong.gguf", DATA), "0" * 64)
    put(home.own / "unknown.gguf", DATA)
    cut = put(home.own / "cut.gguf", DATA[:-9])
    progress = Progress()
    outcome = verify(home.models(), progress)
    assert set(outcome.wrong) == {wrong, cut}
    assert {one.sha256 for one in outcome.hashed if one.path.name != "cut.gguf"} == {SHA256}
    assert progress.done == progress.total == 4 * len(DATA) - 9


def test_a_blob_must_be_what_its_name_says(home: Home) -> None:
    link = hub_file(home.around.home / ".cache/huggingface/hub", "a/b", "c", "m.gguf", DATA)
    (blob,) = ollama_model(home.around.home / ".ollama/models", "library/m/1b", [(OLLAMA_MODEL, DATA)])
    for path in (link.resolve(), blob):
        path.write_bytes(DATA[:-1] + b"\x7f")
    assert len(verify(home.models(), Progress()).wrong) == 2


def test_a_check_can_be_ended(home: Home) -> None:
    put(home.own / "a.gguf", DATA)
    with pytest.raises(StoppedError):
        verify(home.models(), Progress(stop=lambda: True))


def test_of_many_one_that_cannot_be_read_does_not_end_the_check(home: Home) -> None:
    gone = put(home.own / "a.gguf", DATA)
    put(home.own / "b.gguf", llama(name="b"))
    models = home.models()
    gone.unlink()
    outcome = verify(models, Progress())
    assert (outcome.wrong, len(outcome.hashed)) == ((gone,), 1)


def test_what_was_read_before_the_end_is_kept(home: Home) -> None:
    put(home.own / "a.gguf", DATA)
    put(home.own / "b.gguf", llama(name="b"))
    hashed: list[Hashed] = []

    class First(Progress):
        def add(self, n_bytes: int) -> None:
            if hashed:
                self.cancel()
            super().add(n_bytes)

    with pytest.raises(StoppedError):
        verify(home.models(), First(), hashed)
    assert len(hashed) == 1


def test_a_file_that_went_away_is_a_sentence(home: Home) -> None:
    put(home.own / "a.gguf", DATA)
    models = home.models()
    models[0].path.unlink()
    assert code_of(verify, models, Progress()) == "unreadable"


@pytest.mark.parametrize("text", ["not json", "[]", '{"sha256": 7}'])
def test_an_odd_origin_is_no_checksum(home: Home, text: str) -> None:
    path = put(home.own / "m.gguf", DATA)
    put(origin_path(path), text.encode())
    assert verify(home.models(), Progress()).wrong == ()


# ---- moving


def test_a_model_takes_its_origin_along(home: Home) -> None:
    source = described(put(home.own / "a/x/m.gguf", DATA))
    path = home.move()
    assert path == home.other / "a/x/m.gguf"
    assert read_origin(path) == Origin(repo="a/x", path="m.gguf", commit="c", sha256=SHA256, size=len(DATA))
    assert not source.exists()
    assert not origin_path(source).exists()
    assert list(home.own.iterdir()) == []


def test_a_projector_goes_along(home: Home) -> None:
    put(home.own / "a/x/m.gguf", DATA)
    clip = put(home.own / "a/x/mmproj.gguf", gguf([("general.architecture", STR, "clip")]))
    home.move(along=(clip,))
    assert sorted(path.name for path in (home.other / "a/x").iterdir()) == ["m.gguf", "mmproj.gguf"]


def test_out_of_the_hub_cache_comes_a_file_that_can_be_verified(home: Home) -> None:
    cache = home.around.home / ".cache/huggingface/hub"
    link = hub_file(cache, "a/b-GGUF", "c0ffee", "Q8/m.gguf", DATA)
    blob = link.resolve()
    path = home.move()
    assert (path, path.is_symlink(), path.read_bytes()) == (home.other / "a/b-GGUF/Q8/m.gguf", False, DATA)
    origin = read_origin(path)
    assert origin is not None
    assert (origin.repo, origin.commit, origin.path, origin.sha256) == ("a/b-GGUF", "c0ffee", "Q8/m.gguf", SHA256)
    assert not blob.exists()
    assert not link.is_symlink()


def test_out_of_ollama_comes_a_file_with_a_name(home: Home) -> None:
    models = home.around.home / ".ollama/models"
    (blob,) = ollama_model(models, "library/llama3/8b", [(OLLAMA_MODEL, DATA)])
    path = home.move()
    assert (path.name, path.read_bytes()) == ("llama3-8b.gguf", DATA)
    assert not blob.exists()
    assert not (models / "manifests/registry.ollama.ai/library/llama3/8b").exists()


def test_what_ollama_got_while_a_model_was_copied_keeps_its_bytes(home: Home) -> None:
    models = home.around.home / ".ollama/models"
    (blob,) = ollama_model(models, "library/llama3/8b", [(OLLAMA_MODEL, DATA)])
    model = home.only()

    class Pulling(Progress):
        def add(self, count: int) -> None:
            if not (models / "manifests/registry.ollama.ai/library/other/1b").exists():
                ollama_model(models, "library/other/1b", [(OLLAMA_MODEL, DATA), (OLLAMA_MODEL + "x", b"more")])
            super().add(count)

    (path,) = move(model, home.root(RootKind.OLLAMA), home.root(RootKind.FOLDER), Pulling()).paths
    assert path.read_bytes() == DATA
    assert not (models / "manifests/registry.ollama.ai/library/llama3/8b").exists()
    assert blob.exists() is (models / "manifests/registry.ollama.ai/library/other/1b").exists()


@pytest.mark.parametrize("kind", [RootKind.OLLAMA, RootKind.HUB_CACHE])
def test_nothing_is_put_into_the_layout_of_another_program(home: Home, kind: RootKind) -> None:
    hub_file(home.around.home / ".cache/huggingface/hub", "a/b", "c", "m.gguf", llama(name="hub"))
    ollama_model(home.around.home / ".ollama/models", "library/m/1b", [(OLLAMA_MODEL, llama(name="ollama"))])
    put(home.own / "mine.gguf", DATA)
    model = next(model for model in home.models() if model.source is RootKind.OWN)
    assert code_of(move, model, home.root(RootKind.OWN), home.root(kind), Progress()) == "not-a-target"
    assert model.path.exists()


def test_a_card_with_fat_says_its_limit_before(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "_same_drive", lambda source, folder: False)
    path = home.own / "big.gguf"
    put(path, DATA)
    with path.open("r+b") as file:
        file.truncate(FAT_LIMIT + 1)
    model = home.only()
    card = msgspec.structs.replace(home.root(RootKind.FOLDER), file_limit=FAT_LIMIT, free=1 << 50)
    assert code_of(move, model, home.root(RootKind.OWN), card, Progress()) == "file-too-big"
    assert path.stat().st_size == FAT_LIMIT + 1


# ---- bringing in


@pytest.mark.parametrize("how", list(How))
def test_a_file_from_outside(home: Home, tmp_path: Path, how: How) -> None:
    source = described(put(tmp_path / "downloads/m-Q8_0.gguf", DATA))
    path = home.bring(source, how)
    assert path == home.own / "imported/m-Q8_0/m-Q8_0.gguf"
    assert path.read_bytes() == DATA
    assert source.exists() == (how is not How.MOVE)
    assert (source.exists() and source.samefile(path)) == (how is How.LINK)
    assert read_origin(path) is not None


def test_a_folder_brings_all_its_models(home: Home, tmp_path: Path) -> None:
    for name, data in split_set(2).items():
        put(tmp_path / "stick/set" / name, data)
    put(tmp_path / "stick/one.gguf", DATA)
    put(tmp_path / "stick/cut.gguf", DATA[:-9])
    home.bring(tmp_path / "stick", How.COPY)
    assert sorted((len(model.parts), model.state) for model in home.models()) == [(1, FileState.OK), (2, FileState.OK)]


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [("x.txt", b"text", "not-a-model"), ("cut.gguf", DATA[:-9], "not-a-model"), ("none.gguf", b"", "no-such-file")],
)
def test_what_is_no_model_is_not_taken(home: Home, tmp_path: Path, name: str, data: bytes, code: str) -> None:
    if data:
        put(tmp_path / "in" / name, data)
    assert code_of(home.bring, tmp_path / "in" / name, How.COPY) == code
    assert not home.own.exists()


def test_a_link_to_itself_is_a_sentence(home: Home, tmp_path: Path) -> None:
    home.own.mkdir()
    (tmp_path / "x.gguf").symlink_to("x.gguf")
    assert home.models() == []
    assert code_of(home.bring, tmp_path / "x.gguf", How.COPY)


def test_files_of_other_programs_are_not_moved_away(home: Home) -> None:
    path = put(home.around.home / ".lmstudio/models/a/b/m.gguf", DATA)
    assert code_of(home.bring, path, How.MOVE) == "belongs-to-other"
    assert home.bring(path, How.LINK).samefile(path)


def test_what_is_in_the_library_stays_there(home: Home) -> None:
    path = put(home.other / "m.gguf", DATA)
    assert code_of(home.bring, path, How.MOVE) == "already-in-library"
    assert path.exists()


def test_nothing_is_overwritten(home: Home, tmp_path: Path) -> None:
    path = home.bring(put(tmp_path / "here/m-Q4_0.gguf", DATA), How.COPY)
    other = put(tmp_path / "there/m-Q4_0.gguf", llama(name="another"))
    assert code_of(home.bring, other, How.COPY) == "already-there"
    assert path.read_bytes() == DATA


# ---- joining


def pieces(folder: Path, data: bytes = DATA) -> list[Path]:
    half = len(data) // 2
    return [
        put(folder / "m.gguf.part1of2", data[:half]),
        put(folder / "m.gguf.part2of2", data[half:]),
    ]


def test_raw_pieces_become_the_file(home: Home) -> None:
    parts = pieces(home.own)
    outcome = join(home.only(), Progress())
    assert outcome.paths == (home.own / "m.gguf",)
    assert outcome.paths[0].read_bytes() == DATA
    assert not any(part.exists() for part in parts)
    assert home.only().state is FileState.OK


def test_pieces_that_make_no_model_stay(home: Home) -> None:
    parts = pieces(home.own, DATA[:-9])
    assert code_of(join, home.only(), Progress()) == "join-failed"
    assert all(part.exists() for part in parts)
    assert len(list(home.own.iterdir())) == 2

"""Many folders of models, cards that come and go."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import BinaryIO

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import VrambleError
from engine.library import scan as scan_module
from engine.library import survey as survey_module
from engine.library.gguf import reader
from engine.library.hashing import hashed_now
from engine.library.index import Index
from engine.library.origin import Origin, origin_path
from engine.library.records import InstalledModel, Mend, ScanResult
from engine.library.roots import RootKind, RootState
from engine.library.states import FileState
from engine.library.surroundings import Surroundings
from engine.library.survey import Survey, Wishes
from engine.library.whereabouts import Whereabouts
from tests.engine.library.making import llama
from tests.fakes.model_homes import OLLAMA_MODEL, eject, hub_file, insert, machine, ollama_model, put

UUID = "9016-4EF8"
DATA = llama()


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    return machine(tmp_path)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return tmp_path / "own"


@pytest.fixture
def where(own: Path, around: Surroundings) -> Whereabouts:
    return Whereabouts(own, around)


def scan(where: Whereabouts, wishes: Wishes | None = None, index: Path | None = None) -> ScanResult:
    return Survey(where, Index(index)).scan(wishes)


def by_name(found: ScanResult) -> dict[str, InstalledModel]:
    return {model.path.name: model for model in found.models}


def test_models_of_all_programs_lie_side_by_side(own: Path, around: Surroundings, where: Whereabouts) -> None:
    put(own / "a/x/mine-Q8_0.gguf", DATA)
    put(around.home / ".lmstudio/models/b/y/studio-Q8_0.gguf", llama(name="s"))
    hub_file(around.home / ".cache/huggingface/hub", "c/z", "abc", "hub-Q8_0.gguf", llama(name="h"))
    ollama_model(around.home / ".ollama/models", "library/llama3/8b", [(OLLAMA_MODEL, llama(name="o"))])
    put(around.home / ".local/share/Jan/data/llamacpp/models/jan-v1/model.gguf", llama(name="Jan v1"))
    put(around.home / ".local/share/nomic.ai/GPT4All/old.gguf", llama(name="g"))
    found = scan(where)
    assert [(model.name, model.source, model.repo) for model in found.models] == [
        ("hub", RootKind.HUB_CACHE, "c/z"),
        ("Jan v1", RootKind.JAN, None),
        ("llama3:8b", RootKind.OLLAMA, None),
        ("mine", RootKind.OWN, "a/x"),
        ("old", RootKind.GPT4ALL, None),
        ("studio", RootKind.LM_STUDIO, "b/y"),
    ]
    assert [(root.name, root.models, root.found) for root in found.roots] == [
        ("own", 1, False),
        ("LM Studio", 1, True),
        ("Ollama", 1, True),
        ("Jan", 1, True),
        ("GPT4All", 1, True),
        ("Hugging Face Hub cache", 1, True),
    ]
    assert all(root.n_bytes > 0 and root.free for root in found.roots)


def test_others_can_be_left_out_and_hidden(around: Surroundings, where: Whereabouts) -> None:
    put(around.home / ".lmstudio/models/b/y/studio.gguf", DATA)
    (root,) = [root for root in scan(where).roots if root.root.kind is RootKind.LM_STUDIO]
    assert scan(where, Wishes(others=False)).models == ()
    hidden = scan(where, Wishes(hidden=(root.id,)))
    assert (hidden.models, [one.id for one in hidden.hidden]) == ((), [root.id])


def test_a_program_without_models_takes_no_line(around: Surroundings, where: Whereabouts) -> None:
    put(around.home / ".cache/huggingface/hub/models--gpt2/snapshots/x/model.safetensors", b"x")
    found = scan(where)
    assert [root.root.kind for root in found.roots] == [RootKind.OWN]
    assert around.home / ".cache/huggingface/hub" in found.folders


def test_a_folder_inside_another_counts_once(
    own: Path, around: Surroundings, where: Whereabouts, tmp_path: Path
) -> None:
    put(own / "a/x/mine.gguf", DATA)
    outer = where.root_for(tmp_path)
    found = scan(where, Wishes(roots=(outer,)))
    assert [(model.path.name, model.source) for model in found.models] == [("mine.gguf", RootKind.OWN)]


def test_a_card_is_known_by_its_file_system(around: Surroundings, where: Whereabouts, tmp_path: Path) -> None:
    point = insert(around, "mmcblk0p1", UUID, tmp_path / "run/media/deck/SD", "exfat")
    put(point / "llm/m-Q8_0.gguf", DATA)
    # Below a temporary folder no mount point begins with /run/media, so the kernel has to say it.
    put(around.system / "sys/class/block/mmcblk0/removable", b"1\n")
    root = where.root_for(point / "llm")
    assert (root.kind, root.uuid, root.relative) == (RootKind.CARD, UUID, "llm")


def test_a_card_that_is_taken_out_and_comes_back_elsewhere(
    around: Surroundings, where: Whereabouts, tmp_path: Path
) -> None:
    index = tmp_path / "index"
    point = insert(around, "mmcblk0p1", UUID, tmp_path / "run/media/deck/SD", "exfat")
    put(around.system / "sys/class/block/mmcblk0/removable", b"1\n")
    put(point / "llm/m-Q8_0.gguf", DATA)
    wishes = Wishes(roots=(where.root_for(point / "llm"),))
    before = scan(where, wishes, index)
    eject(around, "mmcblk0p1")
    away = point.rename(tmp_path / "pocket")
    out = scan(where, wishes, index)
    (root,) = [root for root in out.roots if root.root.kind is RootKind.CARD]
    assert (root.state, root.models) == (RootState.NOT_INSERTED, 1)
    (gone,) = out.models
    assert (gone.name, gone.state, gone.can_chat, gone.mends) == ("m", FileState.ABSENT, False, (Mend.INSERT,))
    assert "not inserted" in gone.problem
    assert not point.exists()
    again = insert(around, "sda1", UUID, tmp_path / "run/media/deck/9016-4EF8", "exfat")
    (away / "llm").rename(again / "llm")
    back = scan(where, wishes, index)
    assert [model.path for model in back.models] == [again / "llm/m-Q8_0.gguf"]
    assert [(model.state, model.root) for model in back.models] == [(FileState.OK, before.models[0].root)]


def test_the_own_folder_before_the_first_download(where: Whereabouts) -> None:
    (root,) = scan(where).roots
    assert (root.state, root.problem) == (RootState.MISSING, "It will be made with the first download.")
    assert root.free


def test_a_folder_that_is_gone_keeps_its_models_greyed_over_a_restart(where: Whereabouts, tmp_path: Path) -> None:
    index = tmp_path / "index"
    put(tmp_path / "more/m.gguf", DATA)
    wishes = Wishes(roots=(where.root_for(tmp_path / "more"),))
    scan(where, wishes, index)
    away = (tmp_path / "more").rename(tmp_path / "away")
    assert [model.state for model in scan(where, wishes, index).models] == [FileState.ABSENT]
    away.rename(tmp_path / "more")
    assert [model.state for model in scan(where, wishes, index).models] == [FileState.OK]


def test_headers_are_read_once(own: Path, where: Whereabouts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[int] = []
    read = reader._read

    def counted(file: BinaryIO, size: int, *, keep: bool) -> object:
        reads.append(size)
        return read(file, size, keep=keep)

    monkeypatch.setattr(reader, "_read", counted)
    changed = put(own / "one.gguf", DATA)
    put(own / "two.gguf", llama(name="two"))
    scan(where, index=tmp_path / "index")
    assert len(reads) == 2
    scan(where, index=tmp_path / "index")
    assert len(reads) == 2
    put(changed, llama(name="other than before"))
    scan(where, index=tmp_path / "index")
    assert len(reads) == 3


def test_a_renamed_file_is_the_same_file(own: Path, where: Whereabouts, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(own / "one.gguf", DATA)
    survey = Survey(where, Index())
    survey.scan()
    survey.remember([hashed_now(path, hashlib.sha256(DATA).hexdigest())], 1000.0)
    survey.scan()
    path.rename(own / "two.gguf")
    monkeypatch.setattr(scan_module, "read_file", lambda path: pytest.fail(f"{path} is read again"))
    (model,) = survey.scan().models
    assert (model.path.name, model.checked) == ("two.gguf", 1000.0)


def test_hidden_folders_are_not_looked_at(
    around: Surroundings, where: Whereabouts, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(around.home / ".lmstudio/models/b/y/studio.gguf", DATA)
    survey = Survey(where, Index())
    (root,) = [root for root in survey.scan().roots if root.found]
    monkeypatch.setattr(survey_module, "scan_root", lambda root, *_, **__: pytest.fail(f"{root} is scanned"))
    hidden = Wishes(hidden=(root.id,))
    assert [(one.id, one.models) for one in survey.scan(hidden).hidden] == [(root.id, 1)]
    monkeypatch.undo()
    assert [model.path.name for model in survey.scan().models] == ["studio.gguf"]


def test_an_ollama_that_may_not_be_read_is_told(
    around: Surroundings, where: Whereabouts, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = around.system / "usr/share/ollama/.ollama/models"
    put(models / "manifests/x", b"x")
    scandir, listdir = os.scandir, os.listdir

    def refused(path: str | Path | int) -> object:
        if not isinstance(path, int) and Path(path) == models:
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    def refused_list(path: str | Path) -> list[str]:
        if Path(path) == models:
            raise PermissionError(13, "Permission denied")
        return listdir(path)

    monkeypatch.setattr(os, "scandir", refused)
    monkeypatch.setattr(os, "listdir", refused_list)
    root = scan(where).roots[-1]
    assert (root.name, root.state) == ("Ollama", RootState.UNREADABLE)
    assert "group “ollama”" in root.problem


def test_what_was_hashed_is_kept_until_the_file_changes(own: Path, where: Whereabouts) -> None:
    path = put(own / "one.gguf", DATA)
    survey = Survey(where, Index())
    survey.scan()
    survey.remember([hashed_now(path, hashlib.sha256(DATA).hexdigest())], 1000.0)
    (model,) = survey.scan().models
    assert (model.hashes, model.checked, model.verified) == ((hashlib.sha256(DATA).hexdigest(),), 1000.0, None)
    put(path, llama(name="another"))
    (model,) = survey.scan().models
    assert (model.hashes, model.checked) == (("",), None)


def test_wrong_bytes_make_a_damaged_model_with_a_way_to_mend(own: Path, where: Whereabouts) -> None:
    path = put(own / "a/x/one.gguf", DATA)
    origin = Origin(repo="a/x", path="one.gguf", commit="c", sha256="0" * 64)
    put(origin_path(path), msgspec.json.encode(origin))
    survey = Survey(where, Index())
    (model,) = survey.scan().models
    assert (model.state, model.repo, model.commit, model.file) == (FileState.OK, "a/x", "c", "one.gguf")
    survey.remember([hashed_now(path, hashlib.sha256(DATA).hexdigest())], 1000.0)
    (model,) = survey.scan().models
    assert (model.state, model.verified, model.can_chat) == (FileState.DAMAGED, False, False)
    assert model.mends == (Mend.REPAIR, Mend.DOWNLOAD, Mend.DELETE)


def test_last_use_comes_from_the_wishes(own: Path, where: Whereabouts) -> None:
    path = put(own / "one.gguf", DATA)
    assert [model.last_used for model in scan(where, Wishes(used={str(path): 7.0})).models] == [7.0]


def test_the_licence_of_the_header(own: Path, where: Whereabouts) -> None:
    put(own / "one.gguf", llama({"general.license": (8, "apache-2.0")}))
    put(own / "two.gguf", llama({"general.license": (8, "other"), "general.license.name": (8, "llama3.1")}))
    assert [model.licence for model in scan(where).models] == ["apache-2.0", "llama3.1"]


@pytest.mark.parametrize("make", [lambda path: path / "none", lambda path: put(path / "file", b"x")])
def test_what_is_no_folder_cannot_be_added(where: Whereabouts, tmp_path: Path, make: object) -> None:
    with pytest.raises(VrambleError) as caught:
        where.root_for(make(tmp_path))  # type: ignore[operator]
    assert caught.value.code == "no-such-folder"


def test_a_copy_that_was_cut_is_swept_away(own: Path, where: Whereabouts) -> None:
    put(own / "one.gguf", DATA)
    rest = put(own / ".0123456789abcdef.vramble-moving", b"half")
    assert [model.path.name for model in scan(where).models] == ["one.gguf"]
    assert not rest.exists()


def test_folders_that_cannot_be_written_to_are_read(
    own: Path, where: Whereabouts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(own / "one.gguf", DATA)
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    found = scan(where, index=tmp_path / "file/no folder/index")
    assert [model.state for model in found.models] == [FileState.OK]
    assert [root.writable for root in found.roots] == [False]


@pytest.mark.parametrize("data", [b"", b"\x00", b"\xff" * 100, b"{}"])
def test_any_bytes_in_the_index_are_survived(own: Path, where: Whereabouts, tmp_path: Path, data: bytes) -> None:
    put(own / "one.gguf", DATA)
    index = put(tmp_path / "index", data)
    assert [model.path.name for model in scan(where, index=index).models] == ["one.gguf"]
    assert len(index.read_bytes()) > len(data)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 255)), min_size=1, max_size=6))
def test_a_spoilt_index_is_survived(
    own: Path, where: Whereabouts, tmp_path: Path, changes: list[tuple[int, int]]
) -> None:
    index, whole = tmp_path / "index", tmp_path / "whole"
    if not whole.exists():
        put(own / "one.gguf", DATA)
        put(own / "two.gguf", llama(name="two"))
        scan(where, index=whole)
    data = bytearray(whole.read_bytes())
    for place, value in changes:
        data[place % len(data)] = value
    index.write_bytes(data)
    assert len(scan(where, index=index).models) == 2


def test_the_size_of_a_folder_counts_each_file_once(own: Path, where: Whereabouts, tmp_path: Path) -> None:
    one = put(own / "one.gguf", DATA)
    os.link(one, own / "two.gguf")
    (own / "three.gguf").symlink_to(put(tmp_path / "elsewhere.gguf", llama(name="three")))
    (root,) = scan(where).roots
    assert (root.files, root.n_bytes) == (3, one.stat().st_blocks * 512)


def test_names_that_are_no_text_are_kept_in_the_index(own: Path, where: Whereabouts, tmp_path: Path) -> None:
    name = b"odd-\xff-name.gguf".decode("utf-8", "surrogateescape")
    put(own / name, DATA)
    first = scan(where, index=tmp_path / "index")
    assert scan(where, index=tmp_path / "index").models == first.models
    assert by_name(first)[name].label == "odd-\ufffd-name F32"

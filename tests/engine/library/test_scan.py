"""What a scan finds, and what it makes of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.library.gguf import HeaderProblem, ModelHeader, read_file
from engine.library.names import shown
from engine.library.records import InstalledModel, Role
from engine.library.scan import Scanner, scan
from engine.library.states import FileState
from tests.engine.library.making import llama
from tests.fakes.tiny_gguf import STR, U32, gguf, split_set


def put(root: Path, name: str, data: bytes = b"") -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data or llama())
    return path


def only(root: Path) -> InstalledModel:
    (model,) = scan(root).models
    return model


def names(root: Path) -> list[str]:
    return sorted(shown(model.path.name) for model in scan(root).models)


def test_a_model_with_its_facts(tmp_path: Path) -> None:
    path = put(tmp_path, "Qwen/Qwen3-8B-GGUF/Qwen3-8B-Q4_K_M.gguf", llama({"general.file_type": (U32, 15)}))
    model = only(tmp_path)
    assert (model.name, model.quant, model.label) == ("Qwen3-8B", "Q4_K_M", "Qwen3-8B Q4_K_M")
    assert (model.path, model.folder, model.repo) == (path, path.parent, "Qwen/Qwen3-8B-GGUF")
    assert (model.state, model.can_chat, model.role) == (FileState.OK, True, Role.CHAT)
    assert model.size_bytes == path.stat().st_size
    assert model.frees_bytes >= model.size_bytes
    assert (model.n_layers, model.context_length, model.architecture) == (1, 512, "llama")


@pytest.mark.parametrize(
    ("file", "header_name", "name", "quant"),
    [
        ("SmolLM2-135M-Instruct-Q4_1.gguf", "x", "SmolLM2-135M-Instruct", "Q4_1"),
        ("SmolLM2-135M-Instruct.Q4_1.gguf", "x", "SmolLM2-135M-Instruct", "Q4_1"),
        ("m/q4/model.gguf", "Nice Name", "Nice Name", "Q4_1"),
        ("m/r/ggml-model-Q4_1.gguf", "", "r", "Q4_1"),
        ("x-Q8_0.gguf", "x", "x", "Q4_1"),
        ("Plain.gguf", "x", "Plain", "Q4_1"),
    ],
)
def test_names(tmp_path: Path, file: str, header_name: str, name: str, quant: str) -> None:
    put(tmp_path, file, llama({"general.file_type": (U32, 3)}, name=header_name))
    model = only(tmp_path)
    assert (model.name, model.quant) == (name, quant)


def test_a_finer_label_of_the_same_family_comes_from_the_name(tmp_path: Path) -> None:
    put(tmp_path, "x-UD-Q4_K_XL.gguf", llama({"general.file_type": (U32, 15)}))
    assert only(tmp_path).quant == "UD-Q4_K_XL"


def test_good_and_damaged_side_by_side(tmp_path: Path) -> None:
    put(tmp_path, "good.gguf")
    put(tmp_path, "bad.gguf", gguf([("", 0, 0)]))
    put(tmp_path, "cut.gguf", llama()[:-5000])
    found = {model.path.name: (model.state, model.can_chat, bool(model.problem)) for model in scan(tmp_path).models}
    assert found == {
        "good.gguf": (FileState.OK, True, False),
        "bad.gguf": (FileState.DAMAGED, False, True),
        "cut.gguf": (FileState.INCOMPLETE, False, True),
    }


def arch(name: str) -> dict[str, tuple[int, str]]:
    return {"general.architecture": (STR, name)}


@pytest.mark.parametrize(
    ("change", "role", "words"),
    [
        (arch("bert"), Role.EMBEDDING, "embedding"),
        ({**arch("qwen3"), "qwen3.pooling_type": (U32, 3)}, Role.EMBEDDING, "embedding"),
        (arch("flux"), Role.OTHER, "flux"),
        (arch("wavtokenizer-dec"), Role.OTHER, "sound"),
        (arch(""), Role.OTHER, "architecture"),
        ({"general.architecture": None}, Role.OTHER, "architecture"),
    ],
)
def test_what_cannot_chat_is_not_offered(tmp_path: Path, change: dict[str, object], role: Role, words: str) -> None:
    put(tmp_path, "m.gguf", llama(change))
    model = only(tmp_path)
    assert (model.can_chat, model.role, words in model.problem) == (False, role, True), model.problem


@pytest.mark.parametrize("name", ["mmproj-F16.gguf", "vision.gguf"])
def test_projectors_are_companions(tmp_path: Path, name: str) -> None:
    put(tmp_path, "A.gguf")
    put(tmp_path, "B.gguf")
    put(tmp_path, name, gguf([("general.architecture", STR, "clip")]))
    found = scan(tmp_path)
    assert [model.path.name for model in found.models] == ["A.gguf", "B.gguf"]
    assert [(model.path.name, model.role) for model in found.companions] == [(name, Role.PROJECTOR)]


def test_only_whole_models_count(tmp_path: Path) -> None:
    put(tmp_path, "A.GGUF")
    for name in ("b.gguf.incomplete", "c.gguf.part1of2", "._d.gguf", "e.gguf~", "f.gguf.tmp", "x.gguf.part"):
        put(tmp_path, name)
    put(tmp_path, ".cache/huggingface/download/g.gguf")
    put(tmp_path, "imatrix.gguf", gguf([("general.type", STR, "imatrix")]))
    (tmp_path / "h.gguf").mkdir()
    assert names(tmp_path) == ["A.GGUF"]


# ---- sets


def put_set(root: Path, **options: object) -> list[Path]:
    return [put(root, name, data) for name, data in split_set(3, **options).items()]  # type: ignore[arg-type]


def test_a_split_set_is_one_model(tmp_path: Path) -> None:
    paths = put_set(tmp_path)
    model = only(tmp_path)
    assert (model.path, model.parts, model.state, model.can_chat) == (paths[0], tuple(paths), FileState.OK, True)
    assert model.name == "big"
    assert model.size_bytes == sum(path.stat().st_size for path in paths)
    assert model.n_params == 27424


def test_two_sets_beside_each_other(tmp_path: Path) -> None:
    put_set(tmp_path)
    put_set(tmp_path, stem="other")
    assert [len(model.parts) for model in scan(tmp_path).models] == [3, 3]


@pytest.mark.parametrize(("gone", "words"), [([1], "Part 2 of 3"), ([0], "Part 1 of 3"), ([1, 2], "2 of 3 parts")])
def test_a_missing_part_is_named(tmp_path: Path, gone: list[int], words: str) -> None:
    paths = put_set(tmp_path)
    for index in gone:
        paths[index].unlink()
    model = only(tmp_path)
    assert (model.state, model.can_chat, words in model.problem) == (FileState.MISSING_PART, False, True), model.problem


def test_raw_pieces_of_one_file(tmp_path: Path) -> None:
    put(tmp_path, "x.gguf.part1of2")
    put(tmp_path, "x.gguf.part2of2")
    model = only(tmp_path)
    assert (model.name, model.state, model.can_chat) == ("x", FileState.RAW_PIECES, False)
    assert "join" in model.problem


def test_parts_that_were_joined(tmp_path: Path) -> None:
    put(tmp_path, "joined.gguf", b"".join(split_set(3).values()))
    model = only(tmp_path)
    assert (model.state, model.can_chat) == (FileState.BAD_PART, False)
    assert "joined" in model.problem


def test_numbers_that_make_no_set(tmp_path: Path) -> None:
    put(tmp_path, "one-of-many.gguf")
    put(tmp_path, "y-00000-of-00003.gguf")
    found = {model.path.name: (model.state, model.can_chat) for model in scan(tmp_path).models}
    assert found == {
        "one-of-many.gguf": (FileState.OK, True),
        "y-00000-of-00003.gguf": (FileState.BAD_PART, False),
    }


def test_a_renamed_part_is_no_model(tmp_path: Path) -> None:
    put(tmp_path, "lonely.gguf", next(iter(split_set(3).values())))
    assert only(tmp_path).state is FileState.BAD_PART


def test_parts_under_swapped_names(tmp_path: Path) -> None:
    paths = put_set(tmp_path)
    second = paths[1].read_bytes()
    paths[1].write_bytes(paths[2].read_bytes())
    paths[2].write_bytes(second)
    assert only(tmp_path).state is FileState.BAD_PART


def test_the_size_of_a_set_counts_all_parts(tmp_path: Path) -> None:
    paths = put_set(tmp_path, first_empty=True)
    for path in paths[1:]:
        os.truncate(path, 30 * 2**30)
    model = only(tmp_path)
    assert model.state is FileState.OK
    assert model.size_bytes > 60e9
    assert model.frees_bytes < 1e6


# ---- folders


def test_same_names_in_other_places_are_other_models(tmp_path: Path) -> None:
    for place in (
        "a/x-GGUF/m-Q4_K_M.gguf",
        "b/x-GGUF/m-Q4_K_M.gguf",
        "c/y/q4/m.gguf",
        "c/y/q8/m.gguf",
        "c/y/q8/M.gguf",
    ):
        put(tmp_path, place)
    models = scan(tmp_path).models
    assert len({model.path for model in models}) == 5
    assert {model.repo for model in models} == {"a/x-GGUF", "b/x-GGUF", "c/y"}


STRANGE = 'tëst 日本 😀 it\'s "q" %20 #1'


def test_any_name_of_a_folder(tmp_path: Path) -> None:
    root = tmp_path / STRANGE
    put(root, f"{STRANGE}/{STRANGE}/{STRANGE}.gguf")
    put(root, "e\u0301.gguf")
    put(root, "\u00e9.gguf")
    assert len(scan(root).models) == 3


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/a\xffb.gguf"))
    path.write_bytes(llama())
    model = only(tmp_path)
    assert (model.path, model.name, model.can_chat) == (path, "a\ufffdb", True)


def test_a_very_deep_folder_ends(tmp_path: Path) -> None:
    deep = tmp_path
    for _ in range(40):
        deep = deep / ("d" * 20)
    deep.mkdir(parents=True)
    put(tmp_path, "a.gguf")
    assert names(tmp_path) == ["a.gguf"]


def test_what_was_not_looked_at_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.library.walk.MAX_FOLDERS", 2)
    put(tmp_path, "a/a.gguf")
    assert scan(tmp_path).problems == ()
    put(tmp_path, "b/b.gguf")
    found = scan(tmp_path)
    assert len(found.models) == 1
    assert "more than 2 folders" in found.problems[0]


def test_links_are_followed_once(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "models", tmp_path / "elsewhere"
    target = put(elsewhere, "sub/a.gguf")
    root.mkdir()
    (root / "b.gguf").symlink_to(target)
    (root / "dir").symlink_to(elsewhere)
    (elsewhere / "loop").symlink_to(elsewhere)
    (root / "gone.gguf").symlink_to(tmp_path / "nowhere")
    models = scan(root).models
    assert sorted(model.path.relative_to(root).as_posix() for model in models) == ["b.gguf", "dir/sub/a.gguf"]
    assert {model.path.name: (model.linked, model.frees_bytes) for model in models}["b.gguf"] == (True, 0)


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    found = scan(tmp_path / "card" / "models")
    assert (found.folder_missing, found.models) == (True, ())
    assert not (tmp_path / "card").exists()


def test_a_folder_that_cannot_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "locked/a.gguf")
    put(tmp_path, "b.gguf")
    real = os.scandir

    def refuse(path: Path | int) -> object:
        if not isinstance(path, int) and Path(path).name == "locked":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", refuse)
    found = scan(tmp_path)
    assert [model.path.name for model in found.models] == ["b.gguf"]
    assert "locked" in found.problems[0]


def test_a_second_scan_reads_only_what_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "a.gguf")
    second = put(tmp_path, "b.gguf")
    scanner = Scanner(tmp_path)
    first_result = scanner.scan()
    opened: list[str] = []

    def read(path: Path) -> ModelHeader | HeaderProblem:
        opened.append(path.name)
        return read_file(path)

    monkeypatch.setattr("engine.library.scan.read_file", read)
    assert scanner.scan() == first_result
    assert opened == []
    second.write_bytes(llama({"llama.context_length": (U32, 99)}, name="another"))
    assert [model.context_length for model in scanner.scan().models] == [512, 99]
    assert opened == ["b.gguf"]


def test_a_stopped_scan_ends_early(tmp_path: Path) -> None:
    put(tmp_path, "a.gguf")
    assert Scanner(tmp_path, stop=lambda: True).scan().models == ()

"""``vramble models``."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from app import cli
from app.library.printing import print_table
from app.paths import find_paths
from engine.library.argument import find_model_file
from engine.library.origin import origin_path
from tests.engine.library.making import llama
from tests.fakes.tiny_gguf import U32, split_set


@pytest.fixture
def models() -> Path:
    return find_paths().models


@pytest.fixture
def model(models: Path) -> Path:
    return put(models / "Qwen/Qwen3-8B-GGUF/Qwen3-8B-Q4_K_M.gguf", llama({"general.file_type": (U32, 15)}))


def put(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    assert cli.run(["models", *arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_list(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (entry,) = as_json(capsys, "list")["models"]
    assert (entry["name"], entry["quant"], entry["path"]) == ("Qwen3-8B", "Q4_K_M", str(model))
    assert (entry["bytes"], entry["state"], entry["can_chat"]) == (model.stat().st_size, "ok", True)
    assert cli.run(["models", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["NAME", "QUANT", "SIZE", "OF", "FILE"]
    assert lines[1].split()[:2] == ["Qwen3-8B", "Q4_K_M"]


def test_list_of_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert as_json(capsys, "list") == {"models": []}
    for command in ("list", "verify"):
        assert cli.run(["models", command]) == 0
        assert "vramble pull" in capsys.readouterr().out


def test_verify(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (entry,) = as_json(capsys, "verify")["models"]
    assert (entry["verified"], entry["problem"]) == (False, "")
    origin_path(model).write_text(json.dumps({"sha256": entry["sha256"]}))
    (entry,) = as_json(capsys, "verify", "qwen3")["models"]
    assert entry["verified"] is True
    data = bytearray(model.read_bytes())
    data[-1] ^= 1
    model.write_bytes(data)
    (entry,) = as_json(capsys, "verify", code=1)["models"]
    assert (entry["verified"], entry["state"]) == (False, "damaged")
    assert "checksum" in entry["problem"]
    assert cli.run(["models", "verify"]) == 1
    assert "damaged" in capsys.readouterr().out


def test_verify_finds_a_cut_file(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(model, model.read_bytes()[:-10])
    (entry,) = as_json(capsys, "verify", code=1)["models"]
    assert entry["state"] == "incomplete"


def test_remove(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    size = model.stat().st_blocks * 512
    assert as_json(capsys, "remove", "Qwen3-8B") == {"path": str(model), "bytes": size, "stays": ""}
    assert not model.exists()
    assert cli.run(["models", "remove", "Qwen3-8B"]) == 1
    assert capsys.readouterr().err.startswith("vramble: There is no model called")


def test_remove_stays_inside_the_models_folder(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = put(tmp_path / "other.gguf", llama())
    assert cli.run(["models", "remove", str(other)]) == 1
    assert "not in the library" in capsys.readouterr().err
    assert other.exists()


def test_import(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = put(tmp_path / "here/new-Q8_0.gguf", llama())
    found = as_json(capsys, "import", str(source))
    assert (found["path"], found["bytes"]) == (str(models / "imported/new-Q8_0/new-Q8_0.gguf"), source.stat().st_size)
    assert len(as_json(capsys, "list")["models"]) == 1


def test_import_takes_all_parts(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, data in split_set(3).items():
        put(tmp_path / "set" / name, data)
    as_json(capsys, "import", str(tmp_path / "set/big-00001-of-00003.gguf"))
    (entry,) = as_json(capsys, "list")["models"]
    assert (entry["state"], len(entry["parts"])) == ("ok", 3)


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("cut.gguf", llama()[:-5], "incomplete"),
        ("text.txt", b"text", ".gguf"),
        ("none.gguf", b"", "no file"),
    ],
)
def test_import_of_what_is_no_model(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, data: bytes, words: str
) -> None:
    if data:
        put(tmp_path / name, data)
    assert cli.run(["models", "import", str(tmp_path / name)]) == 1
    assert words in capsys.readouterr().err
    assert not models.exists()


@pytest.fixture
def studio() -> Path:
    return put(Path(os.environ["HOME"]) / ".lmstudio/models/b/y/studio-Q8_0.gguf", llama(name="s"))


def test_models_of_other_programs_are_listed_with_their_owner(
    model: Path, studio: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {entry["name"]: entry for entry in as_json(capsys, "list")["models"]}
    assert [(name, entry["owner"], entry["source"]) for name, entry in found.items()] == [
        ("Qwen3-8B", "", "own"),
        ("studio", "LM Studio", "lm-studio"),
    ]
    assert (found["studio"]["repo"], found["studio"]["duplicate_of"]) == ("b/y", None)


def test_a_model_of_another_program_is_not_removed_by_mistake(studio: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["models", "remove", "studio"]) == 1
    assert "LM Studio" in capsys.readouterr().err
    assert studio.exists()
    assert as_json(capsys, "remove", "studio", "--of-others")["path"] == str(studio)
    assert not studio.exists()


def test_folders(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = put(tmp_path / "more/m-Q8_0.gguf", llama(name="more")).parent
    assert as_json(capsys, "folders", "add", str(more))["models"] == 1
    found = as_json(capsys, "folders")["folders"]
    assert [(one["name"], one["models"], one["state"]) for one in found] == [
        ("models", 1, "present"),
        ("more", 1, "present"),
    ]
    assert all(one["bytes"] > 0 and one["free"] > 0 for one in found)
    assert len(as_json(capsys, "list")["models"]) == 2
    assert cli.run(["models", "folders", "add", str(more)]) == 1
    as_json(capsys, "folders", "remove", str(more))
    assert len(as_json(capsys, "list")["models"]) == 1
    assert more.exists()
    capsys.readouterr()
    assert cli.run(["models", "folders"]) == 0
    assert capsys.readouterr().out.startswith("ID")


def test_a_folder_of_another_program_is_hidden_and_shown(studio: Path, capsys: pytest.CaptureFixture[str]) -> None:
    as_json(capsys, "folders", "remove", "LM Studio")
    assert as_json(capsys, "list")["models"] == []
    as_json(capsys, "folders", "add", str(studio.parent.parent.parent))
    assert len(as_json(capsys, "list")["models"]) == 1


def test_move(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drive = tmp_path / "drive"
    drive.mkdir()
    assert cli.run(["models", "move", "qwen3", str(drive)]) == 1
    assert "folders add" in capsys.readouterr().err
    assert cli.run(["models", "folders", "add", str(drive)]) == 0
    capsys.readouterr()
    assert as_json(capsys, "move", "qwen3", str(drive))["path"] == str(
        drive / "Qwen/Qwen3-8B-GGUF/Qwen3-8B-Q4_K_M.gguf"
    )
    assert not model.exists()


@pytest.mark.parametrize(("flag", "stays"), [("--copy", True), ("--move", False), ("--link", True)])
def test_ways_to_import(tmp_path: Path, capsys: pytest.CaptureFixture[str], flag: str, stays: bool) -> None:
    source = put(tmp_path / "here/new-Q8_0.gguf", llama())
    path = Path(as_json(capsys, "import", str(source), flag)["path"])
    assert (path.exists(), source.exists()) == (True, stays)


def test_a_name_of_another_program_is_a_model_argument(studio: Path) -> None:
    assert find_model_file(find_paths(), "studio-Q8_0") == studio


def test_wrong_use_is_two() -> None:
    assert cli.run(["models"]) == 2
    assert cli.run(["models", "remove"]) == 2


def test_names_of_files_do_not_command_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("name", "path"), [("e\x1b[31mvil\n", "/m/\u202egguf.x"), ("good é", "/m/x")])
    told = capsys.readouterr().out
    assert told == "name        path\ne\ufffd[31mvil\ufffd  /m/\ufffdgguf.x\ngood é      /m/x\n"


def test_a_folder_that_is_not_there_is_not_added(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("x")
    for name in ("nothing", "file"):
        assert cli.run(["models", "folders", "add", str(tmp_path / name)]) == 1
        assert f"{tmp_path / name} is not a folder." in capsys.readouterr().err

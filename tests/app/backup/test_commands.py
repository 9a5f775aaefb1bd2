"""``vramble export``, ``import``, ``backup``, ``restore``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.cli import run
from app.paths import find_paths
from engine.chat.store import Store
from tests.engine.chat.support import texts, turn


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VRAMBLE_HOME", str(tmp_path / "home"))
    return tmp_path


def fill(*names: str) -> None:
    store = Store.open(find_paths().database)
    for name in names:
        turn(store, name, f"question {name}", "answer")
    store.close()


def test_there_and_back(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    fill("a", "b")
    assert run(["export", str(home / "all.json"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["conversations"] == 2
    monkeypatch.setenv("VRAMBLE_HOME", str(home / "other"))
    assert run(["import", str(home / "all.json"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["new"], told["skipped"]) == (2, 0)
    assert run(["import", str(home / "all.json")]) == 0
    assert "2 known already" in capsys.readouterr().out


def test_one_of_them_as_markdown_and_all_as_a_zip(home: Path) -> None:
    fill("a", "b")
    assert run(["export", str(home / "a.md"), "--conversation", "question a"]) == 0
    assert "question b" not in (home / "a.md").read_text()
    assert run(["export", str(home / "all.zip"), "--format", "html"]) == 0


def test_backup_and_restore(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill("a")
    assert run(["backup", str(home / "b.zip")]) == 0
    fill("b")
    capsys.readouterr()
    assert run(["restore", str(home / "b.zip"), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["kept"]) == 1
    store = Store.open(find_paths().database)
    assert store.every_id() == ["a"]
    store.close()


def test_a_database_in_use_is_replaced_later(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill("a")
    assert run(["backup", str(home / "b.zip")]) == 0
    store = Store.open(find_paths().database)
    turn(store, "a", "more", "words")
    assert run(["restore", str(home / "b.zip")]) == 0
    assert "in use" in capsys.readouterr().out
    assert len(texts(store, "a")) == 4
    store.close()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["export", "x.md"], "no conversations yet"),
        (["backup", "x.zip"], "no conversations yet"),
        (["import", "none.json"], "cannot be read"),
        (["restore", "none.zip"], "none.zip is not there"),
    ],
)
def test_failures_are_one_line(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    assert run(arguments) == 1
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1


def test_an_unknown_ending(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill("a")
    assert run(["export", str(home / "x.pdf")]) == 1
    assert ".md" in capsys.readouterr().err

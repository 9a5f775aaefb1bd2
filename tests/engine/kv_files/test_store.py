"""Files of KV caches: what comes back is what was written, or nothing."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.kv_files import layout
from engine.kv_files.layout import ALIGNMENT
from engine.kv_files.names import ENDING, PART, file_name, forget, sweep
from engine.kv_files.store import StateFiles

TOKENS = [1, 2, 70_000, 5]
STATE = bytes(range(256)) * 40
BUDGET = 1 << 20


def files(folder: Path, budget: int = BUDGET, mark: str = "mark") -> StateFiles:
    return StateFiles(folder, budget, mark)


def write(store: StateFiles, conversation: str = "c", state: bytes = STATE) -> bool:
    return store.write(conversation, TOKENS, memoryview(state), 120.5)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_was_written_comes_back(tmp_path: Path) -> None:
    store = files(tmp_path / "new")
    assert write(store)
    stored = store.find("c")
    assert stored is not None
    assert (stored.header.tokens, stored.header.state, stored.header.prefill_tps) == (4, len(STATE), 120.5)
    assert store.tokens(stored) == TOKENS
    contents = store.read(stored)
    assert contents is not None
    assert (contents.tokens, bytes(contents.state)) == (TOKENS, STATE)


def put(data: memoryview) -> bool:
    data[:] = STATE
    return True


def test_what_was_put_into_the_file_itself_is_as_what_was_written(tmp_path: Path) -> None:
    copied, filled = files(tmp_path / "copied"), files(tmp_path / "filled")
    assert write(copied)
    assert filled.fill("c", TOKENS, len(STATE), put, 120.5)
    one, other = ((tmp_path / place / file_name("c", "mark")).read_bytes() for place in ("copied", "filled"))
    assert one == other


def test_what_could_not_be_put_into_a_file_leaves_the_old_one(tmp_path: Path) -> None:
    store = files(tmp_path)
    assert write(store)
    before = names(tmp_path)
    assert not store.fill("c", TOKENS, 100, lambda _data: False, 1.0)
    assert not store.fill("c", TOKENS, len(STATE), put, 1.0, lambda: True)
    assert not store.fill("c", TOKENS, BUDGET, put, 1.0)
    stored = store.find("c")
    assert stored is not None
    assert (names(tmp_path), stored.header.state) == (before, len(STATE))


def test_a_full_disk_is_found_out_before_anything_is_put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_handle: int, _offset: int, _length: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    asked: list[int] = []

    def note(data: memoryview) -> bool:
        asked.append(len(data))
        return True

    assert not files(tmp_path).fill("c", TOKENS, 100, note, 1.0)
    assert (asked, names(tmp_path)) == ([], [])


def test_the_content_is_private(tmp_path: Path) -> None:
    write(files(tmp_path / "kv"), "secret")
    (path,) = (tmp_path / "kv").iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert "secret" not in path.name


@pytest.mark.parametrize("place", [0, 9, 20, ALIGNMENT + 1, ALIGNMENT + 16, -1])
def test_a_changed_byte_is_noticed_and_the_file_goes(tmp_path: Path, place: int) -> None:
    store = files(tmp_path)
    write(store)
    path = tmp_path / file_name("c", "mark")
    data = bytearray(path.read_bytes())
    data[place] ^= 0x41
    path.write_bytes(data)
    stored = store.find("c")
    assert stored is None or store.read(stored) is None
    assert not path.exists()


@pytest.mark.parametrize("swap", [False, True])
def test_a_state_of_many_chunks_is_checked_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swap: bool) -> None:
    monkeypatch.setattr(layout, "CHUNK", 1000)
    store = files(tmp_path)
    state = bytes(range(250)) * 4 + bytes(reversed(range(250))) * 4 + b"the rest"
    assert write(store, state=state)
    path = tmp_path / file_name("c", "mark")
    data = path.read_bytes()
    begin = len(data) - len(state)
    if swap:
        path.write_bytes(data[:begin] + state[1000:2000] + state[:1000] + state[2000:])
    stored = store.find("c")
    assert stored is not None
    contents = store.read(stored)
    assert (contents is None) == swap
    assert contents is None or bytes(contents.state) == state


@pytest.mark.parametrize("length", [0, 5, ALIGNMENT - 1, ALIGNMENT, ALIGNMENT + 20, ALIGNMENT + 16 + len(STATE) - 1])
def test_a_file_that_was_cut_goes(tmp_path: Path, length: int) -> None:
    store = files(tmp_path)
    write(store)
    path = tmp_path / file_name("c", "mark")
    os.truncate(path, length)
    assert store.find("c") is None
    assert not path.exists()


@settings(max_examples=60)
@given(st.binary(max_size=200), st.integers(0, 1 << 33))
def test_no_content_is_trusted(tmp_path_factory: pytest.TempPathFactory, rest: bytes, length: int) -> None:
    folder = tmp_path_factory.mktemp("kv")
    path = folder / file_name("c", "mark")
    path.write_bytes(b"VRAMBLKV" + (length & 0xFFFFFFFF).to_bytes(4, "little") + rest)
    assert files(folder).find("c") is None
    assert not path.exists()


def test_another_load_finds_nothing(tmp_path: Path) -> None:
    write(files(tmp_path))
    assert files(tmp_path, mark="other").find("c") is None
    assert files(tmp_path).find("d") is None
    (tmp_path / file_name("c", "mark")).replace(tmp_path / file_name("c", "other"))
    assert files(tmp_path, mark="other").find("c") is None


def test_the_budget_is_kept_and_the_oldest_goes(tmp_path: Path) -> None:
    size = ALIGNMENT + 4 * len(TOKENS) + len(STATE)
    store = files(tmp_path, 2 * size)
    for number, name in enumerate("ab"):
        assert write(store, name)
        os.utime(tmp_path / file_name(name, "mark"), (number, number))
    read = store.find("a")
    assert read is not None
    assert store.read(read) is not None
    assert write(store, "c")
    assert [name for name in "abc" if store.find(name)] == ["a", "c"]
    assert not write(files(tmp_path, size - 1), "d"), "it never fits"


def test_nothing_is_written_without_budget_or_name(tmp_path: Path) -> None:
    assert not write(files(tmp_path, 0))
    assert not write(files(tmp_path), "")
    assert names(tmp_path) == []


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path) -> None:
    store = files(tmp_path)
    write(store)
    asked = itertools.count()
    assert not store.write("c", [9], memoryview(STATE), 0.0, lambda: next(asked) >= 1)
    stored = store.find("c")
    assert stored is not None
    assert store.tokens(stored) == TOKENS
    assert names(tmp_path) == [file_name("c", "mark")]


def test_leftovers_of_a_killed_worker_go_with_the_next_write(tmp_path: Path) -> None:
    (tmp_path / (file_name("x", "mark") + PART)).write_bytes(b"half")
    write(files(tmp_path))
    assert names(tmp_path) == [file_name("c", "mark")]


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert not write(files(tmp_path / "file" / "kv"))


def test_forget_takes_all_models_and_parts(tmp_path: Path) -> None:
    for mark in ("one", "two"):
        write(files(tmp_path, mark=mark), "a")
        write(files(tmp_path, mark=mark), "b")
    (tmp_path / (file_name("a", "three") + PART)).write_bytes(b"half")
    (tmp_path / "notes.txt").write_bytes(b"")
    assert forget(tmp_path, ["a", "unknown"]) == 3
    assert sweep(tmp_path, ["b"]) == 0
    assert sweep(tmp_path, []) == 2
    assert names(tmp_path) == ["notes.txt"]
    assert forget(tmp_path / "missing", ["a"]) == 0


def test_names_end_alike() -> None:
    assert file_name("a", "m").endswith(ENDING)

"""What loads taught, on the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.memory.fit.correction import KEPT, FitHistory, LoadKey, LoadRecord
from engine.memory.fit.history import add_to_fit_history, forget_fit_history, keep_ram_speed, read_fit_history

KEY = LoadKey(card="0000:03:00.0", backend="Vulkan", driver="radv")
OTHER = LoadKey(card="0000:04:00.0", backend="Vulkan", driver="radv")


def record(number: int, key: LoadKey = KEY) -> LoadRecord:
    return LoadRecord(key=key, predicted=number, measured=number + 1)


def test_adding_reading_forgetting(tmp_path: Path) -> None:
    file = tmp_path / "data" / "fit.json"
    assert read_fit_history(file) == FitHistory()
    add_to_fit_history(file, [record(1), record(2, OTHER)])
    assert add_to_fit_history(file, [record(3)]) == read_fit_history(file)
    assert [found.predicted for found in read_fit_history(file).of(KEY)] == [1, 3]
    assert forget_fit_history(file, [KEY]).records == (record(2, OTHER),)
    assert read_fit_history(file).records == (record(2, OTHER),)


def test_it_does_not_grow(tmp_path: Path) -> None:
    file = tmp_path / "fit.json"
    add_to_fit_history(file, [record(number + 1) for number in range(3 * KEPT)])
    assert len(read_fit_history(file).records) == KEPT


@pytest.mark.parametrize("data", [b"", b"{", b'[["a"]]', b"\xff\xfe", b'{"records":[{"key":1}]}', b"[" * 100_000])
def test_nonsense_is_nothing_and_is_written_over(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "fit.json"
    file.write_bytes(data)
    assert read_fit_history(file) == FitHistory()
    assert add_to_fit_history(file, [record(1)]).records == (record(1),)
    assert read_fit_history(file).records == (record(1),)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        read_fit_history(tmp_path)


def test_the_speed_of_the_ram_is_kept_beside_what_loads_taught(tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    add_to_fit_history(path, [record(1)])
    assert read_fit_history(path).ram is None
    assert keep_ram_speed(path, 25e9) == FitHistory((record(1),), 25e9)
    assert add_to_fit_history(path, [record(1)]) == FitHistory((record(1), record(1)), 25e9)
    assert keep_ram_speed(path, 6e9).ram == 25e9, "something else computed beside it"
    assert keep_ram_speed(path, 26e9).ram == 26e9
    assert keep_ram_speed(path, 25e9).ram == 26e9
    assert forget_fit_history(path, [KEY]) == FitHistory((), 26e9)
    assert read_fit_history(path).ram == 26e9

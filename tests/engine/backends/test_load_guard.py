"""Markers around the loading of plugins: which ends are remembered, for how long, and what makes them void."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.backends.load_guard import BOOT_ID, HANGS_AFTER_SECONDS, LoadGuard
from engine.memory.tree import Tree


class Machine:
    """One start of a computer and a folder of the user; each guard is another process."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "backends"
        self.plugin = root / "libggml-x.so"
        self.plugin.write_text("a plugin")
        self.now = 0.0
        self.start("one")

    def start(self, boot: str) -> None:
        path = self.root / BOOT_ID
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{boot}\n")

    def process(self) -> LoadGuard:
        return LoadGuard(self.folder, Tree(self.root), lambda: self.now)

    def crash(self, patience: int = 1) -> str | None:
        """A process that ends while it loads: its lock goes, its marker stays."""
        guard = self.process()
        verdict = guard.begin("x", self.plugin, patience)
        opened = guard._open
        if opened is not None:
            os.close(opened.handle)
        return verdict

    def verdict(self, patience: int = 1) -> str | None:
        guard = self.process()
        found = guard.begin("x", self.plugin, patience)
        guard.end()
        return found


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_load_that_ends_leaves_nothing(machine: Machine) -> None:
    guard = machine.process()
    assert guard.begin("x", machine.plugin) is None
    assert [path.name for path in machine.folder.iterdir()] == [".x.loading"]
    guard.end()
    assert list(machine.folder.iterdir()) == []
    guard.end()


def test_an_end_while_loading_is_remembered(machine: Machine) -> None:
    assert machine.crash() is None
    verdict = machine.verdict()
    assert verdict == (
        "Loading it ended or blocked the engine the last time, so it is left out until it changes or the computer is "
        f"started again. To try it now, delete {machine.folder / '.x.loading'}."
    )
    assert machine.verdict() == verdict
    (machine.folder / ".x.loading").unlink()
    assert machine.verdict() is None


def test_another_file_voids_it(machine: Machine) -> None:
    machine.crash()
    machine.plugin.write_text("another plugin")
    assert machine.verdict() is None


def test_another_start_of_the_computer_voids_it(machine: Machine) -> None:
    machine.crash()
    machine.start("two")
    assert machine.verdict() is None


def test_patience_counts_ends_in_a_row(machine: Machine) -> None:
    assert machine.crash(patience=3) is None
    assert machine.crash(patience=3) is None
    assert machine.verdict(patience=3) is None, "this one worked, so counting begins anew"
    for _ in range(3):
        assert machine.crash(patience=3) is None
    found = machine.verdict(patience=3)
    assert found is not None
    assert "the last 3 times" in found


def test_another_process_that_is_loading_is_no_crash(machine: Machine) -> None:
    first, second = machine.process(), machine.process()
    assert first.begin("x", machine.plugin) is None
    assert second.begin("x", machine.plugin) is None
    second.end()
    assert (machine.folder / ".x.loading").exists(), "the other's marker stays"
    first.end()
    assert machine.verdict() is None


def test_who_opened_the_marker_before_it_was_removed_reads_no_crash(machine: Machine) -> None:
    guard = machine.process()
    guard.begin("x", machine.plugin)
    late = os.open(machine.folder / ".x.loading", os.O_RDWR)
    guard.end()
    assert os.pread(late, 100, 0) == b""
    os.close(late)


def test_an_end_that_was_wanted_is_not_remembered(machine: Machine) -> None:
    guard = machine.process()
    guard.begin("x", machine.plugin)
    machine.now = HANGS_AFTER_SECONDS - 1
    guard.wanted_end()
    assert list(machine.folder.iterdir()) == []
    guard.end()


def test_a_wanted_end_of_what_hangs_is_remembered(machine: Machine) -> None:
    guard = machine.process()
    guard.begin("x", machine.plugin)
    machine.now = HANGS_AFTER_SECONDS
    guard.wanted_end()
    assert (machine.folder / ".x.loading").exists()
    guard.end()
    guard.wanted_end()


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'{"size": "x"}', b"\xff" * 5000])
def test_a_marker_that_cannot_be_read_counts_for_nothing(machine: Machine, content: bytes) -> None:
    machine.folder.mkdir()
    (machine.folder / ".x.loading").write_bytes(content)
    assert machine.verdict() is None


def test_a_link_in_the_markers_place_is_not_followed(machine: Machine) -> None:
    machine.folder.mkdir()
    precious = machine.root / "precious"
    precious.write_text("keep")
    (machine.folder / ".x.loading").symlink_to(precious)
    assert machine.verdict() is None
    assert precious.read_text() == "keep"


def test_without_a_folder_that_can_be_written_loading_goes_on(machine: Machine) -> None:
    machine.folder.write_text("a file")
    assert machine.verdict() is None
    nowhere = LoadGuard(None, Tree(machine.root))
    assert nowhere.begin("x", machine.plugin) is None
    nowhere.wanted_end()
    nowhere.end()

"""Drives and cards, by recorded tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.library.mounts import FAT_LIMIT, Mounts
from engine.memory.tree import Tree
from tests.fakes.model_homes import eject, insert, machine, put

UUID = "5e8f6c1a-1111-2222-3333-444455556666"


def mounts(root: Path) -> Mounts:
    return Mounts(Tree(root))


def test_the_deepest_mount_point_counts(tmp_path: Path) -> None:
    around = machine(tmp_path)
    insert(around, "mmcblk0p1", UUID, tmp_path / "run/media/deck/SD")
    table = mounts(around.system)
    assert [
        mount.device for mount in (table.of(tmp_path / "run/media/deck/SD/models"), table.of(tmp_path)) if mount
    ] == [
        "/dev/mmcblk0p1",
        "/dev/nvme0n1p2",
    ]


def test_a_name_that_only_begins_the_same_is_another_folder(tmp_path: Path) -> None:
    around = machine(tmp_path)
    insert(around, "sda1", UUID, tmp_path / "media/disk")
    found = mounts(around.system).of(tmp_path / "media/disk2/x")
    assert found is not None
    assert found.device == "/dev/nvme0n1p2"


def test_signs_that_the_kernel_escapes(tmp_path: Path) -> None:
    around = machine(tmp_path)
    point = insert(around, "sda1", UUID, tmp_path / "run/media/deck/My Card #1")
    assert str(point) in mounts(around.system).points


def test_a_recorded_deck_with_a_card(tmp_path: Path) -> None:
    put(
        tmp_path / "proc/self/mounts",
        b"/dev/nvme0n1p8 /home ext4 rw,relatime 0 0\n"
        b"tmpfs /tmp tmpfs rw 0 0\n"
        b"/dev/mmcblk0p1 /run/media/deck/9016-4EF8 exfat rw,nosuid 0 0\n",
    )
    for uuid, device in (("9016-4EF8", "mmcblk0p1"), (UUID, "nvme0n1p8")):
        link = tmp_path / "dev/disk/by-uuid" / uuid
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(f"../../{device}")
    table = mounts(tmp_path)
    card = table.place_of(Path("/run/media/deck/9016-4EF8/models/llm"))
    home = table.place_of(Path("/home/deck/models"))
    assert (card.uuid, card.relative) == ("9016-4EF8", "models/llm")
    assert (home.uuid, home.relative) == ("", "")
    assert home.mount is not None
    assert home.mount.file_system == "ext4"


def test_a_stick_anywhere_is_removable_when_the_kernel_says_so(tmp_path: Path) -> None:
    put(tmp_path / "proc/self/mounts", b"/dev/sdb1 /data vfat rw 0 0\n/dev/sdc1 /more ext4 ro,noatime 0 0\n")
    put(tmp_path / "sys/class/block/sdb/removable", b"1\n")
    put(tmp_path / "sys/class/block/sdc/removable", b"0\n")
    table = mounts(tmp_path)
    stick, drive = table.of(Path("/data/x")), table.of(Path("/more/x"))
    assert stick is not None
    assert drive is not None
    assert (table.is_removable(stick), table.is_removable(drive)) == (True, False)
    assert (stick.file_limit, drive.file_limit) == (FAT_LIMIT, None)
    assert (stick.read_only, drive.read_only) == (False, True)


def test_a_card_is_found_where_it_is_mounted_now(tmp_path: Path) -> None:
    around = machine(tmp_path)
    first = insert(around, "mmcblk0p1", UUID, tmp_path / "run/media/deck/SD")
    (first / "models").mkdir()
    assert mounts(around.system).find(UUID, "models") == first / "models"
    eject(around, "mmcblk0p1")
    assert mounts(around.system).find(UUID, "models") is None
    second = insert(around, "sda1", UUID, tmp_path / "run/media/mmcblk0p1")
    (second / "models").mkdir()
    assert mounts(around.system).find(UUID, "models") == second / "models"


@pytest.mark.parametrize("table", [b"", b"\n\n", b"one two\n", b"\xff\xfe \\999 x y\n"])
def test_odd_tables_are_survived(tmp_path: Path, table: bytes) -> None:
    put(tmp_path / "proc/self/mounts", table)
    assert mounts(tmp_path).place_of(Path("/somewhere")).uuid == ""

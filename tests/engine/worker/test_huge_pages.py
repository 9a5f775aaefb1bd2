"""Weights are read into huge pages where that is faster and there is room, else mapped."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.client.command import worker_environment
from engine.memory.tree import Tree
from engine.protocol.types import DeviceKind, LoadOptions
from engine.worker.huge_pages import SETTING, SHARE, reads_weights
from engine.worker.params import load_mode
from tests.engine.worker.test_context_memory import GIB, machine, plan

ASKS = worker_environment({})


def with_setting(folder: Path, text: str, available: int = 64 * GIB) -> Tree:
    place = machine(folder, available) / SETTING
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    return Tree(folder)


@pytest.mark.parametrize(
    ("setting", "environ", "reads"),
    [
        ("always [madvise] never\n", ASKS, True),
        ("always [madvise] never\n", {}, False),
        ("always [madvise] never\n", {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=0"}, False),
        ("[always] madvise never\n", {}, True),
        ("always madvise [never]\n", ASKS, False),
        ("nonsense", ASKS, False),
    ],
)
def test_only_where_huge_pages_come(tmp_path: Path, setting: str, environ: dict[str, str], reads: bool) -> None:
    assert reads_weights(plan(LoadOptions()), with_setting(tmp_path, setting), environ) is reads


def test_not_on_a_kernel_without_them_and_not_for_a_gpu(tmp_path: Path) -> None:
    assert not reads_weights(plan(LoadOptions()), Tree(machine(tmp_path, 64 * GIB)), ASKS)
    tree = with_setting(tmp_path, "[always] madvise never")
    assert reads_weights(plan(LoadOptions()), tree, ASKS)
    assert not reads_weights(plan(LoadOptions(), DeviceKind.IGPU), tree, ASKS)


def test_large_weights_stay_mapped(tmp_path: Path) -> None:
    weights = plan(LoadOptions()).header.tensor_bytes
    enough = SHARE * weights + 1024
    for available, reads in ((enough, True), (enough - 4096, False)):
        tree = with_setting(tmp_path, "[always] madvise never", available)
        assert reads_weights(plan(LoadOptions()), tree, ASKS) is reads


def test_unknown_memory_is_not_enough(tmp_path: Path) -> None:
    tree = with_setting(tmp_path, "[always] madvise never")
    (tmp_path / "proc/meminfo").unlink()
    assert not reads_weights(plan(LoadOptions()), tree, ASKS)


def test_what_the_user_says_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_setting(tmp_path, "[always] madvise never")
    monkeypatch.setenv("VRAMBLE_SYSROOT", str(tmp_path))
    assert load_mode(plan(LoadOptions())) == 0
    assert load_mode(plan(LoadOptions(mmap=True))) == 1
    assert load_mode(plan(LoadOptions(mmap=False))) == 0
    (tmp_path / SETTING).write_text("always madvise [never]")
    assert load_mode(plan(LoadOptions())) == -1

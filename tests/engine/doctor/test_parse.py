"""Parsers: known texts, and no text that breaks them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.doctor import parse

PARSERS: tuple[Callable[[str], object], ...] = (
    parse.version,
    parse.count,
    parse.shell_pairs,
    parse.cmdline,
    parse.module_options,
    parse.lockup_timeouts,
    parse.swaps,
    parse.sections,
    parse.words,
    parse.app_id,
    parse.vulkan_summary,
)

SEEDS = (
    "options ttm a=1",
    "Filename Type\n/dev/zram0 partition 1 2 3",
    "[Context]\n=;",
    'A="',
    "1:2.3",
    "-1,0",
    "a=b=c",
)


@pytest.mark.parametrize("parser", PARSERS)
@given(text=st.text() | st.lists(st.sampled_from(SEEDS) | st.text(max_size=8)).map("\n".join))
def test_no_text_breaks_a_parser(parser: Callable[[str], object], text: str) -> None:
    parser(text)


@pytest.mark.parametrize("parser", PARSERS)
def test_a_file_that_is_not_there_is_empty_or_unknown(parser: Callable[[str | None], object]) -> None:
    assert parser(None) in (None, {}, "", frozenset(), (None, {}))


@given(st.integers(0, 99), st.integers(0, 99), st.integers(0, 999), st.text("-+.abc~", max_size=6))
def test_versions(major: int, minor: int, patch: int, rest: str) -> None:
    assert parse.version(f"{major}.{minor}.{patch}-{rest}") == (major, minor, patch)
    assert parse.version(f"1:{major}.{minor}") == (major, minor, 0)


@given(st.lists(st.integers(-1, 10**6), min_size=1, max_size=4))
def test_lockup_timeouts_come_back(values: list[int]) -> None:
    assert parse.lockup_timeouts(",".join(map(str, values)) + "\n") == tuple(values)


@pytest.mark.parametrize("text", ["", "\n", "10000,a", "1,2,3,4,5", "0x10", "(null)"])
def test_lockup_timeouts_that_say_nothing(text: str) -> None:
    assert parse.lockup_timeouts(text) is None


def test_cmdline_takes_the_last_and_both_signs() -> None:
    found = parse.cmdline('quiet amdgpu.lockup-timeout=1 amdgpu.lockup_timeout=2,3 root="UUID=1"')
    assert found["amdgpu.lockup_timeout"] == "2,3"
    assert found["quiet"] == ""


def test_module_options() -> None:
    text = "# options ttm a=1\noptions ttm pages_limit=9 page_pool_size=9 # why\nblacklist ttm\noptions amdgpu\n"
    assert parse.module_options(text) == {"ttm.pages_limit": "9", "ttm.page_pool_size": "9"}


def test_os_release() -> None:
    pairs = parse.shell_pairs('# c\nID=steamos\nPRETTY_NAME="Debian GNU/Linux 12"\nHOME_URL=\'x y\'\nBAD="a\n')
    assert pairs == {"ID": "steamos", "PRETTY_NAME": "Debian GNU/Linux 12", "HOME_URL": "x y", "BAD": "a"}


def test_swaps_name_the_kind_and_not_the_file() -> None:
    text = "Filename Type Size Used Priority\n/dev/zram0 partition 4 0 100\n/home/alice/swap file 8 0 -2\nx y z 1 2 3\n"
    assert parse.swaps(text) == (("zram", 4096), ("file", 8192), ("of unknown kind", 1024))
    assert parse.swaps("nonsense") is None


def test_vulkan_summary() -> None:
    text = (
        "Vulkan Instance Version: 1.4.303\n\tdriverName = radv\n\tdriverInfo = Mesa 25.1.0 (git-1)\n\tdriverInfo = x\n"
    )
    loader, drivers = parse.vulkan_summary(text)
    assert loader == "1.4.303"
    assert drivers["radv"] in ("Mesa 25.1.0 (git-1)", "x")


def test_two_drivers_are_told_apart() -> None:
    rows = "driverName = radv\ndriverInfo = Mesa 25.1.0\ndriverName = llvmpipe\ndriverInfo = Mesa 25.1.0 (LLVM 19)\n"
    assert parse.vulkan_summary(rows)[1] == {"radv": "Mesa 25.1.0", "llvmpipe": "Mesa 25.1.0 (LLVM 19)"}


def test_app_ids() -> None:
    assert parse.app_id("io.github.vramble.Vramble") == "io.github.vramble.Vramble"
    assert parse.app_id("x; rm -rf ~") == ""

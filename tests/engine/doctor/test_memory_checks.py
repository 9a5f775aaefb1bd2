"""Checks of memory at their borders."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from engine.doctor.facts import Facts, System
from engine.memory.records import RamMemory
from tests.engine.doctor.conftest import (
    GIB,
    judged,
    line,
    status,
    with_card,
)  # fmt: skip

FactsOf = Callable[..., Facts]
replace = msgspec.structs.replace


@pytest.mark.parametrize(
    ("gtt", "verdict", "words"),
    [
        (None, "warn", "unknown"),
        (3 * GIB, "warn", "less than the usual half"),
        (8 * GIB, "ok", "can be raised"),
        (10 * GIB, "ok", ""),
        (15 * GIB, "warn", "starve"),
    ],
)
def test_gtt_limit(facts_of: FactsOf, gtt: int | None, verdict: str, words: str) -> None:
    facts = replace(with_card(facts_of("steam_deck"), gtt=gtt), ram=RamMemory(total=16 * GIB, available=9 * GIB))
    finding = judged(facts, "gtt")
    assert finding.status == verdict
    assert words in finding.found + finding.advice


def test_a_limit_that_was_asked_for_but_is_not_there(facts_of: FactsOf) -> None:
    facts = facts_of("strix_halo_raised", options={"ttm.pages_limit": "30408704"}, parameters={})
    finding = judged(facts, "gtt")
    assert finding.status == "warn"
    assert "asks for 116.0 GiB" in finding.found


def test_gttsize_of_steamos_is_left_in_peace(facts_of: FactsOf) -> None:
    set_by_valve = facts_of("steam_deck", live={}, parameters={"amdgpu.gttsize": "8128"})
    assert status(set_by_valve, "gtt") == "ok"
    assert status(replace(set_by_valve, system=System(id="arch")), "gtt") == "warn"
    assert status(facts_of("strix_halo", live={"amdgpu.gttsize": "-1"}), "gtt") == "ok", "the module says: not set"


@pytest.mark.parametrize(
    ("system", "start"),
    [
        (
            System(id="bazzite", like=frozenset({"fedora"}), ostree=True),
            "sudo rpm-ostree kargs --append-if-missing=ttm.",
        ),
        (System(id="fedora"), "sudo grubby --update-kernel=ALL --args='ttm.pages_limit="),
        (System(id="debian"), "echo 'options ttm pages_limit="),
        (System(id="gentoo"), "echo 'options ttm pages_limit="),
    ],
)
def test_each_distribution_has_its_own_line(facts_of: FactsOf, system: System, start: str) -> None:
    finding = judged(facts_of("steam_deck", system=system), "gtt")
    assert line(finding).startswith(start)
    assert finding.fix is not None
    assert finding.fix.survives is None


@pytest.mark.parametrize(
    ("vram", "ram", "verdict"),
    [(GIB // 2, 126, "ok"), (4 * GIB, 60, "ok"), (4 * GIB, 11, "warn"), (64 * GIB, 62, "warn"), (2 * GIB, 4, "ok")],
)
def test_carve_out(facts_of: FactsOf, vram: int, ram: int, verdict: str) -> None:
    facts = replace(with_card(facts_of("steam_deck"), vram=vram), ram=RamMemory(total=ram * GIB))
    assert status(facts, "carve-out") == verdict


def test_rebar_unknown_is_said_and_a_set_variable_is_seen(facts_of: FactsOf) -> None:
    facts = facts_of("rx7900xtx_without_rebar")
    assert judged(with_card(facts, visible_vram=None), "rebar").found.endswith("unknown")
    assert status(with_card(facts, visible_vram=None), "rebar") == "warn"
    helped = replace(facts, environ={"GGML_VK_DISABLE_HOST_VISIBLE_VIDMEM": "1"})
    assert judged(helped, "rebar").fix is None


@pytest.mark.parametrize(
    ("name", "ram", "verdict"),
    [
        ("rx7900xtx", RamMemory(total=32 * GIB, swap_total=0), "ok"),
        ("rx7900xtx", RamMemory(total=8 * GIB, swap_total=0), "warn"),
        ("rx7900xtx", RamMemory(swap_total=0), "warn"),
        ("steam_deck", RamMemory(total=64 * GIB, swap_total=0), "warn"),
        ("steam_deck", RamMemory(total=64 * GIB), "warn"),
    ],
)
def test_swap(facts_of: FactsOf, name: str, ram: RamMemory, verdict: str) -> None:
    assert status(facts_of(name, ram=ram), "swap") == verdict


def test_headroom(facts_of: FactsOf) -> None:
    full = facts_of("steam_deck", ram=RamMemory(total=15 * GIB, available=2 * GIB))
    assert status(full, "memory") == "warn"

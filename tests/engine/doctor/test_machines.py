"""The recorded machines: a verdict for every check."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.doctor.diagnosis import EXAMINATIONS, summary
from engine.doctor.facts import Facts
from engine.doctor.host import RecordedHost
from engine.doctor.reading import read_facts
from tests.engine.doctor.conftest import INSTALL, diagnose, judged, line, verdicts
from tests.fakes.sysroot import machines

OK, WARN, FAIL, OUT = "ok", "warn", "fail", "-"

EXPECTED: dict[str, dict[str, str]] = {
    "steam_deck": {"rebar": OUT, "flatpak": OUT},
    "steam_deck_flatpak": {
        "flatpak": FAIL,
        "render-node": FAIL,
        "vulkan-devices": FAIL,
        "carve-out": WARN,
        "mesa": OUT,
        "rebar": OUT,
    },
    "rx7900xtx": {"gtt": OUT, "carve-out": OUT, "flatpak": OUT},
    "rx7900xtx_without_rebar": {
        "render-node": FAIL,
        "vulkan-devices": FAIL,
        "kfd": WARN,
        "rebar": WARN,
        "lockup-timeout": WARN,
        "gtt": OUT,
        "carve-out": OUT,
        "flatpak": OUT,
        "mesa": OK,
    },
    "laptop_sleeping_dgpu": {"gtt": OUT, "carve-out": OUT, "flatpak": OUT},
    "strix_halo": {
        "render-node": WARN,
        "rocm": WARN,
        "kfd": WARN,
        "gtt": WARN,
        "carve-out": WARN,
        "swap": WARN,
        "disk": WARN,
        "mesa": OUT,
        "rebar": OUT,
        "flatpak": OUT,
    },
    "strix_halo_raised": {"rebar": OUT, "flatpak": OUT},
    "raphael_rx7800xt": {
        "kernel": WARN,
        "render-node": WARN,
        "rebar": WARN,
        "disk": WARN,
        "mesa": OUT,
        "gtt": OUT,
        "carve-out": OUT,
        "flatpak": OUT,
    },
    "no_gpu": {
        "driver": WARN,
        "vulkan-devices": WARN,
        "swap": WARN,
        **dict.fromkeys(("render-node", "mesa", "kfd", "rebar", "gtt", "carve-out", "lockup-timeout", "flatpak"), OUT),
    },
}
"""What is not named is ok."""


def test_every_recorded_machine_is_in_the_table() -> None:
    assert sorted(EXPECTED) == machines()


@pytest.mark.parametrize("name", machines())
def test_verdicts(facts_of: Callable[..., Facts], name: str) -> None:
    expected = {entry.id: OK for entry in EXAMINATIONS} | EXPECTED[name]
    assert verdicts(diagnose(facts_of(name))) == expected


@pytest.mark.parametrize("name", machines())
def test_worst_first_and_every_finding_that_is_not_ok_says_what_to_do(
    facts_of: Callable[..., Facts], name: str
) -> None:
    checks = diagnose(facts_of(name)).checks
    order = [("fail", "warn", "ok").index(check.status) for check in checks]
    assert order == sorted(order)
    assert all(check.found and check.title for check in checks)
    unknown = ("render-node", "disk")
    assert all(check.advice or check.id in unknown for check in checks if check.status != "ok")


def test_the_deck_is_told_how_to_raise_gtt_so_that_it_lasts(facts_of: Callable[..., Facts]) -> None:
    finding = judged(facts_of("steam_deck"), "gtt")
    assert finding.found == "The GPU may use 8.0 GiB of 14.5 GiB of RAM (55%), and the carve-out"
    assert f"pages_limit={10 * 262144} page_pool_size={10 * 262144}" in line(finding)
    assert "/etc/atomic-update.conf.d/" in line(finding)
    assert finding.fix is not None
    assert finding.fix.survives is True


def test_without_rebar_there_is_a_line_that_helps_now(facts_of: Callable[..., Facts]) -> None:
    finding = judged(facts_of("rx7900xtx_without_rebar"), "rebar")
    assert "256 MiB of 24.0 GiB" in finding.found
    assert line(finding) == "GGML_VK_DISABLE_HOST_VISIBLE_VIDMEM=1 vramble"


def test_linux_7_resets_after_two_seconds(facts_of: Callable[..., Facts]) -> None:
    finding = judged(facts_of("rx7900xtx_without_rebar"), "lockup-timeout")
    assert "more than 2 s (the kernel's default)" in finding.found
    assert "lockup_timeout=10000,10000,10000,10000" in line(finding)
    assert line(finding).endswith("sudo mkinitcpio -P")


def test_the_sandbox_is_told_all_at_once(facts_of: Callable[..., Facts]) -> None:
    finding = judged(facts_of("steam_deck_flatpak"), "flatpak")
    assert line(finding) == ("flatpak override --user --device=dri --filesystem=/run/media io.github.vramble.Vramble")
    system = judged(facts_of("steam_deck_flatpak"), "system").found
    assert system == "SteamOS on a Steam Deck OLED with this program inside Flatpak (read-only root)"


def test_a_sleeping_card_is_named_and_counts(facts_of: Callable[..., Facts]) -> None:
    facts = facts_of("laptop_sleeping_dgpu")
    assert "RX 7600S (0000:03:00.0) [gfx1102, asleep]: amdgpu" in judged(facts, "driver").found
    assert "all 8.0 GiB" in judged(facts, "rebar").found


def test_ttm_in_pages_for_what_gttsize_said_in_mib(facts_of: Callable[..., Facts]) -> None:
    finding = judged(facts_of("strix_halo"), "gtt")
    pages = 31968 * 1024 * 1024 // 4096
    assert f"pages_limit={pages} page_pool_size={pages}" in line(finding)
    assert line(finding).endswith("sudo update-initramfs -u")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("steam_deck", "Everything is as it should be."),
        ("no_gpu", "Nothing is broken, and 3 things could be better."),
        ("steam_deck_flatpak", "3 problems to solve, and one thing could be better."),
    ],
)
def test_summary(facts_of: Callable[..., Facts], name: str, sentence: str) -> None:
    assert summary(diagnose(facts_of(name))) == sentence


def test_summary_tells_when_the_engine_was_left_out(facts_of: Callable[..., Facts]) -> None:
    told = summary(diagnose(facts_of("steam_deck", engine=None)))
    assert told == "Everything is as it should be; the engine was not asked."


def test_nothing_to_read_is_unknown_and_never_ok(tmp_path: Path) -> None:
    facts = read_facts(tmp_path, RecordedHost(tmp_path), INSTALL, environ={})
    found = verdicts(diagnose(facts))
    claimed = {check for check, status in found.items() if status == "ok"}
    assert claimed == {"rocm", "environment", "python-qt", "conversations"}
    assert {found[check] for check in ("kernel", "driver", "swap", "memory", "disk")} == {"warn"}

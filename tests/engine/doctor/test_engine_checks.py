"""Checks of the engine, Vulkan and Mesa at their borders."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from engine.doctor.answer import EngineAnswer
from engine.doctor.facts import Facts
from engine.protocol.frames import Hello
from engine.protocol.types import DeviceKind
from tests.engine.doctor.conftest import (
    INSTALL,
    LLVMPIPE,
    backend,
    device,
    hello,
    judged,
    left_out,
    line,
    status,
    with_card,
)  # fmt: skip

FactsOf = Callable[..., Facts]
replace = msgspec.structs.replace


def test_an_engine_that_dies_is_a_finding(facts_of: FactsOf) -> None:
    facts = facts_of("rx7900xtx", engine=EngineAnswer(None, "The engine was killed.", "Try again."))
    finding = judged(facts, "engine")
    assert (finding.status, finding.found, finding.advice) == ("fail", "The engine was killed.", "Try again.")
    assert left_out(facts, "vulkan-backend") == left_out(facts, "vulkan-devices") == "The engine did not answer."


def test_an_engine_that_cannot_be_loaded_is_one(facts_of: FactsOf) -> None:
    answer = EngineAnswer(Hello(protocol=1, pid=1, engine=""), "libllama.so is missing")
    assert judged(facts_of("rx7900xtx", engine=answer), "engine").found == "libllama.so is missing"


def test_without_the_cpu_backend_nothing_loads(facts_of: FactsOf) -> None:
    answer = hello(backends=(backend("CPU", "this processor lacks the instructions"), backend("Vulkan")))
    finding = judged(facts_of("rx7900xtx", engine=answer), "engine")
    assert finding.status == "fail"
    assert "CPU is not loaded: this processor lacks the instructions" in finding.found


def test_another_backend_that_fails_only_warns(facts_of: FactsOf) -> None:
    answer = hello(backends=(backend("CPU"), backend("Vulkan"), backend("SYCL", "libsycl.so.8 is missing")))
    assert status(facts_of("rx7900xtx", engine=answer), "engine") == "warn"


@pytest.mark.parametrize(("name", "verdict"), [("rx7900xtx", "fail"), ("no_gpu", "warn")])
@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("Vulkan was not built: no Vulkan headers were found", "set up without Vulkan: no Vulkan headers were found"),
        ("libvulkan.so.1: cannot open shared object file: No such file", "loader (libvulkan.so.1) is missing"),
        ("libstdc++.so.6: version GLIBCXX_3.4.32 not found", "not loaded: libstdc++.so.6: version"),
    ],
)
def test_vulkan_plugin_says_why(facts_of: FactsOf, name: str, verdict: str, error: str, words: str) -> None:
    facts = facts_of(name, engine=hello(backends=(backend("CPU"), backend("Vulkan", error))))
    finding = judged(facts, "vulkan-backend")
    assert finding.status == verdict
    assert words in finding.found
    assert left_out(facts, "vulkan-devices") == "The Vulkan plugin is not loaded."


def test_the_missing_loader_is_installed_with_the_systems_own_tool(facts_of: FactsOf) -> None:
    error = "libvulkan.so.1: cannot open shared object file: No such file or directory"
    lines = {}
    for name in ("rx7900xtx", "laptop_sleeping_dgpu", "no_gpu"):
        answer = hello(backends=(backend("CPU"), backend("Vulkan", error)))
        lines[name] = line(judged(facts_of(name, engine=answer), "vulkan-backend"))
    assert list(lines.values()) == [
        "sudo apt install libvulkan1",
        "sudo dnf install vulkan-loader",
        "sudo pacman -S vulkan-icd-loader",
    ]
    deck = facts_of("steam_deck", engine=hello(backends=(backend("CPU"), backend("Vulkan", error))))
    assert judged(deck, "vulkan-backend").fix is None, "a package would not survive"


def test_the_build_record_speaks_where_the_engine_cannot(facts_of: FactsOf) -> None:
    install = replace(INSTALL, vulkan=False, vulkan_reason="glslc is too old.")
    facts = facts_of("rx7900xtx", engine=None, install=install)
    assert judged(facts, "vulkan-backend").found == "Vramble was set up without Vulkan: glslc is too old"
    assert left_out(facts_of("rx7900xtx", engine=None), "vulkan-backend") == "The engine was not asked."


def test_only_llvmpipe(facts_of: FactsOf) -> None:
    software = hello((device(LLVMPIPE, None, DeviceKind.SOFTWARE),))
    finding = judged(facts_of("rx7900xtx", engine=software), "vulkan-devices")
    assert (finding.status, line(finding)) == ("fail", "sudo apt install mesa-vulkan-drivers")
    assert "only a software driver: llvmpipe" in finding.found
    assert status(facts_of("no_gpu", engine=software), "vulkan-devices") == "warn"


def test_refused_nodes_come_before_missing_drivers(facts_of: FactsOf) -> None:
    finding = judged(facts_of("rx7900xtx_without_rebar"), "vulkan-devices")
    assert finding.fix is None
    assert "render node" in finding.advice


def test_a_card_that_vulkan_does_not_show_is_missed(facts_of: FactsOf) -> None:
    laptop = facts_of("laptop_sleeping_dgpu", engine=hello((device("780M", "0000:64:00.0", DeviceKind.IGPU),)))
    assert judged(laptop, "vulkan-devices").status == "warn"
    assert "not shown: AMD Radeon RX 7600S (0000:03:00.0)" in judged(laptop, "vulkan-devices").found
    only_large = facts_of("laptop_sleeping_dgpu", engine=hello((device("RX 7600S", "0000:03:00.0"),)))
    assert status(only_large, "vulkan-devices") == "ok", "an APU beside a card is not used anyway"
    other_maker = facts_of("steam_deck", engine=hello((device("Arc", "0000:0a:00.0"),)))
    assert status(other_maker, "vulkan-devices") == "warn", "here the APU is the Radeon that models run on"
    without_address = facts_of("rx7900xtx", engine=hello((device("Radeon", None),)))
    assert status(without_address, "vulkan-devices") == "ok"


@pytest.mark.parametrize(
    ("gfx", "drivers", "package", "verdict"),
    [
        ("gfx1201", {"radv": "Mesa 24.2.8-1"}, None, "warn"),
        ("gfx1201", {"radv": "Mesa 25.0.0"}, None, "ok"),
        ("gfx1100", {}, "vulkan-radeon 1:24.2.8-1", "ok"),
        ("gfx1200", {}, "vulkan-radeon 1:24.2.8-1", "warn"),
        ("gfx1100", {}, "1:24.2.8-1", "ok"),
        ("gfx1201", {}, "24.0.1", "warn"),
        ("gfx1100", {"AMD open-source driver": "2024.Q4.1"}, None, "warn"),
        ("gfx1100", {}, None, "left out"),
    ],
)
def test_mesa(facts_of: FactsOf, gfx: str, drivers: dict[str, str], package: str | None, verdict: str) -> None:
    facts = with_card(facts_of("rx7900xtx", drivers=drivers, mesa_package=package), gfx=gfx)
    if verdict == "left out":
        assert "tells the version of Mesa" in left_out(facts, "mesa")
    else:
        assert status(facts, "mesa") == verdict

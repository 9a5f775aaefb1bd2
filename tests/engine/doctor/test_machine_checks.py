"""Checks of driver, device nodes and ROCm at their borders."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from engine.doctor.facts import Facts
from engine.doctor.host import Node
from engine.protocol.types import SWITCHED_OFF, BackendInfo
from tests.engine.doctor.conftest import (
    backend,
    hello,
    judged,
    left_out,
    line,
    status,
    with_card,
)  # fmt: skip

FactsOf = Callable[..., Facts]
replace = msgspec.structs.replace


@pytest.mark.parametrize(
    ("driver", "verdict", "words"),
    [("", "fail", "no driver"), ("vfio-pci", "warn", "virtual machine"), ("radeon", "fail", "amdgpu.si_support=1")],
)
def test_a_card_without_amdgpu(facts_of: FactsOf, driver: str, verdict: str, words: str) -> None:
    facts = with_card(facts_of("rx7900xtx"), driver=driver)
    finding = judged(facts, "driver")
    assert finding.status == verdict
    assert words in finding.found + finding.advice
    assert left_out(facts, "lockup-timeout") == "There is no card that amdgpu drives."


def test_one_card_without_a_driver_beside_a_good_one(facts_of: FactsOf) -> None:
    facts = facts_of("rx7900xtx")
    other = replace(facts.cards[0], pci="0000:0a:00.0", driver="")
    assert status(replace(facts, cards=(*facts.cards, other)), "driver") == "warn"


def test_group_of_the_node_is_the_one_to_join(facts_of: FactsOf) -> None:
    facts = with_card(facts_of("steam_deck"), render_node=Node(0o660, "video", usable=False))
    finding = judged(facts, "render-node")
    assert finding.status == "fail"
    assert line(finding) == 'sudo usermod -aG video "$USER"'
    assert finding.fix is not None
    assert finding.fix.survives is True
    nobodys = with_card(facts, render_node=Node(0o600, "root", usable=False))
    assert judged(nobodys, "render-node").fix is None


def test_kfd_matters_only_with_rocm(facts_of: FactsOf) -> None:
    refused = Node(0o660, "render", usable=False)
    assert status(facts_of("rx7900xtx", kfd=refused), "kfd") == "ok"
    assert status(facts_of("rx7900xtx", kfd=refused, rocm="7.2"), "kfd") == "warn"
    with_plugin = hello(backends=(backend("CPU"), backend("ROCm")))
    assert status(facts_of("rx7900xtx", kfd=None, engine=with_plugin), "kfd") == "warn"
    assert status(facts_of("rx7900xtx", kfd=Node(0o666, "render", usable=True), rocm=""), "kfd") == "ok"


@pytest.mark.parametrize(("version", "permission"), [((1, 16, 1), "all"), ((1, 18, 0), "dri"), (None, "all")])
def test_kfd_in_flatpak(facts_of: FactsOf, version: tuple[int, ...] | None, permission: str) -> None:
    facts = facts_of("steam_deck_flatpak", engine=hello(backends=(backend("CPU"), backend("ROCm"))))
    assert facts.flatpak is not None
    facts = replace(facts, flatpak=replace(facts.flatpak, version=version))
    assert f"--device={permission} " in line(judged(facts, "kfd"))


def test_rocm_plugin_that_is_not_loaded(facts_of: FactsOf) -> None:
    answer = hello(backends=(backend("CPU"), backend("ROCm", "libamdhip64.so.6: cannot open shared object file")))
    finding = judged(facts_of("rx7900xtx", engine=answer), "rocm")
    assert finding.status == "warn"
    assert "libamdhip64.so.6" in finding.found


@pytest.mark.parametrize(
    ("name", "error", "loaded", "verdict"),
    [
        ("rx7900xtx", SWITCHED_OFF, False, "ok"),
        ("rx7900xtx", "No device: /dev/kfd may not be opened.", True, "warn"),
        ("no_gpu", "No device: /dev/kfd is not there.", True, "ok"),
    ],
)
def test_rocm_that_is_off_or_idle(facts_of: FactsOf, name: str, error: str, loaded: bool, verdict: str) -> None:
    plugin = BackendInfo(name="ROCm", path="/b/libggml-hip.so", loaded=loaded, error=error)
    finding = judged(facts_of(name, engine=hello(backends=(backend("CPU"), plugin))), "rocm")
    assert finding.status == verdict
    assert ("switched off" if error == SWITCHED_OFF else error) in finding.found


def test_what_is_switched_off_is_no_fault(facts_of: FactsOf) -> None:
    off = hello(backends=(backend("CPU"), backend("Vulkan", SWITCHED_OFF), backend("RPC", SWITCHED_OFF)))
    facts = facts_of("no_gpu", engine=off)
    assert judged(facts, "engine").status == "ok"
    vulkan = judged(facts_of("rx7900xtx", engine=off), "vulkan-backend")
    assert (vulkan.status, vulkan.found) == ("fail", "Vulkan is switched off in the settings")
    assert "Switch it on" in vulkan.advice


@pytest.mark.parametrize(("kernel", "verdict"), [("6.18.3", "warn"), ("6.18.4-1", "ok"), ("7.0.0", "ok")])
def test_rocm_on_strix_halo(facts_of: FactsOf, kernel: str, verdict: str) -> None:
    assert status(facts_of("strix_halo_raised", kernel=kernel), "rocm") == verdict

"""Single checks at their borders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from engine.doctor.answer import EngineAnswer
from engine.doctor.checks.surroundings import compute_timeout
from engine.doctor.facts import Facts, Flatpak, Install, System
from engine.doctor.host import Node
from engine.memory.records import RamMemory
from engine.protocol.frames import Hello
from engine.protocol.types import DeviceKind
from tests.engine.doctor.conftest import INSTALL, LLVMPIPE, backend, device, hello, judged, left_out, line

GIB = 1 << 30
FactsOf = Callable[..., Facts]
replace = msgspec.structs.replace


def status(facts: Facts, check: str) -> str:
    return judged(facts, check).status.value


def with_card(facts: Facts, **changes: Any) -> Facts:
    return replace(facts, cards=tuple(replace(card, **changes) for card in facts.cards))


# --- engine and Vulkan ---------------------------------------------------------------------------


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


# --- driver and nodes ----------------------------------------------------------------------------


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


@pytest.mark.parametrize(("kernel", "verdict"), [("6.18.3", "warn"), ("6.18.4-1", "ok"), ("7.0.0", "ok")])
def test_rocm_on_strix_halo(facts_of: FactsOf, kernel: str, verdict: str) -> None:
    assert status(facts_of("strix_halo_raised", kernel=kernel), "rocm") == verdict


# --- memory --------------------------------------------------------------------------------------


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


# --- time limit ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "kernel", "limit"),
    [
        (None, (6, 17), 10_000),
        (None, (7, 0), 2_000),
        ((5000,), (6, 17), 10_000),
        ((5000,), (7, 1), 5_000),
        ((5000, 20_000), (7, 1), 20_000),
        ((5000, 0, 0, 0), (7, 1), 2_000),
        ((5000, -1), (6, 1), None),
        ((-1,), (7, 1), None),
    ],
)
def test_compute_timeout(given: tuple[int, ...] | None, kernel: tuple[int, ...], limit: int | None) -> None:
    assert compute_timeout(given, kernel) == limit


def test_unknown_kernel_leaves_an_unset_limit_unknown(facts_of: FactsOf) -> None:
    unset = facts_of("rx7900xtx", kernel=None)
    assert "unknown" in judged(unset, "lockup-timeout").found
    assert status(facts_of("steam_deck", kernel=None), "lockup-timeout") == "ok"
    endless = replace(unset, parameters={"amdgpu.lockup_timeout": "-1,-1"})
    assert judged(endless, "lockup-timeout").found.startswith("Compute work has no time limit")


@pytest.mark.parametrize(
    ("kernel", "verdict"), [("5.18.19", "warn"), ("5.19.0", "ok"), ("linux", "warn"), (None, "warn")]
)
def test_kernel(facts_of: FactsOf, kernel: str | None, verdict: str) -> None:
    assert status(facts_of("rx7900xtx", kernel=kernel), "kernel") == verdict


# --- surroundings --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("devices", "shared", "filesystems", "verdict"),
    [
        ({"dri"}, {"network", "ipc"}, {"/run/media:ro"}, "ok"),
        ({"all"}, {"network"}, {"host"}, "ok"),
        ({"dri"}, {"ipc"}, {"/run/media"}, "warn"),
        ({"dri"}, {"network"}, {"home"}, "warn"),
        ({"input"}, {"network"}, {"host"}, "fail"),
    ],
)
def test_flatpak(facts_of: FactsOf, devices: set[str], shared: set[str], filesystems: set[str], verdict: str) -> None:
    box = Flatpak(
        app="io.github.vramble.Vramble",
        version=(1, 16, 1),
        devices=frozenset(devices),
        shared=frozenset(shared),
        filesystems=frozenset(filesystems),
    )
    assert status(facts_of("steam_deck_flatpak", flatpak=box), "flatpak") == verdict


@pytest.mark.parametrize(
    ("environ", "verdict", "words"),
    [
        ({"PATH": "/bin"}, "ok", "No variable"),
        ({"HIP_VISIBLE_DEVICES": "-1"}, "warn", "HIP_VISIBLE_DEVICES hides every GPU"),
        ({"HSA_OVERRIDE_GFX_VERSION": "10.3.0"}, "warn", "HSA_OVERRIDE_GFX_VERSION=10.3.0"),
        ({"GGML_VK_DISABLE_F16": "1", "ROCR_VISIBLE_DEVICES": "0"}, "warn", "unset GGML_VK_DISABLE_F16 ROCR_VISIBLE"),
        ({"MANGOHUD": "1", "ENABLE_VKBASALT": "1"}, "ok", "MANGOHUD, ENABLE_VKBASALT"),
        ({"LD_PRELOAD": "/home/x/ubuntu12_64/gameoverlayrenderer.so"}, "ok", "LD_PRELOAD: overlays"),
        ({"LD_PRELOAD": "/opt/x/libjemalloc.so.2"}, "warn", "LD_PRELOAD of libjemalloc.so.2"),
        ({"HIP_;rm": "1"}, "ok", "No variable"),
    ],
)
def test_environment(facts_of: FactsOf, environ: dict[str, str], verdict: str, words: str) -> None:
    finding = judged(facts_of("rx7900xtx", environ=environ), "environment")
    assert finding.status == verdict
    assert words in " ".join([finding.found, finding.advice, finding.fix.line if finding.fix else ""])


@pytest.mark.parametrize(("free", "verdict"), [(None, "warn"), (10**8, "fail"), (9 * 10**9, "warn"), (10**10, "ok")])
def test_disk(facts_of: FactsOf, free: int | None, verdict: str) -> None:
    assert status(facts_of("rx7900xtx", install=replace(INSTALL, models_free=free)), "disk") == verdict


@pytest.mark.parametrize(
    ("python", "pyside", "verdict"),
    [
        ((3, 11, 9), "6.12.0", "fail"),
        ((3, 12, 0), "6.12.0", "ok"),
        ((3, 11, 9), "6.12.1", "ok"),
        ((3, 11, 9), "6.11.3", "ok"),
        ((3, 13, 0), "6.9.2", "warn"),
        ((3, 13, 0), None, "warn"),
    ],
)
def test_python_and_qt(facts_of: FactsOf, python: tuple[int, ...], pyside: str | None, verdict: str) -> None:
    install = Install(python=python, pyside=pyside)
    assert status(facts_of("rx7900xtx", install=install), "python-qt") == verdict

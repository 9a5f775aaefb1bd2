"""Time limit, sandbox, environment, disk, and the pair of Python and Qt at their borders."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from engine.doctor.checks.surroundings import compute_timeout
from engine.doctor.facts import Facts, Flatpak, Install
from tests.engine.doctor.conftest import (
    INSTALL,
    judged,
    status,
)  # fmt: skip

FactsOf = Callable[..., Facts]
replace = msgspec.structs.replace


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

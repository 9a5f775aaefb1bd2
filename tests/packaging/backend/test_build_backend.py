"""`packaging/build-backend` as a person types it, as far as it compiles nothing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.fakes.sysroot import build_sysroot
from tests.packaging.backend.test_hip_tools import Rocm

CHECKOUT = Path(__file__).parents[3]


def tool(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    dropped = ("SUDO_USER", "ROCM_PATH", "HIP_PATH", "HSA_OVERRIDE_GFX_VERSION", "PYTHONPATH")
    environment = {name: value for name, value in os.environ.items() if name not in dropped} | variables
    command = [str(CHECKOUT / "packaging" / "build-backend"), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("arguments", [(), ("cuda",), ("hip", "--nonsense"), ("hip", "--jobs", "many")])
def test_wrong_use(arguments: tuple[str, ...]) -> None:
    done = tool(*arguments)
    assert done.returncode == 2
    assert "usage: packaging/build-backend" in done.stderr


def test_help_names_every_option() -> None:
    done = tool("--help")
    assert done.returncode == 0
    for word in ("--gfx", "--output", "--rccl", "--no-flash-attention", "--jobs", "--source", "--check"):
        assert word in done.stdout


@pytest.mark.parametrize(
    ("arguments", "variables", "sentence"),
    [
        (("vulkan", "--gfx", "gfx1100"), {}, "--gfx is for the HIP plugin only."),
        (("vulkan", "--rccl"), {}, "--rccl is for the HIP plugin only."),
        (("vulkan", "--no-flash-attention"), {}, "--no-flash-attention is for the HIP plugin only."),
        (("hip", "--jobs", "0"), {}, "--jobs takes a number from 1 up."),
        (("vulkan", "--check"), {"VRAMBLE_NO_VULKAN": "1"}, "Vulkan was switched off by VRAMBLE_NO_VULKAN."),
    ],
)
def test_one_clear_line(arguments: tuple[str, ...], variables: dict[str, str], sentence: str) -> None:
    done = tool(*arguments, **variables)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(sentence)
    assert done.stderr.count("\n") == 1


def test_the_whole_check(tmp_path: Path) -> None:
    rocm = Rocm(tmp_path / "rocm")
    root = build_sysroot("laptop_sleeping_dgpu", tmp_path / "machine")
    done = tool("hip", "--check", ROCM_PATH=str(rocm.root), VRAMBLE_SYSROOT=str(root))
    assert done.returncode == 0, done.stderr
    assert "with HIP 6.4.43484, Debian clang version 21.1.8 (13), glibc" in done.stderr
    assert "for gfx1102, gfx1103." in done.stderr
    assert done.stderr.endswith("It can be built here.\n")


def test_no_rocm_and_no_card_are_told_apart(tmp_path: Path) -> None:
    root = build_sysroot("no_gpu", tmp_path / "machine")
    rocm = Rocm(tmp_path / "rocm")
    done = tool("hip", "--check", ROCM_PATH=str(rocm.root), VRAMBLE_SYSROOT=str(root))
    assert done.returncode == 1
    assert done.stderr.startswith("The kernel shows no AMD GPU to compute with")

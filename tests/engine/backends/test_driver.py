"""The text that changes with a driver."""

from __future__ import annotations

import os
from pathlib import Path

from engine.backends.driver import driver_of, read_maps


def test_the_files_of_a_backend(tmp_path: Path) -> None:
    for name in ("libvulkan_radeon.so", "libamdhip64.so.6", "libc.so.6"):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (1_793_000_000, 1_793_000_000))
    maps = "".join(f"7f00-7f01 r-xp 00000000 08:01 1  {path}\n" for path in sorted(tmp_path.iterdir()))
    maps += f"7f02-7f03 r-xp 00000000 08:01 1  {tmp_path}/libvulkan_gone.so\n"
    assert driver_of("Vulkan", maps) == "libvulkan_radeon.so of 2026-10-26"
    assert driver_of("ROCm", maps) == "libamdhip64.so.6 of 2026-10-26"
    assert driver_of("CPU", maps) == ""
    assert driver_of("Vulkan", "") == ""


def test_maps_that_cannot_be_read(tmp_path: Path) -> None:
    assert read_maps(tmp_path / "none") == ""
    assert "r-xp" in read_maps()

"""Which files are read, and what becomes of those that are nonsense."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.doctor.host import MESA_PACKAGE, VULKANINFO, RecordedHost, ThisHost, host_of
from engine.doctor.reading import read_facts, read_install
from engine.memory.tree import read_file
from tests.engine.doctor.conftest import INSTALL, diagnose, judged
from tests.fakes.sysroot import FOLDER, Entry, parse, write

Machine = Callable[[str], Path]

HARMLESS = {
    "vendor", "device", "revision", "class", "uevent", "runtime_status",
    "mem_info_vram_total", "mem_info_vis_vram_total", "mem_info_gtt_total",
}  # fmt: skip
"""Static ids, the status itself, and counters that the driver keeps in software."""


def opened_of(root: Path, pci: str) -> list[str]:
    """Files of a card that are opened for one diagnosis."""
    seen: list[str] = []

    def read(path: str) -> bytes:
        seen.append(str(Path(path).resolve()))
        return read_file(path)

    diagnose(read_facts(root, RecordedHost(root), INSTALL, environ={}, read=read))
    assert any(path.endswith("/proc/meminfo") for path in seen), "reads go through the reader"
    return [path.rpartition("/")[2] for path in seen if f"/{pci}/" in path]


@pytest.mark.parametrize("status", ["suspended", "error", ""])
def test_a_sleeping_card_is_not_woken(machine: Machine, status: str) -> None:
    root = machine("laptop_sleeping_dgpu")
    (root / "sys/class/drm/card2/device/power/runtime_status").write_text(status + "\n")
    opened = opened_of(root, "0000:03:00.0")
    assert set(opened) <= HARMLESS
    assert "mem_info_vis_vram_total" in opened


def test_no_sensor_of_any_card_is_read(machine: Machine) -> None:
    assert set(opened_of(machine("laptop_sleeping_dgpu"), "0000:64:00.0")) <= HARMLESS


def test_the_tool_that_wakes_is_started_only_where_it_may(machine: Machine) -> None:
    root = machine("steam_deck")

    class Asked(RecordedHost):
        tools: tuple[str, ...] = ()

        def ask(self, tool: str) -> str | None:
            self.tools += (tool,)
            return super().ask(tool)

    careful, free = Asked(root), Asked(root)
    read_facts(root, careful, INSTALL, environ={}, may_wake=False)
    assert read_facts(root, free, INSTALL, environ={}).drivers == {"radv": "Mesa 25.1.0-devel (git-6e6b21b7e0)"}
    assert VULKANINFO not in careful.tools
    assert set(free.tools) == {VULKANINFO, MESA_PACKAGE}


@pytest.mark.parametrize("name", ["steam_deck_flatpak", "rx7900xtx_without_rebar", "strix_halo_raised"])
def test_one_spoilt_file_never_breaks_the_diagnosis(machine: Machine, name: str) -> None:
    root = machine(name)
    before = diagnose(read_facts(root, RecordedHost(root), INSTALL, environ={}))
    changed = 0
    for entry in parse((FOLDER / f"{name}.txt").read_text(encoding="utf-8")):
        if entry.link is not None:
            continue
        for garbage in (b"", b"\xff\xfe\0=[]\n;\"'" * 9, b"-1\n", b"18446744073709551615\n"):
            (root / entry.path).write_bytes(garbage)
            after = diagnose(read_facts(root, RecordedHost(root), INSTALL, environ={}))
            changed += after != before
        write(root, entry)
    assert changed > 20
    assert diagnose(read_facts(root, RecordedHost(root), INSTALL, environ={})) == before


def test_a_card_without_graphics_driver_is_found_on_the_bus(tmp_path: Path) -> None:
    gpu, sound = "sys/bus/pci/devices/0000:03:00.0", "sys/bus/pci/devices/0000:03:00.1"
    for path, number in ((gpu, "0x030000"), (sound, "0x040300")):
        write(tmp_path, Entry(f"{path}/vendor", "0x1002\n"))
        write(tmp_path, Entry(f"{path}/class", f"{number}\n"))
    write(tmp_path, Entry(f"{gpu}/driver", link="../../drivers/vfio-pci"))
    facts = read_facts(tmp_path, RecordedHost(tmp_path), INSTALL, environ={})
    assert [(card.pci, card.driver) for card in facts.cards] == [("0000:03:00.0", "vfio-pci")]


def test_modprobe_files_are_read_and_the_module_wins(machine: Machine) -> None:
    root = machine("rx7900xtx")
    write(root, Entry("etc/modprobe.d/gpu.conf", "options amdgpu lockup_timeout=5000,3000\n"))
    write(root, Entry("etc/modprobe.d/gpu.conf.bak", "options amdgpu lockup_timeout=1,1\n"))
    facts = read_facts(root, RecordedHost(root), INSTALL, environ={})
    assert "more than 3 s (amdgpu.lockup_timeout=5000,3000)" in judged(facts, "lockup-timeout").found
    write(root, Entry("sys/module/amdgpu/parameters/lockup_timeout", "20000,20000,20000,20000\n"))
    facts = read_facts(root, RecordedHost(root), INSTALL, environ={})
    assert judged(facts, "lockup-timeout").status == "ok"


def test_os_release_of_the_image_where_etc_has_none(machine: Machine) -> None:
    root = machine("no_gpu")
    (root / "etc/os-release").unlink()
    write(root, Entry("usr/lib/os-release", 'ID=bazzite\nPRETTY_NAME="Bazzite"\nOSTREE_VERSION=43.1\n'))
    system = read_facts(root, RecordedHost(root), INSTALL, environ={}).system
    assert (system.id, system.ostree) == ("bazzite", True)


def test_rocm_of_a_numbered_folder(machine: Machine) -> None:
    root = machine("rx7900xtx")
    write(root, Entry("opt/rocm-6.4.1/.info/version", "6.4.1-83\n"))
    assert read_facts(root, RecordedHost(root), INSTALL, environ={}).rocm == "6.4.1-83"


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (b'{"vulkan": false, "vulkan_reason": "no glslc"}', (False, "no glslc")),
        (b'{"vulkan": "yes", "vulkan_reason": 3}', (None, None)),
        (b"[]", (None, None)),
        (b"{", (None, None)),
        (None, (None, None)),
    ],
)
def test_build_record(tmp_path: Path, record: bytes | None, expected: tuple[bool | None, str | None]) -> None:
    if record is not None:
        (tmp_path / "share/vramble").mkdir(parents=True)
        (tmp_path / "share/vramble/build.json").write_bytes(record)
    install = read_install(tmp_path, 5)
    assert (install.vulkan, install.vulkan_reason) == expected
    assert install.models_free == 5
    assert json.dumps(install.python) != "[]"
    assert install.pyside is not None


def test_this_machine_answers_without_opening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host = host_of(Path("/"), {})
    assert isinstance(host, ThisHost)
    node = host.node("dev/null")
    assert node is not None
    assert (node.mode, node.usable) == (stat.S_IMODE(os.stat("/dev/null").st_mode), True)  # noqa: PTH116
    assert host.node("dev/dri/nothing") is None
    free = host.free_bytes(tmp_path / "not" / "yet")
    assert free is not None
    assert free > 0


@pytest.mark.parametrize(
    ("script", "expected"), [("echo 'Mesa 25'", "Mesa 25\n"), ("exit 1", None), ("echo; kill -9 $$", None)]
)
def test_tools_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, expected: str | None
) -> None:
    tool = tmp_path / "vulkaninfo"
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert ThisHost(os.environ).ask(VULKANINFO) == expected


def test_no_tool_is_no_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert ThisHost(os.environ).ask(MESA_PACKAGE) is None

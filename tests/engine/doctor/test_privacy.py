"""No user name, home folder or hardware id leaves the doctor."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.doctor.text import markdown, table
from engine.doctor.answer import EngineAnswer
from engine.doctor.host import RecordedHost
from engine.doctor.privacy import LONGEST, scrubbed
from engine.doctor.reading import read_facts
from tests.engine.doctor.conftest import INSTALL, backend, device, diagnose, hello
from tests.fakes.sysroot import Entry, machines, write

UUID = "5f0c8a3e-9a77-4c1b-8a39-0d6c1f2b7e55"
UNIQUE, MACHINE = "d7f3a1b2c4e59f01", "0123456789abcdef0123456789abcdef"
SERIAL = "FVAA21840C7B"
ALICE = {"HOME": "/home/alice", "USER": "alice"}
SECRETS = ("alice", UUID, UNIQUE, MACHINE, SERIAL)


def poisoned(root: Path) -> None:
    """Everything that a real machine has and a report must not."""
    for path, text in {
        "sys/class/dmi/id/product_serial": SERIAL,
        "sys/class/dmi/id/product_uuid": UUID,
        "sys/class/dmi/id/product_name": f"alice's machine {SERIAL}",
        "sys/class/drm/card0/device/unique_id": UNIQUE,
        "sys/class/drm/card1/device/unique_id": UNIQUE,
        "sys/class/drm/card1/device/serial_number": SERIAL,
        "etc/machine-id": MACHINE,
        "etc/hostname": "alice-desktop",
        "etc/group": "render:x:105:alice",
        "opt/rocm/.info/version": "7.2.1",
        "proc/swaps": "Filename Type Size Used Priority\n/home/alice/swapfile file 8388604 0 -2",
        "proc/sys/kernel/hostname": "alice-desktop",
    }.items():
        write(root, Entry(path, text + "\n"))
    with (root / "proc/cmdline").open("a") as lines:
        lines.write(f" root=UUID={UUID} systemd.machine_id={MACHINE} user=alice\n")


def environment() -> dict[str, str]:
    return {
        **ALICE,
        "LD_PRELOAD": "/home/alice/lib/liballoc.so",
        "ROCR_VISIBLE_DEVICES": f"GPU-{UNIQUE}",
        "GGML_BACKEND_PATH": "/home/alice/plugins",
        "VK_DRIVER_FILES": "/data/alice/icd.json:/run/media/alice/USB/icd.json",
    }


@pytest.mark.parametrize("name", machines())
def test_no_name_and_no_number_gets_out(machine: Callable[[str], Path], name: str) -> None:
    root = machine(name)
    poisoned(root)
    error = f"/home/alice/backends/libggml-hip.so: undefined symbol in /var/home/alice/x, GPU {UNIQUE}"
    answer = hello((device(f"Radeon {UUID}", None),), (backend("CPU"), backend("Vulkan"), backend("ROCm", error)))
    facts = read_facts(root, RecordedHost(root), INSTALL, engine=answer, environ=environment())
    diagnosis = diagnose(facts)
    shown = [msgspec.json.encode(diagnosis).decode(), table(diagnosis), markdown(diagnosis, "0.1.0")]
    leaks = [secret for secret in SECRETS for text in shown if secret in text]
    assert not leaks
    assert "libggml-hip.so" in shown[0], "what matters stays"
    assert "ROCR_VISIBLE_DEVICES" in shown[0]


def test_an_engine_that_failed_may_name_folders(machine: Callable[[str], Path]) -> None:
    root = machine("rx7900xtx")
    answer = EngineAnswer(None, "The file /home/alice/app/worker.py is missing.", "Look at /home/alice/app.")
    diagnosis = diagnose(read_facts(root, RecordedHost(root), INSTALL, engine=answer, environ=ALICE))
    found = diagnosis.checks[0]
    assert (found.found, found.advice) == ("The file ~/app/worker.py is missing.", "Look at ~/app.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/home/alice", "~"),
        ("/home/alice/a b", "~/a b"),
        ("see '/home/bob/x': no", "see '~/x': no"),
        ("/var/home/bob/x", "~/x"),
        ("/root/x and /rooted", "~/x and /rooted"),
        ("/run/media/bob/CARD/m.gguf", "/run/media/…/m.gguf"),
        ("/usr/lib/home/x", "/usr/lib/home/x"),
        ("/srv/alice/x", "/srv/…/x"),
        (f"GPU-{UNIQUE}", "GPU-…"),
        ("0000:03:00.0 163f 25753026560", "0000:03:00.0 163f 25753026560"),
        ("deadbeefdeadbeef", "deadbeefdeadbeef"),
        ("two\nlines\tand \x1b[31mred", "two lines and [31mred"),
    ],
)
def test_scrubbed(text: str, expected: str) -> None:
    assert scrubbed(text, ALICE) == expected


@given(st.text(), st.text(max_size=20), st.text(max_size=20))
def test_scrubbed_is_one_short_line(text: str, home: str, user: str) -> None:
    shown = scrubbed(text, {"HOME": home, "USER": user})
    assert len(shown) <= LONGEST
    assert "\n" not in shown
    assert shown.isprintable()

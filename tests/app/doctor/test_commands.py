"""``vramble doctor`` as a user runs it, and its texts."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.doctor.text import markdown, table
from engine.doctor.records import Check, Diagnosis, LeftOut, Status
from tests.fakes.fake_worker import worker_command
from tests.fakes.sysroot import build_sysroot

KEYS = {"id", "status", "found", "advice", "title", "fix", "survives"}
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def doctor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: Path) -> Run:
    """``doctor(machine, *arguments, worker=script)``: another process, on a recorded machine."""

    def run(machine: str, *arguments: str, worker: dict[str, Any] | None = None) -> subprocess.CompletedProcess[str]:
        monkeypatch.setenv("VRAMBLE_SYSROOT", str(build_sysroot(machine, tmp_path / machine)))
        if "VRAMBLE_WORKER_COMMAND" not in os.environ:
            monkeypatch.setenv("VRAMBLE_WORKER_COMMAND", worker_command(worker or {}, tmp_path))
        return subprocess.run(
            [sys.executable, "-P", "-m", "app.main", "doctor", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            cwd=repository,
            env=dict(os.environ),
            check=False,
        )

    return run


def checks(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, Any]]:
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert document.keys() == {"checks", "left_out"}
    assert all(check.keys() == KEYS for check in document["checks"])
    assert {check["status"] for check in document["checks"]} <= {"ok", "warn", "fail"}
    return {check["id"]: check for check in document["checks"]}


def test_json_of_a_card_that_vulkan_shows(doctor: Run) -> None:
    found = checks(doctor("rx7900xtx", "--json"))
    assert found["vulkan-devices"]["found"] == "Vulkan0: Fake Radeon (0000:03:00.0)"
    assert found["engine"]["status"] == "ok"
    assert found["rebar"]["status"] == "ok"


def test_exit_code_is_0_also_with_problems(doctor: Run) -> None:
    done = doctor("rx7900xtx_without_rebar", "--json")
    found = checks(done)
    assert found["render-node"]["status"] == "fail"
    assert found["render-node"]["fix"] == 'sudo usermod -aG render "$USER"'
    assert next(iter(found)) == "render-node", "worst first"


def test_a_worker_that_dies_is_a_finding(doctor: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VRAMBLE_WORKER_COMMAND", "/bin/sh -c 'echo log >&2; kill -ILL $$'")
    found = checks(doctor("steam_deck", "--json"))
    assert found["engine"]["status"] == "fail"
    assert found["engine"]["found"].startswith("This processor lacks instructions")


def test_a_worker_that_cannot_load_its_engine_says_why(doctor: Run) -> None:
    script = {"engine": "", "devices": [], "backends": [], "stderr": ["libllama.so.0 is missing."]}
    found = checks(doctor("steam_deck", "--json", worker=script))
    assert (found["engine"]["status"], found["engine"]["found"]) == ("fail", "libllama.so.0 is missing.")


def test_without_the_engine_none_is_started(doctor: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mark = tmp_path / "started"
    monkeypatch.setenv("VRAMBLE_WORKER_COMMAND", f"/bin/sh -c 'touch {mark}'")
    done = doctor("laptop_sleeping_dgpu", "--json", "--no-engine")
    assert "engine" not in checks(done)
    reasons = {left["id"]: left["reason"] for left in json.loads(done.stdout)["left_out"]}
    assert reasons["engine"] == "The engine was not asked."
    assert not mark.exists()


def test_text_is_aligned_and_ends_in_a_sentence(doctor: Run) -> None:
    done = doctor("steam_deck_flatpak")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("FAIL  Access to the card  ")
    column = lines[0].index("AMD Custom")
    assert all(not line[:column].strip() or line[column - 2 : column] == "  " for line in lines[:-2])
    assert any(re.fullmatch(r" +\$ flatpak override --user --device=dri .*", line) for line in lines)
    assert any(line.strip() == "(This survives an update of SteamOS.)" for line in lines)
    assert lines[-2] == ""
    assert lines[-1].endswith("could be better.")


def test_report_is_a_table_without_folders(doctor: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GGML_BACKEND_PATH", f"{os.environ['HOME']}/plugins")
    done = doctor("no_gpu", "--report")
    assert done.returncode == 0
    assert done.stdout.startswith("### vramble doctor (")
    assert "| warn | driver | No AMD graphics card was found. |" in done.stdout
    assert os.environ["HOME"] not in done.stdout
    assert "~/plugins" in done.stdout


def test_json_and_report_are_two_things(doctor: Run) -> None:
    assert doctor("no_gpu", "--json", "--report").returncode == 2


def test_neither_qt_nor_the_engine_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VRAMBLE_WORKER_COMMAND", "/bin/false")
    done = subprocess.run(
        [sys.executable, "-P", "-X", "importtime", "-m", "app.main", "doctor"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=dict(os.environ),
        timeout=120,
        check=False,
    )
    rows = [row for row in done.stderr.splitlines() if row.startswith("import time:")]
    modules = {row.rpartition("|")[2].strip().partition(".")[0] for row in rows}
    assert "msgspec" in modules
    assert not modules & {"PySide6", "llama_cpp", "huggingface_hub"}


def diagnosis() -> Diagnosis:
    bad = Check(
        id="gtt",
        title="GTT limit",
        status=Status.WARN,
        found="x|y `z` " + "word " * 40,
        advice="Do this.",
        fix="echo " + "a" * 150,
        survives=False,
    )
    return Diagnosis(checks=(bad,), left_out=(LeftOut(id="flatpak", title="Flatpak", reason="Not inside Flatpak."),))


def test_the_line_to_copy_stays_whole() -> None:
    lines = table(diagnosis(), width=60).splitlines()
    (copied,) = [line for line in lines if "$ " in line]
    assert copied.strip() == "$ echo " + "a" * 150
    assert all(len(line) <= 60 for line in lines if line != copied)
    assert "(This does not survive an update of SteamOS.)" in " ".join(" ".join(lines).split())
    assert "-     Flatpak    Not inside Flatpak." in lines


@pytest.mark.parametrize("width", [1, 20, 300])
def test_any_width_will_do(width: int) -> None:
    assert "Do this." in table(diagnosis(), width=width)


def test_nothing_at_all() -> None:
    assert table(Diagnosis(checks=())) == "\nEverything is as it should be."


def test_cells_cannot_break_the_table() -> None:
    (row,) = [line for line in markdown(diagnosis(), "1").splitlines() if "gtt" in line]
    assert row.startswith("| warn | gtt | x\\|y \\`z\\` word")

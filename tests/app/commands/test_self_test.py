"""``vramble chat MODEL --self-test`` with the fake worker, and once with the real one."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.app.commands.conftest import one_line
from tests.fakes.fake_worker import journal_entries
from tests.fakes.tiny_gguf import tiny_llama

Vramble = Callable[..., subprocess.CompletedProcess[str]]
Script = Callable[..., None]


def test_an_agreeing_device(fake_worker: Script, vramble: Vramble, model: str, tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    fake_worker(journal=str(journal))
    done = vramble("chat", model, "--self-test")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Self-test: ok\n")
    assert "Device: Fake Radeon (Vulkan)" in done.stdout
    asked = [entry["frame"] for entry in journal_entries(journal) if entry.get("frame", {}).get("type") == "self_test"]
    assert [bool(frame.get("reference")) for frame in asked] == [False, True]
    assert not [entry for entry in journal_entries(journal) if entry.get("frame", {}).get("type") == "generate"]


def test_a_disagreeing_device(fake_worker: Script, vramble: Vramble, model: str) -> None:
    fake_worker(self_test={"probe": "wrong"})
    done = vramble("chat", model, "--self-test")
    assert done.returncode == 1
    assert "After 24 tokens: device 500, CPU 10" in done.stdout
    assert "answers may be nonsense" in one_line(done.stderr)


def test_json(fake_worker: Script, vramble: Vramble, model: str) -> None:
    fake_worker(self_test={"probe": "nan"})
    done = vramble("chat", model, "--self-test", "--json")
    document = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (1, "")
    assert document["outcome"] == "no-numbers"
    assert set(document) == {"outcome", "detail", "device", "device_seconds", "cpu_seconds"}


def test_a_test_that_kills_the_engine(fake_worker: Script, vramble: Vramble, model: str) -> None:
    fake_worker(self_test={"after": 0, "signal": "SIGSEGV"})
    done = vramble("chat", model, "--self-test")
    assert (done.returncode, done.stdout) == (1, "")
    assert "The engine crashed" in one_line(done.stderr)


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_real_model_on_the_cpu(vramble: Vramble, tmp_path: Path, flags: list[str]) -> None:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(tiny_llama())
    done = vramble("chat", str(path), "--self-test", "--ctx", "128", *flags)
    assert done.returncode == 0, done.stderr
    assert "ok" in done.stdout

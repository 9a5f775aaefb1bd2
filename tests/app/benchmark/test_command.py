"""``vramble bench``: contract of its JSON, what it keeps, how it fails."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.fake_worker import journal_entries, worker_command
from tests.fakes.tiny_gguf import tiny_llama

CONTRACT = {"runs", "prefill_tps", "decode_tps", "device", "backend", "build", "roofline_tps", "roofline_share"}
"""Keys that scripts rely on (design.md, 7)."""


class Command:
    """Runs the command with a fake worker, or with the real one."""

    def __init__(self, folder: Path, script: dict[str, Any] | None) -> None:
        self.folder = folder
        self.model = folder / "tiny.gguf"
        self.model.write_bytes(tiny_llama())
        self.journal = folder / "journal"
        self.env = {**os.environ, "VRAMBLE_HOME": str(folder / "home"), "OMP_WAIT_POLICY": "passive"}
        if script is not None:
            self.env["VRAMBLE_WORKER_COMMAND"] = worker_command({"journal": str(self.journal), **script}, folder)

    def __call__(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-P", "-m", "app.main", "bench", str(self.model), *arguments]
        root = str(Path(__file__).resolve().parents[3])
        env = {**self.env, "PYTHONPATH": root}
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == code, done.stderr
        return done

    def interrupted(self, after: int) -> tuple[int, str, str]:
        """Ctrl+C once so many tests were begun: exit code, output, errors."""
        command = [sys.executable, "-P", "-m", "app.main", "bench", str(self.model)]
        env = {**self.env, "PYTHONPATH": str(Path(__file__).resolve().parents[3])}
        process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 60
        while self.begun() < after and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
        return process.returncode, output, errors

    def begun(self) -> int:
        """Tests that the worker was asked for."""
        return sum(entry.get("frame", {}).get("test") is not None for entry in journal_entries(self.journal))

    def json(self, *arguments: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self(*arguments, "--json").stdout)
        return found

    def loads(self) -> list[dict[str, Any]]:
        frames = [entry.get("frame", {}) for entry in journal_entries(self.journal)]
        return [frame["options"] for frame in frames if frame.get("type") == "load"]


def test_the_contract(tmp_path: Path) -> None:
    found = Command(tmp_path, {"bench": {"speed": 40.0, "power": 80.0, "ram": 20e9}}).json()
    assert set(found) >= CONTRACT
    assert found["decode_tps"] == {"median": 40.0, "spread": [40.0, 40.0]}
    assert (found["device"], found["backend"]) == ("Fake Radeon", "Vulkan")
    assert [run["decode_tps"] for run in found["runs"]] == [40.0] * 3
    assert found["runs"][0] == {
        "test": "pp1+tg512", "depth": 0, "prompt_tokens": 1, "generated_tokens": 512, "prefill_tps": 400.0,
        "decode_tps": 40.0, "power_w": 80.0,
    }  # fmt: skip
    assert found["roofline_tps"] is None, "nothing is known of this card's memory"
    assert found["bytes_per_token"] > 0
    assert found["tokens_per_joule"] == 0.5
    assert found["published"], "for orientation"


@pytest.mark.slow
def test_by_the_real_engine_on_the_cpu(tmp_path: Path) -> None:
    found = Command(tmp_path, None).json("--device", "cpu", "--runs", "2", "--threads", "1")
    assert len(found["runs"]) == 2
    assert found["backend"] == "CPU"
    low, high = found["decode_tps"]["spread"]
    assert 0 < low <= found["decode_tps"]["median"] <= high
    assert found["roofline_tps"] > 0
    assert found["roofline_share"] == pytest.approx(found["decode_tps"]["median"] / found["roofline_tps"], abs=2e-3)
    assert found["build"]
    assert found["options"]["n_threads"] == 1


def test_a_comparison_takes_turns_and_names_the_winner(tmp_path: Path) -> None:
    command = Command(tmp_path, {"bench": {"speed": {"Vulkan": 50.0, "CPU": 10.0}}})
    found = command.json("--compare", "devices", "--runs", "2")
    assert [options["device"] for options in command.loads()] == ["cpu", "0000:03:00.0"] * 2
    assert found["winner"] == "Vulkan"
    assert found["winner_clear"]
    assert found["decode_tps"]["median"] == 50.0
    assert {variant["label"] for variant in found["variants"]} == {"Vulkan", "CPU"}


def test_guesses_are_compared_and_told(tmp_path: Path) -> None:
    script = {"bench": [{}, {"speed": 20.0}, {"speed": 30.0, "drafted": 8, "accepted": 6}]}
    command = Command(tmp_path, script)
    found = command.json("--compare", "guesses", "--runs", "1")
    assert [options["ngram"] for options in command.loads()] == [False, True]
    assert found["winner"] == "n-gram lookup"
    plain, guessed = (variant["tests"][0] for variant in found["variants"])
    assert (plain["drafted"], plain["accepted"], plain["accepted_rate"]) == (None, None, None)
    assert (guessed["drafted"], guessed["accepted"], guessed["accepted_rate"]) == (8, 6, 0.75)
    text = Command(tmp_path, script)("--compare", "guesses", "--runs", "1").stdout
    assert "guesses right" in text
    assert "6 of 8 (75%)" in text
    assert "guesses right" not in Command(tmp_path, {})().stdout


def test_the_tests_of_llama_bench(tmp_path: Path) -> None:
    found = Command(tmp_path, {}).json("--protocol", "llama-bench", "--runs", "1")
    assert [test["test"] for test in found["tests"]] == ["pp512", "tg128"]
    assert {item["test"] for item in found["left_out"]} == {
        "pp512 @ d4096", "tg128 @ d4096", "pp512 @ d16384", "tg128 @ d16384",
    }  # fmt: skip
    assert found["prefill_tps"]["median"] == 200.0


def test_figures_are_kept_and_the_next_ones_compared(tmp_path: Path) -> None:
    command = Command(tmp_path, {"runs": [{"bench": {"speed": 40.0}}, {"bench": {"speed": 44.0}}]})
    assert command.json("--no-history")["tests"][0]["change"] is None
    command = Command(tmp_path, {"runs": [{"bench": {"speed": 40.0}}, {"bench": {"speed": 44.0}}]})
    assert command.json()["tests"][0]["change"] is None
    assert command.json()["tests"][0]["change"]["decode"] == pytest.approx(0.1)


def test_text_and_markdown(tmp_path: Path) -> None:
    command = Command(tmp_path, {"bench": {"speed": 41.2, "power": 50.0}})
    text = command().stdout
    assert "41.2" in text
    assert "Published by others" in text
    marked = command("--markdown").stdout
    assert "| 41.2 |" in marked
    assert "| --- | --- | ---: |" in marked


def test_a_variant_that_kills_the_engine_does_not_end_the_others(tmp_path: Path) -> None:
    command = Command(tmp_path, {"runs": [{"load": {"signal": "SIGABRT", "after": 1}}, {}]})
    found = command.json("--compare", "devices", "--runs", "1")
    first, second = found["variants"]
    assert first["error"]
    assert second["decode_tps"]["median"] == 20.0


def test_ctrl_c_ends_it_with_what_was_measured(tmp_path: Path) -> None:
    slow = {"delay": 0.5}
    code, output, errors = Command(tmp_path, {"bench": [{}, {"speed": 41.2}, slow]}).interrupted(after=2)
    assert code == 1
    assert "41.2" in output
    assert errors == "vramble: Stopped before the end.\n"


def test_ctrl_c_before_the_first_figure(tmp_path: Path) -> None:
    code, output, errors = Command(tmp_path, {"bench": [{}, {"delay": 0.5}]}).interrupted(after=1)
    assert (code, output) == (1, "")
    assert errors == "vramble: Stopped before the first figure.\n"


def test_what_cannot_be_loaded_fails_in_one_line(tmp_path: Path) -> None:
    fail = {"code": "not-gguf", "message": "This is no model.", "next_step": "Take another.", "detail": ""}
    done = Command(tmp_path, {"load": {"fail": fail}})(code=1)
    assert done.stderr == "vramble: This is no model. Take another.\n"
    assert done.stdout == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("--compare", "micro-batch"),
        ("--compare", "guesses", "--protocol", "llama-bench"),
        ("--runs", "0"),
        ("--runs", "1000"),
        ("--protocol", "other"),
        ("--compare", "nothing"),
    ],
)
def test_wrong_use(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    Command(tmp_path, {})(*arguments, code=2)


def test_one_device_is_nothing_to_compare(tmp_path: Path) -> None:
    cpu = {
        "id": "CPU", "backend": "CPU", "name": "P", "pci": None, "kind": "cpu", "memory_total": None,
        "memory_free": None, "usable": True,
    }  # fmt: skip
    done = Command(tmp_path, {"devices": [cpu]})("--compare", "devices", code=1)
    assert "only one device" in done.stderr

"""A short round of `tests.bench.random_kills`, in a process of its own as the bench runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

KILLS, WINDOW_KILLS = 10, 3


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_nothing_is_lost_stuck_or_left(repository: Path, tmp_path: Path) -> None:
    figures = tmp_path / "kills.json"
    command = [sys.executable, "-m", "tests.bench.random_kills", "--json", figures, "--seed", "7"]
    command += ["--kills", KILLS, "--window-kills", WINDOW_KILLS]
    environ = {**os.environ, "OMP_WAIT_POLICY": "passive"}
    done = subprocess.run(
        [str(word) for word in command], cwd=repository, env=environ, capture_output=True, text=True, timeout=580
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(figures.read_text())
    assert (found["worker"]["kills"], found["window"]["kills"]) == (KILLS, WINDOW_KILLS)
    for part in ("worker", "window"):
        assert (found[part]["lost"], found[part]["stuck"], found[part]["orphans"]) == ([], [], [])
    assert len(found["worker"]["moments"]) >= 3

"""A move that is killed at any moment leaves the original whole."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engine.library.copying import temporary
from engine.library.leftovers import sweep
from engine.library.scan import scan
from tests.engine.library.making import llama
from tests.fakes.model_homes import put

PROGRAM = """
import sys
from pathlib import Path
from engine.library import copying, hashing, transfer
from engine.library.copying import Pair
from engine.library.hashing import Progress

class Stepping(Progress):
    def add(self, n_bytes):
        super().add(n_bytes)
        print("step", flush=True)
        sys.stdin.readline()

transfer._same_drive = lambda source, folder: False
copying.BLOCK = 4096
hashing.BLOCK = 4096
source, target = map(Path, sys.argv[1:])
transfer.move_files([Pair(source, target)], Stepping(), transfer.Room())
print("done", flush=True)
"""

ROOT = Path(__file__).resolve().parents[3]
DATA = llama() + bytes(40_000)
STEPS = 2 * -(-len(DATA) // 4096)


def run(source: Path, target: Path, steps: int) -> str:
    """Let the move take ``steps`` steps, then kill it; gives the last line that it wrote."""
    child = subprocess.Popen(
        [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{PROGRAM}", source, target],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    with child.stdin, child.stdout:
        line = child.stdout.readline()
        for _ in range(steps):
            if line == "step\n":
                child.stdin.write("\n")
                child.stdin.flush()
                line = child.stdout.readline()
        child.send_signal(signal.SIGKILL)
        child.wait()
    return line.strip()


@pytest.mark.parametrize("steps", [0, 1, STEPS // 2 - 1, STEPS // 2, STEPS - 1])
def test_killed_after_any_block(tmp_path: Path, steps: int) -> None:
    source, target = put(tmp_path / "here/m.gguf", DATA), tmp_path / "there/m.gguf"
    assert run(source, target, steps) == "step"
    assert source.read_bytes() == DATA
    assert not target.exists()
    assert temporary(target).exists()
    assert scan(target.parent).models == ()
    assert sweep([temporary(target)]) == 1
    assert list(target.parent.iterdir()) == []


def test_not_killed_it_is_done(tmp_path: Path) -> None:
    source, target = put(tmp_path / "here/m.gguf", DATA), tmp_path / "there/m.gguf"
    assert run(source, target, STEPS) == "done"
    assert (target.read_bytes(), source.exists()) == (DATA, False)

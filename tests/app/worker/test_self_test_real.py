"""Self-tests of the window with the real engine on a real graphics path: a healthy device, and one that is not."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.worker import self_test
from engine.protocol.types import DeviceKind, LoadOptions
from tests.app.worker.self_test_world import World
from tests.fakes.tiny_gguf import small_llama

ROOT = Path(__file__).resolve().parents[3]
FAULTY = ROOT / "tests" / "fakes" / "faulty_worker.py"


@pytest.fixture
def make_world(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], World]]:
    """A world whose device computes as ``mode`` of the faulty worker says; its CPU is right."""
    monkeypatch.setattr(self_test, "REST_MS", 10)
    made: list[World] = []

    def make(mode: str) -> World:
        right = f"{shlex.quote(sys.executable)} -P -m engine.worker"
        wrong = f"{shlex.quote(sys.executable)} {shlex.quote(str(FAULTY))} {mode}"
        script = f'if [ -n "$VRAMBLE_BACKENDS_OFF" ]; then exec {right}; else exec {wrong}; fi'
        environ = {
            **os.environ,
            "VRAMBLE_WORKER_COMMAND": shlex.join(["sh", "-c", script]),
            "VRAMBLE_ALLOW_SOFTWARE_GPU": "1",
        }
        world = World(tmp_path, qtbot, {}, environ)
        made.append(world)
        return world

    yield make
    for world in made:
        world.end()


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "outcome"), [("none", "ok"), ("garbage", "disagrees"), ("nan", "no-numbers")])
def test_verdict(make_world: Callable[[str], World], tmp_path: Path, mode: str, outcome: str) -> None:
    world = make_world(mode)
    path = tmp_path / "small.gguf"
    path.write_bytes(small_llama())
    world.service.start()
    world.until(lambda: world.service.hello is not None, timeout=30_000)
    hello = world.service.hello
    assert hello is not None
    device = next(device for device in hello.devices if device.kind is DeviceKind.SOFTWARE)
    world.load(path, LoadOptions(device=device.id, n_ctx=256, n_threads=1))
    world.until(lambda: bool(world.judged), timeout=60_000)
    assert world.judged[0].outcome == outcome, world.judged[0]
    assert world.judged[0].device == device.name
    assert [entry.outcome for entry in world.kept] == [outcome]
    texts = [notice.text for notice in world.warnings]
    assert len(texts) == (outcome != "ok")
    assert all("Update the graphics driver" in text for text in texts), "safer settings are for GPUs"
    world.until(lambda: not world.tests.comparing)

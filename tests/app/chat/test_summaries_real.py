"""Summaries with the real worker and the starter model, where it is installed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.chat.settings import ContextPolicy
from engine.chat.records import Status
from engine.protocol.frames import Failed, Loaded
from engine.protocol.types import LoadOptions
from tests.app.chat.test_with_worker import World

STARTER = sorted((Path(sys.prefix) / "share/vramble/starter").glob("*.gguf"))
TEXT = "The tide tables say that the sea comes back at four, that the boat leaves at five and that nobody waits. "

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not STARTER, reason="the starter model is not installed")]


@pytest.fixture
def world(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("VRAMBLE_HOME", str(tmp_path))
    monkeypatch.setenv("OMP_WAIT_POLICY", "passive")
    made = World(qtbot)
    yield made
    made.close()


def test_a_small_context_goes_on_with_a_summary(world: World, qtbot: QtBot) -> None:
    ends: list[Loaded | Failed] = []
    world.worker.load(STARTER[0], LoadOptions(n_ctx=512, device="cpu", n_threads=1), ends.append)
    qtbot.waitUntil(lambda: bool(ends), timeout=120_000)
    assert isinstance(ends[0], Loaded)
    world.chat.parameters.change(overflow=ContextPolicy.SUMMARISE, max_tokens=24, temperature=0.0)
    for number in range(6):
        assert world.chat.send(f"{number}: {TEXT * 2} When does the boat leave?")
        qtbot.waitUntil(lambda: not world.chat.busy, timeout=240_000)
        assert (world.rows[-1].status, world.rows[-1].error) == (Status.DONE, None)
    summaries = [row.summary for row in world.rows if row.summary]
    assert summaries
    last = world.rows[-1]
    assert last.settings is not None
    assert last.settings.begun_at in [row.id for row in world.rows if row.summary]
    assert last.stats is not None
    assert last.stats.prompt_tokens < 512

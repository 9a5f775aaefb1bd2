"""A model is parked and comes back, with the real worker: its conversations go on from their KV caches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.jobs import SerialRunner, ThreadExecutor
from app.memory.parking import Parking
from app.notices import Notices
from app.paths import Paths
from app.settings.store import SettingsStore
from app.worker.service import WorkerService
from engine.client.session import WorkerState
from engine.protocol.frames import Finished, Loaded
from engine.protocol.types import ChatMessage, LoadOptions, Sampling
from tests.app.worker.conftest import Answer
from tests.fakes.tiny_gguf import tiny_llama

OPTIONS = LoadOptions(n_ctx=2048, n_threads=1, n_parallel=2)
TALKS = {
    "tides": "What is the tide, and why does it come twice a day? " * 6,
    "moons": "How many moons are there? " * 12,
}
LIMIT_MS = 60_000


class Place:
    """A service with the real worker, and a parking in front of it."""

    def __init__(self, qtbot: QtBot, folder: Path) -> None:
        self.qtbot = qtbot
        paths = Paths(folder / "data", folder / "config", folder / "cache", folder / "state")
        self.notices = Notices()
        self.files = SerialRunner(ThreadExecutor("files"))
        store = SettingsStore(paths.settings, self.files, self.notices)
        self.worker = WorkerService(paths, self.files, self.notices, settings=store)
        self.parking = Parking(self.worker, self.notices, keep=self.worker.keep_caches)
        self.kv = paths.cache / "kv"

    def load(self, path: Path) -> None:
        answer = Answer()
        self.worker.load(path, OPTIONS, answer.ends.append)
        self.qtbot.waitUntil(lambda: bool(answer.ends), timeout=LIMIT_MS)
        assert isinstance(answer.end, Loaded)

    def ask(self, conversation: str, *more: str) -> Finished:
        """A turn of a conversation, with what was said before."""
        said = (TALKS[conversation], *more)
        messages = [
            ChatMessage(role="user" if place % 2 == 0 else "assistant", content=text) for place, text in enumerate(said)
        ]
        answer = Answer()
        self.worker.generate(
            messages,
            Sampling(temperature=0),
            8,
            (),
            answer.deltas.append,
            answer.progress.append,
            answer.ends.append,
            conversation=conversation,
        )
        self.qtbot.waitUntil(lambda: bool(answer.ends), timeout=LIMIT_MS)
        assert isinstance(answer.end, Finished), answer.end
        return answer.end

    def until_state(self, state: WorkerState) -> None:
        self.qtbot.waitUntil(lambda: self.worker.state is state, timeout=LIMIT_MS)


@pytest.fixture
def place(qtbot: QtBot, tmp_path: Path) -> Iterator[Place]:
    place = Place(qtbot, tmp_path)
    yield place
    place.worker.shutdown()
    place.files.close()


@pytest.mark.slow
def test_after_parking_and_restoring_the_next_turn_reads_only_what_is_new(place: Place, tmp_path: Path) -> None:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(tiny_llama())
    place.load(path)
    before = {name: place.ask(name).stats.prompt_tokens for name in TALKS}
    pid = place.worker.pid
    place.parking.park()
    place.until_state(WorkerState.STOPPED)
    assert place.parking.parked is not None
    assert len(list(place.kv.iterdir())) == len(TALKS)
    place.parking.restore()
    place.until_state(WorkerState.READY)
    assert place.worker.pid != pid
    for name, tokens in before.items():
        stats = place.ask(name, "So it is.", "And why?").stats
        assert stats.prompt_tokens > tokens
        assert stats.cached_tokens >= tokens - 8, "only the end of the template's prompt is read again"

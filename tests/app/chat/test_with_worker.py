"""The controller with the real worker service, the real database thread and a scripted worker process."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from app.chat.controller import ChatController
from app.chat.model_choice import ModelChoice
from app.chat.rows import MessageRow
from app.jobs import SerialRunner, ThreadExecutor
from app.notices import Notice, Notices
from app.paths import find_paths
from app.settings.records import EngineSettings
from app.settings.store import SettingsStore
from app.worker.service import WorkerService
from engine.chat.records import Status
from engine.chat.store import Store
from engine.client.session import WorkerState
from tests.fakes.fake_worker import worker_command

MODEL = "/models/Fake.gguf"


class World:
    """What `app.wiring` builds for the chat."""

    def __init__(self, qtbot: QtBot) -> None:
        self.qtbot = qtbot
        self.paths = find_paths()
        self.notices = Notices()
        self.posted: list[Notice] = []
        self.notices.posted.connect(self.posted.append)
        self.files = SerialRunner(ThreadExecutor("files"))
        self.database = SerialRunner(ThreadExecutor("database"))
        self.settings = SettingsStore(self.paths.settings, self.files, self.notices)
        self.settings.put(EngineSettings(last_model=MODEL))
        self.worker = WorkerService(self.paths, self.files, self.notices, settings=self.settings)
        self.choice = ModelChoice(self.worker, self.settings, lambda: None)
        self.chat = ChatController(
            self.worker, self.paths.database, self.database, self.settings, self.notices, self.choice.choose
        )
        self.chat.start()

    @property
    def rows(self) -> tuple[MessageRow, ...]:
        return self.chat.transcript.rows

    def wait(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(condition, timeout=60_000)

    def ask(self, text: str) -> MessageRow:
        """Send and wait for the end of the answer."""
        assert self.chat.send(text)
        self.wait(lambda: not self.chat.busy)
        return self.rows[-1]

    def close(self) -> list[tuple[str, Status]]:
        """End everything; what is on disk then."""
        done: list[None] = []
        self.chat.close(lambda: done.append(None))
        self.wait(lambda: bool(done))
        self.worker.shutdown()
        self.database.close()
        self.files.close()
        store = Store.open(self.paths.database)
        threads = [store.thread(conversation.id) for conversation in store.conversations()]
        store.close()
        return [(message.text, message.status) for thread in threads if thread for message in thread.messages]


@pytest.fixture
def play(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[dict[str, Any]], World]]:
    worlds: list[World] = []

    def started(script: dict[str, Any]) -> World:
        monkeypatch.setenv("VRAMBLE_WORKER_COMMAND", worker_command(script, tmp_path))
        worlds.append(World(qtbot))
        return worlds[-1]

    yield started
    for world in worlds:
        world.chat.keeping.upkeep.stop()
        world.worker.shutdown()
        world.database.close()
        world.files.close()
        for part in (world.chat, world.choice, world.worker, world.settings):
            part.deleteLater()
    worlds.clear()
    gc.collect()  # here, not on a thread of the next test


def test_the_last_model_is_loaded_and_answers(play: Callable[[dict[str, Any]], World]) -> None:
    world = play({"generate": {"text": "Hello from the worker 😀", "delay": 0.001}})
    answer = world.ask("Hi")
    assert (answer.text, answer.status) == ("Hello from the worker 😀", Status.DONE)
    assert answer.stats is not None
    assert world.worker.model is not None
    assert answer.author == world.worker.model.name
    assert world.posted == []
    assert world.close() == [("Hi", Status.DONE), ("Hello from the worker 😀", Status.DONE)]


def test_worker_death_in_mid_answer(play: Callable[[dict[str, Any]], World]) -> None:
    death = {"text": "one two three four", "after": 2, "signal": "SIGABRT", "stderr": ["GGML_ASSERT failed: here"]}
    world = play({"runs": [{"generate": death}, {"generate": {"text": "back again"}}]})
    broken = world.ask("Hi")
    assert broken.status is Status.FAILED
    assert broken.error
    assert "one" in broken.text
    details = [notice.detail for notice in world.posted]
    assert len(details) == 1
    assert "GGML_ASSERT failed: here" in details[0]
    assert world.ask("Go on").text == "back again"
    saved = world.close()
    assert saved[1] == (broken.text, Status.FAILED)
    assert saved[3] == ("back again", Status.DONE)


def test_safer_settings_after_a_lost_gpu_keep_the_partial_answer(play: Callable[[dict[str, Any]], World]) -> None:
    lost = {"text": "one two three four", "after": 2, "signal": "SIGABRT", "stderr": ["vk::DeviceLostError"]}
    world = play({"runs": [{"generate": lost}, {"load": {"signal": "SIGABRT"}}, {"generate": {"text": "whole"}}]})
    broken = world.ask("Hi")
    assert (broken.text.strip(), broken.status) == ("one two", Status.FAILED)
    world.posted[-1].actions[0].run()
    world.wait(lambda: world.worker.model is not None)
    assert world.worker.safe_mode is not None
    assert world.worker.safe_mode.in_use == ("The GPU reads prompts in steps of 64 tokens.",)
    assert world.rows[1].text == broken.text
    assert world.ask("Go on").text == "whole"
    assert world.close()[1] == (broken.text, Status.FAILED)


def test_kill_9_of_the_worker_loses_nothing(play: Callable[[dict[str, Any]], World]) -> None:
    world = play({"runs": [{"generate": {"text": "word " * 5000, "delay": 0.001}}, {"generate": {"text": "fine"}}]})
    world.chat.send("Hi")
    world.wait(lambda: len(world.rows) == 2 and len(world.rows[1].text) > 50)
    seen = world.rows[1].text
    assert world.worker.pid is not None
    os.kill(world.worker.pid, signal.SIGKILL)
    world.wait(lambda: not world.chat.busy)
    assert world.rows[1].status is Status.FAILED
    assert world.rows[1].text.startswith(seen)
    assert world.ask("Go on").text == "fine"


def test_stop_and_regenerate(play: Callable[[dict[str, Any]], World]) -> None:
    world = play({"generate": [{"text": "word " * 5000, "delay": 0.001}, {"text": "short"}]})
    world.chat.send("Hi")
    world.wait(lambda: len(world.rows) == 2 and "word" in world.rows[1].text)
    world.chat.stop()
    world.wait(lambda: not world.chat.busy)
    assert world.rows[1].status is Status.STOPPED
    world.chat.regenerate()
    world.wait(lambda: not world.chat.busy)
    assert (world.rows[1].text, world.rows[1].version, world.rows[1].versions) == ("short", 2, 2)


def test_a_model_that_cannot_be_loaded(play: Callable[[dict[str, Any]], World]) -> None:
    failure = {"code": "not-found", "message": "The file is gone.", "next_step": "Choose another model."}
    world = play({"load": {"fail": failure}})
    answer = world.ask("Hi")
    assert (answer.status, answer.error) == (Status.FAILED, "The file is gone. Choose another model.")
    assert world.close()[0] == ("Hi", Status.DONE)


def test_quit_in_mid_answer_keeps_it(play: Callable[[dict[str, Any]], World]) -> None:
    world = play({"generate": {"text": "word " * 5000, "delay": 0.001}})
    world.chat.send("Hi")
    world.wait(lambda: len(world.rows) == 2 and len(world.rows[1].text) > 50)
    seen = world.rows[1].text
    saved = world.close()
    assert saved[1][1] is Status.STOPPED
    assert saved[1][0].startswith(seen)


def test_sending_while_the_window_loads_another_model(play: Callable[[dict[str, Any]], World]) -> None:
    """Case 115: the message waits for the load that runs, and no second load begins."""
    world = play({"load": {"steps": 20, "delay": 0.01}, "generate": {"text": "from the chosen one"}})
    loads: list[object] = []
    world.worker.load(Path("/models/Other.gguf"), EngineSettings().load_options(), loads.append)
    world.wait(lambda: world.worker.state is WorkerState.LOADING)
    assert world.ask("Hi").text == "from the chosen one"
    assert len(loads) == 1
    assert world.worker.last_load is not None
    assert world.worker.last_load[0] == Path("/models/Other.gguf")


def test_the_model_gives_the_title_when_it_is_idle(play: Callable[[dict[str, Any]], World]) -> None:
    world = play({"generate": {"text": "Walrus facts"}})
    world.chat.keeping.titling.look = world.worker.look
    world.ask("What is a walrus?")
    world.wait(lambda: [one.title for one in world.chat.conversations.rows] == ["Walrus facts"])
    assert world.worker.idle
    assert world.close() == [("What is a walrus?", Status.DONE), ("Walrus facts", Status.DONE)]

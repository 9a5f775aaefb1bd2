"""Conversations over restarts of the real worker: the KV cache comes back from a file, and only where it may."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.kv_files.names import ENDING, file_name
from engine.protocol.caching import CachePolicy
from engine.protocol.frames import Finished, Forget, Load, Loaded
from engine.protocol.types import ChatMessage, KvType, LoadOptions
from tests.engine.worker.conftest import StartWorker
from tests.engine.worker.driver import Worker, assistant, user
from tests.fakes.tiny_recurrent import mamba
from tests.fakes.tiny_windowed import windowed

TALK = user("What is the tide, and why does it come twice a day? " * 3)
MORE = user("And the moon?")


@pytest.fixture(scope="module", params=["llama", "windowed", "recurrent"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, models: Path) -> Path:
    if request.param == "llama":
        return models / "small.gguf"
    path = tmp_path_factory.mktemp("models") / "model.gguf"
    path.write_bytes({"windowed": windowed, "recurrent": mamba}[request.param]())
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kv"


def load(worker: Worker, path: Path, folder: Path, disk: int = 1 << 28, **options: object) -> None:
    request = Load(
        id=worker.new_id(),
        path=str(path),
        options=LoadOptions(**{"n_threads": 1, "n_ctx": 512, **options}),  # type: ignore[arg-type]
        cache=CachePolicy(disk=disk, folder=str(folder)),
    )
    worker.send(request)
    end = worker.until_terminal(request.id)[1]
    assert isinstance(end, Loaded), end


def ask(worker: Worker, *messages: ChatMessage, conversation: str = "c", **more: object) -> tuple[str, Finished]:
    return worker.finished(*messages, max_tokens=12, conversation=conversation, **more)


def files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.exists() else []


def test_a_conversation_goes_on_after_a_restart(start_worker: StartWorker, model: Path, folder: Path) -> None:
    before = start_worker()
    load(before, model, folder)
    text, end = ask(before, TALK)
    assert before.close() == 0
    (path,) = files(folder)
    assert path.suffix == ENDING
    after = start_worker()
    load(after, model, folder)
    again, restored = ask(after, TALK, assistant(text), MORE)
    if model.name == "small.gguf":
        assert restored.stats.cached_tokens >= end.stats.prompt_tokens > 64
    load(after, model, folder, disk=0)
    computed, fresh = ask(after, TALK, assistant(text), MORE)
    assert fresh.stats.cached_tokens == 0
    assert again == computed


def test_the_same_prompt_after_a_restart(start_worker: StartWorker, models: Path, folder: Path) -> None:
    path = models / "small.gguf"
    before = start_worker()
    load(before, path, folder)
    text, end = ask(before, TALK)
    before.unload()
    load(before, path, folder)
    again, restored = ask(before, TALK)
    assert again == text
    assert restored.stats.cached_tokens == end.stats.prompt_tokens - 1


def test_what_must_not_be_read(start_worker: StartWorker, models: Path, folder: Path) -> None:
    path = models / "small.gguf"
    worker = start_worker()
    load(worker, path, folder)
    ask(worker, TALK)
    load(worker, path, folder, kv_type_k=KvType.Q8_0)
    assert ask(worker, TALK)[1].stats.cached_tokens == 0
    load(worker, path, folder)
    assert ask(worker, TALK, conversation="d")[1].stats.cached_tokens == 0
    load(worker, path, folder, n_ctx=256)
    assert ask(worker, TALK)[1].stats.cached_tokens > 0, "a shorter context takes what fits into it"


def test_a_damaged_file_is_computed_again_and_goes(start_worker: StartWorker, models: Path, folder: Path) -> None:
    worker = start_worker()
    load(worker, models / "small.gguf", folder)
    text, _ = ask(worker, TALK)
    worker.unload()
    (path,) = files(folder)
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)
    load(worker, models / "small.gguf", folder)
    again, end = ask(worker, TALK)
    assert (again, end.stats.cached_tokens) == (text, 0)
    assert files(folder) == []


def test_temporary_conversations_leave_nothing(start_worker: StartWorker, models: Path, folder: Path) -> None:
    worker = start_worker()
    load(worker, models / "small.gguf", folder)
    ask(worker, TALK, temporary=True)
    ask(worker, TALK, conversation="other", temporary=True)
    ask(worker, TALK, conversation="")
    assert worker.close() == 0
    assert files(folder) == []


def test_a_deleted_conversation_is_gone_everywhere(start_worker: StartWorker, models: Path, folder: Path) -> None:
    path = models / "small.gguf"
    worker = start_worker()
    load(worker, path, folder)
    ask(worker, TALK)
    ask(worker, MORE, conversation="d")
    worker.unload()
    load(worker, path, folder)
    ask(worker, TALK)
    ask(worker, user("Something else, of the same length or so. " * 3), conversation="e")
    assert [found.name.split("-")[0] for found in files(folder)] == [file_name("c", "").split("-")[0]]
    worker.send(Forget(conversations=("c", "e")))
    assert ask(worker, TALK)[1].stats.cached_tokens == 0
    worker.send(Forget(conversations=("c",)))
    assert worker.close() == 0
    assert files(folder) == []

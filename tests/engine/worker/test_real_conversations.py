"""The real worker going back and forth between conversations: what is reused, and that the words stay the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.protocol.caching import CachePolicy
from engine.protocol.frames import Finished, Load, Loaded
from engine.protocol.types import ChatMessage, LoadOptions
from engine.worker.prompt import OPENING
from tests.engine.worker.driver import Worker, assistant, user
from tests.fakes.tiny_gguf import small_llama
from tests.fakes.tiny_recurrent import mamba
from tests.fakes.tiny_windowed import windowed

MEMORY = 64 << 20
QUESTIONS = [
    user(f"Question about {topic}, and then some: " + f"{topic} " * 12) for topic in ("ships", "maps", "bells")
]
MAKERS: dict[str, Callable[[], bytes]] = {"llama": small_llama, "windowed": windowed, "recurrent": mamba}


@pytest.fixture(scope="module", params=MAKERS)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / f"{request.param}.gguf"
    path.write_bytes(MAKERS[request.param]())
    return path


def load(worker: Worker, path: Path, **policy: object) -> None:
    request = Load(
        id=worker.new_id(),
        path=str(path),
        options=LoadOptions(n_threads=1, n_ctx=512),
        cache=CachePolicy(**{"memory": MEMORY, **policy}),  # type: ignore[arg-type]
    )
    worker.send(request)
    end = worker.until_terminal(request.id)[1]
    assert isinstance(end, Loaded), end


def ask(worker: Worker, conversation: str, *messages: ChatMessage, tokens: int = 12) -> tuple[str, Finished]:
    text, end = worker.finished(*messages, max_tokens=tokens, conversation=conversation)
    return text, end


def alone(worker: Worker, path: Path, *messages: ChatMessage) -> str:
    """The answer to ``messages`` in an empty context."""
    load(worker, path, memory=0)
    text, end = ask(worker, "", *messages)
    assert end.stats.cached_tokens == 0
    return text


def test_back_and_forth_computes_nothing_again(worker: Worker, model: Path) -> None:
    load(worker, model)
    talks = [[question] for question in QUESTIONS]
    known = []
    for number, talk in enumerate(talks):
        text, end = ask(worker, f"c{number}", *talk)
        assert end.stats.cached_tokens < 64
        known.append(end.stats.prompt_tokens - OPENING)
        talk += [assistant(text), user("Go on.")]
    told = []
    for number, talk in enumerate(talks):
        text, end = ask(worker, f"c{number}", *talk)
        told.append(text)
        assert end.stats.cached_tokens >= known[number] > 64
    assert told == [alone(worker, model, *talk) for talk in talks]


def test_without_a_budget_it_is_computed_again(worker: Worker, model: Path) -> None:
    load(worker, model, memory=0)
    ask(worker, "a", QUESTIONS[0])
    ask(worker, "b", QUESTIONS[1])
    assert ask(worker, "a", QUESTIONS[0])[1].stats.cached_tokens < 64


def test_the_one_not_used_for_long_goes_first(worker: Worker, models: Path) -> None:
    path = models / "small.gguf"
    load(worker, path)
    size = _size_of_one(worker, path)
    load(worker, path, memory=size * 3 // 2)
    for name, question in zip("abc", QUESTIONS, strict=True):
        ask(worker, name, question)
    assert ask(worker, "b", QUESTIONS[1])[1].stats.cached_tokens > 64
    assert ask(worker, "a", QUESTIONS[0])[1].stats.cached_tokens < 64


def _size_of_one(worker: Worker, path: Path) -> int:
    """Bytes of the KV cache of one question: two layers of keys and values in f16."""
    _, end = ask(worker, "x", QUESTIONS[0])
    return (end.stats.prompt_tokens + 12) * 2 * 2 * 256 * 2


def test_an_edited_message_keeps_what_stands_before_it(worker: Worker, model: Path) -> None:
    load(worker, model)
    first, _ = ask(worker, "a", QUESTIONS[0])
    talk = [QUESTIONS[0], assistant(first), user("Tell me of the harbour and of the lighthouse behind it.")]
    second, _ = ask(worker, "a", *talk)
    ask(worker, "a", *talk, assistant(second), user("And then?"))
    edited = [*talk[:2], user("Rather tell me of the market."), assistant("No."), user("And then?")]
    text, end = ask(worker, "a", *edited)
    assert end.stats.cached_tokens > 64, "the first turn is kept, by a checkpoint where the memory cannot go back"
    assert text == alone(worker, model, *edited)


def test_the_last_prompt_again_computes_little(worker: Worker, model: Path) -> None:
    load(worker, model)
    text, _ = ask(worker, "a", QUESTIONS[0])
    again, end = ask(worker, "a", QUESTIONS[0])
    assert again == text
    assert end.stats.prompt_tokens - end.stats.cached_tokens <= OPENING


def test_conversations_without_a_name_are_kept_too(worker: Worker, model: Path) -> None:
    load(worker, model)
    ask(worker, "", QUESTIONS[0])
    ask(worker, "", QUESTIONS[1])
    assert ask(worker, "", QUESTIONS[0])[1].stats.cached_tokens > 64

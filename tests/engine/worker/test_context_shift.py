"""When the context is full: which turns go, that an answer goes on, and that it says what it should.

Moved values are those of a new computation only in a model of one layer: there keys and values depend on token and
place alone. In deeper ones they remember the tokens that went; there equality holds where the rest is computed again.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.protocol.caching import Overflow
from engine.protocol.frames import Failed, Finished
from engine.protocol.types import ChatMessage, FinishReason, LogitBias, Sampling
from engine.worker.overflow import part_to_drop, room_for_answer, shorter
from tests.engine.worker.driver import ROOT, Worker, assistant, user
from tests.fakes.tiny_gguf import EXTRA_TEXTS, SCRIPT_END, extra_token, tiny_llama
from tests.fakes.tiny_recurrent import mamba
from tests.fakes.tiny_windowed import windowed

SYSTEM = ChatMessage(role="system", content="Be brief.")
MAKERS: dict[str, Callable[[], bytes]] = {"one layer": tiny_llama, "windowed": windowed, "recurrent": mamba}
N_CTX = 256
ENDS = (SCRIPT_END, *map(extra_token, EXTRA_TEXTS))
ENDLESS = Sampling(temperature=0, logit_bias=tuple(LogitBias(token, -1000.0) for token in ENDS))


@pytest.fixture(params=MAKERS)
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / f"{request.param}.gguf"
    path.write_bytes(MAKERS[request.param]())
    return path


@pytest.mark.parametrize("head", [0, 1, 20])
def test_an_answer_goes_on_as_if_the_rest_had_been_read_anew(model: Path, head: int) -> None:
    probe = [sys.executable, "-P", "-m", "tests.engine.worker.shift_probe", str(model), str(N_CTX), str(head)]
    done = subprocess.run(probe, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT)}, check=False)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    full, left = told["full"], told["left"]
    assert len(full) == N_CTX
    gone = (N_CTX - head) // 2
    assert left == [*full[:head], *full[head + gone :]]
    assert told["shifted"] == told["computed"]
    assert told["moved"] == (model.stem == "one layer")


def talk(worker: Worker, path: Path, turns: int, **more: Any) -> list[Finished | Failed]:
    """The ends of the turns of one conversation."""
    worker.loaded(path, n_threads=1, n_ctx=N_CTX)
    messages, ends = [SYSTEM], []
    for turn in range(turns):
        messages.append(user(f"Question {turn} of several."))
        _, end = worker.generate(*messages, max_tokens=8, conversation="c", **more)
        messages.append(assistant(f"Answer {turn}, which is quite short."))
        ends.append(end)
    return ends


def test_a_long_conversation_goes_on(worker: Worker, model: Path) -> None:
    ends = talk(worker, model, 10, overflow=Overflow.SHIFT)
    assert all(isinstance(end, Finished) and end.reason is FinishReason.LENGTH for end in ends), ends


def test_without_the_policy_it_ends(worker: Worker, model: Path) -> None:
    last = talk(worker, model, 10)[-1]
    assert isinstance(last, Failed)
    assert last.code == "context-exceeded"


def test_what_moved_up_is_not_computed_again(worker: Worker, models: Path) -> None:
    ends = talk(worker, models / "tiny.gguf", 12, overflow=Overflow.SHIFT)
    computed = [end.stats.prompt_tokens - end.stats.cached_tokens for end in ends if isinstance(end, Finished)]
    assert len(computed) == 12
    assert max(computed[1:]) < 110, computed


def test_an_answer_without_a_limit_goes_on_over_the_context(worker: Worker, model: Path) -> None:
    worker.loaded(model, n_threads=1, n_ctx=N_CTX)
    _, end = worker.finished(SYSTEM, user("Go."), max_tokens=3 * N_CTX, sampling=ENDLESS, overflow=Overflow.SHIFT)
    assert (end.stats.generated_tokens, end.reason) == (3 * N_CTX, FinishReason.LENGTH)
    _, end = worker.finished(SYSTEM, user("Go."), max_tokens=3 * N_CTX, sampling=ENDLESS)
    assert end.reason is FinishReason.CONTEXT


def test_a_last_question_that_is_too_long_is_refused(worker: Worker, models: Path) -> None:
    worker.loaded(models / "tiny.gguf", n_threads=1, n_ctx=N_CTX)
    end = worker.generate(user("Hello."), assistant("Yes?"), user("long " * 100), overflow=Overflow.SHIFT)[1]
    assert isinstance(end, Failed)
    assert end.code == "context-exceeded"


TURNS = st.lists(st.integers(0, 300), min_size=1, max_size=12)


@given(TURNS, st.booleans(), st.integers(16, 512))
def test_shorter_conversations_keep_the_system_message_and_the_last_question(
    sizes: list[int], with_system: bool, n_ctx: int
) -> None:
    rest = [user("x" * size) if place % 2 == 0 else assistant("x" * size) for place, size in enumerate(sizes)]
    rest = rest if len(rest) % 2 else rest[:-1]
    turns = [SYSTEM, *rest] if with_system else rest
    found = list(shorter(turns, n_ctx, len))
    lengths = [len(one) for one in found]
    assert lengths == sorted(set(lengths), reverse=True)
    for one in found:
        assert (one[0] == SYSTEM) == with_system
        assert one[with_system:] == rest[len(rest) - len(one) + with_system :]
        assert one[with_system].role == "user"
    if len(rest) > 1:
        assert found[-1][with_system:] == rest[-1:]


@given(TURNS, st.integers(64, 512))
def test_the_same_turns_are_missing_when_a_conversation_grows(sizes: list[int], n_ctx: int) -> None:
    rest = [user("x" * size) if place % 2 == 0 else assistant("x" * size) for place, size in enumerate([*sizes, 1])]
    rest = rest if len(rest) % 2 else rest[:-1]
    before = [rest[-len(one)] for one in list(shorter(rest, n_ctx, len))[:-1]]
    grown = [*rest, assistant("yes"), user("and")]
    after = [grown[-len(one)] for one in shorter(grown, n_ctx, len)]
    assert before == after[: len(before)]


@given(st.integers(0, 4096), st.integers(0, 4096), st.integers(1, 4096))
def test_the_part_to_drop_lies_behind_the_head(length: int, head: int, n_ctx: int) -> None:
    part = part_to_drop(length, min(head, length), n_ctx)
    if part is not None:
        start, end = part
        assert 0 <= start < end <= length
        assert start in {0, min(head, length)}


def test_room_for_an_answer() -> None:
    assert [room_for_answer(4096, wanted) for wanted in (None, 100, 5000, 0)] == [1024, 100, 1024, 1]

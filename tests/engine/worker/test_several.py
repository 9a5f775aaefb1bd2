"""Several answers at once from one worker: the same words as alone, each with its own end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from engine.protocol.caching import Overflow
from engine.protocol.frames import TERMINAL_TYPES, Cancel, Delta, Failed, Finished, Forget, Generate, ListDevices, Load
from engine.protocol.types import FinishReason, FlashAttention, LogitBias, Sampling
from tests.engine.worker.driver import Worker, user
from tests.fakes.tiny_gguf import EXTRA_TEXTS, SCRIPT_END, extra_token, small_llama
from tests.fakes.tiny_recurrent import mamba
from tests.fakes.tiny_windowed import windowed

MAKERS: dict[str, Callable[[], bytes]] = {"llama": small_llama, "windowed": windowed, "recurrent": mamba}
QUESTIONS = [f"Question {number}: " + "tide and rope " * (2 + 3 * number) for number in range(4)]
ENDS = (SCRIPT_END, *map(extra_token, EXTRA_TEXTS))
ENDLESS = Sampling(temperature=0, logit_bias=tuple(LogitBias(token, -1000.0) for token in ENDS))
N_CTX = 1024


@pytest.fixture(scope="module", params=MAKERS)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / f"{request.param}.gguf"
    path.write_bytes(MAKERS[request.param]())
    return path


class Said:
    """What came for one request."""

    def __init__(self, request: Generate) -> None:
        self.request = request
        self.text = ""
        self.end: Finished | Failed | None = None

    @property
    def finished(self) -> Finished:
        assert isinstance(self.end, Finished), self.end
        return self.end


def request(worker: Worker, text: str, **more: Any) -> Generate:
    fields = {"sampling": ENDLESS, "max_tokens": 24, "conversation": text[:11], **more}
    return Generate(id=worker.new_id(), messages=(user(text),), **fields)


def together(
    worker: Worker, requests: Sequence[Generate], on_delta: Callable[[Delta], None] | None = None
) -> list[Said]:
    """Send all at once and wait for all."""
    said = {one.id: Said(one) for one in requests}
    worker.send(*requests)
    while any(one.end is None for one in said.values()):
        frame = worker.receive()
        assert frame is not None, worker.log_text()
        if isinstance(frame, Delta):
            assert said[frame.id].end is None
            said[frame.id].text += frame.text
            if on_delta is not None:
                on_delta(frame)
        elif isinstance(frame, TERMINAL_TYPES):
            assert isinstance(frame, Finished | Failed)
            assert said[frame.id].end is None
            said[frame.id].end = frame
    return list(said.values())


def test_the_same_words_as_alone(worker: Worker, model: Path) -> None:
    worker.loaded(model, n_threads=1, n_ctx=N_CTX)
    alone = [together(worker, [request(worker, text)])[0] for text in QUESTIONS]
    worker.loaded(model, n_threads=1, n_ctx=N_CTX, n_parallel=4)
    joint = together(worker, [request(worker, text) for text in QUESTIONS])
    assert [one.text for one in joint] == [one.text for one in alone]
    assert [one.finished.reason for one in joint] == [FinishReason.LENGTH] * 4
    assert [one.finished.stats.generated_tokens for one in joint] == [24] * 4
    assert len({one.text for one in joint}) > 1


def test_one_that_comes_later_does_not_disturb(worker: Worker, models: Path) -> None:
    worker.loaded(models / "small.gguf", n_threads=1, n_ctx=N_CTX)
    expected = [together(worker, [request(worker, text, max_tokens=200)])[0].text for text in QUESTIONS[:2]]
    worker.loaded(models / "small.gguf", n_threads=1, n_ctx=N_CTX, n_parallel=2)
    first, second = (request(worker, text, max_tokens=200) for text in QUESTIONS[:2])
    said = {one.id: Said(one) for one in (first, second)}
    worker.send(first)
    sent = False
    while any(one.end is None for one in said.values()):
        frame = worker.receive()
        if isinstance(frame, Delta):
            said[frame.id].text += frame.text
            if not sent:
                worker.send(second)
                sent = True
        elif isinstance(frame, Finished):
            said[frame.id].end = frame
    assert [one.text for one in said.values()] == expected


def test_a_cancel_ends_its_own_answer_only(worker: Worker, models: Path) -> None:
    worker.loaded(models / "small.gguf", n_threads=1, n_ctx=N_CTX, n_parallel=2)
    other = together(worker, [request(worker, QUESTIONS[1], max_tokens=150)])[0].text
    worker.loaded(models / "small.gguf", n_threads=1, n_ctx=N_CTX, n_parallel=2)
    first, second = request(worker, QUESTIONS[0], max_tokens=900), request(worker, QUESTIONS[1], max_tokens=150)

    def cancel(delta: Delta) -> None:
        if delta.id == first.id:
            worker.send(Cancel(target=first.id))

    said = together(worker, [first, second], cancel)
    assert [one.finished.reason for one in said] == [FinishReason.CANCELLED, FinishReason.LENGTH]
    assert said[1].text == other
    assert together(worker, [request(worker, QUESTIONS[0])])[0].finished.reason is FinishReason.LENGTH


def test_each_has_its_own_stop_limit_and_failure(worker: Worker, models: Path) -> None:
    worker.loaded(models / "small.gguf", n_threads=1, n_ctx=N_CTX, n_parallel=4)
    text = together(worker, [request(worker, QUESTIONS[0])])[0].text
    said = together(
        worker,
        [
            request(worker, QUESTIONS[0], max_tokens=3),
            request(worker, QUESTIONS[0], conversation="b", stop=(text[4:6],)),
            request(worker, QUESTIONS[0], conversation="c", max_tokens=0),
            request(worker, "long " * 400, conversation="d"),
        ],
    )
    assert said[0].finished.stats.generated_tokens == 3
    assert said[1].finished.reason is FinishReason.STOP
    assert said[1].text == text[: text.index(text[4:6])]
    assert [one.end.code for one in said[2:] if isinstance(one.end, Failed)] == ["bad-limit", "context-exceeded"]


def test_more_than_fit_at_once_wait_for_room(worker: Worker, model: Path) -> None:
    worker.loaded(model, n_threads=1, n_ctx=512, n_parallel=3)
    texts = [f"{name} " * 90 for name in ("a", "b", "c")]
    said = together(worker, [request(worker, text, conversation=text[0], max_tokens=20) for text in texts])
    assert [one.finished.reason for one in said] == [FinishReason.LENGTH] * 3
    alone = [together(worker, [request(worker, text, conversation="", max_tokens=20)])[0].text for text in texts]
    assert [one.text for one in said] == alone


def test_a_shared_context_that_is_full_ends_answers_or_shifts(worker: Worker, models: Path) -> None:
    worker.loaded(models / "small.gguf", n_threads=1, n_ctx=256, n_parallel=2)
    said = together(worker, [request(worker, QUESTIONS[number], max_tokens=400) for number in (0, 1)])
    assert [one.finished.reason for one in said] == [FinishReason.CONTEXT] * 2
    said = together(worker, [request(worker, QUESTIONS[n], max_tokens=400, overflow=Overflow.SHIFT) for n in (0, 1)])
    assert [one.finished.stats.generated_tokens for one in said] == [400, 400]


def test_conversations_stay_in_their_sequences(worker: Worker, model: Path) -> None:
    worker.loaded(model, n_threads=1, n_ctx=N_CTX, n_parallel=2)
    together(worker, [request(worker, text) for text in QUESTIONS[2:]])
    said = together(worker, [request(worker, text) for text in reversed(QUESTIONS[2:])])
    for one in said:
        assert one.finished.stats.prompt_tokens - one.finished.stats.cached_tokens <= 8


def test_what_may_not_run_beside_answers_is_busy(worker: Worker, models: Path) -> None:
    worker.loaded(models / "small.gguf", n_threads=1, n_ctx=N_CTX, n_parallel=2)
    first, second, third = (request(worker, text, max_tokens=200) for text in QUESTIONS[:3])
    load = Load(id=worker.new_id(), path="x")
    worker.send(first, second, third, load, ListDevices(id=worker.new_id()), Forget(conversations=("x",)))
    ends: dict[int, object] = {}
    while len(ends) < 5:
        frame = worker.receive()
        if isinstance(frame, TERMINAL_TYPES):
            ends[frame.id] = frame
    codes = [end.code for end in ends.values() if isinstance(end, Failed)]
    assert codes == ["busy"] * 3
    assert {end.id for end in ends.values() if isinstance(end, Finished)} == {first.id, second.id}


def test_sampling_and_penalties_are_each_ones_own(worker: Worker, models: Path) -> None:
    """Flash attention rounds another way for several tokens, which a drawn token may show."""
    samplings = [
        Sampling(temperature=0.9, seed=1, repeat_penalty=1.3),
        Sampling(temperature=1.1, seed=2, top_k=0, min_p=0.1),
        Sampling(temperature=0.8, seed=3, dry_multiplier=0.8),
        Sampling(temperature=0, grammar='root ::= "a" [b-f]+ "."'),
    ]
    fields = [{"sampling": one, "conversation": str(place)} for place, one in enumerate(samplings)]
    options = {"n_threads": 1, "n_ctx": N_CTX, "flash_attention": FlashAttention.OFF}
    worker.loaded(models / "small.gguf", **options)
    alone = [together(worker, [request(worker, QUESTIONS[0], **more)])[0].text for more in fields]
    worker.loaded(models / "small.gguf", **options, n_parallel=4)
    joint = together(worker, [request(worker, QUESTIONS[0], **more) for more in fields])
    assert [one.text for one in joint] == alone

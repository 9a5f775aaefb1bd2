"""The three cancels on the real worker, and what is left usable after them."""

from __future__ import annotations

from engine.protocol.frames import Cancel, Delta, Failed, Finished, Generate, Progress
from engine.protocol.types import FinishReason
from tests.engine.worker.conftest import StartWorker
from tests.engine.worker.driver import GREEDY, Worker, starter_model, user
from tests.engine.worker.test_real_generate import FIXED_ANSWER, FIXED_QUESTION

STORY = user("Write a very long story about a lighthouse.")


def test_in_the_prompt_keeps_what_was_computed(start_worker: StartWorker) -> None:
    worker = start_worker()
    worker.loaded(starter_model(), n_threads=1, n_ctx=2048, n_batch=32, n_ubatch=32)
    long = user("A lighthouse stands on a rock. " * 150)
    request = Generate(id=50, messages=(long,), sampling=GREEDY, max_tokens=4)
    worker.send(request)
    done = 0
    while done < 64:
        frame = worker.receive()
        assert isinstance(frame, Progress)
        done = frame.done
    worker.cancel(50)
    frames, end = worker.until_terminal(50)
    assert isinstance(end, Finished)
    assert end.reason is FinishReason.CANCELLED
    assert not any(isinstance(frame, Delta) for frame in frames)
    assert end.stats.generated_tokens == 0
    computed = max([done, *(frame.done for frame in frames if isinstance(frame, Progress))])
    assert computed < end.stats.prompt_tokens
    again = Generate(id=51, messages=(long,), sampling=GREEDY, max_tokens=1)
    worker.send(again, Cancel(target=51))
    _, end = worker.until_terminal(51)
    assert end.reason is FinishReason.CANCELLED
    assert end.stats.cached_tokens in {0, computed}
    assert worker.finished(FIXED_QUESTION)[0] == FIXED_ANSWER


def test_in_the_middle_of_one_slice(start_worker: StartWorker) -> None:
    """The whole prompt is one decode call of many micro-batches: the native code itself must see the cancel."""
    worker = start_worker()
    worker.loaded(starter_model(), n_threads=1, n_ctx=4096, n_batch=4096, n_ubatch=16)
    request = Generate(id=60, messages=(user("A lighthouse stands on a rock. " * 400),), sampling=GREEDY, max_tokens=1)
    worker.send(request)
    first = worker.receive()
    assert isinstance(first, Progress)
    assert (first.done, first.total > 2000) == (0, True)
    worker.cancel(60)
    frames, end = worker.until_terminal(60)
    assert end.reason is FinishReason.CANCELLED
    assert frames == []
    assert worker.finished(FIXED_QUESTION)[0] == FIXED_ANSWER


def test_in_the_answer_keeps_the_text_and_the_cache_agrees(chat: Worker) -> None:
    request = Generate(id=chat.new_id(), messages=(STORY,), sampling=GREEDY, max_tokens=600)
    chat.send(request)
    frame = chat.receive()
    text = ""
    while not (isinstance(frame, Delta) and frame.tokens >= 5):
        text += frame.text if isinstance(frame, Delta) else ""
        frame = chat.receive()
    text += frame.text
    chat.cancel(request.id)
    frames, end = chat.until_terminal(request.id)
    assert end.reason is FinishReason.CANCELLED
    text += "".join(frame.text for frame in frames if isinstance(frame, Delta))
    assert 5 <= end.stats.generated_tokens < 600
    whole, _ = chat.finished(STORY, max_tokens=end.stats.generated_tokens)
    assert whole == text


def test_before_it_begins(chat: Worker) -> None:
    request = Generate(id=chat.new_id(), messages=(STORY,), sampling=GREEDY, max_tokens=600)
    chat.send(request, Cancel(target=request.id))
    _, end = chat.until_terminal(request.id)
    assert isinstance(end, Finished)
    assert end.reason is FinishReason.CANCELLED
    assert end.stats.generated_tokens < 5


def test_many_cancels_at_any_moment_leave_a_worker_that_answers_right(chat: Worker) -> None:
    for tokens in (1, 2, 3, 5, 8, 1, 2):
        request = Generate(id=chat.new_id(), messages=(STORY,), sampling=GREEDY, max_tokens=600)
        chat.send(request)
        frame = chat.receive()
        while not (isinstance(frame, Delta) and frame.tokens >= tokens):
            frame = chat.receive()
        chat.cancel(request.id)
        assert chat.until_terminal(request.id)[1].reason is FinishReason.CANCELLED
    assert chat.finished(FIXED_QUESTION)[0] == FIXED_ANSWER


def test_of_unknown_and_ended_requests_is_ignored(chat: Worker) -> None:
    chat.cancel(999_999)
    text, _ = chat.finished(FIXED_QUESTION)
    chat.cancel(chat.new_id() - 1)
    assert text == FIXED_ANSWER
    assert chat.finished(FIXED_QUESTION)[0] == FIXED_ANSWER


def test_a_second_request_while_one_runs_is_busy(chat: Worker) -> None:
    first = Generate(id=chat.new_id(), messages=(STORY,), sampling=GREEDY, max_tokens=600)
    second = Generate(id=chat.new_id(), messages=(STORY,), sampling=GREEDY, max_tokens=600)
    chat.send(first, second)
    busy = None
    while busy is None:
        frame = chat.receive()
        busy = frame if isinstance(frame, Failed) else None
    assert (busy.id, busy.code) == (second.id, "busy")
    chat.cancel(first.id)
    assert chat.until_terminal(first.id)[1].reason is FinishReason.CANCELLED

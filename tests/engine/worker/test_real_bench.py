"""The timed loops of the worker, on the real engine with small models."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.protocol.bench import BenchTest
from engine.protocol.frames import Bench, Benched, Failed, Progress
from engine.worker.ram_speed import ram_speed
from tests.engine.worker.conftest import StartWorker
from tests.engine.worker.driver import Worker, user
from tests.fakes.tiny_recurrent import mamba

CONTEXT = 256


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory, tiny: Path) -> Iterator[Worker]:
    with Worker(log=tmp_path_factory.mktemp("bench") / "worker.log") as worker:
        worker.loaded(tiny, n_ctx=CONTEXT, n_batch=32, n_ubatch=32, device="cpu", n_threads=1)
        yield worker


def bench(worker: Worker, test: BenchTest | None, **how: bool) -> tuple[list[Progress], Benched | Failed]:
    request = Bench(id=worker.new_id(), test=test, **how)
    worker.send(request)
    frames, end = worker.until_terminal(request.id)
    assert isinstance(end, Benched | Failed)
    return [frame for frame in frames if isinstance(frame, Progress)], end


def test_what_is_asked_for_is_timed(timed: Worker) -> None:
    frames, end = bench(timed, BenchTest(prompt=64))
    assert isinstance(end, Benched)
    assert (end.sample.prompt_s or 0) > 0
    assert end.sample.generated_s is None
    assert (frames[-1].done, frames[-1].total) == (128, 128), "warm-up and prompt"

    frames, end = bench(timed, BenchTest(generated=20))
    assert isinstance(end, Benched)
    assert (end.sample.generated_s or 0) > 0
    assert end.sample.prompt_s is None
    assert (frames[-1].done, frames[-1].total) == (21, 21)

    frames, end = bench(timed, BenchTest(prompt=1, generated=24, greedy=True, warm_up=4))
    assert isinstance(end, Benched)
    assert end.sample.prompt_s
    assert end.sample.generated_s
    assert end.driver == ""
    assert end.ram is None
    assert frames[-1].total == 30


def test_the_tokens_of_a_depth_are_read_once(timed: Worker) -> None:
    test = BenchTest(prompt=32, depth=96)
    frames, _ = bench(timed, test)
    assert frames[-1].total == 32 + 96 + 32
    frames, _ = bench(timed, test, warm=True)
    assert (frames[-1].done, frames[-1].total) == (32, 32), "the depth is still there"
    frames, _ = bench(timed, BenchTest(generated=8, depth=96), begun=True)
    assert frames[-1].total == 1 + 8, "also after a warm-up behind them"
    frames, _ = bench(timed, BenchTest(generated=8, depth=160), warm=True)
    assert frames[-1].total == 160 + 8, "a longer one is read anew"


def test_a_recurrent_model_reads_the_depth_again(tmp_path: Path) -> None:
    path = tmp_path / "mamba.gguf"
    path.write_bytes(mamba())
    with Worker(log=tmp_path / "log") as worker:
        worker.loaded(path, n_ctx=CONTEXT, device="cpu", n_threads=1)
        for warm in (False, True):
            frames, end = bench(worker, BenchTest(generated=4, depth=32), warm=warm)
            assert isinstance(end, Benched), end
        assert frames[-1].total == 36


def test_an_answer_afterwards_is_as_before(timed: Worker) -> None:
    question = user("abc")
    before, _ = timed.finished(question, max_tokens=8)
    for test in (BenchTest(prompt=16, depth=32), BenchTest(prompt=1, generated=16, greedy=True)):
        bench(timed, test)
        after, _ = timed.finished(question, max_tokens=8)
        assert after == before


def test_too_long_for_the_context(timed: Worker) -> None:
    _, end = bench(timed, BenchTest(prompt=64, depth=CONTEXT))
    assert isinstance(end, Failed)
    assert end.code == "context-exceeded"


def test_without_a_model(tmp_path: Path) -> None:
    with Worker(log=tmp_path / "log") as worker:
        _, end = bench(worker, BenchTest(prompt=8))
        assert isinstance(end, Failed)
        assert end.code == "no-model"
        _, end = bench(worker, None)
        assert isinstance(end, Benched)
        assert (end.ram or 0) > 1e8


def test_cancelled_while_it_generates_and_good_for_the_next(timed: Worker) -> None:
    request = Bench(id=timed.new_id(), test=BenchTest(prompt=CONTEXT, warm_up=1))
    timed.send(request)
    timed.cancel(request.id)
    _, end = timed.until_terminal(request.id)
    if isinstance(end, Failed):
        assert end.code == "cancelled"
    _, end = bench(timed, BenchTest(generated=8, depth=64), warm=True)
    assert isinstance(end, Benched), "whatever was left in the cache does no harm"


def test_speed_of_the_ram_by_a_clock() -> None:
    times = iter(range(1000))
    assert ram_speed(1, size=1 << 20, rounds=2, clock=lambda: float(next(times))) == 1 << 20


def test_what_guesses_takes_part_in_greedy_tests_only(start_worker: StartWorker, models: Path) -> None:
    worker = start_worker()
    small = models / "small.gguf"
    worker.loaded(small, n_ctx=CONTEXT, device="cpu", n_threads=1, draft=str(small), draft_p_min=0.0, ngram=True)
    frames, end = bench(worker, BenchTest(prompt=1, generated=64, greedy=True, warm_up=4))
    assert isinstance(end, Benched)
    assert 0 < end.sample.accepted <= end.sample.drafted
    assert (frames[-1].done, frames[-1].total) == (70, 70)
    _, end = bench(worker, BenchTest(generated=24))
    assert isinstance(end, Benched)
    assert end.sample.drafted == 0
    worker.finished(user("Hello"), max_tokens=4)

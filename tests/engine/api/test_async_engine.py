"""`AsyncEngine` with a scripted worker."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.api import AsyncEngine, FinishReason, VrambleError
from tests.engine.api.processes import frames, gone

Fake = Callable[..., Path]
LONG = "word " * 500
SLOW = {"text": LONG, "delay": 0.02}


def test_text_comes_in_pieces(fake: Fake) -> None:
    async def talk() -> list[str]:
        async with AsyncEngine(fake()) as engine:
            assert engine.model.name
            return [piece async for piece in engine.stream("one two three")]

    assert asyncio.run(talk()) == ["one ", "two ", "three"]


def test_the_loop_goes_on_meanwhile(fake: Fake) -> None:
    async def talk() -> tuple[str, int]:
        turns = 0

        async def count() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        async with AsyncEngine(fake(generate={"delay": 0.05})) as engine:
            counting = asyncio.create_task(count())
            answer = await engine.generate("one two three")
            counting.cancel()
        return answer.text, turns

    text, turns = asyncio.run(talk())
    assert text == "one two three"
    assert turns > 10


def test_answers_at_the_same_time_come_in_order(fake: Fake, journal: Path) -> None:
    async def talk() -> list[str]:
        async with AsyncEngine(fake()) as engine:
            return [str(answer) for answer in await asyncio.gather(*(engine.generate(str(n)) for n in range(5)))]

    assert asyncio.run(talk()) == ["0", "1", "2", "3", "4"]
    asked = [frame["messages"][0]["content"] for frame in frames(journal, "generate")]
    assert asked == ["0", "1", "2", "3", "4"]


def test_a_cancelled_task_cancels_its_answer(fake: Fake, journal: Path) -> None:
    async def talk() -> str:
        async with AsyncEngine(fake(generate=[SLOW, {}])) as engine:
            task = asyncio.create_task(engine.generate("x"))
            while not frames(journal, "generate"):
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return str(await engine.generate("next"))

    assert asyncio.run(talk()) == "next"
    assert len(frames(journal, "cancel")) == 1


def test_cancel_keeps_the_text(fake: Fake) -> None:
    async def talk() -> None:
        async with AsyncEngine(fake(generate=SLOW)) as engine:
            stream = engine.stream("x")
            async for _ in stream:
                engine.cancel()
            answer = stream.answer()
            assert answer.reason is FinishReason.CANCELLED
            assert 0 < len(answer.text) < len(LONG)

    asyncio.run(talk())


def test_leaving_a_loop_early_lets_the_next_answer_come(fake: Fake) -> None:
    async def talk() -> str:
        async with AsyncEngine(fake(generate=[SLOW, SLOW, {}])) as engine:
            async for _ in engine.stream("dropped"):
                break
            async with engine.stream("closed") as stream:
                async for _ in stream:
                    break
            return str(await engine.generate("next"))

    assert asyncio.run(asyncio.wait_for(talk(), 60)) == "next"


def test_a_dead_worker_is_told_and_replaced(fake: Fake) -> None:
    async def talk() -> str:
        dying = {"text": "one two three", "after": 2, "signal": "SIGSEGV"}
        async with AsyncEngine(fake(runs=[{"generate": dying}, {}])) as engine:
            with pytest.raises(VrambleError):
                await engine.generate("x")
            return str(await engine.generate("back"))

    assert asyncio.run(talk()) == "back"


def test_a_failed_answer_is_an_error_and_no_more(fake: Fake) -> None:
    async def talk() -> str:
        fail = {"code": "context-exceeded", "message": "Too long."}
        async with AsyncEngine(fake(generate=[{"fail": fail, "after": 0}, {}])) as engine:
            with pytest.raises(VrambleError) as caught:
                await engine.generate("x")
            assert caught.value.code == "context-exceeded"
            with pytest.raises(VrambleError):
                await engine.generate("x", temperatur=1)  # type: ignore[call-arg]
            return str(await engine.generate("next"))

    assert asyncio.run(talk()) == "next"


def test_close_while_an_answer_runs(fake: Fake, journal: Path) -> None:
    async def talk() -> int | None:
        engine = AsyncEngine(fake(generate=SLOW))
        await engine.load()
        pid = engine.pid
        task = asyncio.create_task(engine.generate("x"))
        while not frames(journal, "generate"):
            await asyncio.sleep(0.01)
        await engine.close()
        with pytest.raises(VrambleError) as caught:
            await task
        assert caught.value.code == "stopped"
        with pytest.raises(VrambleError) as caught:
            await engine.generate("x")
        assert caught.value.code == "closed"
        return pid

    pid = asyncio.run(talk())
    assert pid is not None
    assert gone(pid, 0.1)


def test_a_load_that_is_cancelled_leaves_no_process(fake: Fake, journal: Path) -> None:
    async def talk() -> None:
        engine = AsyncEngine(fake(load={"steps": 500, "delay": 0.02}))
        task = asyncio.create_task(engine.load())
        while not frames(journal, "load"):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(talk())
    from tests.fakes.fake_worker import journal_entries

    assert gone(journal_entries(journal)[0]["pid"], 5)


def test_a_forgotten_engine_ends_its_worker(fake: Fake) -> None:
    async def talk() -> int | None:
        engine = AsyncEngine(fake())
        await engine.load()
        return engine.pid

    pid = asyncio.run(talk())
    gc.collect()
    assert pid is not None
    assert gone(pid, 5)


@pytest.mark.parametrize("ending", ["raise ValueError", "os._exit(0)", "os.kill(os.getpid(), 9)", "sys.exit(2)"])
def test_no_orphans_whatever_ends_the_program(fake: Fake, repository: Path, ending: str) -> None:
    program = (
        "import asyncio, os, sys\nfrom engine.api import AsyncEngine\nkept = []\n"
        "async def main():\n"
        "    engine = AsyncEngine({!r}); kept.append(engine); await engine.load()\n"
        "    async for _ in engine.stream('x'):\n"
        "        print(engine.pid, flush=True); {}\n"
        "asyncio.run(main())\n"
    )
    model = fake(generate=SLOW)
    command = [sys.executable, "-c", program.format(str(model), ending)]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout, done.stderr
    assert gone(int(done.stdout.split()[0]))


def test_one_engine_in_loop_after_loop(fake: Fake) -> None:
    model = fake()
    engine = AsyncEngine(model)
    texts = []
    for word in ("one", "two", "three"):
        loop = asyncio.new_event_loop()
        texts.append(str(loop.run_until_complete(engine.generate(word))))
        loop.close()
    asyncio.run(engine.close())
    assert texts == ["one", "two", "three"]

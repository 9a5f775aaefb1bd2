"""The Python module with the real worker, and every example of its docstrings and of its page."""

from __future__ import annotations

import asyncio
import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import engine.api
from engine.api import AsyncEngine, ChatModule, Engine, FinishReason, VrambleError
from engine.api.keywords import AnswerKeywords
from tests.engine.api.processes import gone

MODULES = [f"engine.api.{found.name}" for found in pkgutil.iter_modules(engine.api.__path__)]


def names(tiny: Path) -> dict[str, object]:
    return {"model": str(tiny), **{name: getattr(engine.api, name) for name in engine.api.__all__}}


@pytest.mark.parametrize("module", ["engine.api", *MODULES])
def test_examples(module: str, tiny: Path) -> None:
    result = doctest.testmod(importlib.import_module(module), extraglobs=names(tiny))
    assert result.failed == 0


def test_the_examples_are_found() -> None:
    finder = doctest.DocTestFinder()
    found = [test.name for name in MODULES for test in finder.find(importlib.import_module(name)) if test.examples]
    classes = {name.rpartition(".")[2] for name in found}
    assert {"Engine", "AsyncEngine", "ChatModule", "Stream", "Conversation"} <= classes


def test_the_page(tiny: Path, repository: Path) -> None:
    result = doctest.testfile(
        str(repository / "docs" / "python.md"), module_relative=False, globs=names(tiny), encoding="utf-8"
    )
    assert result.attempted > 10
    assert result.failed == 0


def test_same_seed_same_text_by_every_way(tiny: Path) -> None:
    fixed: AnswerKeywords = {"temperature": 0.8, "seed": 5, "max_tokens": 12}

    async def later() -> str:
        async with AsyncEngine(tiny, device="cpu", n_ctx=256) as engine:
            return "".join([piece async for piece in engine.stream("Hello", **fixed)])

    with Engine(tiny, device="cpu", n_ctx=256) as engine:
        whole = engine.generate("Hello", **fixed).text
        assert "".join(engine.stream("Hello", **fixed)) == whole
        assert len({engine.generate("Hello", temperature=2.0, max_tokens=12, seed=n).text for n in range(4)}) > 1
    assert asyncio.run(later()) == whole


def test_a_benchmark_has_exactly_its_length(tiny: Path) -> None:
    with ChatModule(tiny, device="cpu", n_ctx=512) as cm:
        for length in (1, 7, 300):
            cm.benchmark_generate("Hi", generate_length=length)
            assert cm.figures.last.generated_tokens == length
        with pytest.raises(VrambleError):
            cm.benchmark_generate("word " * 2000, generate_length=4)
        assert cm.generate("Hi", max_tokens=4)


def test_cancelled_in_mid_answer(tiny: Path) -> None:
    with Engine(tiny, device="cpu", n_ctx=4096) as engine:
        pid = engine.pid
        with engine.stream("Hello", endless=True) as stream:
            next(stream)
            stream.cancel()
            assert stream.read().reason is FinishReason.CANCELLED
        assert engine.generate("Hello", max_tokens=2).stats.generated_tokens == 2
    assert pid is not None
    assert gone(pid, 1)


def test_several_conversations_keep_their_cache(tiny: Path) -> None:
    first, second = "lighthouse " * 60, "the sea " * 60
    with Engine(tiny, device="cpu", n_ctx=1024) as engine:
        for name, question in (("a", first), ("b", second)):
            engine.generate(question, conversation=name, max_tokens=2)
        again = engine.generate(first, conversation="a", max_tokens=2)
    assert again.stats.cached_tokens >= again.stats.prompt_tokens - 1


@pytest.mark.parametrize("content", [b"", b"GGUF", b"Dear all,"])
def test_files_that_are_no_model(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(content)
    with pytest.raises(VrambleError):
        Engine(path)


def test_several_answers_at_once_are_the_same_as_one_by_one(tiny: Path) -> None:
    questions = [f"{word} and the sea" for word in ("One", "Two", "Three", "Four", "Five")]
    story: list[str] = []

    async def ask(engine: AsyncEngine, question: str) -> str:
        async with engine.stream(question, temperature=0, max_tokens=60, endless=True) as stream:
            await anext(stream)
            story.append("begin")
            await stream.read()
            story.append("end")
        return stream.text

    async def together(n_parallel: int) -> list[str]:
        story.clear()
        async with AsyncEngine(tiny, device="cpu", n_ctx=1024, n_parallel=n_parallel) as engine:
            return list(await asyncio.gather(*(ask(engine, question) for question in questions)))

    alone = asyncio.run(together(1))
    assert story == ["begin", "end"] * 5
    assert asyncio.run(together(4)) == alone
    assert story[:2] == ["begin", "begin"]


def test_one_of_several_is_cancelled_and_the_others_go_on(tiny: Path) -> None:
    async def talk() -> tuple[FinishReason, int]:
        async with AsyncEngine(tiny, device="cpu", n_ctx=4096, n_parallel=2) as engine:
            endless = engine.stream("Hello", endless=True)
            await anext(endless)
            other = asyncio.create_task(engine.generate("And you?", max_tokens=50, endless=True))
            third = asyncio.create_task(engine.generate("Third", max_tokens=5, endless=True))
            await other
            await third
            endless.cancel()
            return (await endless.read()).reason, (await other).stats.generated_tokens

    assert asyncio.run(talk()) == (FinishReason.CANCELLED, 50)

"""`ChatModule`, its callbacks and figures, with a scripted worker."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.api import ChatModule, DeltaCallback, Figures, GenerationStats, StreamToStdout, VrambleError
from tests.engine.api.processes import frames

Fake = Callable[..., Path]


def contents(frame: dict) -> list[str]:
    return [message["content"] for message in frame["messages"]]


def test_it_remembers_and_forgets(fake: Fake, journal: Path) -> None:
    with ChatModule(fake(), system="Short.") as cm:
        assert cm.generate("first") == "first"
        assert cm.generate("aside", stateless=True) == "aside"
        assert cm.generate(prompt="second") == "second"
        cm.reset_chat()
        assert cm.generate("third") == "third"
    assert [contents(frame) for frame in frames(journal, "generate")] == [
        ["Short.", "first"],
        ["aside"],
        ["Short.", "first", "first", "second"],
        ["Short.", "third"],
    ]


def test_a_callback_hears_the_whole_text_so_far(fake: Fake) -> None:
    heard: list[tuple[str, bool]] = []
    with ChatModule(fake()) as cm:
        cm.generate("a b c", progress_callback=lambda text, over: heard.append((text, over)))
    assert heard == [("a ", False), ("a b ", False), ("a b c", False), ("a b c", True)]


@pytest.mark.parametrize("interval", [1, 2, 3, 10])
def test_printing(fake: Fake, interval: int) -> None:
    out = io.StringIO()
    printer = StreamToStdout(callback_interval=interval, file=out)
    with ChatModule(fake()) as cm:
        cm.generate("a b c", progress_callback=printer)
        cm.generate("d", progress_callback=printer)
    assert out.getvalue() == "a b c\nd\n"


def test_an_interval_has_to_be_one() -> None:
    with pytest.raises(ValueError, match="interval"):
        DeltaCallback(0)


def test_streaming_keeps_the_turn_when_it_was_read(fake: Fake, journal: Path) -> None:
    with ChatModule(fake()) as cm:
        assert list(cm.generate("a b", stream=True)) == ["a ", "b"]
        cm.generate("c")
    assert contents(frames(journal, "generate")[-1]) == ["a b", "a b", "c"]


def test_a_stream_that_is_left_keeps_nothing(fake: Fake, journal: Path) -> None:
    with ChatModule(fake(generate=[{"text": "word " * 500, "delay": 0.02}, {}])) as cm:
        for _ in cm.generate("left", stream=True):
            break
        cm.generate("next")
    assert contents(frames(journal, "generate")[-1]) == ["next"]


def test_a_failed_answer_leaves_no_trace(fake: Fake, journal: Path) -> None:
    fail = {"code": "context-exceeded", "message": "Too long."}
    with ChatModule(fake(generate=[{"fail": fail, "after": 0}, {}])) as cm:
        with pytest.raises(VrambleError):
            cm.generate("first")
        cm.generate("second")
    assert contents(frames(journal, "generate")[-1]) == ["second"]


def test_the_benchmark_asks_for_exactly_so_many_tokens(fake: Fake, journal: Path) -> None:
    stats = {"prompt_tokens": 1, "generated_tokens": 512, "prefill_tps": 50.0, "decode_tps": 130.9}
    with ChatModule(fake(generate=[{}, {"stats": stats}]), system="Short.") as cm:
        cm.generate("before")
        cm.benchmark_generate("Hi", generate_length=512)
        assert cm.stats() == "prefill: 50.0 tok/s, decode: 130.9 tok/s"
        assert (cm.figures.answers, cm.figures.decoded_tokens) == (1, 511)
        cm.reset_chat()
        assert cm.stats() == "prefill: 0.0 tok/s, decode: 0.0 tok/s"
    request = frames(journal, "generate")[-1]
    assert (contents(request), request["max_tokens"], request["endless"]) == (["Hi"], 512, True)


def test_figures_are_sums_over_time() -> None:
    slow = GenerationStats(prompt_tokens=30, cached_tokens=10, generated_tokens=11, prefill_tps=20.0, decode_tps=5.0)
    fast = GenerationStats(prompt_tokens=20, generated_tokens=31, prefill_tps=40.0, decode_tps=15.0)
    figures = Figures().plus(slow).plus(fast)
    assert (figures.prompt_tokens, figures.prefill_s) == (40, 1.5)
    assert (figures.decoded_tokens, figures.decode_s) == (40, 4.0)
    assert figures.decode_tps == 10.0
    assert figures.last is fast
    assert str(figures) == "prefill: 26.7 tok/s, decode: 10.0 tok/s"
    assert figures.plus(GenerationStats()).decode_tps == 10.0, "an empty answer takes no time"
    guessed = figures.plus(GenerationStats(drafted=10, accepted=8)).plus(GenerationStats(drafted=10, accepted=4))
    assert str(guessed) == "prefill: 26.7 tok/s, decode: 10.0 tok/s, guesses accepted: 60%"

"""`Engine` with a scripted worker."""

from __future__ import annotations

import gc
import itertools
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.api import (
    ChatMessage,
    Conversation,
    Engine,
    FinishReason,
    KvType,
    LoadOptions,
    Sampling,
    Thinking,
    VrambleError,
)
from tests.engine.api.processes import frames, gone

Fake = Callable[..., Path]
LONG = "word " * 500
SLOW = {"text": LONG, "delay": 0.02}


def test_an_answer_and_its_figures(fake: Fake) -> None:
    with Engine(fake()) as engine:
        answer = engine.generate("one two three")
        assert (str(answer), answer.reason) == ("one two three", FinishReason.STOP)
        assert (answer.stats.generated_tokens, answer.stats.decode_tps) == (3, 20.0)
        assert engine.model.device.name == "Fake Radeon"


def test_text_comes_in_pieces(fake: Fake) -> None:
    with Engine(fake()) as engine, engine.stream("one two three") as stream:
        assert list(stream) == ["one ", "two ", "three"]
        assert stream.answer().text == stream.text == "one two three"


def test_thoughts_are_kept_apart(fake: Fake) -> None:
    with Engine(fake(generate={"thinking": "hm", "text": "Yes."})) as engine:
        stream = engine.stream("x")
        assert "".join(delta.thinking for delta in stream.deltas()) == "hm"
        assert (stream.thinking, stream.text) == ("hm", "Yes.")


def test_options_and_sampling_reach_the_worker(fake: Fake, journal: Path) -> None:
    options, sampling = LoadOptions(n_ctx=512, n_batch=64, n_ubatch=64), Sampling(top_k=7, temperature=0.5)
    with Engine(fake(), options=options, sampling=sampling, device="cpu", kv_type_k="q8_0") as engine:  # type: ignore[arg-type]
        engine.generate(
            [{"role": "system", "content": "Short."}, ChatMessage(role="user", content="a b c")],
            temperature=0,
            seed=3,
            max_tokens=2,
            stop="END",
            prefill="So",
            thinking=Thinking(enabled=False),
        )
        engine.generate("again")
    loaded = frames(journal, "load")[0]["options"]
    assert (loaded["n_ctx"], loaded["n_batch"], loaded["device"]) == (512, 64, "cpu")
    assert loaded["kv_type_k"] == KvType.Q8_0
    first, second = frames(journal, "generate")
    assert [message["content"] for message in first["messages"]] == ["Short.", "a b c"]
    assert (first["sampling"]["temperature"], first["sampling"]["top_k"], first["sampling"]["seed"]) == (0.0, 7, 3)
    assert (first["max_tokens"], first["stop"], first["prefill"]) == (2, ["END"], "So")
    assert first["thinking"]["enabled"] is False
    assert (second["sampling"]["temperature"], second["sampling"]["seed"]) == (0.5, None)


def test_progress_of_the_load(fake: Fake) -> None:
    shares: list[float] = []
    Engine(fake(load={"steps": 4}), on_load=shares.append).close()
    assert shares == [0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize(
    ("keywords", "code"),
    [
        ({"temprature": 1}, "bad-argument"),
        ({"temperature": "warm"}, "bad-argument"),
        ({"max_tokens": 1.5}, "bad-argument"),
    ],
)
def test_options_that_cannot_be_meant(fake: Fake, keywords: dict, code: str) -> None:
    with Engine(fake()) as engine:
        with pytest.raises(VrambleError) as caught:
            engine.generate("x", **keywords)
        assert caught.value.code == code
        assert engine.generate("still there").text == "still there"


@pytest.mark.parametrize("messages", ["", " \n", [], [{"role": "system", "content": "Only that."}]])
def test_nothing_to_answer(fake: Fake, messages: object) -> None:
    with Engine(fake()) as engine, pytest.raises(VrambleError, match="empty"):
        engine.generate(messages)  # type: ignore[arg-type]


@pytest.mark.parametrize("messages", [[{"role": "robot", "content": "x"}], [{"content": "x"}], [3]])
def test_what_is_no_message(fake: Fake, messages: object) -> None:
    with Engine(fake()) as engine, pytest.raises(VrambleError) as caught:
        engine.generate(messages)  # type: ignore[arg-type]
    assert caught.value.code == "bad-argument"


def test_bad_load_options_start_nothing(fake: Fake, journal: Path) -> None:
    for keywords in ({"n_ctx": -1}, {"nctx": 1}):
        with pytest.raises(VrambleError):
            Engine(fake(), **keywords)  # type: ignore[arg-type]
    assert not journal.exists()


def test_a_load_that_fails_leaves_no_process(fake: Fake, journal: Path) -> None:
    fail = {"code": "not-gguf", "message": "That is no GGUF file.", "next_step": "Choose another."}
    with pytest.raises(VrambleError) as caught:
        Engine(fake(load={"fail": fail}))
    assert (caught.value.code, caught.value.next_step) == ("not-gguf", "Choose another.")
    from tests.fakes.fake_worker import journal_entries

    assert gone(journal_entries(journal)[0]["pid"])


@pytest.mark.parametrize("name", ["no-such-model", "hf:owner/repo/file.gguf", "/does/not/exist.gguf"])
def test_models_that_are_not_there(fake: Fake, name: str) -> None:
    fake()
    with pytest.raises(VrambleError):
        Engine(name)


def test_an_installed_model_by_its_hub_name(fake: Fake, journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.paths import find_paths

    fake()
    file = find_paths().models / "owner" / "repo" / "file.gguf"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"GGUF")
    Engine("hf:owner/repo/file.gguf").close()
    assert frames(journal, "load")[0]["path"] == str(file)


def test_closing_a_stream_cancels_and_the_next_answer_comes(fake: Fake, journal: Path) -> None:
    with Engine(fake(generate=[SLOW, {}])) as engine:
        with engine.stream("x") as stream:
            assert next(stream) == "word "
        assert stream.answer().reason is FinishReason.CANCELLED
        assert engine.generate("next").text == "next"
    assert len(frames(journal, "cancel")) == 1


def test_dropping_a_stream_cancels_it(fake: Fake, journal: Path) -> None:
    with Engine(fake(generate=[SLOW, {}])) as engine:
        assert list(itertools.islice(engine.stream("x"), 2)) == ["word ", "word "]
        assert engine.generate("next").text == "next"
    assert len(frames(journal, "cancel")) == 1


def test_a_stream_that_is_never_read_asks_nothing(fake: Fake, journal: Path) -> None:
    with Engine(fake()) as engine:
        kept = engine.stream("never")
        assert engine.generate("asked").text == "asked"
        kept.close()
    assert len(frames(journal, "generate")) == 1


def test_one_at_a_time(fake: Fake) -> None:
    with Engine(fake(generate=[SLOW, {}])) as engine:
        waiting = engine.stream("second")
        stream = engine.stream("first")
        next(stream)
        for ask in (lambda: engine.generate("third"), lambda: next(waiting)):
            with pytest.raises(VrambleError) as caught:
                ask()
            assert caught.value.code == "busy"
        stream.close()


def test_cancel_from_another_thread_keeps_the_text(fake: Fake) -> None:
    with Engine(fake(generate=SLOW)) as engine, engine.stream("x") as stream:
        next(stream)
        thread = threading.Thread(target=engine.cancel)
        thread.start()
        thread.join()
        answer = stream.read()
    assert answer.reason is FinishReason.CANCELLED
    assert 0 < len(answer.text) < len(LONG)


def test_an_exception_in_the_loop_leaves_an_engine_that_answers(fake: Fake) -> None:
    with Engine(fake(generate=[SLOW, {}])) as engine:
        with pytest.raises(ZeroDivisionError), engine.stream("x") as stream:
            print(len(next(stream)) // 0)
        assert engine.generate("next").text == "next"


def test_a_dead_worker_is_told_and_replaced(fake: Fake, journal: Path) -> None:
    dying = {"text": "one two three", "after": 2, "signal": "SIGSEGV"}
    model = fake(runs=[{"generate": dying}, {}])
    with Engine(model) as engine:
        first = engine.pid
        stream = engine.stream("x")
        with pytest.raises(VrambleError) as caught:
            stream.read()
        assert caught.value.next_step
        assert stream.text == "one two "
        assert engine.generate("back").text == "back"
        assert engine.pid not in (None, first)
    assert len(frames(journal, "load")) == 2


def test_conversations(fake: Fake, journal: Path) -> None:
    talk = Conversation(system="Short.")
    with Engine(fake(generate={"thinking": "hm", "text": "Yes."})) as engine:
        for question in ("first", "second"):
            answer = engine.generate(talk.ask(question), conversation="talk")
            talk.add(question, answer)
        engine.forget("talk")
        engine.generate("x")
    last = frames(journal, "generate")[1]
    assert [message["content"] for message in last["messages"]] == ["Short.", "first", "Yes.", "second"]
    assert (last["messages"][2]["thinking"], last["conversation"]) == ("hm", "talk")
    assert frames(journal, "forget")[0]["conversations"] == ["talk"]
    talk.clear()
    assert talk.messages == (ChatMessage(role="system", content="Short."),)


def test_the_end_of_the_engine_is_the_end_of_the_worker(fake: Fake) -> None:
    engine = Engine(fake())
    pid = engine.pid
    assert pid is not None
    engine.close()
    engine.close()
    assert gone(pid, 0.1)
    with pytest.raises(VrambleError, match="closed"):
        engine.generate("x")


def test_a_forgotten_engine_ends_its_worker(fake: Fake) -> None:
    engine = Engine(fake(generate=SLOW))
    pid = engine.pid
    assert pid is not None
    stream = engine.stream("x")
    next(stream)
    del engine
    gc.collect()
    assert next(stream) == "word ", "a stream keeps its engine"
    del stream
    gc.collect()
    assert gone(pid, 5)


@pytest.mark.parametrize(
    "ending",
    ["", "raise SystemExit(3)", "raise ValueError", "os.abort()", "os._exit(0)", "os.kill(os.getpid(), 9)"],
)
def test_no_orphans_whatever_ends_the_program(fake: Fake, repository: Path, ending: str) -> None:
    program = (
        "import os; from engine.api import Engine; e = Engine({!r}); s = e.stream('x'); next(s);"
        " print(e.pid, flush=True); {}"
    )
    model = fake(generate=SLOW)
    command = [sys.executable, "-c", program.format(str(model), ending)]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout, done.stderr
    assert gone(int(done.stdout))


def test_ctrl_c_is_an_exception_and_ends_the_answer(fake: Fake, repository: Path, journal: Path) -> None:
    program = (
        "from engine.api import Engine\n"
        "with Engine({!r}) as engine:\n"
        "    try:\n"
        "        for piece in engine.stream('x'): print(piece, flush=True)\n"
        "    except KeyboardInterrupt:\n"
        "        print('stopped', engine.generate('next'))\n"
    )
    model = fake(generate=[SLOW, {}])
    process = subprocess.Popen(
        [sys.executable, "-c", program.format(str(model))], cwd=repository, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "word \n"
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert out.endswith("stopped next\n")
    assert len(frames(journal, "cancel")) == 1

"""`vramble chat` without a prompt, in a pseudo terminal."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from engine.paths import find_paths
from tests.app.chat.interactive.terminal import Terminal
from tests.engine.api.processes import frames, gone

Fake = Callable[..., str]
LONG = {"text": "word " * 20_000, "delay": 0.02}


def contents(frame: dict) -> list[str]:
    return [message["content"] for message in frame["messages"]]


def test_a_conversation(fake: Fake, journal: Path) -> None:
    with Terminal(fake(), "--system", "Short.") as terminal:
        terminal.ready()
        assert "Fake Radeon" in terminal.text
        assert "first\n[1 tokens" in terminal.say("first")
        terminal.say("")
        terminal.say("second")
        terminal.type("/exit\n")
        assert terminal.end() == 0
    assert [contents(frame) for frame in frames(journal, "generate")] == [
        ["Short.", "first"],
        ["Short.", "first", "first", "second"],
    ]


def test_ctrl_d_ends(fake: Fake) -> None:
    with Terminal(fake()) as terminal:
        terminal.ready()
        terminal.type("\x04")
        assert terminal.end() == 0


def test_ctrl_c_stops_the_answer_and_not_the_program(fake: Fake, journal: Path) -> None:
    with Terminal(fake(generate=[LONG, {}])) as terminal:
        terminal.ready()
        terminal.type("first\n")
        terminal.wait("word word")
        terminal.interrupt()
        terminal.wait("cancelled]")
        terminal.ready()
        assert "next" in terminal.say("next")
        terminal.type("/exit\n")
        assert terminal.end() == 0
    assert len(frames(journal, "cancel")) == 1
    before = contents(frames(journal, "generate")[-1])
    assert (before[0], before[2]) == ("first", "next")
    assert before[1].startswith("word word"), "what had come is kept"


def test_ctrl_c_at_the_prompt_drops_the_line_and_twice_ends(fake: Fake, journal: Path) -> None:
    with Terminal(fake()) as terminal:
        terminal.ready()
        terminal.type("half a line")
        terminal.wait("half a line")
        terminal.interrupt()
        terminal.wait("once more")
        terminal.ready()
        assert "whole\n[" in terminal.say("whole")
        terminal.interrupt()
        terminal.wait("once more")
        terminal.ready()
        terminal.interrupt()
        assert terminal.end() == 0
    assert [contents(frame) for frame in frames(journal, "generate")] == [["whole"]]


def test_commands_are_explained_and_unknown_ones_sent_nowhere(fake: Fake, journal: Path) -> None:
    with Terminal(fake()) as terminal:
        terminal.ready()
        shown = terminal.say("/help")
        for name in ("/exit", "/stats", "/reset", "/set", "/save", "/regenerate"):
            assert name in shown
        assert "no command /etc/passwd" in terminal.say("/etc/passwd is what?")
        assert "/etc is a folder" in terminal.say("//etc is a folder")
    assert [contents(frame) for frame in frames(journal, "generate")] == [["/etc is a folder"]]


def test_reset_and_stats(fake: Fake, journal: Path) -> None:
    with Terminal(fake()) as terminal:
        terminal.ready()
        assert "no answer yet" in terminal.say("/stats")
        terminal.say("one two three")
        shown = terminal.say("/stats")
        assert "3 tokens" in shown
        assert "decode: 20.0 tok/s" in shown
        assert "1 answer," in shown
        terminal.say("/reset")
        assert "no answer yet" in terminal.say("/stats")
        terminal.say("anew")
    assert contents(frames(journal, "generate")[-1]) == ["anew"]


def test_stats_tell_how_many_guesses_were_right(fake: Fake) -> None:
    with Terminal(fake(generate=[{"stats": {"drafted": 40, "accepted": 30}}])) as terminal:
        terminal.ready()
        terminal.say("one two three")
        shown = terminal.say("/stats")
        assert "30 of 40 guessed tokens accepted (75%)" in shown
        assert "guesses accepted: 75%" in shown


def test_set_changes_the_next_answer(fake: Fake, journal: Path) -> None:
    with Terminal(fake(), "--seed", "5") as terminal:
        terminal.ready()
        assert "temperature is 0.2" in terminal.say("/set temp 0.2")
        terminal.say("/set top-k=7")
        terminal.say("/set max-tokens 2")
        terminal.say("/set system You are terse.")
        terminal.say("/set stop END")
        terminal.say("/set reasoning off")
        assert "whole number" in terminal.say("/set top_k many")
        assert "0 to 1" in terminal.say("/set top_p 3")
        assert "nothing called" in terminal.say("/set warmth 3")
        assert "* temperature" in terminal.say("/set")
        terminal.say("one two three four")
    (request,) = frames(journal, "generate")
    sampling = request["sampling"]
    assert (sampling["temperature"], sampling["top_k"], sampling["top_p"], sampling["seed"]) == (0.2, 7, 0.95, 5)
    assert (request["max_tokens"], request["stop"], request["thinking"]["enabled"]) == (2, ["END"], False)
    assert contents(request)[0] == "You are terse."


def test_regenerate_replaces_the_answer(fake: Fake, journal: Path) -> None:
    answers = [{"text": "bad"}, {"text": "good"}, {}]
    with Terminal(fake(generate=answers), "--seed", "5") as terminal:
        terminal.ready()
        assert "no message" in terminal.say("/regenerate")
        terminal.say("question")
        assert "good" in terminal.say("/regenerate")
        terminal.say("next")
    first, again, last = frames(journal, "generate")
    assert contents(again) == contents(first) == ["question"]
    assert again["sampling"]["seed"] == first["sampling"]["seed"] + 1
    assert contents(last) == ["question", "good", "next"]


def test_regenerate_after_a_failure(fake: Fake, journal: Path) -> None:
    fail = {"code": "context-exceeded", "message": "Too long."}
    with Terminal(fake(generate=[{"fail": fail, "after": 0}, {"text": "good"}])) as terminal:
        terminal.ready()
        assert "Too long." in terminal.say("question")
        assert "good" in terminal.say("/regenerate")
    assert contents(frames(journal, "generate")[-1]) == ["question"]


def test_a_dead_engine_is_told_and_comes_back(fake: Fake, journal: Path) -> None:
    dying = {"text": "one two", "after": 1, "signal": "SIGSEGV"}
    model = fake(runs=[{"generate": dying}, {}])
    with Terminal(model) as terminal:
        terminal.ready()
        assert "engine" in terminal.say("first")
        assert "second\n[" in terminal.say("second")
        terminal.type("/exit\n")
        assert terminal.end() == 0
    assert len(frames(journal, "load")) == 2


def test_save(fake: Fake, tmp_path: Path) -> None:
    page, record, taken = tmp_path / "talk.md", tmp_path / "talk.json", tmp_path / "taken.md"
    taken.write_text("mine", encoding="utf-8")
    with Terminal(fake(generate={"thinking": "hm\nwell", "text": "Yes."}), "--system", "Short.") as terminal:
        terminal.ready()
        assert "nothing to save" in terminal.say(f"/save {page}")
        terminal.say("question")
        for path in (page, page, record):
            assert "Saved" in terminal.say(f"/save {path}")
        assert "there already" in terminal.say(f"/save {taken}")
        assert "could not be written" in terminal.say("/save /does/not/exist/x.md")
    assert taken.read_text(encoding="utf-8") == "mine"
    text = page.read_text(encoding="utf-8")
    for part in ("Short.", "## You\n\nquestion", "> hm\n> well", "Yes."):
        assert part in text
    document = json.loads(record.read_text(encoding="utf-8"))
    assert [(m["role"], m["content"]) for m in document["messages"]] == [("user", "question"), ("assistant", "Yes.")]
    assert document["messages"][1]["thinking"] == "hm\nwell"
    assert document["system"] == "Short."


def test_several_lines(fake: Fake, journal: Path) -> None:
    with Terminal(fake()) as terminal:
        terminal.ready()
        terminal.type("one\\\n")
        terminal.wait(". ")
        terminal.say("two")
        terminal.type('"""\n')
        terminal.wait(". ")
        terminal.type("three\n")
        terminal.wait(". ")
        terminal.say('four"""')
        terminal.type("five\x1b\r")
        terminal.say("six")
    asked = [contents(frame)[-1] for frame in frames(journal, "generate")]
    assert asked == ["one\ntwo", "three\nfour", "five\nsix"]


def test_history_over_runs(fake: Fake, journal: Path) -> None:
    model = fake()
    with Terminal(model) as terminal:
        terminal.ready()
        terminal.say("remember me")
        terminal.type("/exit\n")
        assert terminal.end() == 0
    with Terminal(model) as terminal:
        terminal.ready()
        terminal.say("\x1b[A\x1b[A")
    assert contents(frames(journal, "generate")[-1]) == ["remember me"]
    file = find_paths().state / "chat-history"
    assert file.stat().st_mode & 0o077 == 0


def test_thoughts_are_dimmed_and_control_characters_tamed(fake: Fake) -> None:
    with Terminal(fake(generate={"thinking": "hm", "text": "red\x1b[31m\x07"})) as terminal:
        terminal.ready()
        terminal.say("x")
        assert "\x1b[2mhm\x1b[22m" in terminal.seen
        assert "\x1b[31m" not in terminal.seen
        assert "\x07" not in terminal.seen


def test_no_worker_is_left(fake: Fake, journal: Path) -> None:
    with Terminal(fake(generate=LONG)) as terminal:
        terminal.ready()
        terminal.type("x\n")
        terminal.wait("word word")
        terminal.process.kill()
        terminal.end()
    first = json.loads(journal.read_text(encoding="utf-8").splitlines()[0])
    assert gone(first["pid"])
    assert first["pid"] != os.getpid()

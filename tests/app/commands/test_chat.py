"""``vramble chat`` with the fake worker."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import IO

import pytest

from tests.app.commands.conftest import VRAMBLE, one_line
from tests.fakes.fake_worker import journal_entries

KEYS = {
    "text",
    "thinking",
    "finish_reason",
    "prompt_tokens",
    "cached_tokens",
    "generated_tokens",
    "ttft_ms",
    "prefill_tps",
    "decode_tps",
    "drafted",
    "accepted",
}


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def frames(journal: Path, kind: str) -> list[dict]:
    return [e["frame"] for e in journal_entries(journal) if e.get("frame", {}).get("type") == kind]


def test_text_goes_to_standard_output(vramble, fake_worker, model) -> None:
    done = vramble("chat", model, "--prompt", "Grüße 😀")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Grüße 😀\n", "")


def test_prompt_from_standard_input(vramble, fake_worker, model) -> None:
    done = vramble("chat", model, stdin="from a pipe\n")
    assert (done.returncode, done.stdout) == (0, "from a pipe\n")


def test_json_has_exactly_the_promised_keys(vramble, fake_worker, model) -> None:
    done = vramble("chat", model, "--prompt", "a b c", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert document.keys() == KEYS
    assert (document["text"], document["finish_reason"]) == ("a b c", "stop")
    assert (document["generated_tokens"], document["decode_tps"]) == (3, 20.0)


def test_json_keeps_the_thought_apart(vramble, fake_worker, model) -> None:
    fake_worker(generate={"thinking": "hm", "text": "Yes."})
    document = json.loads(vramble("chat", model, "--prompt", "x", "--json").stdout)
    assert (document["thinking"], document["text"]) == ("hm", "Yes.")
    fake_worker(generate={"text": "<think>"})
    document = json.loads(vramble("chat", model, "--prompt", "x", "--json").stdout)
    assert (document["thinking"], document["text"]) == (None, "<think>")


def test_a_thought_is_not_on_standard_output(vramble, fake_worker, model) -> None:
    fake_worker(generate={"thinking": "hm", "text": "Yes."})
    done = vramble("chat", model, "--prompt", "x")
    assert (done.stdout, done.stderr) == ("Yes.\n", "")


def test_a_thought_is_dimmed_in_a_terminal_and_goes_with_the_next_turn(fake_worker, model, journal) -> None:
    fake_worker(journal=str(journal), generate={"thinking": "hm", "text": "Yes."})
    master, slave = pty.openpty()
    shown, screen = pty.openpty()
    os.write(master, b"first\nsecond\n/exit\n")
    process = subprocess.Popen(
        [*VRAMBLE, "chat", model], stdin=slave, stdout=subprocess.PIPE, stderr=screen, env=dict(os.environ)
    )
    out, _ = process.communicate(timeout=60)
    assert b"hm" not in out
    assert b"\x1b[2mhm\x1b[22m" in os.read(shown, 1 << 16)
    for descriptor in (master, slave, shown, screen):
        os.close(descriptor)
    messages = frames(journal, "generate")[-1]["messages"]
    assert [(m["content"], m.get("thinking", "")) for m in messages] == [("first", ""), ("Yes.", "hm"), ("second", "")]


def test_sampling_flags_reach_the_worker(vramble, fake_worker, model, journal, tmp_path) -> None:
    fake_worker(journal=str(journal))
    grammar = tmp_path / "answer.gbnf"
    grammar.write_text('root ::= "a"', encoding="utf-8")
    flags = (
        "--top-k 7 --top-p 0.5 --min-p 0.1 --typical 0.9 --top-nsigma 1.5 --xtc-probability 0.5 --xtc-threshold 0.2"
        " --dynatemp-range 0.3 --dynatemp-exp 2 --repeat-penalty 1.1 --repeat-last-n -1 --presence-penalty 0.4"
        " --frequency-penalty -0.4 --dry-multiplier 0.8 --dry-base 1.5 --dry-allowed-length 3 --dry-penalty-last-n 99"
        " --dry-sequence-breaker \\n --dry-sequence-breaker ; --mirostat 2 --mirostat-lr 0.2 --mirostat-ent 4"
        " --logit-bias 5-1.5 --logit-bias 6+2 --stop END --stop . --reasoning off --reasoning-budget 9 --prefill So"
    )
    done = vramble("chat", model, "--prompt", "a b", *flags.split(), "--grammar-file", str(grammar))
    assert (done.returncode, done.stdout) == (0, "Soa b\n")
    (request,) = frames(journal, "generate")
    expected = {
        "top_k": 7,
        "top_p": 0.5,
        "min_p": 0.1,
        "typical_p": 0.9,
        "top_n_sigma": 1.5,
        "xtc_probability": 0.5,
        "xtc_threshold": 0.2,
        "dynatemp_range": 0.3,
        "dynatemp_exponent": 2.0,
        "repeat_penalty": 1.1,
        "repeat_last_n": -1,
        "presence_penalty": 0.4,
        "frequency_penalty": -0.4,
        "dry_multiplier": 0.8,
        "dry_base": 1.5,
        "dry_allowed_length": 3,
        "dry_penalty_last_n": 99,
        "dry_sequence_breakers": ["\n", ";"],
        "mirostat": 2,
        "mirostat_eta": 0.2,
        "mirostat_tau": 4.0,
        "logit_bias": [{"token": 5, "bias": -1.5}, {"token": 6, "bias": 2.0}],
        "grammar": 'root ::= "a"',
    }
    assert {name: request["sampling"].get(name) for name in expected} == expected
    assert (request["stop"], request["prefill"]) == (["END", "."], "So")
    assert request["thinking"] == {"enabled": False, "budget": 9}


def test_options_reach_the_worker(vramble, fake_worker, model, journal) -> None:
    fake_worker(journal=str(journal))
    options = "--temp 0 --seed 7 --max-tokens 2 --ctx 512 --gpu-layers 3 --device cpu --system Short."
    done = vramble("chat", model, "--prompt", "a b c d", *options.split())
    assert done.stdout == "a b \n"
    (load,), (generate,) = frames(journal, "load"), frames(journal, "generate")
    assert load["path"] == model
    assert {k: load["options"][k] for k in ("n_ctx", "n_gpu_layers", "device")} == {
        "n_ctx": 512,
        "n_gpu_layers": 3,
        "device": "cpu",
    }
    assert (generate["sampling"]["temperature"], generate["sampling"]["seed"], generate["max_tokens"]) == (0.0, 7, 2)
    assert [(m["role"], m["content"]) for m in generate["messages"]] == [("system", "Short."), ("user", "a b c d")]


def test_another_device_than_the_named_one_is_told(vramble, fake_worker, model) -> None:
    fake_worker(load={"info": {"device_warnings": ["The device 0000:09:00.0 was not found; Radeon is used instead."]}})
    done = vramble("chat", model, "--prompt", "a", "--device", "0000:09:00.0")
    assert (done.returncode, done.stdout) == (0, "a\n")
    assert done.stderr == "The device 0000:09:00.0 was not found; Radeon is used instead.\n"
    assert vramble("chat", model, "--prompt", "a", "--device", "0000:03:00.0").stderr == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["--temp", "-1"],
        ["--temp", "nan"],
        ["--temp", "warm"],
        ["--max-tokens", "0"],
        ["--seed", "-1"],
        ["--seed", "4294967296"],
        ["--ctx", "1.5"],
        ["--gpu-layers", "-2"],
        ["--nonsense"],
        ["--top-p", "1.5"],
        ["--mirostat", "3"],
        ["--logit-bias", "x+1"],
        ["--grammar", "root ::= x", "--json-schema", "{}"],
        ["--json-schema", "{}", "--json-schema-file", os.devnull],
        ["--json-schema", "{"],
        ["--json-schema", '{"type": "strang"}'],
        ["--grammar-file", "/does/not/exist"],
        ["--reasoning", "perhaps"],
    ],
)
def test_wrong_use_is_2(arguments, capsys) -> None:
    from app.cli import run

    assert run(["chat", "model", "--prompt", "x", *arguments]) == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("prompt", ["", " \n\t"])
def test_empty_prompt(vramble, fake_worker, model, journal, prompt) -> None:
    fake_worker(journal=str(journal))
    for done in (vramble("chat", model, "--prompt", prompt), vramble("chat", model, stdin=prompt)):
        assert (done.returncode, done.stdout) == (1, "")
        assert one_line(done.stderr).startswith("vramble: The prompt is empty.")
    assert journal_entries(journal) == [], "the engine was not even started"


def test_failure_of_the_load_is_one_line(vramble, fake_worker, model) -> None:
    fail = {"code": "not-gguf", "message": "tiny.gguf is no\nGGUF file.", "next_step": "Choose another."}
    fake_worker(load={"fail": fail})
    done = vramble("chat", model, "--prompt", "x", "--json")
    assert (done.returncode, done.stdout) == (1, "")
    assert one_line(done.stderr) == "vramble: tiny.gguf is no GGUF file. Choose another."


def test_crash_in_the_middle_keeps_the_text_that_came(vramble, fake_worker, model) -> None:
    fake_worker(generate={"text": "one two three", "after": 2, "signal": "SIGKILL", "stderr": ["log"] * 50})
    done = vramble("chat", model, "--prompt", "x")
    assert (done.returncode, done.stdout) == (1, "one two ")
    assert re.search("killed|memory", one_line(done.stderr)), "the reason depends on the machine's own counters"


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("hf:owner/repo/sub/file.gguf", "vramble pull owner/repo sub/file.gguf"),
        ("hf:owner/repo", "hf:owner/repo/file.gguf"),
        ("hf:../../etc/passwd", "hf:owner/repo/file.gguf"),
        ("hf:/etc/x/passwd", "hf:owner/repo/file.gguf"),
        ("no-such-model", "no-such-model"),
    ],
)
def test_models_that_are_not_there(vramble, fake_worker, argument, words) -> None:
    done = vramble("chat", argument, "--prompt", "x")
    assert (done.returncode, done.stdout) == (1, "")
    assert words in one_line(done.stderr)


def test_downloaded_model_by_its_hub_name(vramble, fake_worker, journal) -> None:
    fake_worker(journal=str(journal))
    file = Path(os.environ["VRAMBLE_HOME"]) / "data" / "models" / "owner" / "repo" / "q4" / "file.gguf"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"GGUF")
    assert vramble("chat", "hf:owner/repo/q4/file.gguf", "--prompt", "x").returncode == 0
    assert frames(journal, "load")[0]["path"] == str(file)


def start_chat(model: str, stdin: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*VRAMBLE, "chat", model], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ)
    )


def test_conversation_in_a_terminal(fake_worker, model, journal) -> None:
    fake_worker(journal=str(journal))
    master, slave = pty.openpty()
    os.write(master, b"first\n\nsecond\n/exit\n")
    out, err = start_chat(model, slave).communicate(timeout=60)
    os.close(master)
    os.close(slave)
    assert out.decode().replace("> ", "").split() == ["first", "second"]
    assert "tiny on Fake Radeon" in err.decode()
    roles = [(m["role"], m["content"]) for m in frames(journal, "generate")[-1]["messages"]]
    assert roles == [("user", "first"), ("assistant", "first"), ("user", "second")]


def test_a_failed_turn_does_not_end_the_conversation(fake_worker, model) -> None:
    fail = {"code": "context-full", "message": "Too long."}
    fake_worker(generate=[{"fail": fail, "after": 0}, {}])
    master, slave = pty.openpty()
    os.write(master, b"first\nsecond\n/exit\n")
    process = start_chat(model, slave)
    out, err = process.communicate(timeout=60)
    os.close(master)
    os.close(slave)
    assert "second" in out.decode()
    assert "Too long." in err.decode()
    assert process.returncode == 0


def test_ctrl_c_stops_the_answer_and_keeps_its_text(fake_worker, model) -> None:
    fake_worker(generate={"text": "word " * 20_000, "delay": 0.02})
    process = subprocess.Popen(
        [*VRAMBLE, "chat", model, "--prompt", "x"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ)
    )
    assert process.stdout is not None
    assert process.stdout.read(5) == b"word "
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert one_line(err.decode()) == "vramble: Stopped before the answer was complete."


def test_ctrl_c_stops_an_answer_to_text_from_a_pipe(fake_worker, model) -> None:
    fake_worker(generate={"text": "word " * 20_000, "delay": 0.02})
    process = start_chat(model, subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"a question")
    process.stdin.close()
    process.stdin = None
    assert process.stdout.read(5) == b"word "
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert one_line(err.decode()) == "vramble: Stopped before the answer was complete."


def test_ctrl_c_while_a_pipe_says_nothing(model) -> None:
    process = start_chat(model, subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(b"the beginning of a question")
    process.stdin.flush()
    while unread(process.stdin):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert one_line(err.decode()) == "vramble: Interrupted."


def unread(pipe: IO[bytes]) -> int:
    """Bytes in ``pipe`` that the other end has not taken yet."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def test_ctrl_c_while_the_model_loads(fake_worker, model, journal) -> None:
    fake_worker(journal=str(journal), load={"steps": 500, "delay": 0.02})
    process = subprocess.Popen(
        [*VRAMBLE, "chat", model, "--prompt", "x"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ)
    )
    while not frames(journal, "load"):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, b"")
    assert one_line(err.decode()) == "vramble: Loading was cancelled."
    assert len(frames(journal, "cancel")) == 1


def test_closed_pipe_ends_quietly(fake_worker, model) -> None:
    fake_worker(generate={"text": "word " * 100, "delay": 0.02})
    process = subprocess.Popen(
        [*VRAMBLE, "chat", model, "--prompt", "x"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ)
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(5)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(timeout=60) == 1

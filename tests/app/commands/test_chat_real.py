"""``vramble chat`` with the real worker."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.app.commands.conftest import one_line
from tests.fakes.tiny_gguf import tiny_llama

GREEDY = ("--temp", "0", "--device", "cpu", "--ctx", "256", "--max-tokens", "8", "--json")


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(tiny_llama())
    return str(path)


def test_same_prompt_same_text(vramble, tiny) -> None:
    first, second = (vramble("chat", tiny, "--prompt", "Hello", *GREEDY) for _ in range(2))
    assert (first.returncode, first.stderr) == (0, "")
    document = json.loads(first.stdout)
    assert document["text"] == json.loads(second.stdout)["text"]
    assert (document["finish_reason"], document["generated_tokens"]) == ("length", 8)
    assert document["prompt_tokens"] > 0
    assert document["ttft_ms"] > 0
    assert document["decode_tps"] > 0


def test_prompt_longer_than_the_context(vramble, tiny) -> None:
    done = vramble("chat", tiny, *GREEDY, stdin="word " * 2000)
    assert (done.returncode, done.stdout) == (1, "")
    assert "context" in one_line(done.stderr)


def test_an_answer_from_a_pipe_ends_with_the_context(vramble, tiny) -> None:
    done = vramble("chat", tiny, "--temp", "0", "--device", "cpu", "--ctx", "256", "--json", stdin="Hello")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    used = document["prompt_tokens"] + document["generated_tokens"]
    assert document["finish_reason"] == "context"
    assert used in (256, 257), "the last token is chosen, not computed any more"


@pytest.mark.parametrize(
    "content", [b"", b"GGUF", b"Dear all,", tiny_llama()[:-5000]], ids=["empty", "magic", "text", "cut"]
)
def test_files_that_are_no_model(vramble, tmp_path, content) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(content)
    done = vramble("chat", str(path), "--prompt", "x", *GREEDY)
    assert (done.returncode, done.stdout) == (1, "")
    assert one_line(done.stderr).startswith("vramble: ")


@pytest.mark.slow
def test_the_starter_model_answers(vramble) -> None:
    done = vramble("chat", "starter", "--prompt", "Say hello.", "--temp", "0", "--max-tokens", "16")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.split()) > 2

"""Errors of bad files: one sentence each, a code each."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import VrambleError
from engine.worker.validate import check_file, context_failure, load_failure
from tests.fakes.tiny_gguf import ARR, F32, gguf, tiny_llama


def refused(path: Path) -> VrambleError:
    with pytest.raises(VrambleError) as caught:
        check_file(path)
    return caught.value


BAD = {
    "not-gguf": b"<html>no model</html>" * 10,
    "ggml-format": b"tjgg" + bytes(100),
    "gguf-version": gguf([], version=1),
    "gguf-too-new": gguf([], version=99),
    "gguf-byte-order": gguf([], version=0x03000000),
    "cut-file": tiny_llama()[:-5000],
    "damaged-file": tiny_llama(**{"tokenizer.ggml.scores": (ARR, (F32, [0.0, 0.0, 0.0]))}),
}


@pytest.mark.parametrize("code", BAD)
def test_bad_files(tmp_path: Path, code: str) -> None:
    path = tmp_path / "bad.gguf"
    path.write_bytes(BAD[code])
    error = refused(path)
    assert error.code == code
    assert "bad.gguf" in error.message
    assert error.message.endswith(".")
    assert error.next_step.endswith(".")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert refused(tmp_path / "gone.gguf").code == "missing-file"


def test_a_folder_in_place_of_a_file(tmp_path: Path) -> None:
    assert refused(tmp_path).code == "unreadable-file"


def test_a_good_file(tmp_path: Path) -> None:
    path = tmp_path / "good.gguf"
    path.write_bytes(tiny_llama())
    assert check_file(path).architecture == "llama"


@pytest.mark.parametrize(
    ("log", "code", "words"),
    [
        ("E x: error loading model: unknown model architecture: 'flux'", "unknown-architecture", "architecture flux"),
        ("E x: error loading model: unknown model architecture: ''", "unknown-architecture", "no known architecture"),
        ("E x: error loading model: unable to allocate Vulkan0 buffer", "out-of-memory", "not enough memory"),
        ("E x: error loading model: missing tensor 'a'", "load-failed", "missing tensor 'a'"),
        ("", "load-failed", "could not be loaded."),
    ],
)
def test_what_the_log_says(log: str, code: str, words: str) -> None:
    error = load_failure(Path("/m/f.gguf"), log, "0.3.36")
    assert error.code == code
    assert words in error.message
    assert error.detail == log


def test_context_memory() -> None:
    error = context_failure(131072, "E x: failed to allocate buffer for kv cache")
    assert error.code == "context-memory"
    assert "131072" in error.message
    assert context_failure(1, "E other").code == "context-failed"

"""The header reader: what it reads, what it refuses, and that no bytes hurt it."""

from __future__ import annotations

import io
import os
import resource
import struct
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.library.gguf import HeaderProblem, ModelHeader, read_file, read_header
from engine.library.gguf.tables import BLOCKS, quant_in_name
from engine.library.states import FileState
from tests.engine.library.making import llama
from tests.fakes.tiny_gguf import (
    ARR,
    F32,
    I32,
    U8,
    U32,
    gguf,
    llama_parts,
    split_set,
)


def read(data: bytes) -> ModelHeader | HeaderProblem:
    return read_header(io.BytesIO(data), len(data))


def header(data: bytes) -> ModelHeader:
    found = read(data)
    assert isinstance(found, ModelHeader), found
    return found


def problem(data: bytes) -> HeaderProblem:
    found = read(data)
    assert isinstance(found, HeaderProblem), found
    return found


def test_facts_of_a_small_model() -> None:
    data = llama(template="{{ messages }}")
    found = header(data)
    assert (found.architecture, found.name, found.quant) == ("llama", "tiny", "F32")
    assert (found.n_layers, found.context_length, found.embedding_length) == (1, 512, 32)
    assert found.n_params == sum(len(tensor.data) // 4 for tensor in llama_parts()[1])
    assert found.tensor_bytes == found.n_params * 4
    assert found.implied_size == len(data)
    assert found.has_template
    assert found.warnings == ()
    assert found.split is None


def test_reads_what_the_reference_writer_writes(tmp_path: Path) -> None:
    import gguf as reference
    import numpy as np

    path = tmp_path / "reference.gguf"
    writer = reference.GGUFWriter(str(path), "qwen3")
    writer.add_name("Reference")
    writer.add_block_count(7)
    writer.add_context_length(40960)
    writer.add_file_type(15)
    writer.add_token_list(["a", "b"])
    writer.add_tensor("token_embd.weight", np.zeros((2, 64), dtype=np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    found = read_file(path)
    assert isinstance(found, ModelHeader)
    assert (found.architecture, found.name, found.quant) == ("qwen3", "Reference", "Q4_K_M")
    assert (found.n_layers, found.context_length, found.n_params) == (7, 40960, 128)
    assert found.implied_size <= path.stat().st_size


def test_block_sizes_agree_with_the_reference() -> None:
    from gguf.constants import GGML_QUANT_SIZES

    ours = {kind: (weights, size) for kind, (name, weights, size) in BLOCKS.items() if name != "Q8_1"}
    reference = {int(kind): sizes for kind, sizes in GGML_QUANT_SIZES.items() if kind.name != "Q8_1"}
    assert ours == reference


@pytest.mark.parametrize("template", [None, "", "  \n "])
def test_a_blank_template_is_none(template: str | None) -> None:
    assert not header(llama(template=template)).has_template


def test_a_long_template_counts_without_being_kept() -> None:
    assert header(llama(template=" " * 5000 + "{{ x }}")).has_template


def test_quant_from_tensors_when_the_header_names_none() -> None:
    assert header(llama({"general.file_type": None})).quant == "F32"


def test_shards_say_their_place() -> None:
    places = [header(data).split for data in split_set(3).values()]
    assert [(place.no, place.count) for place in places if place] == [(0, 3), (1, 3), (2, 3)]


# ---- damaged, incomplete, unsupported

TINY = llama()
LONG = 1 << 63


def test_an_empty_key_is_damage() -> None:
    assert problem(gguf([("", U8, 0)])).state is FileState.DAMAGED


def key_with_length(length: int) -> bytes:
    return struct.pack("<4sIQQ", b"GGUF", 3, 0, 1) + struct.pack("<Q", length) + b"key and more"


ABSURD = {
    "pairs": gguf([], n_kv=1 << 61),
    "tensors": gguf([], n_tensors=1 << 61),
    "key": key_with_length(LONG),
    "list": struct.pack("<4sIQQ", b"GGUF", 3, 0, 1) + struct.pack("<Q", 1) + b"k" + struct.pack("<IIQ", 9, 0, 1 << 40),
    "texts": struct.pack("<4sIQQ", b"GGUF", 3, 0, 1)
    + struct.pack("<Q", 1)
    + b"k"
    + struct.pack("<IIQQ", 9, 8, 1, LONG),
    "tensor": gguf([], [("t", (32, (1 << 42) + 1), 0, b"")]),
    "dimensions": gguf([], [("t", (1,) * 5, 0, b"")]),
    "kind": gguf([("k", 77, 0)][:0], n_kv=1) + struct.pack("<Q", 1) + b"k" + struct.pack("<IQQ", 77, 0, 0),
    "alignment": gguf([("general.alignment", U32, 33)]),
    "twice": gguf([("k", U8, 0), ("k", U8, 1)]),
    "same tensor": gguf([], [("t", (8,), 0, bytes(32)), ("t", (8,), 0, bytes(32))]),
    "block": gguf([], [("t", (33,), 2, bytes(36))]),
}


@pytest.mark.parametrize("name", ABSURD)
def test_absurd_numbers_are_damage(name: str) -> None:
    assert problem(ABSURD[name]).state is FileState.DAMAGED


def test_absurd_files_need_no_memory_and_no_time(tmp_path: Path) -> None:
    paths = []
    for name, data in ABSURD.items():
        path = tmp_path / f"{name}.gguf"
        path.write_bytes(data)
        os.truncate(path, 1 << 40)
        paths.append(str(path))
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from engine.library.gguf import read_file\n"
        "for name in sys.argv[1:]: assert read_file(Path(name)).state, name\n"
        "status = Path('/proc/self/status').read_text()\n"
        "print(next(line.split()[1] for line in status.splitlines() if line.startswith('VmHWM')))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *paths],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)),
    )
    assert int(done.stdout) < 100 * 1024


@pytest.mark.parametrize("cut", [24, 40, 1000, len(TINY) // 2, len(TINY) - 5000, len(TINY) - 1])
def test_a_cut_file_is_incomplete(cut: int) -> None:
    assert problem(TINY[:cut]).state is FileState.INCOMPLETE


def test_says_how_much_is_missing() -> None:
    found = problem(TINY[:-5000])
    assert found.missing_bytes == 5000
    assert "5.0 kB" in found.message


VERSIONS = {
    "old": (gguf([], version=1), FileState.TOO_OLD, "version 1"),
    "big": (gguf([], version=0x03000000), FileState.BIG_ENDIAN, "big-endian"),
    "ggml": (gguf([], magic=b"lmgg"), FileState.OLD_FORMAT, "GGML"),
    "ggjt": (gguf([], magic=b"tjgg"), FileState.OLD_FORMAT, "GGML"),
    "new": (gguf([], version=99), FileState.TOO_NEW, "version 99"),
    "html": (b"<!DOCTYPE html><html>", FileState.NOT_GGUF, "not a GGUF"),
    "empty": (b"", FileState.NOT_GGUF, "empty"),
    "pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:00", FileState.POINTER, "pointer"),
    "type": (gguf([], [("t", (8,), 99, bytes(32))]), FileState.TOO_NEW, "type 99"),
}


@pytest.mark.parametrize("name", VERSIONS)
def test_the_reason_is_named(name: str) -> None:
    data, state, words = VERSIONS[name]
    found = problem(data)
    assert (found.state, words in found.message) == (state, True), found


@pytest.mark.parametrize("name", ["scores", "token_type"])
def test_a_list_shorter_than_the_vocabulary_is_damage(name: str) -> None:
    kind = F32 if name == "scores" else I32
    found = problem(llama({f"tokenizer.ggml.{name}": (ARR, (kind, [0, 0, 0]))}))
    assert found.state is FileState.DAMAGED
    assert name in found.message


def test_odd_special_tokens_are_warned_of_and_no_more() -> None:
    outside = header(llama({"tokenizer.ggml.eos_token_id": (U32, 4294967295)}))
    missing = header(llama({"tokenizer.ggml.eos_token_id": None}))
    assert "outside" in outside.warnings[0]
    assert missing.warnings == ("No end-of-text token is given.",)


def test_unreadable_things_are_a_result(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.gguf"
    os.mkfifo(pipe)
    for path in (tmp_path / "gone.gguf", tmp_path, pipe):
        found = read_file(path)
        assert isinstance(found, HeaderProblem)
        assert found.state is FileState.UNREADABLE


def test_a_vocabulary_costs_no_memory() -> None:
    data = llama(tokens=["token"] * 150_000)
    file = io.BytesIO(data)
    tracemalloc.start()
    found = read_header(file, len(data))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(found, ModelHeader)
    assert peak < 4_000_000


# ---- any bytes

kinds = st.integers(0, 14)
lengths = st.one_of(st.integers(0, 40), st.integers(0, (1 << 64) - 1))


@given(st.binary(max_size=400))
@settings(max_examples=120, deadline=None)
def test_any_bytes(data: bytes) -> None:
    for start in (b"", b"GGUF\x03\0\0\0", struct.pack("<4sIQQ", b"GGUF", 3, 1, 2)):
        assert isinstance(read(start + data), ModelHeader | HeaderProblem)


@given(st.data())
@settings(max_examples=120, deadline=None)
def test_a_model_with_some_bytes_changed(data: st.DataObject) -> None:
    changed = bytearray(TINY)
    for _ in range(data.draw(st.integers(1, 6))):
        changed[data.draw(st.integers(0, 7300))] = data.draw(st.integers(0, 255))
    found = read(bytes(changed))
    assert isinstance(found, ModelHeader | HeaderProblem)
    if isinstance(found, ModelHeader):
        assert found.implied_size <= len(changed)


@given(st.integers(0, len(TINY)))
@settings(max_examples=100, deadline=None)
def test_any_cut(length: int) -> None:
    found = read(TINY[:length])
    assert isinstance(found, ModelHeader) == (length == len(TINY))


@given(st.lists(st.tuples(st.text(min_size=1, max_size=9), kinds, lengths), max_size=4), lengths, lengths)
@settings(max_examples=80, deadline=None)
def test_structured_nonsense(pairs: list[tuple[str, int, int]], n_kv: int, n_tensors: int) -> None:
    body = b"".join(
        struct.pack("<Q", len(key.encode())) + key.encode() + struct.pack("<IQ", kind, length)
        for key, kind, length in pairs
    )
    assert isinstance(read(struct.pack("<4sIQQ", b"GGUF", 3, n_tensors, n_kv) + body), ModelHeader | HeaderProblem)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("Qwen3-8B-Q4_K_M.gguf", "Q4_K_M"),
        ("Qwen3-8B-Q4_K_M", "Q4_K_M"),
        ("qwen2.5-0.5b-instruct-q4_0", "Q4_0"),
        ("SmolLM2.Q8_0", "Q8_0"),
        ("model-UD-Q4_K_XL", "UD-Q4_K_XL"),
        ("x-IQ2_XXS", "IQ2_XXS"),
        ("x-fp16", "F16"),
        ("x-bf16", "BF16"),
        ("gpt-oss-20b-mxfp4", "MXFP4"),
        ("Q8 thoughts", ""),
        ("plain", ""),
    ],
)
def test_labels_in_names(name: str, label: str) -> None:
    assert quant_in_name(name) == label

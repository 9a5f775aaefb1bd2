"""Reading libraries without loading them, whole, cut off and mangled."""

from __future__ import annotations

import importlib.util
import platform
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.backends.elf import Library, NotLoadable, gnu_hash, numbers, read_library
from tests.engine.backends.toy_plugins import ToyPlugins


def engine_library(name: str) -> Path:
    spec = importlib.util.find_spec("llama_cpp")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "lib" / name


@pytest.mark.parametrize(
    ("name", "plugin"),
    [("libggml-cpu.so", True), ("libggml-rpc.so", True), ("libggml-base.so", False), ("libllama.so", False)],
)
def test_the_engines_own(name: str, plugin: bool) -> None:
    library = read_library(engine_library(name))
    assert library.is_plugin is plugin
    assert "libc.so.6" in library.needed
    assert (library.soname == "libggml-base.so.0") is (name == "libggml-base.so")
    assert library.size == engine_library(name).stat().st_size
    needed = library.glibc()
    assert needed is not None
    assert (2, 2, 5) <= needed <= numbers(platform.libc_ver()[1])


def test_what_a_library_asks_for(toys: ToyPlugins) -> None:
    library = read_library(toys.build(links="libnowhere.so.7"))
    assert library.needed[0] == "libnowhere.so.7"
    assert all(file.startswith("lib") and version for file, version in library.versions)
    assert read_library(toys.build("NO_ENTRY")).is_plugin is False


def test_cut_off_anywhere(toys: ToyPlugins, tmp_path: Path) -> None:
    whole = toys.build().read_bytes()
    cut = tmp_path / "libggml-cut.so"
    for size in sorted({1, 3, 4, 16, 63, 64, 65, 200, len(whole) // 2, len(whole) - 64, len(whole) - 1}):
        cut.write_bytes(whole[:size])
        with pytest.raises(NotLoadable, match=r"cut off|no shared library"):
            read_library(cut)


def test_made_for_another_processor(toys: ToyPlugins) -> None:
    other = "aarch64" if platform.machine() == "x86_64" else "x86_64"
    with pytest.raises(NotLoadable, match=rf"another kind of processor \({platform.machine()}\)"):
        read_library(toys.build(), machine=other)


def test_a_program_is_no_library() -> None:
    library = read_library(Path("/bin/sh").resolve())
    assert library.is_plugin is not True


def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    with pytest.raises(NotLoadable, match="cannot be read: No such file"):
        read_library(tmp_path / "gone.so")
    loop = tmp_path / "loop.so"
    loop.symlink_to(loop)
    with pytest.raises(NotLoadable, match="cannot be read"):
        read_library(loop)


def read_or_reason(path: Path) -> Library | str:
    try:
        return read_library(path)
    except NotLoadable as problem:
        return str(problem)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)), min_size=1, max_size=40))
def test_mangled_bytes_give_a_sentence_or_a_library(
    toys: ToyPlugins, tmp_path: Path, changes: list[tuple[int, int]]
) -> None:
    raw = bytearray(toys.build().read_bytes())
    for index, (place, value) in enumerate(changes):
        # Half of them into the headers, where they hurt.
        raw[place % (1024 if index % 2 else len(raw))] = value
    path = tmp_path / "libggml-mangled.so"
    path.write_bytes(raw)
    assert isinstance(read_or_reason(path), Library | str)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(raw=st.binary(max_size=400))
def test_any_bytes_behind_the_magic(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "libggml-any.so"
    path.write_bytes(b"\x7fELF\x02\x01\x01" + raw)
    with pytest.raises(NotLoadable):
        read_library(path)


def test_the_hash_of_the_format() -> None:
    # From the description of DT_GNU_HASH: "printf" and the empty name.
    assert gnu_hash("") == 0x1505
    assert gnu_hash("printf") == 0x156B2BB8


@pytest.mark.parametrize(
    ("text", "value"), [("2.36", (2, 36)), ("2.2.5", (2, 2, 5)), ("", ()), ("PRIVATE", ()), ("2.x", (2,))]
)
def test_numbers(text: str, value: tuple[int, ...]) -> None:
    assert numbers(text) == value

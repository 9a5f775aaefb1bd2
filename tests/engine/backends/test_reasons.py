"""What the words of the dynamic loader mean. They come from the loader itself where it can be made to say them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.backends import reasons
from engine.backends.elf import Library
from engine.backends.plugin_record import PluginRecord
from tests.engine.backends.toy_plugins import ToyPlugins

NOTHING = PluginRecord()
ROCM = PluginRecord(rocm="6.4.43484", system="Debian GNU/Linux forky/sid")


def library(*versions: tuple[str, str]) -> Library:
    return Library("", (), versions, True, 1000)


OLD = library(("libc.so.6", "GLIBC_2.34"), ("libstdc++.so.6", "GLIBCXX_3.4.30"))
NEW = library(("libc.so.6", "GLIBC_2.34"), ("libm.so.6", "GLIBC_2.43"), ("libc.so.6", "GLIBC_PRIVATE"))


@pytest.mark.parametrize(
    ("words", "asks", "record", "sentence"),
    [
        (
            "libamdhip64.so.6: cannot open shared object file: No such file or directory",
            OLD,
            ROCM,
            (
                "libamdhip64.so.6: cannot open shared object file: No such file or directory. "
                "It was built with ROCm 6.4.43484."
            ),
        ),
        (
            "libOpenCL.so.1: cannot open shared object file: No such file or directory",
            OLD,
            NOTHING,
            "libOpenCL.so.1: cannot open shared object file: No such file or directory",
        ),
        (
            "/lib/libm.so.6: version `GLIBC_2.43' not found (required by /b/libggml-hip.so)",
            NEW,
            ROCM,
            (
                "It needs glibc 2.43 or newer; this system has 2.36. It was built on Debian GNU/Linux forky/sid. "
                "/lib/libm.so.6: version `GLIBC_2.43' not found (required by /b/libggml-hip.so)."
            ),
        ),
        (
            "/lib/libstdc++.so.6: version `GLIBCXX_3.4.34' not found (required by /b/libggml-hip.so)",
            OLD,
            NOTHING,
            (
                "It needs a newer libstdc++.so.6 (GLIBCXX_3.4.34). "
                "/lib/libstdc++.so.6: version `GLIBCXX_3.4.34' not found (required by /b/libggml-hip.so)."
            ),
        ),
        (
            "/b/libggml-x.so: undefined symbol: ggml_backend_new_thing",
            OLD,
            NOTHING,
            "It was built for another llama.cpp. /b/libggml-x.so: undefined symbol: ggml_backend_new_thing.",
        ),
        ("/b/libggml-x.so: undefined symbol: hipInit", OLD, NOTHING, "/b/libggml-x.so: undefined symbol: hipInit"),
        ("cannot allocate memory in static TLS block", OLD, ROCM, "cannot allocate memory in static TLS block"),
    ],
)
def test_what_the_words_mean(words: str, asks: Library, record: PluginRecord, sentence: str) -> None:
    assert reasons.explain_loader(words, asks, record, (2, 36)) == sentence


def test_a_c_library_that_is_not_known_is_not_compared() -> None:
    assert reasons.explain_loader("words", NEW, NOTHING, ()) == "words"
    assert reasons.explain_loader("words", NEW, NOTHING, (2, 43)) == "words"


def test_the_loader_itself(toys: ToyPlugins) -> None:
    assert reasons.loader_words(Path("libc.so.6")) is None
    words = reasons.loader_words(toys.build(links="libamdhip64-nowhere.so.6"))
    assert words == "libamdhip64-nowhere.so.6: cannot open shared object file: No such file or directory"


def test_a_folder_of_any_bytes(toys: ToyPlugins, tmp_path: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe"))
    whole = toys.put(odd / "libggml-x.so")
    assert reasons.loader_words(whole) is None
    assert reasons.why_refused(whole) == "ggml did not take it."
    undefined = toys.put(odd / "libggml-y.so", "UNDEFINED=ggml_that_is_not_there")
    words = reasons.loader_words(undefined)
    assert words is not None
    assert words.endswith("undefined symbol: ggml_that_is_not_there")
    assert reasons.why_refused(toys.put(odd / "libggml-z.so", "NO_ENTRY")) == reasons.NO_ENTRY


@pytest.mark.parametrize(
    ("made_for", "engine", "refused"),
    [("0.3.36", "0.3.36", False), ("0.3.35", "0.3.36", True), (None, "0.3.36", False), ("0.3.35", None, False)],
)
def test_another_build(made_for: str | None, engine: str | None, refused: bool) -> None:
    found = reasons.another_build(PluginRecord(llama_cpp_python=made_for), engine, Path("libggml-hip.so"))
    assert (found is not None) is refused


def test_what_the_tool_cannot_build_names_no_line() -> None:
    found = reasons.another_build(PluginRecord(llama_cpp_python="0.3.35"), "0.3.36", Path("libggml-sycl.so"))
    assert found == "It was built for another llama.cpp (llama-cpp-python 0.3.35); this engine has 0.3.36."

"""Which instructions this processor has, in the words of ggml's build options.

The plugin for the processor is built for exactly these (GGML_NATIVE stays off), so that the same
machine always gets the same build and the level can be part of the cache's key.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

AVX512_BASE = ("avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl")

# ggml's option, the short word in the level's name, the flags that /proc/cpuinfo must list.
# An option also needs the option named last, if there is one.
X86_OPTIONS: tuple[tuple[str, str, tuple[str, ...], str], ...] = (
    ("GGML_SSE42", "sse42", ("sse4_2",), ""),
    ("GGML_AVX", "avx", ("avx",), "GGML_SSE42"),
    ("GGML_F16C", "f16c", ("f16c",), "GGML_AVX"),
    ("GGML_FMA", "fma", ("fma",), "GGML_AVX"),
    ("GGML_BMI2", "bmi2", ("bmi2",), "GGML_AVX"),
    ("GGML_AVX2", "avx2", ("avx2",), "GGML_FMA"),
    ("GGML_AVX_VNNI", "avxvnni", ("avx_vnni",), "GGML_AVX2"),
    ("GGML_AVX512", "avx512", AVX512_BASE, "GGML_AVX2"),
    ("GGML_AVX512_VBMI", "vbmi", ("avx512vbmi",), "GGML_AVX512"),
    ("GGML_AVX512_VNNI", "vnni", ("avx512_vnni",), "GGML_AVX512"),
    ("GGML_AVX512_BF16", "bf16", ("avx512_bf16",), "GGML_AVX512"),
    ("GGML_AMX_TILE", "amxtile", ("amx_tile",), "GGML_AVX512"),
    ("GGML_AMX_INT8", "amxint8", ("amx_int8",), "GGML_AMX_TILE"),
)


@dataclass(frozen=True)
class CpuLevel:
    """A short name and the CMake options that go with it."""

    name: str
    options: tuple[tuple[str, bool], ...]


def level_from_flags(machine: str, flags: Iterable[str]) -> CpuLevel:
    """The level of a processor that reports these flags."""
    if machine not in ("x86_64", "AMD64"):
        return CpuLevel(machine, ())
    present = set(flags)
    chosen: dict[str, bool] = {}
    words = ["x86-64"]
    for option, word, needed, after in X86_OPTIONS:
        on = present.issuperset(needed) and (not after or chosen[after])
        chosen[option] = on
        if on:
            words.append(word)
    return CpuLevel("-".join(words), tuple(chosen.items()))


def flags_in_cpuinfo(text: str) -> set[str]:
    """The flags that every processor in /proc/cpuinfo has."""
    common: set[str] | None = None
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "flags":
            found = set(value.split())
            common = found if common is None else common & found
    return common or set()


def this_machine(cpuinfo: Path = Path("/proc/cpuinfo")) -> CpuLevel:
    """The level of the machine that set-up runs on."""
    try:
        text = cpuinfo.read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    return level_from_flags(platform.machine(), flags_in_cpuinfo(text))

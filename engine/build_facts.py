"""What the set-up wrote down about the llama.cpp that it built, for people who report something."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

RECORD = Path("share") / "vramble" / "build.json"


class Toolchain(msgspec.Struct, frozen=True):
    """What it was compiled with."""

    compiler: str = ""
    libc: str = ""


class BuildFacts(msgspec.Struct, frozen=True):
    """The part of the record that is shown. Empty where the engine was not built by the set-up."""

    llama_cpp_python: str = ""
    llama_cpp_version: str | None = None
    llama_cpp_commit: str | None = None
    cpu_level: str = ""
    toolchain: Toolchain = Toolchain()


def build_facts(prefix: Path | None = None) -> BuildFacts:
    """The record of the installation at ``prefix`` (default: this one's); empty when there is none to be read."""
    try:
        return msgspec.json.decode(((prefix or Path(sys.prefix)) / RECORD).read_bytes(), type=BuildFacts)
    except (OSError, msgspec.DecodeError):
        return BuildFacts()


def build_line(facts: BuildFacts) -> str:
    """``facts`` in one line; "" when nothing is known."""
    of_bindings = f"llama-cpp-python {facts.llama_cpp_python}" if facts.llama_cpp_python else ""
    parts = (
        facts.llama_cpp_version or "",
        (facts.llama_cpp_commit or "")[:12],
        of_bindings and f"of {of_bindings}",
        facts.cpu_level,
        facts.toolchain.compiler,
        facts.toolchain.libc,
    )
    return ", ".join(part for part in parts if part)

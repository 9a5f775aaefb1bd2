"""What the build tool wrote beside a plugin: ``libggml-hip.json`` for ``libggml-hip.so``."""

from __future__ import annotations

from pathlib import Path

import msgspec

from engine.memory.tree import read_file


class PluginRecord(msgspec.Struct, frozen=True):
    """The part that the engine uses.

    Attributes:
        llama_cpp_python: Version of the bindings whose llama.cpp it was built from.
        gfx: Targets that it has code for; empty when that does not apply.
        rocm: Version of HIP that it was built with.
        system: Where it was built, such as ``Debian GNU/Linux 13 (trixie)``.
        bytes: Size of the plugin: a record for a file of another size belongs to another file.
    """

    llama_cpp_python: str | None = None
    gfx: tuple[str, ...] = ()
    rocm: str | None = None
    glibc_needed: str | None = None
    system: str | None = None
    built: str | None = None
    bytes: int | None = None


def read_record(plugin: Path) -> PluginRecord:
    """The record of ``plugin``, or an empty one when there is none that belongs to it."""
    try:
        record = msgspec.json.decode(read_file(str(plugin.with_suffix(".json"))), type=PluginRecord)
        return record if record.bytes == plugin.stat().st_size else PluginRecord()
    except (OSError, msgspec.DecodeError):
        return PluginRecord()

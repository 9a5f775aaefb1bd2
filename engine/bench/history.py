"""Earlier benchmarks, one JSON line each, so that the effect of an update is seen.

The file is the program's own; the window and commands write to it at any time, so a report is one append under a lock.
Lines that make no sense, and those of newer versions with what is not known here, harm nothing.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from engine.bench.records import Outcome, Report, Spread, VariantResult
from engine.protocol.types import LoadOptions

MOST_BYTES: Final = 4 << 20
"""Beyond that the older half is dropped."""


def read_history(path: Path) -> tuple[Report, ...]:
    """All reports, the oldest first. Raises OSError for a file that is there and cannot be read."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return ()
    return tuple(report for line in data.splitlines() if (report := _decode(line)) is not None)


def add_to_history(path: Path, report: Report) -> None:
    """Append ``report``. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    line = msgspec.json.encode(report) + b"\n"
    with path.open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        before = file.read()
        if len(before) + len(line) > MOST_BYTES:
            lines = before.splitlines(keepends=True)
            file.truncate(0)
            line = b"".join(lines[len(lines) // 2 :]) + line
        elif before and not before.endswith(b"\n"):
            line = b"\n" + line
        file.write(line)
        file.flush()
        os.fsync(file.fileno())


def _decode(line: bytes) -> Report | None:
    try:
        return msgspec.json.decode(line, type=Report)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """How a figure differs from the last one of the same kind.

    Attributes:
        before: The report with the earlier figure.
        decode: New over old decode speed, less 1; None where one is missing.
        prefill: The same for prompts.
        build: The engine's build is another.
        driver: The graphics driver is another.
    """

    before: Report
    decode: float | None
    prefill: float | None
    build: bool
    driver: bool


def change(history: Sequence[Report], report: Report, variant: VariantResult, outcome: Outcome) -> Change | None:
    """Against the newest earlier report with the same model, device, options and test; None when there is none."""
    for before in reversed(history):
        if before.taken >= report.taken or not _same_model(before, report):
            continue
        for other in before.variants:
            old = next((o for o in other.tests if o.test == outcome.test and o.samples), None)
            if old is None or not same_setup(other, variant):
                continue
            return Change(
                before=before,
                decode=_relative(outcome.decode, old.decode),
                prefill=_relative(outcome.prefill, old.prefill),
                build=(before.build, before.engine) != (report.build, report.engine),
                driver=bool(variant.place and other.place and variant.place.driver != other.place.driver),
            )
    return None


def of_model(history: Iterable[Report], size_bytes: int, name: str) -> tuple[Report, ...]:
    """The reports about one model."""
    return tuple(report for report in history if (report.model.size_bytes, report.model.name) == (size_bytes, name))


def same_setup(one: VariantResult, other: VariantResult) -> bool:
    """The same device and backend, and options that make no difference but the context's length."""
    if one.place is None or other.place is None:
        return False
    same_place = all(getattr(one.place, name) == getattr(other.place, name) for name in ("name", "backend", "pci"))
    return same_place and _kernel(one) == _kernel(other)


def _kernel(variant: VariantResult) -> tuple[LoadOptions, bool | None, int]:
    """What decides the speed. How the device was named does not, nor whether flash attention was asked for or taken."""
    defaults = LoadOptions()
    options = msgspec.structs.replace(
        variant.options,
        n_ctx=defaults.n_ctx,
        device=None,
        flash_attention=defaults.flash_attention,
        n_gpu_layers=defaults.n_gpu_layers,
    )
    return options, variant.flash_attention, variant.gpu_layers


def _same_model(one: Report, other: Report) -> bool:
    return (one.model.name, one.model.size_bytes, one.model.quant) == (
        other.model.name,
        other.model.size_bytes,
        other.model.quant,
    )


def _relative(new: Spread | None, old: Spread | None) -> float | None:
    return new.median / old.median - 1 if new and old else None

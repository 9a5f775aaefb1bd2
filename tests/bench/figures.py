"""What the benches share: percentiles, tables, and a line about the machine they ran on."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec


class Spread(msgspec.Struct, frozen=True):
    """Some measured values in one unit: how many, and how they are spread."""

    count: int
    p50: float
    p95: float
    max: float


def percentile(values: Sequence[float], share: float) -> float:
    """The nearest-rank percentile: the smallest value that at least ``share`` (0..1) of all do not exceed.

    Raises:
        ValueError: There are no values.
    """
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    rank = max(1, -(-int(share * 1_000_000) * len(ordered) // 1_000_000))
    return ordered[min(rank, len(ordered)) - 1]


def spread(values: Sequence[float]) -> Spread | None:
    """`Spread` of ``values``; None when there are none."""
    if not values:
        return None
    return Spread(len(values), percentile(values, 0.5), percentile(values, 0.95), max(values))


def table(rows: Iterable[Sequence[object]]) -> str:
    """Rows as aligned lines: the first column to the left, the others to the right. Floats get one decimal."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(len(row[place]) for row in cells) for place in range(len(cells[0]))]
    lines = []
    for row in cells:
        first, *others = zip(row, widths, strict=True)
        aligned = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
        lines.append("  ".join(aligned).rstrip())
    return "\n".join(lines)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def machine() -> dict[str, object]:
    """Where a figure comes from: processor type, CPUs, load averages, Python."""
    return {
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "load_average": [round(value, 2) for value in os.getloadavg()],
        "python": platform.python_version(),
    }


def machine_line() -> str:
    """`machine` as one line."""
    found = machine()
    load = found["load_average"]
    return f"{found['machine']}, {found['cpus']} CPUs, load average {load}, Python {found['python']}"


def write_json(path: Path | None, document: object) -> None:
    """Write figures as JSON; ``path`` None: nothing."""
    if path is not None:
        path.write_text(json.dumps(msgspec.to_builtins(document), indent=2) + "\n", encoding="utf-8")

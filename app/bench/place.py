"""Where earlier benchmarks lie."""

from __future__ import annotations

from pathlib import Path

from app.paths import Paths


def history_file(paths: Paths) -> Path:
    """One JSON line for each benchmark (`engine.bench.history`)."""
    return paths.data / "benchmarks.jsonl"

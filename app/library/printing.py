"""What ``vramble models`` prints: JSON and tables."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.library.names import shown
from engine.library.records import InstalledModel
from engine.library.roots import RootInfo
from engine.library.sizes import size_text
from engine.library.states import FileState
from engine.library.work import Outcome, expected_hash

_MARKED = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def model_facts(model: InstalledModel) -> dict[str, Any]:
    """One model as JSON."""
    return {
        "name": model.name,
        "quant": model.quant,
        "architecture": model.architecture,
        "path": shown(model.path),
        "bytes": model.size_bytes,
        "repo": model.repo,
        "state": model.state.value,
        "problem": model.problem,
        "can_chat": model.can_chat,
        "parameters": model.n_params,
        "layers": model.n_layers,
        "context_length": model.context_length,
        "parts": [shown(part) for part in model.parts],
        "source": model.source.value,
        "owner": model.owner,
        "also": list(model.also),
        "licence": model.licence,
        "last_used": model.last_used,
        "revision": model.commit,
        "sha256": list(model.hashes),
        "verified": model.verified,
        "duplicate_of": shown(model.duplicate_of) if model.duplicate_of is not None else None,
        "likely_duplicate": model.likely_duplicate,
        "mend": [mend.value for mend in model.mends],
    }


def root_facts(root: RootInfo) -> dict[str, Any]:
    """One folder of the library as JSON."""
    return {
        "id": root.id,
        "name": root.name,
        "kind": root.root.kind.value,
        "path": shown(root.path),
        "state": root.state.value,
        "problem": root.problem,
        "found": root.found,
        "models": root.models,
        "files": root.files,
        "bytes": root.n_bytes,
        "free": root.free,
        "total": root.total,
        "writable": root.writable,
        "file_system": root.file_system,
    }


def check_facts(model: InstalledModel, outcome: Outcome) -> dict[str, Any]:
    """What a check of one model found, as JSON."""
    found = {one.path: one.sha256 for one in outcome.hashed}
    compared = [bool(expected) and expected == found.get(part) for part, expected in expected_of(model)]
    damaged = is_damaged(model, outcome)
    wrong = model.path in outcome.wrong
    return {
        "name": model.name,
        "path": shown(model.path),
        "bytes": model.size_bytes,
        "sha256": found.get(model.path, ""),
        "verified": bool(compared) and all(compared),
        "state": FileState.DAMAGED.value if damaged else model.state.value,
        "problem": verdict(model, outcome) if wrong else "",
    }


def expected_of(model: InstalledModel) -> list[tuple[Path, str]]:
    """Each part and the sha256 that it should have."""
    return [(part, expected_hash(model, part)) for part in model.parts]


def is_damaged(model: InstalledModel, outcome: Outcome) -> bool:
    """The header is right and the bytes are not."""
    found = {one.path: one.sha256 for one in outcome.hashed}
    return any(expected and expected != found.get(part) for part, expected in expected_of(model))


def verdict(model: InstalledModel, outcome: Outcome) -> str:
    """One sentence on what the check found."""
    if is_damaged(model, outcome):
        return "damaged: its checksum is not the one it was downloaded with."
    if model.state is not FileState.OK:
        return model.problem
    if all(expected for _, expected in expected_of(model)):
        return "whole: the checksum is right."
    return "readable; there is no checksum to compare with."


def model_rows(models: Sequence[InstalledModel]) -> list[tuple[str, ...]]:
    """Lines of the table."""
    return [
        (model.name, model.quant or "-", size_text(model.size_bytes), model.owner or "-", _last(model))
        for model in models
    ]


def _last(model: InstalledModel) -> str:
    again = f"same as {shown(model.duplicate_of)}" if model.duplicate_of is not None else ""
    return model.problem or again or shown(model.path)


def root_rows(roots: Sequence[RootInfo]) -> list[tuple[str, ...]]:
    """Lines of the table of folders."""
    return [
        (
            root.id,
            root.name,
            str(root.models),
            size_text(root.n_bytes),
            size_text(root.free) if root.free is not None else "-",
            root.problem or shown(root.path),
        )
        for root in roots
    ]


def print_json(value: object) -> None:
    """Indented, as it is."""
    print(json.dumps(value, ensure_ascii=False, indent=2))


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as their longest cell; what would command the terminal is shown as a mark."""
    rows = [[_MARKED.sub("\ufffd", cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head) - 1)]
    for row in (head, *rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        print("  ".join((*cells, row[-1])))

"""The table in `tests/README.md` names tests that exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]
NAMED = re.compile(r"`([\w/]+\.py)::(test_\w+)`")


@cache
def functions(file: str) -> frozenset[str]:
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_every_test_in_the_table_exists() -> None:
    named = NAMED.findall((TESTS / "README.md").read_text(encoding="utf-8"))
    assert len(named) > 50
    missing = [f"{file}::{test}" for file, test in named if not (TESTS / file).exists() or test not in functions(file)]
    assert missing == []

"""Fixtures of the end-to-end tests: one screen for each test process, homes with and without a model."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.harness import Screen

STARTER = "SmolLM2-135M-Instruct"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.e2e)


def limit_answers(home: Path, tokens: int) -> None:
    """Let answers in ``home`` end after so many tokens."""
    settings = {"version": 1, "chat": {"max_tokens": tokens, "temperature": 0.0}}
    (home / "config/settings.json").write_text(json.dumps(settings))


SPECIAL_TOKENS = 17
"""Of SmolLM2: the first ids, among them all that end a turn."""


def endless_answers(home: Path) -> None:
    """Let answers of the starter model in ``home`` never end by themselves, however fast the machine is."""
    bias = [{"token": token, "bias": -1000.0} for token in range(SPECIAL_TOKENS)]
    chat = {"max_tokens": 1_000_000, "temperature": 0.0, "logit_bias": bias, "overflow": "shift"}
    (home / "config/settings.json").write_text(json.dumps({"version": 1, "chat": chat}))


@pytest.fixture(scope="session")
def screen() -> Iterator[Screen]:
    server = Screen()
    yield server
    server.close()


@pytest.fixture(scope="session")
def starter_file() -> Path:
    found = sorted((Path(sys.prefix) / "share/vramble/starter").glob("*.gguf"))
    assert found, "the starter model is missing: run ./dev test, which unpacks it"
    return found[0].resolve()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home without any model. Answers are short where a test waits for their end."""
    folder = tmp_path / "home"
    (folder / "config").mkdir(parents=True)
    limit_answers(folder, 40)
    return folder


@pytest.fixture
def home_for_long_answers(home_with_starter: Path) -> Path:
    """Answers there last until they are stopped."""
    endless_answers(home_with_starter)
    return home_with_starter


@pytest.fixture
def home_with_starter(home: Path, starter_file: Path) -> Path:
    """A home in which the starter model is installed."""
    folder = home / "data/models/starter/SmolLM2-135M-Instruct"
    folder.mkdir(parents=True)
    (folder / starter_file.name).symlink_to(starter_file)
    return home

"""The command in this process: a worker that plays a script, and what was printed."""

from __future__ import annotations

from collections.abc import Callable
from subprocess import CompletedProcess

import pytest

from app.cli import run
from tests.app.commands.conftest import fake_worker

__all__ = ["fake_worker"]


@pytest.fixture
def vramble(capfd: pytest.CaptureFixture[str]) -> Callable[..., CompletedProcess[str]]:
    """``vramble(*arguments)``: exit code and output."""

    def call(*arguments: str) -> CompletedProcess[str]:
        capfd.readouterr()
        code = run(arguments)
        out, err = capfd.readouterr()
        return CompletedProcess(arguments, code, out, err)

    return call

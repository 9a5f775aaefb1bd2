"""What holds for every test: no display, no network, no files outside the test's own folder."""

from __future__ import annotations

import gc
import os
import signal
from itertools import count
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_LOGGING_RULES", "qt.qpa.fonts=false")

NOWHERE = "http://127.0.0.1:9"
"""An address that refuses connections: a test that forgot to start its own hub fails at once."""


FULL_COLLECTION_EVERY = 50
_tests = count(1)


def pytest_sessionstart() -> None:
    """Collect cyclic garbage between tests, on the main thread: a fake server's thread must not end Qt objects."""
    gc.disable()
    gc.freeze()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's background job; children would be deaf to Ctrl+C
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    gc.collect(2 if next(_tests) % FULL_COLLECTION_EVERY == 0 else 1)


def pytest_make_parametrize_id(val: object) -> str | None:
    """Names without addresses in them: the processes that share the tests must agree on each name."""
    return getattr(val, "__qualname__", type(val).__name__) if " at 0x" in repr(val) else None


@pytest.fixture(autouse=True)
def _own_world(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path_factory.mktemp("world")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("VRAMBLE_HOME", str(home / "vramble"))
    monkeypatch.setenv("HF_HOME", str(home / "hf"))
    monkeypatch.setenv("HF_ENDPOINT", NOWHERE)
    for name in (
        "HF_TOKEN",
        "HUGGING_FACE_HUB_TOKEN",
        "VRAMBLE_SYSROOT",
        "VRAMBLE_WORKER_COMMAND",
        "VRAMBLE_ALLOW_SOFTWARE_GPU",
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def repository() -> Path:
    """The root of the checkout."""
    return Path(__file__).resolve().parent.parent

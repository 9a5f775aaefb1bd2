"""What holds for every test: no display, no network, no files outside the test's own folder."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from pytestqt.qtbot import QtBot

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_LOGGING_RULES", "qt.qpa.fonts=false")

NOWHERE = "http://127.0.0.1:9"
"""An address that refuses connections: a test that forgot to start its own hub fails at once."""


PATIENCE_MS = 60_000
"""How long is waited for what must come. A busy machine may need seconds for what takes milliseconds elsewhere."""
_WAITS = ("waitSignal", "waitSignals", "waitUntil", "waitCallback", "waitActive", "waitExposed")
for _wait in (getattr(QtBot, name) for name in _WAITS):
    assert _wait.__kwdefaults__["timeout"] == 5000
    _wait.__kwdefaults__["timeout"] = PATIENCE_MS

settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

FULL_COLLECTION_EVERY = 50
_tests = count(1)


def pytest_sessionstart() -> None:
    """Collect cyclic garbage between tests, on the main thread: a fake server's thread must not end Qt objects."""
    gc.disable()
    gc.freeze()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's background job; children would be deaf to Ctrl+C
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """The tests themselves are no garbage: to look through them again and again takes longer than many of them."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    gc.collect(2 if next(_tests) % FULL_COLLECTION_EVERY == 0 else 1)


WHOLE_PROGRAM = (
    *("app/commands/", "app/chat/interactive/test_in_a_terminal", "app/benchmark/test_command"),
    *("app/downloads/test_commands", "app/fit/test_commands", "app/hub/test_commands", "app/doctor/test_commands"),
)
"""Here nearly each test starts a command as a process of its own."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """What starts the real engine or the whole program takes seconds; these files are slow as a whole."""
    path = item.path.relative_to(Path(__file__).parent).as_posix()
    if "_real" in item.path.stem or item.path.stem.startswith("test_self_test") or path.startswith(WHOLE_PROGRAM):
        item.add_marker(pytest.mark.slow)


def pytest_make_parametrize_id(val: object) -> str | None:
    """Names without addresses in them: the processes that share the tests must agree on each name."""
    return getattr(val, "__qualname__", type(val).__name__) if " at 0x" in repr(val) else None


@pytest.fixture(scope="session")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folders of single tests. pytest's own numbered ones look at all earlier ones each time."""
    base = tmp_path_factory.mktemp("worlds")
    return (base / str(number) for number in count())


@pytest.fixture(autouse=True)
def _own_world(worlds: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    home = next(worlds)
    home.mkdir()
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

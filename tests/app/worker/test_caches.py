"""Caches of conversations: what a load is told, and that they go with the conversation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject

from app.jobs import SerialRunner
from app.notices import Notices
from app.paths import Paths
from app.settings.store import SettingsStore
from app.worker.caches import ConversationCaches, caches_folder
from app.worker.settings import WorkerSettings
from engine.kv_files.store import StateFiles
from engine.protocol.caching import MIB, CachePolicy
from tests.app.chat.cranked import Cranked
from tests.app.worker.conftest import Bench


def paths(root: Path) -> Paths:
    return Paths(root / "data", root / "config", root / "cache", root / "state")


def write(folder: Path, *conversations: str) -> None:
    for conversation in conversations:
        assert StateFiles(folder, MIB, "m").write(conversation, [1, 2], memoryview(b"state"), 0.0)


class Caches:
    """The object under test, with an executor that is cranked by hand."""

    def __init__(self, root: Path, parent: QObject | None = None) -> None:
        self.executor = Cranked()
        self.runner = SerialRunner(self.executor, parent)
        self.settings = SettingsStore(root / "settings.json", self.runner, Notices())
        self.told: list[Sequence[str]] = []
        self.caches = ConversationCaches(paths(root), self.settings, self.runner, self.told.append)
        self.folder = caches_folder(paths(root))

    def names(self) -> int:
        return len(list(self.folder.iterdir()))


def test_the_settings_are_the_policy(qapp: QObject, tmp_path: Path) -> None:
    made = Caches(tmp_path)
    made.settings.put(WorkerSettings(cache_memory_mib=3, cache_disk_mib=0))
    assert made.caches.policy() == CachePolicy(memory=3 * MIB, disk=0, folder=str(tmp_path / "cache" / "kv"))


def test_files_go_with_their_conversation_off_this_thread(qapp: QObject, tmp_path: Path) -> None:
    made = Caches(tmp_path)
    write(made.folder, "a", "b", "c")
    made.caches.forget(["a", "b"])
    assert made.told == [("a", "b")]
    assert made.names() == 3
    made.executor.drain()
    assert made.names() == 1


def test_files_of_conversations_that_are_gone_are_swept(qapp: QObject, tmp_path: Path) -> None:
    made = Caches(tmp_path)
    write(made.folder, "a", "b")
    made.caches.keep_only(["b", "new"])
    made.executor.drain()
    assert made.names() == 1
    assert StateFiles(made.folder, MIB, "m").find("b") is not None


def test_load_answer_and_end_reach_the_worker(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench()
    bench.until_ended(bench.load())
    assert bench.received("load")[0]["cache"]["memory"] == CachePolicy().memory
    bench.service.caches.forget(["x"])
    bench.until(lambda: [frame["conversations"] for frame in bench.received("forget")] == [["x"]])


def test_without_a_worker_nobody_is_told(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench()
    bench.service.caches.forget(["x"])
    assert bench.starts() == 0

"""The settings file in every state it can be in."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from app.chat.settings import ChatSettings
from app.jobs import SerialRunner
from app.notices import Notice, Notices
from app.settings import fields, file
from app.settings.records import EngineSettings
from app.settings.store import FILE_NOTICE, UNSAVED_NOTICE, SettingsStore
from engine.protocol.types import Sampling
from tests.app.chat.cranked import Cranked

NOW = 1_700_000_000.0


class Mode(StrEnum):
    DARK = "dark"
    LIGHT = "light"


class PaneSettings(msgspec.Struct, frozen=True, kw_only=True):
    mode: Mode = Mode.DARK
    width: Annotated[int, msgspec.Meta(ge=10)] = 100
    name: str | None = None


class World:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.executor = Cranked()
        self.runner = SerialRunner(self.executor)
        self.notices = Notices()
        self.posted: list[Notice] = []
        self.withdrawn: list[str] = []
        self.notices.posted.connect(self.posted.append)
        self.notices.withdrawn.connect(self.withdrawn.append)

    def open(self) -> SettingsStore:
        return SettingsStore(self.path, self.runner, self.notices)

    def on_disk(self) -> Any:
        return json.loads(self.path.read_bytes())


@pytest.fixture
def world(qtbot: QtBot, tmp_path: Path) -> World:
    return World(tmp_path / "config" / "settings.json")


def test_defaults_without_a_file(world: World) -> None:
    store = world.open()
    assert store.get(ChatSettings) == ChatSettings()
    assert store.get(ChatSettings).sampling() == Sampling()
    assert store.get(EngineSettings).load_options() == EngineSettings().load_options()
    assert not world.path.exists()


def test_put_is_seen_at_once_and_saved_off_the_thread(world: World) -> None:
    store = world.open()
    heard: list[str] = []
    store.changed.connect(heard.append)
    store.put(ChatSettings(temperature=0.1, system_prompt="Be short."))
    assert store.get(ChatSettings).temperature == 0.1
    assert heard == ["chat"]
    assert not world.path.exists()
    world.executor.drain()
    assert world.on_disk() == {"version": 1, "chat": {"temperature": 0.1, "system_prompt": "Be short."}}
    assert world.open().get(ChatSettings) == ChatSettings(temperature=0.1, system_prompt="Be short.")


def test_putting_the_same_does_nothing(world: World) -> None:
    store = world.open()
    heard: list[str] = []
    store.changed.connect(heard.append)
    store.put(ChatSettings())
    assert (heard, len(world.executor.waiting)) == ([], 0)


def test_many_puts_become_one_write(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    writes: list[Path] = []
    update = file.update

    def counted(path: Path, *rest: Any) -> None:
        writes.append(path)
        update(path, *rest)

    monkeypatch.setattr(file, "update", counted)
    store = world.open()
    for width in range(20, 60):
        store.put(PaneSettings(width=width))
    store.put(ChatSettings(top_k=7))
    world.executor.drain()
    assert len(writes) == 1
    assert world.on_disk() == {"version": 1, "pane": {"width": 59}, "chat": {"top_k": 7}}


def test_a_field_set_back_to_its_default_is_written(world: World) -> None:
    store = world.open()
    store.put(PaneSettings(width=20))
    world.executor.drain()
    store.put(PaneSettings())
    world.executor.drain()
    assert world.on_disk()["pane"] == {"width": 100}


def test_unknown_keys_and_bad_values_stay_in_the_file(world: World) -> None:
    world.path.parent.mkdir()
    found = {
        "version": 1,
        "pane": {"width": "wide", "mode": "sepia", "name": "x", "later": [1, {"a": None}]},
        "plugin": {"deep": True},
        "loose": 5,
    }
    world.path.write_text(json.dumps(found))
    store = world.open()
    assert store.get(PaneSettings) == PaneSettings(name="x")
    store.put(PaneSettings(name="y"))
    world.executor.drain()
    found["pane"]["name"] = "y"  # type: ignore[index]
    assert world.on_disk() == found
    assert world.posted == []


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"width": "20", "mode": "light"}, PaneSettings(mode=Mode.LIGHT)),
        ({"width": 5, "name": "n"}, PaneSettings(name="n")),
        ({"width": True}, PaneSettings()),
        ({"width": 20.5, "name": 3}, PaneSettings()),
        ({"width": None, "name": None}, PaneSettings()),
        ([1, 2], PaneSettings()),
        ("text", PaneSettings()),
        (None, PaneSettings()),
    ],
)
def test_single_bad_values_fall_back_singly(values: object, expected: PaneSettings) -> None:
    assert fields.decode(PaneSettings, values) == expected


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
names = st.sampled_from([field.name for field in msgspec.structs.fields(ChatSettings)])


@given(st.dictionaries(names, json_values))
def test_any_values_give_a_record_the_engine_takes(values: dict[str, Any]) -> None:
    record = fields.decode(ChatSettings, values)
    assert isinstance(record.sampling(), Sampling)
    assert msgspec.convert(msgspec.to_builtins(record), ChatSettings) == record


GOOD = b'{"version": 1, "pane": {"width": 55}}'
BROKEN = {
    "empty": b"",
    "NULs": b"\0" * 500,
    "cut": GOOD[:-9],
    "list": b"[1, 2]",
    "UTF-16": GOOD.decode().encode("utf-16"),
    "not UTF-8": b'{"pane": {"name": "\xff"}}',
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("copy", [False, True], ids=["no copy", "a good copy"])
def test_a_broken_file_is_kept_and_told(world: World, qtbot: QtBot, name: str, copy: bool) -> None:
    """Case 94."""
    world.path.parent.mkdir()
    world.path.write_bytes(BROKEN[name])
    if copy:
        file.good_copy(world.path).write_bytes(GOOD)
    store = world.open()
    assert store.get(PaneSettings).width == (55 if copy else 100)
    qtbot.waitUntil(lambda: bool(world.posted))
    (kept,) = world.path.parent.glob("settings.broken-*.json")
    assert kept.read_bytes() == BROKEN[name]
    assert [notice.key for notice in world.posted] == [FILE_NOTICE]
    assert kept.name in world.posted[0].text
    store.put(msgspec.structs.replace(store.get(PaneSettings), name="after"))
    world.executor.drain()
    assert kept.read_bytes() == BROKEN[name]
    assert world.on_disk()["pane"] == ({"width": 55, "name": "after"} if copy else {"name": "after"})


@pytest.mark.parametrize("content", [b'{"pane": {"width": 55}}', b'{"version": "x", "pane": {"width": 55}}', GOOD])
def test_odd_versions_are_read(world: World, content: bytes) -> None:
    world.path.parent.mkdir()
    world.path.write_bytes(content)
    assert world.open().get(PaneSettings).width == 55
    assert world.posted == []


def test_a_broken_copy_is_not_used(world: World) -> None:
    world.path.parent.mkdir()
    world.path.write_bytes(b"")
    file.good_copy(world.path).write_bytes(b"{")
    assert world.open().get(PaneSettings) == PaneSettings()


def test_two_broken_files_on_one_day(world: World) -> None:
    world.path.parent.mkdir()
    for content in (b"first", b"second"):
        world.path.write_bytes(content)
        file.read(world.path, NOW)
    kept = sorted(world.path.parent.glob("settings.broken-2023-11-1*"))
    assert [path.read_bytes() for path in kept] == [b"second", b"first"]


def test_a_newer_file_is_read_and_never_written(world: World, qtbot: QtBot) -> None:
    world.path.parent.mkdir()
    content = b'{"version": 2, "pane": {"width": 70, "new": 1}}'
    world.path.write_bytes(content)
    store = world.open()
    assert store.get(PaneSettings).width == 70
    store.put(PaneSettings(width=80))
    assert store.get(PaneSettings).width == 80
    world.executor.drain()
    assert world.path.read_bytes() == content
    qtbot.waitUntil(lambda: bool(world.posted))
    assert "newer version" in world.posted[0].text


def test_a_save_keeps_the_copy_from_before(world: World) -> None:
    store = world.open()
    store.put(PaneSettings(width=20))
    world.executor.drain()
    store.put(PaneSettings(width=30))
    world.executor.drain()
    assert json.loads(file.good_copy(world.path).read_bytes())["pane"] == {"width": 20}
    assert sorted(p.name for p in world.path.parent.iterdir()) == ["settings.json", "settings.last-good.json"]


def test_two_windows_keep_each_others_settings(world: World) -> None:
    one, two = world.open(), world.open()
    one.put(PaneSettings(width=20))
    two.put(ChatSettings(top_k=3))
    world.executor.drain()
    one.put(PaneSettings(width=30))
    world.executor.drain()
    assert world.on_disk() == {"version": 1, "pane": {"width": 30}, "chat": {"top_k": 3}}


def test_what_cannot_be_saved_is_told_once_and_saved_later(world: World) -> None:
    """Cases 73 and 77."""
    world.path.parent.write_text("a file where the folder should be")
    store = world.open()
    for width in (20, 30, 40):
        store.put(PaneSettings(width=width))
        world.executor.drain()
    unsaved = [notice for notice in world.posted if notice.key == UNSAVED_NOTICE]
    assert len(unsaved) == 1
    assert str(world.path) in unsaved[0].text
    assert store.get(PaneSettings).width == 40
    world.path.parent.unlink()
    store.put(PaneSettings(width=40, name="x"))
    world.executor.drain()
    assert world.on_disk()["pane"] == {"width": 40, "name": "x"}
    assert world.withdrawn == [UNSAVED_NOTICE]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file(world: World, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    """Case 73."""
    store = world.open()
    store.put(PaneSettings(width=20))
    world.executor.drain()
    before = world.path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(*((os, "fsync", full) if call == "fsync" else (Path, "replace", full)))
    store.put(PaneSettings(width=30))
    world.executor.drain()
    assert world.path.read_bytes() == before
    assert not list(world.path.parent.glob("*.new-*"))
    assert "No space left" in world.posted[0].text


def test_text_that_is_no_text_can_be_saved(world: World) -> None:
    store = world.open()
    store.put(ChatSettings(system_prompt="a\ud83d\0"))
    world.executor.drain()
    assert world.on_disk()["chat"]["system_prompt"] == "a\ufffd\ufffd"


def test_bugs_while_saving_are_not_swallowed(world: World, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> None:
    def bug(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(file, "update", bug)
    world.open().put(PaneSettings(width=20))
    with qtbot.captureExceptions() as raised:
        world.executor.drain()
    assert [kind for kind, _, _ in raised] == [ZeroDivisionError]


SAVER = """
import sys
from pathlib import Path
from app.settings import file
path = Path(sys.argv[1])
number = 0
while True:
    number += 1
    file.update(path, lambda _: {"pane": {"width": number, "fill": "x" * 20_000}}, {})
    print(number, flush=True)
"""


def killed_saves(path: Path, repository: Path, kills: int) -> list[tuple[int, int]]:
    """(last save reported, width found afterwards) for each of ``kills`` processes killed while saving."""
    env: dict[str, str] = {**os.environ, "PYTHONPATH": str(repository)}
    found = []
    for kill in range(kills):
        child = subprocess.Popen([sys.executable, "-c", SAVER, str(path)], stdout=subprocess.PIPE, env=env)
        assert child.stdout is not None
        reported = [int(child.stdout.readline()) for _ in range(3 + kill % 5)]
        child.send_signal(signal.SIGKILL)
        reported += [int(line) for line in child.stdout.read().splitlines()]
        child.wait()
        child.stdout.close()
        read = file.read(path)
        assert read.remark is None
        found.append((reported[-1], read.document["pane"]["width"]))
    return found


def assert_whole(found: list[tuple[int, int]]) -> None:
    assert all(width in (reported, reported + 1) for reported, width in found)


def test_kill_while_saving_never_leaves_a_bad_file(tmp_path: Path, repository: Path) -> None:
    assert_whole(killed_saves(tmp_path / "settings.json", repository, 3))


@pytest.mark.slow
def test_kill_while_saving_200_times(tmp_path: Path, repository: Path) -> None:
    assert_whole(killed_saves(tmp_path / "settings.json", repository, 200))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(data=st.binary(max_size=60) | st.builds(lambda cut: GOOD[:cut], st.integers(0, len(GOOD))))
def test_any_bytes_are_a_start(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(data)
    found = file.read(path, NOW)
    assert isinstance(fields.decode(PaneSettings, found.document.get("pane")), PaneSettings)
    assert (found.remark is None) == path.exists()


def test_a_device_or_a_pipe_in_its_place_is_not_read(tmp_path: Path) -> None:
    """Devices and pipes may never end; what lies there stays."""
    path = tmp_path / "settings.json"
    path.symlink_to("/dev/null")
    found = file.read(path, NOW)
    assert (found.writable, found.remark and found.remark.code) == (False, "settings-unreadable")
    assert path.is_symlink()
    path.unlink()
    os.mkfifo(path)
    held = os.open(path, os.O_RDWR)
    try:
        os.write(held, b"{}")
        assert file.read(path, NOW).remark is not None
        assert os.read(held, 9) == b"{}"
    finally:
        os.close(held)

"""The hub child as a process: several requests at once, cancelled ones, its end."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.hub.client import ask
from engine.hub.launch import command, environment
from engine.hub.messages import Cancel, Event, Failed, Found, Open, Opened, Request, Search, decode_event, encode
from engine.hub.records import SearchQuery
from tests.fakes.hub_pages import row
from tests.fakes.local_hub import LocalHub

REPO = "maker/m-GGUF"


class Child:
    """A real child, driven by hand."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def send(self, *requests: Request) -> None:
        assert self.process.stdin
        self.process.stdin.write(b"".join(map(encode, requests)))
        self.process.stdin.flush()

    def next(self) -> Event:
        assert self.process.stdout
        event = decode_event(self.process.stdout.readline())
        assert event is not None
        return event

    def end(self) -> int:
        assert self.process.stdin
        self.process.stdin.close()
        return self.process.wait(60)


@contextmanager
def child(folder: Path) -> Iterator[Child]:
    with subprocess.Popen(command(folder), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()) as process:
        try:
            yield Child(process)
        finally:
            process.kill()


@pytest.fixture
def full(hub: LocalHub) -> LocalHub:
    hub.pages.rows = [row("maker/one-GGUF"), row("maker/two-GGUF")]
    hub.add(REPO, "m-Q4_0.gguf", b"4" * 10)
    return hub


def test_one_process_answers_again_and_again(full: LocalHub, tmp_path: Path) -> None:
    with child(tmp_path / "kept") as one:
        one.send(Search(id=1, query=SearchQuery(text="one")))
        first = one.next()
        one.send(Open(id=2, text=REPO))
        second = one.next()
        assert isinstance(first, Found)
        assert isinstance(second, Opened)
        assert (first.id, len(first.page.rows)) == (1, 1)
        assert (second.id, second.page.repo) == (2, REPO)
        assert one.end() == 0


def test_a_request_that_hangs_holds_no_other(full: LocalHub, tmp_path: Path) -> None:
    full.pages.hold_after = 5
    with child(tmp_path / "kept") as one:
        one.send(Search(id=1, query=SearchQuery(text="one")), Open(id=2, text="not a name"))
        assert one.next().id == 2
        full.pages.hold_after = None
        one.send(Search(id=3, query=SearchQuery(text="two")), Cancel(id=1))
        assert one.next().id == 3
        full.pages.release()
        one.send(Open(id=4, text=REPO))
        assert one.next().id == 4


def test_a_cancelled_request_has_no_answer_and_what_is_no_request_ends_nothing(full: LocalHub, tmp_path: Path) -> None:
    with child(tmp_path / "kept") as one:
        one.send(Open(id=1, text=REPO), Cancel(id=1), Cancel(id=77))
        assert one.process.stdin
        one.process.stdin.write(b"{}\nnonsense\n")
        one.send(Open(id=2, text=REPO))
        events = [one.next(), one.next(), one.next()]
        assert [(event.id, type(event)) for event in events] == [(0, Failed), (0, Failed), (2, Opened)]


def test_the_end_of_stdin_ends_it_in_the_middle(full: LocalHub, tmp_path: Path) -> None:
    full.pages.hold_after = 5
    with child(tmp_path / "kept") as one:
        one.send(Search(id=1, query=SearchQuery()), Open(id=2, text="not a name"))
        assert one.next().id == 2
        assert one.end() == 0


@pytest.mark.slow
def test_a_killed_child_leaves_nothing_half_kept(full: LocalHub, tmp_path: Path) -> None:
    with child(tmp_path / "kept") as one:
        one.send(Search(id=1, query=SearchQuery()))
        one.next()
        os.kill(one.process.pid, signal.SIGKILL)
        one.process.wait(60)
    found = ask(tmp_path / "kept", Search(id=5, query=SearchQuery(), offline=True))
    assert isinstance(found, Found)
    assert (found.id, len(found.page.rows), found.kept) == (5, 2, True)


def test_offline_asks_nobody(full: LocalHub, tmp_path: Path) -> None:
    full.log.clear()
    found = ask(tmp_path / "kept", Search(id=1, query=SearchQuery(), offline=True))
    assert isinstance(found, Found)
    assert found.page.rows == ()
    assert full.log == []


def test_a_child_that_cannot_begin_is_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHOME", str(tmp_path / "nowhere"))
    failed = ask(tmp_path, Search(id=4, query=SearchQuery()))
    assert isinstance(failed, Failed)
    assert (failed.id, failed.code) == (4, "hub-died")
    assert failed.detail


@pytest.mark.slow
def test_the_program_starts_it_too(full: LocalHub, tmp_path: Path) -> None:
    import sys

    program = [sys.executable, "-P", "-m", "app.main", "--hub", str(tmp_path)]
    given = encode(Open(id=1, text=REPO))
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(given)
        process.stdin.flush()
        assert isinstance(decode_event(process.stdout.readline()), Opened)
        process.stdin.close()
        assert process.wait(60) == 0
    assert (
        subprocess.run([*program, "too", "many"], env=environment(), capture_output=True, check=False).returncode == 2
    )

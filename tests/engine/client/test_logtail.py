"""The worker's last log lines, and the log file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.client.logfile import append_rotating
from engine.client.logtail import LONGEST_LINE, LogTail, shorten_home
from tests.engine.protocol.strategies import cut


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n\r\0"), max_size=20)),
    st.lists(st.integers(0, 999)),
)
def test_lines_survive_any_cuts(lines, places) -> None:
    tail = LogTail(lines=1000)
    data = "".join(f"{line}\n" for line in lines).encode()
    completed = [line for piece in cut(data, places) for line in tail.feed(piece)]
    assert completed == lines
    assert tail.text() == "\n".join(line for line in lines if line.strip())


def test_only_the_last_lines_are_kept_and_an_unfinished_one_counts() -> None:
    tail = LogTail(lines=3)
    tail.feed(b"a\nb\r\nc\nd\nunfinished")
    assert tail.text() == "b\nc\nd\nunfinished"
    assert tail.text(lines=2) == "d\nunfinished"


def test_odd_bytes_and_endless_lines() -> None:
    tail = LogTail()
    tail.feed(b"\xff\0ok\n")
    assert tail.text() == "\ufffd\ufffdok"
    for _ in range(100):
        tail.feed(b"x" * 10_000)
    assert len(tail.text().splitlines()[-1]) == LONGEST_LINE


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/ada/models", "~/models"),
        ("cwd=/home/ada", "cwd=~"),
        ("'/home/ada'", "'~'"),
        ("/home/adam/x", "/home/adam/x"),
        ("/mnt/home/ada/x", "/mnt/home/ada/x"),
        ("a:/home/ada/b:/home/ada/c", "a:~/b:~/c"),
    ],
)
def test_home_is_shortened_where_it_is_home(text, shown) -> None:
    assert shorten_home(text, Path("/home/ada")) == shown


def test_home_that_is_the_root_changes_nothing() -> None:
    assert shorten_home("/a/b", Path("/")) == "/a/b"


def test_log_file_rotates_once_it_is_full(tmp_path: Path) -> None:
    file = tmp_path / "logs" / "worker.log"
    for text in ("one\n", "two\n", "three\n", "four\n"):
        append_rotating(file, text, limit=8)
    assert file.read_text() == "three\nfour\n"
    assert (tmp_path / "logs" / "worker.log.1").read_text() == "one\ntwo\n"
    append_rotating(file, "five\n", limit=8)
    assert file.read_text() == "five\n"
    assert sorted(p.name for p in file.parent.iterdir()) == ["worker.log", "worker.log.1"]

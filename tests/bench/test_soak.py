"""Long streaming keeps every token and leaves nothing behind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QTimer
from pytestqt.qtbot import QtBot

from tests.bench.soak_rig import TURNS, Soak, token
from ui.chat.transcript.budget import never
from ui.theme import Theme

ANSWER = 250
ANSWERS = 80
QUARTER = ANSWERS // 4
NUMBER = re.compile(r"\bt(\d+)\b")

pytestmark = pytest.mark.slow


@pytest.fixture
def soak(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Soak]:
    """Frames are as many, and each does as much, however slow the machine is."""
    monkeypatch.setattr("ui.chat.transcript.pace.SHARE", 0)
    for module in ("view", "background"):
        monkeypatch.setattr(f"ui.chat.transcript.{module}.deadline", lambda _seconds: never)
    made = Soak(tmp_path, Theme(), answer_tokens=ANSWER)
    qtbot.waitUntil(made.view.isVisible)
    yield made
    made.close()


def test_twenty_thousand_tokens(soak: Soak) -> None:
    counts, seen = [], []
    for number in range(ANSWERS):
        soak.turn()
        if (number + 1) % TURNS == 0:
            seen.append(words_in_view(soak))
        if (number + 1) % QUARTER == 0:
            counts.append(soak.live())
            soak.open(soak.chat.conversations.rows[0].id)

    assert soak.tokens == ANSWER * ANSWERS
    answers = [range(number * ANSWER, (number + 1) * ANSWER) for number in range(ANSWERS)]
    assert [text.strip() for text in soak.stored()] == ["".join(map(token, one)).strip() for one in answers]
    whole = ANSWER * TURNS
    assert seen == [list(range(at * whole, (at + 1) * whole)) for at in range(ANSWERS // TURNS)]
    assert counts[3].keys() <= counts[1].keys()
    assert not {kind: (counts[1][kind], now) for kind, now in counts[3].items() if now > counts[1][kind]}


def words_in_view(soak: Soak) -> list[int]:
    """Numbers of the tokens that the view shows, in its order."""
    soak.view.actions_of.select_all()
    text = soak.view.selected_text()
    soak.view.selection.clear()
    return [int(number) for number in NUMBER.findall(text)]


def test_an_end_leaves_no_timer(soak: Soak) -> None:
    soak.settle()
    before = timers(soak.chat)
    for _ in range(3):
        soak.turn()

    after = timers(soak.chat)
    assert after[0] == before[0]
    assert after[1] <= before[1]
    assert timers(soak.view)[1] == 0


def timers(root: QObject) -> tuple[int, int]:
    """All timers below ``root``, and those that run."""
    found = root.findChildren(QTimer)
    return len(found), sum(timer.isActive() for timer in found)

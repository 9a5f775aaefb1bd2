"""Streaming from a real process at 100 tok/s: each word arrives and is saved while the answer goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from tests.bench.soak_process import ProcessSoak, answer_text, until
from ui.theme import Theme

TOKENS = 100
HELD = 60
SURE = 15
"""Of our tokens the held worker has written that many: some are several of its own."""
ANSWERS = 9
QUEUED = 6
"""Work for the database at one time: an answer has one save on its way, however fast it is; a question some calls."""

pytestmark = pytest.mark.slow

Begun = Callable[[list[dict[str, Any]]], ProcessSoak]


@pytest.fixture
def begun(qtbot: QtBot, tmp_path: Path) -> Iterator[Begun]:
    soaks: list[ProcessSoak] = []

    def begin(generate: list[dict[str, Any]]) -> ProcessSoak:
        soaks.append(ProcessSoak(tmp_path, Theme(), generate))
        return soaks[-1]

    yield begin
    for soak in soaks:
        soak.close()


def test_every_word_of_every_answer(begun: Begun, tmp_path: Path) -> None:
    """Each answer is held after some tokens until these are on the disk, by a worker that is not done."""
    gates = [tmp_path / f"gate-{number}" for number in range(ANSWERS)]
    texts = [answer_text(number, TOKENS) for number in range(ANSWERS)]
    soak = begun(
        [
            {"text": text, "delay": 0.01, "gate": str(gate), "gate_after": HELD}
            for text, gate in zip(texts, gates, strict=True)
        ]
    )
    for number, (text, gate) in enumerate(zip(texts, gates, strict=True)):
        soak.ask(number)
        held = text[: text.index(f"t{number * TOKENS + SURE}")]
        until(lambda number=number, held=held: is_saved(soak, number, held))  # type: ignore[misc]
        assert soak.on_disk()[-1][0] == "streaming"
        assert soak.chat.busy
        gate.touch()
        until(lambda: not soak.chat.busy)
        assert soak.arrived == text

    until(lambda: soak.database.given == soak.database.done)
    assert soak.on_disk() == [("done", text) for text in texts]
    assert soak.database.most <= QUEUED
    assert soak.posted == []


def is_saved(soak: ProcessSoak, number: int, words: str) -> bool:
    answers = soak.on_disk()
    return len(answers) == number + 1 and answers[-1][1].startswith(words)

"""The bench of chats: ratios, what is skipped, and how a party is driven."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.bench import compare_chat
from tests.bench.chat_parties.party import Party, PartyEnded, Request, Turn
from tests.bench.compare_chat import Measured, ratio, read_options, rows_of, start_parties

PLAY = """
import json, sys
print(json.dumps({"ready": json.loads(sys.stdin.readline())["model"]}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    cut = request["seed"] % 2 == 1
    print(json.dumps({"first": 0.1, "seconds": 1.1, "tokens": request["max_tokens"], "cut": cut}), flush=True)
"""


def turn(tokens: int = 11, seconds: float = 1.1, cpu: float = 1.0) -> Turn:
    return Turn(first=0.1, seconds=seconds, tokens=tokens, cut=True, cpu=cpu)


def test_a_rate_begins_with_the_first_text() -> None:
    assert turn().rate == pytest.approx(10.0)
    assert turn(cpu=5.5).cpu_per_token == pytest.approx(0.5)


def test_ratios_are_medians_of_pairs_and_above_one_means_better() -> None:
    ours = Measured("vramble", (turn(seconds=1.1), turn(seconds=2.1), turn(seconds=9.1)))
    theirs = Measured("other", (turn(seconds=2.1), turn(seconds=4.1), turn(seconds=9.1)))
    assert ratio(ours, theirs, lambda one: one.rate, more_is_better=True) == pytest.approx(2.0)
    assert ratio(ours, theirs, lambda one: one.cpu) == pytest.approx(1.0)
    rows = rows_of([ours, theirs])
    assert rows[1][0] == "vramble"
    assert rows[2][6:] == ("2.000", "1.000", f"{2.1 / 1.1:.3f}", "1.000")


def test_what_is_missing_is_skipped_with_a_reason(tmp_path: Path) -> None:
    options = read_options(["--node-folder", str(tmp_path), "--xllamacpp-python", str(tmp_path / "python")])
    with ExitStack() as stack:
        running, skipped = start_parties([compare_chat.NODE, compare_chat.XLLAMACPP], options, stack)
    assert not running
    assert set(skipped) == {compare_chat.NODE, compare_chat.XLLAMACPP}
    assert all(skipped.values())


def test_a_party_is_asked_until_an_answer_is_long_enough() -> None:
    with Party([sys.executable, "-c", PLAY]) as party:
        party.start({"model": "m"})
        assert party.words == "m"
        found = compare_chat.full_turn(party, 0, 16, 0.7)
        assert (found.tokens, found.cut) == (16, True)
        assert found.cpu >= 0


def test_a_party_that_ends_is_told() -> None:
    with Party([sys.executable, "-c", "raise SystemExit(3)"]) as party, pytest.raises(PartyEnded, match="exit code 3"):
        party.start({"model": "m"})
    with Party([sys.executable, "-c", PLAY.replace("% 2 == 1", "< 0")]) as party:
        party.start({"model": "m"})
        with pytest.raises(PartyEnded, match="as long as wanted"):
            compare_chat.full_turn(party, 0, 16, 0.7)
        assert party.turn(Request("x", 4, 1, 0.0)).tokens == 4

"""Verdicts on probes: what is taken for rounding, and what for a fault."""

from __future__ import annotations

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.client.agreement import MOST_APART, NEAR_TIE, Outcome, compare, look_at
from engine.protocol.probe import Candidate, Position, Probe
from tests.fakes.fake_worker import fake_probe


def place(*best: tuple[int, float], read: int = 24) -> Position:
    return Position(read=read, best=tuple(Candidate(token, math.log(share)) for token, share in best))


def probe(*places: Position) -> Probe:
    return Probe(tokens=tuple(range(40)), chosen=3, positions=places)


CLEAR = place((1, 0.7), (2, 0.2), (3, 0.1))


def test_numbers_that_vary_pass() -> None:
    assert look_at(fake_probe()).outcome is Outcome.OK


def test_one_place_without_numbers_is_enough() -> None:
    finding = look_at(fake_probe("nan"))
    assert finding.outcome is Outcome.NO_NUMBERS
    assert finding.failed
    assert finding.detail == "No valid numbers after 31 tokens."


def test_the_same_choice_everywhere() -> None:
    finding = look_at(fake_probe("constant"))
    assert (finding.outcome, finding.failed) == (Outcome.CONSTANT, True)
    assert "Token 7 at all 8 places" in finding.detail


def test_the_same_choice_at_three_places_says_nothing() -> None:
    assert look_at(fake_probe("constant", places=3)).outcome is Outcome.OK


def test_nothing_read_off_is_no_failure() -> None:
    for empty in (fake_probe("The model has no vocabulary."), Probe()):
        finding = look_at(empty)
        assert (finding.outcome, finding.failed) == (Outcome.UNCHECKED, False)
        assert finding.detail


def test_equal_probes_agree() -> None:
    finding = compare(fake_probe(), fake_probe())
    assert finding.outcome is Outcome.OK
    assert finding.detail.startswith("0 of 8 choices")


def test_other_tokens_disagree() -> None:
    finding = compare(fake_probe("wrong"), fake_probe())
    assert (finding.outcome, finding.failed) == (Outcome.DISAGREES, True)
    assert "After 24 tokens: device 500, CPU 10" in finding.detail


def test_near_ties_are_no_disagreement() -> None:
    """Another first token at each place, which the CPU puts just behind its own."""
    device = probe(*[place((1, 0.36), (2, 0.34), (3, 0.3))] * 8)
    cpu = probe(*[place((2, 0.38), (1, 0.34), (3, 0.28))] * 8)
    assert compare(device, cpu).outcome is Outcome.OK


def test_a_quarter_of_the_choices_may_be_off() -> None:
    """As when one expert of several is chosen otherwise; at more places it is a fault."""
    other = place((3, 0.7), (2, 0.2), (1, 0.1))
    cpu = probe(*[CLEAR] * 8)
    assert compare(probe(*[CLEAR] * 6, *[other] * 2), cpu).outcome is Outcome.OK
    assert compare(probe(*[CLEAR] * 5, *[other] * 3), cpu).outcome is Outcome.DISAGREES


def test_the_same_choices_with_other_probabilities() -> None:
    device = probe(*[place((1, 0.98), (2, 0.01), (3, 0.01))] * 8)
    assert compare(device, probe(*[CLEAR] * 8)).outcome is Outcome.DISAGREES


def test_unlikely_tokens_do_not_count() -> None:
    """Far down the distances are large on healthy devices too."""
    device = probe(*[place((1, 0.9), (2, 1e-8))] * 8)
    cpu = probe(*[place((1, 0.9), (2, 1e-4))] * 8)
    assert compare(device, cpu).outcome is Outcome.OK


def test_a_token_that_the_cpu_forbids() -> None:
    assert compare(probe(*[place((9, 0.9))] * 4), probe(*[CLEAR] * 4)).outcome is Outcome.DISAGREES


def test_a_cpu_without_numbers_proves_nothing() -> None:
    finding = compare(fake_probe(), fake_probe("nan"))
    assert (finding.outcome, finding.failed) == (Outcome.UNCHECKED, False)
    assert compare(Probe(), Probe()).outcome is Outcome.UNCHECKED


@given(st.lists(st.floats(-0.4, 0.4), min_size=3, max_size=9))
def test_small_shifts_of_the_logits_always_agree(shifts: list[float]) -> None:
    assert max(map(abs, shifts)) < min(NEAR_TIE, MOST_APART)
    cpu = probe(*[CLEAR] * len(shifts))
    moved = [
        msgspec.structs.replace(CLEAR, best=tuple(Candidate(c.token, c.logprob + shift) for c in CLEAR.best))
        for shift in shifts
    ]
    assert compare(probe(*moved), cpu).outcome is Outcome.OK


@pytest.mark.parametrize("kind", ["ok", "nan", "constant", "wrong"])
def test_probes_survive_the_wire(kind: str) -> None:
    assert msgspec.json.decode(msgspec.json.encode(fake_probe(kind)), type=Probe) == fake_probe(kind)

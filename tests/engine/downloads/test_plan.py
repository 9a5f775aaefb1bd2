"""Who fetches what: everything once, whatever the connections do."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.downloads.blocks import BLOCK
from engine.downloads.plan import SMALLEST, Claim, Plan


def test_one_connection_takes_each_gap_as_a_whole() -> None:
    plan = Plan([(5, 100 * BLOCK), (200 * BLOCK, 201 * BLOCK)], 1)
    first = plan.take()
    assert first is not None
    assert (first.at, first.end) == (5, 100 * BLOCK)
    second = plan.take()
    assert second is not None
    assert plan.take() is None
    first.at = 50
    plan.release(first)
    again = plan.take()
    assert again is not None
    assert (again.at, again.end) == (50, 100 * BLOCK)


def test_pieces_end_at_blocks_and_follow_one_another() -> None:
    plan = Plan([(100, 64 * BLOCK)], 4)
    claims = [claim for claim in (plan.take() for _ in range(4)) if claim is not None]
    assert [claim.at for claim in claims] == [100, *(claim.end for claim in claims[:-1])]
    assert all(claim.end % BLOCK == 0 for claim in claims)


def test_who_has_nothing_left_takes_half_of_the_longest() -> None:
    plan = Plan([(0, 2 * SMALLEST)], 2)
    first, second = plan.take(), plan.take()
    assert first is not None
    assert second is not None
    first.at = first.end
    plan.release(first)
    assert plan.take() is None, "what is left is not worth a connection"
    plan = Plan([(0, 2 * SMALLEST)], 2)
    whole = plan.take()
    assert whole is not None
    whole.end = 2 * SMALLEST
    plan._free.clear()
    stolen = plan.take()
    assert stolen is not None
    assert (whole.end, stolen.at, stolen.end) == (SMALLEST, SMALLEST, 2 * SMALLEST)


@given(
    spans=st.lists(st.integers(1, 40), min_size=1, max_size=6),
    connections=st.integers(1, 6),
    steps=st.lists(st.tuples(st.integers(0, 5), st.integers(1, 20), st.booleans()), max_size=80),
)
def test_every_byte_is_fetched_once(spans: list[int], connections: int, steps: list[tuple[int, int, bool]]) -> None:
    missing, at = [], 0
    for length in spans:
        missing.append((at * BLOCK, (at + length) * BLOCK))
        at += length + 2
    plan, got = Plan(missing, connections), bytearray(at)
    lanes: list[Claim | None] = [None] * connections

    def step(lane: int, count: int, give_up: bool) -> None:
        claim = lanes[lane] = lanes[lane] or plan.take()
        if claim is None:
            return
        end = min(claim.end, claim.at + count * BLOCK)
        for block in range(claim.at // BLOCK, end // BLOCK):
            got[block] += 1
        claim.at = end
        if give_up or claim.at == claim.end:
            plan.release(claim)
            lanes[lane] = None

    for lane, count, give_up in steps:
        step(lane % connections, count, give_up)
    while not plan.is_done:
        for lane in range(connections):
            step(lane, 7, False)
    wanted = bytearray(at)
    for start, end in missing:
        wanted[start // BLOCK : end // BLOCK] = b"\1" * ((end - start) // BLOCK)
    assert got == wanted

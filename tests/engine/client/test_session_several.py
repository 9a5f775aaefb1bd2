"""A session with several answers under way: each has its own events, cancel and end."""

from __future__ import annotations

import msgspec
import pytest

from engine.client.session import WorkerState
from engine.protocol.codec import worker_input
from engine.protocol.frames import Cancel, Delta, Finished, Forget, FromWorker, Generate
from engine.protocol.types import FinishReason
from tests.engine.client.peer import Peer, request, running, success


@pytest.fixture
def peer() -> Peer:
    """Three answers are under way."""
    made = running()
    for number in (1, 2, 3):
        made.session.submit(request(Generate, number))
    made.events.clear()
    return made


def finished(number: int, reason: FinishReason = FinishReason.STOP) -> Finished:
    end = success(Generate, number)
    assert isinstance(end, Finished)
    return msgspec.structs.replace(end, reason=reason)


def test_events_of_all_come_through_in_any_order(peer: Peer) -> None:
    session = peer.session
    events: list[FromWorker] = [
        Delta(id=2, text="b"),
        Delta(id=1, text="a"),
        finished(2),
        Delta(id=1, text="a"),
        finished(1),
    ]
    peer.say(*events)
    assert peer.events == events
    assert session.pending == (3,)
    assert session.state is WorkerState.GENERATING
    assert session.garbage == 0


def test_a_cancel_is_for_one_and_watched_for_that_one(peer: Peer) -> None:
    session = peer.session
    assert worker_input().feed(session.cancel(2)) == [Cancel(target=2)]
    peer.say(finished(1))
    watched = session.watching
    peer.say(finished(2, FinishReason.CANCELLED))
    assert (watched, session.watching) == (True, False)
    assert session.pending == (3,)


def test_a_death_ends_each_of_them(peer: Peer) -> None:
    session = peer.session
    session.cancel(3)
    _, failures = session.ended(1, None, "")
    assert [failure.id for failure in failures] == [1, 2, 3]
    assert [failure.code == "cancelled" for failure in failures] == [False, False, True]


def test_forgetting_is_told_to_a_running_worker_only(peer: Peer) -> None:
    session = peer.session
    assert worker_input().feed(session.forget(("a", "b"))) == [Forget(conversations=("a", "b"))]
    session.ended(1, None, "")
    assert session.forget(("a",)) == b""
    assert session.pending == ()

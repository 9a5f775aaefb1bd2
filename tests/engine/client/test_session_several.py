"""A session with several answers under way: each has its own events, cancel and end."""

from __future__ import annotations

from engine.client.session import Session, WorkerState
from engine.protocol.codec import encode, worker_input
from engine.protocol.frames import PROTOCOL_VERSION, Cancel, Delta, Finished, Forget, FromWorker, Generate, Hello
from engine.protocol.types import FinishReason, GenerationStats


def running() -> Session:
    session = Session(lambda: 0.0)
    session.started()
    session.receive(encode(Hello(protocol=PROTOCOL_VERSION, pid=1, engine="x")))
    for number in (1, 2, 3):
        session.submit(Generate(id=number, messages=()))
    return session


def finished(number: int, reason: FinishReason = FinishReason.STOP) -> Finished:
    return Finished(id=number, reason=reason, stats=GenerationStats())


def test_events_of_all_come_through_in_any_order() -> None:
    session = running()
    events: list[FromWorker] = [
        Delta(id=2, text="b"),
        Delta(id=1, text="a"),
        finished(2),
        Delta(id=1, text="a"),
        finished(1),
    ]
    assert session.receive(b"".join(map(encode, events))) == events
    assert session.pending == (3,)
    assert session.state is WorkerState.GENERATING
    assert session.garbage == 0


def test_a_cancel_is_for_one_and_watched_for_that_one() -> None:
    session = running()
    assert worker_input().feed(session.cancel(2)) == [Cancel(target=2)]
    session.receive(encode(finished(1)))
    watched = session.watching
    session.receive(encode(finished(2, FinishReason.CANCELLED)))
    assert (watched, session.watching) == (True, False)
    assert session.pending == (3,)


def test_a_death_ends_each_of_them() -> None:
    session = running()
    session.cancel(3)
    _, failures = session.ended(1, None, "")
    assert [failure.id for failure in failures] == [1, 2, 3]
    assert [failure.code == "cancelled" for failure in failures] == [False, False, True]


def test_forgetting_is_told_to_a_running_worker_only() -> None:
    session = running()
    assert worker_input().feed(session.forget(("a", "b"))) == [Forget(conversations=("a", "b"))]
    session.ended(1, None, "")
    assert session.forget(("a",)) == b""
    assert session.pending == ()

"""The session: states, time limits, and one terminal event for each request."""

from __future__ import annotations

import pytest

from engine.client.session import CANCEL_SECONDS, HELLO_SECONDS, Session, Verdict, WorkerState
from engine.protocol.codec import encode, worker_input
from engine.protocol.frames import (
    TERMINAL_TYPES,
    Cancel,
    Delta,
    Failed,
    Generate,
    Hello,
    ListDevices,
    Load,
    Loaded,
    Progress,
    Unload,
    Unloaded,
)
from tests.engine.client.peer import HELLO, KINDS, MODEL, Peer, request, running, success, with_model

S = WorkerState


def submit(kind, id_):
    return lambda peer: peer.session.submit(request(kind, id_))


def say(*frames):
    return lambda peer: peer.say(*frames)


def fail(id_):
    return say(Failed(id=id_, code="x", message="x"))


STARTED = [lambda peer: peer.session.started()]
HEARD = [*STARTED, say(HELLO)]
LOADED = [*HEARD, submit(Load, 1), say(success(Load, 1))]

STORIES = [
    ("new", [], S.STOPPED),
    ("started", STARTED, S.STARTING),
    ("started with a request", [*STARTED, submit(Load, 1)], S.STARTING),
    ("hello", HEARD, S.IDLE),
    ("hello with a request that waited", [*STARTED, submit(Load, 1), say(HELLO)], S.LOADING),
    ("loading", [*HEARD, submit(Load, 1)], S.LOADING),
    ("load progress", [*HEARD, submit(Load, 1), say(Progress(id=1, stage="load", done=1, total=2))], S.LOADING),
    ("loaded", LOADED, S.READY),
    ("load failed", [*HEARD, submit(Load, 1), fail(1)], S.IDLE),
    ("second load failed", [*LOADED, submit(Load, 2), fail(2)], S.IDLE),
    ("unloading", [*LOADED, submit(Unload, 2)], S.LOADING),
    ("unloaded", [*LOADED, submit(Unload, 2), say(success(Unload, 2))], S.IDLE),
    ("generating", [*LOADED, submit(Generate, 2)], S.GENERATING),
    ("generated", [*LOADED, submit(Generate, 2), say(success(Generate, 2))], S.READY),
    ("generation failed", [*LOADED, submit(Generate, 2), fail(2)], S.READY),
    (
        "two answers, one done",
        [*LOADED, submit(Generate, 2), submit(Generate, 3), say(success(Generate, 2))],
        S.GENERATING,
    ),
    ("load behind an answer", [*LOADED, submit(Generate, 2), submit(Load, 3)], S.GENERATING),
    ("answer done, load next", [*LOADED, submit(Generate, 2), submit(Load, 3), say(success(Generate, 2))], S.LOADING),
    ("listing devices", [*HEARD, submit(ListDevices, 1)], S.IDLE),
    ("listing devices with a model", [*LOADED, submit(ListDevices, 2)], S.READY),
    ("stopping", [*LOADED, lambda peer: peer.session.stopping()], S.STOPPING),
    ("stopping while starting", [*STARTED, lambda peer: peer.session.stopping()], S.STOPPING),
    ("hello while stopping", [*STARTED, lambda peer: peer.session.stopping(), say(HELLO)], S.STOPPING),
    ("stopped", [*LOADED, lambda peer: peer.session.stopping(), lambda peer: peer.die(0, None)], S.STOPPED),
    ("killed on purpose", [*LOADED, lambda peer: peer.session.stopping(), lambda peer: peer.die(None, 9)], S.STOPPED),
    ("crashed", [*LOADED, lambda peer: peer.die()], S.CRASHED),
    ("crashed before hello", [*STARTED, lambda peer: peer.die(1, None)], S.CRASHED),
    ("ended by itself", [*LOADED, lambda peer: peer.die(0, None)], S.CRASHED),
    ("words after the end", [*LOADED, lambda peer: peer.die(), say(HELLO)], S.CRASHED),
]


@pytest.mark.parametrize(("steps", "state"), [s[1:] for s in STORIES], ids=[s[0] for s in STORIES])
def test_states(steps, state) -> None:
    peer = Peer()
    for step in steps:
        step(peer)
    assert peer.session.state is state


def test_every_state_is_in_the_table() -> None:
    assert {story[2] for story in STORIES} == set(S)


@pytest.mark.parametrize("kind", KINDS)
def test_success_reaches_the_caller_once(kind) -> None:
    peer = running()
    peer.session.submit(request(kind, 5))
    peer.say(success(kind, 5), success(kind, 5), Failed(id=5, code="late", message="late"))
    assert peer.ends(5) == [success(kind, 5)]
    assert peer.session.garbage == 2
    peer.die()
    assert len(peer.ends(5)) == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", KINDS)
def test_an_end_of_the_wrong_kind_is_a_failure(kind, other) -> None:
    peer = running()
    peer.session.submit(request(kind, 5))
    peer.say(success(other, 5))
    (end,) = peer.ends(5)
    assert (end == success(kind, 5)) if kind is other else (isinstance(end, Failed) and end.code == "worker-protocol")
    if other is Load and kind is not Load:
        assert peer.session.model is None


@pytest.mark.parametrize("kind", KINDS)
def test_an_end_that_cannot_be_read_is_a_failure_not_an_endless_wait(kind) -> None:
    peer = running()
    peer.session.submit(request(kind, 5))
    odd = encode(success(kind, 5)).replace(b"}\n", b"]\n")
    peer.bytes(b'{"type":"finished","id":6}\n{"type":"delta","id":5}\n' + odd + odd)
    (end,) = peer.ends(5)
    assert isinstance(end, Failed)
    assert (end.code, peer.session.garbage, peer.session.pending) == ("worker-protocol", 4, ())


def test_frames_for_unknown_ids_are_dropped() -> None:
    peer = running()
    peer.session.submit(Generate(id=2, messages=()))
    peer.say(Delta(id=3, text="x"), Unloaded(id=9), Progress(id=7, stage="load", done=1, total=1))
    assert peer.events == [HELLO]
    assert (peer.session.garbage, peer.session.pending) == (3, (2,))


def test_frames_before_hello_are_dropped() -> None:
    peer = Peer()
    peer.session.started()
    peer.session.submit(Load(id=1, path="/m.gguf"))
    peer.say(success(Load, 1))
    assert (peer.events, peer.session.pending) == ([], (1,))


def test_second_hello_is_dropped() -> None:
    peer = running()
    peer.say(Hello(protocol=1, pid=2, engine="impostor"))
    assert peer.events == [HELLO]
    assert peer.session.hello == HELLO


def test_other_protocol_version_fails_what_waits_and_asks_for_the_kill() -> None:
    peer = Peer()
    peer.session.started()
    peer.session.submit(Load(id=1, path="/m.gguf"))
    peer.say(Hello(protocol=2, pid=1, engine="newer"), success(Load, 1))
    (end,) = peer.events
    assert isinstance(end, Failed)
    assert (end.code, "newer" in end.detail) == ("worker-protocol", True)
    assert peer.session.watching
    assert peer.session.overdue(peer.clock.now)
    death, failures = peer.session.ended(None, 9, "")
    assert death is not None
    assert (death.code, failures) == ("worker-protocol", [])


def test_missing_hello_is_overdue_after_30_seconds() -> None:
    peer = Peer()
    peer.session.started()
    assert not peer.wait(HELLO_SECONDS - 0.5)
    assert peer.wait(1.0)
    assert peer.session.verdict is Verdict.NO_HELLO


def test_hello_in_time_ends_the_count() -> None:
    peer = running()
    assert not peer.session.watching
    assert not peer.wait(1000)


def test_unanswered_cancel_is_overdue_after_2_seconds() -> None:
    peer = with_model()
    peer.session.submit(Generate(id=2, messages=()))
    assert not peer.wait(1000), "silence alone is no reason"
    assert worker_input().feed(peer.session.cancel(2)) == [Cancel(target=2)]
    peer.say(Delta(id=2, text="still talking"))
    assert not peer.wait(CANCEL_SECONDS - 0.5)
    assert peer.wait(1.0)
    assert peer.session.verdict is Verdict.NO_ANSWER
    death, failures = peer.session.ended(None, 9, "")
    assert death is not None
    assert (death.code, [f.code for f in failures]) == ("worker-silent", ["cancelled"])


def test_answered_cancel_ends_the_count() -> None:
    peer = with_model()
    peer.session.submit(Generate(id=2, messages=()))
    peer.session.cancel(2)
    peer.say(success(Generate, 2))
    assert not peer.wait(1000)


def test_only_the_cancelled_request_counts_as_cancelled_when_the_worker_is_killed() -> None:
    peer = with_model()
    peer.session.submit(Generate(id=2, messages=()))
    peer.session.submit(Generate(id=3, messages=()))
    peer.session.cancel(2)
    peer.wait(3)
    _, failures = peer.session.ended(None, 9, "")
    assert [(f.id, f.code) for f in failures] == [(2, "cancelled"), (3, "worker-silent")]


def test_cancel_before_hello_counts_from_hello() -> None:
    peer = Peer()
    peer.session.started()
    peer.session.submit(Load(id=1, path="/m.gguf"))
    peer.session.cancel(1)
    assert not peer.wait(20), "a worker that starts cannot listen yet"
    peer.say(HELLO)
    assert peer.wait(3)
    assert peer.session.verdict is Verdict.NO_ANSWER


def test_a_suspended_computer_uses_up_no_time_limit() -> None:
    peer = with_model()
    peer.session.submit(Generate(id=2, messages=()))
    peer.session.cancel(2)
    assert not peer.wait(0.5)
    peer.clock.now += 8 * 3600
    assert not peer.session.overdue(peer.clock.now)
    assert peer.wait(1.0)


def test_cancel_of_an_unknown_or_ended_request_is_nothing() -> None:
    peer = with_model()
    assert peer.session.cancel(1) == b""
    assert peer.session.cancel(99) == b""
    peer.session.submit(Generate(id=2, messages=()))
    assert peer.session.cancel(2)
    assert peer.session.cancel(2) == b"", "asked once"
    assert not peer.session.overdue(peer.clock.now)


def test_closed_channel_of_a_process_that_goes_on() -> None:
    peer = with_model()
    peer.session.submit(Generate(id=2, messages=()))
    peer.session.channel_closed()
    assert not peer.wait(0.5), "it may be about to end"
    assert peer.wait(1.0)
    assert peer.session.verdict is Verdict.CLOSED


def test_no_time_limit_while_stopping() -> None:
    peer = with_model()
    peer.session.submit(Generate(id=2, messages=()))
    peer.session.cancel(2)
    peer.session.stopping()
    assert not peer.session.watching
    assert not peer.wait(100)


def test_wanted_end_fails_what_is_pending_as_stopped_and_is_no_death() -> None:
    peer = with_model()
    peer.session.submit(Generate(id=2, messages=()))
    peer.session.stopping()
    death, failures = peer.session.ended(None, 9, "")
    assert death is None
    assert [(f.id, f.code) for f in failures] == [(2, "stopped")]


def test_death_fails_every_pending_request_with_its_words() -> None:
    peer = with_model()
    for id_ in (2, 3):
        peer.session.submit(Generate(id=id_, messages=()))
    death, failures = peer.session.ended(None, 11, "first\nlast line")
    assert death is not None
    assert [(f.id, f.code, f.message, f.next_step, f.detail) for f in failures] == [
        (id_, death.code, death.sentence, death.next_step, "first\nlast line") for id_ in (2, 3)
    ]
    assert peer.session.model is None
    assert peer.session.ended(None, 11, "") == (None, [])
    assert peer.session.receive(b'{"type":"unloaded","id":2}\n') == []


def test_no_request_without_a_process() -> None:
    session = Session()
    with pytest.raises(RuntimeError):
        session.submit(Unload(id=1))
    session.started()
    session.stopping()
    with pytest.raises(RuntimeError):
        session.submit(Unload(id=1))
    with pytest.raises(RuntimeError):
        session.started()


def test_an_id_cannot_be_used_twice_at_once() -> None:
    peer = running()
    peer.session.submit(Unload(id=1))
    with pytest.raises(ValueError, match="1"):
        peer.session.submit(Unload(id=1))
    peer.say(Unloaded(id=1))
    peer.session.submit(Unload(id=1))


def test_model_follows_load_and_unload() -> None:
    peer = with_model()
    models = [peer.session.model]
    peer.session.submit(Generate(id=2, messages=()))
    peer.session.submit(Load(id=3, path="/n.gguf"))
    models.append(peer.session.model)
    peer.say(success(Generate, 2))
    models.append(peer.session.model)
    peer.say(Loaded(id=3, model=MODEL, seconds=1))
    models.append(peer.session.model)
    assert models == [MODEL, MODEL, None, MODEL], "the model goes when the load begins, not when it is asked for"


def test_terminal_types_are_the_answers_of_requests() -> None:
    assert {type(success(kind, 1)) for kind in KINDS} | {Failed} == set(TERMINAL_TYPES)

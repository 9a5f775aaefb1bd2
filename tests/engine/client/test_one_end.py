"""Whatever a worker does, each request ends exactly once: random conversations with a hostile peer."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.client.session import WorkerState
from engine.protocol.codec import encode
from engine.protocol.frames import TERMINAL_TYPES, Delta, FromWorker, Hello, Progress
from tests.engine.client.peer import HELLO, KINDS, Peer, request, success
from tests.engine.protocol.strategies import clean_text, cut, from_worker

near_ids = st.integers(0, 12)
"""Ids of requests, of requests yet to come, and of none."""

hostile_bytes = st.one_of(
    from_worker(clean_text, near_ids).map(encode),
    from_worker(clean_text, near_ids).map(lambda frame: encode(frame)[:-5]),
    st.builds(lambda kind, id_: encode(success(kind, id_)), st.sampled_from(KINDS), near_ids),
    st.just(encode(HELLO)),
    st.binary(max_size=30),
    st.just(b"\n"),
)

actions = st.one_of(
    st.tuples(st.just("submit"), st.sampled_from(KINDS)),
    st.tuples(st.just("cancel"), near_ids),
    st.tuples(st.just("bytes"), hostile_bytes),
    st.tuples(st.just("wait"), st.floats(0, 5)),
)

endings = st.sampled_from(["crash", "exit", "stop", "overdue"])


@dataclass
class Story:
    peer: Peer = field(default_factory=Peer)
    submitted: list[int] = field(default_factory=list)

    def play(self, action) -> None:
        name, value = action
        session = self.peer.session
        if name == "submit" and session.state not in (WorkerState.STOPPED, WorkerState.CRASHED):
            self.submitted.append(len(self.submitted) + 1)
            session.submit(request(value, self.submitted[-1]))
        elif name == "cancel":
            session.cancel(value)
        elif name == "bytes":
            for piece in cut(value, [len(value) // 2]):
                self.peer.bytes(piece)
        elif name == "wait" and self.peer.wait(value):
            self.peer.die(None, 9)

    def end(self, how: str) -> None:
        if how == "stop":
            self.peer.session.stopping()
        if how == "overdue":
            for id_ in self.submitted:
                self.peer.session.cancel(id_)
            self.peer.wait(60)
        self.peer.die(0 if how == "exit" else None, None if how == "exit" else 9)
        self.peer.bytes(encode(HELLO) + b"".join(encode(success(KINDS[0], id_)) for id_ in self.submitted))


def first_end(events: list[FromWorker], id_: int) -> int:
    return next(i for i, e in enumerate(events) if isinstance(e, TERMINAL_TYPES) and e.id == id_)


@settings(max_examples=300, deadline=None)
@given(st.lists(actions, max_size=40), endings, st.booleans())
def test_each_request_ends_exactly_once(story_of, ending, polite) -> None:
    story = Story()
    story.peer.session.started()
    if polite:
        story.peer.say(HELLO)
    for action in story_of:
        story.play(action)
    story.end(ending)

    events = story.peer.events
    for id_ in story.submitted:
        assert len(story.peer.ends(id_)) == 1, f"request {id_} of {story.submitted}"
    known = set(story.submitted)
    for index, event in enumerate(events):
        if isinstance(event, Hello):
            assert event.protocol == HELLO.protocol
        else:
            assert event.id in known
        if isinstance(event, Delta | Progress):
            assert index < first_end(events, event.id), "nothing comes after the end"
    assert sum(isinstance(event, Hello) for event in events) <= 1
    assert story.peer.session.pending == ()
    assert story.peer.session.state in (WorkerState.STOPPED, WorkerState.CRASHED)
    assert not story.peer.session.watching or story.peer.session.verdict is not None

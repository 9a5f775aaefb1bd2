"""A self-test in the conversation with a worker: its end, its state, its failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.client.session import WorkerState
from engine.protocol.codec import encode
from engine.protocol.frames import Failed, FromWorker, SelfTest, SelfTested, Unloaded
from tests.engine.client.peer import MODEL, Peer, with_model
from tests.fakes.fake_worker import fake_probe

if TYPE_CHECKING:
    from collections.abc import Callable

TESTED = SelfTested(id=2, probe=fake_probe(), seconds=0.1)


@pytest.fixture
def peer() -> Peer:
    """With a loaded model, and a self-test that runs."""
    made = with_model()
    made.session.submit(SelfTest(id=2))
    return made


def test_the_model_stays_ready_while_it_is_tested(peer: Peer) -> None:
    assert peer.session.state is WorkerState.READY
    peer.say(TESTED)
    assert peer.events == [TESTED]
    assert (peer.session.pending, peer.session.model, peer.session.state) == ((), MODEL, WorkerState.READY)


def _cut(frame: FromWorker) -> bytes:
    return encode(frame)[:40] + b"\n"


@pytest.mark.parametrize(("frame", "write"), [(Unloaded(id=2), encode), (TESTED, _cut)])
def test_an_end_that_makes_no_sense_is_an_end(
    peer: Peer, frame: FromWorker, write: Callable[[FromWorker], bytes]
) -> None:
    peer.bytes(write(frame))
    (event,) = peer.events
    assert isinstance(event, Failed)
    assert (event.id, event.code) == (2, "worker-protocol")


def test_a_death_ends_it(peer: Peer) -> None:
    death, (failed,) = peer.session.ended(None, 6, "vk::DeviceLostError")
    assert death is not None
    assert (failed.id, failed.code) == (2, "device-lost")

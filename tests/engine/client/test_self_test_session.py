"""A self-test in the conversation with a worker: its end, its state, its failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.client.session import Session, WorkerState
from engine.protocol.codec import encode
from engine.protocol.frames import (
    PROTOCOL_VERSION,
    Failed,
    FromWorker,
    Hello,
    Load,
    Loaded,
    SelfTest,
    SelfTested,
    Unloaded,
)
from engine.protocol.types import ModelInfo
from tests.fakes.fake_worker import GPU, fake_probe

if TYPE_CHECKING:
    from collections.abc import Callable

MODEL = ModelInfo(
    path="/m.gguf",
    name="m",
    architecture="llama",
    quant="Q4_0",
    n_params=1,
    size_bytes=1,
    n_ctx=1,
    n_ctx_train=1,
    n_layers=1,
    gpu_layers=1,
    device=GPU,
)
TESTED = SelfTested(id=2, probe=fake_probe(), seconds=0.1)


@pytest.fixture
def session() -> Session:
    """With a loaded model, and a self-test that runs."""
    made = Session(lambda: 0.0)
    made.started()
    made.receive(encode(Hello(protocol=PROTOCOL_VERSION, pid=1, engine="fake")))
    made.submit(Load(id=1, path="/m.gguf"))
    made.receive(encode(Loaded(id=1, model=MODEL, seconds=1.0)))
    made.submit(SelfTest(id=2))
    return made


def test_the_model_stays_ready_while_it_is_tested(session: Session) -> None:
    assert session.state is WorkerState.READY
    assert session.receive(encode(TESTED)) == [TESTED]
    assert (session.pending, session.model, session.state) == ((), MODEL, WorkerState.READY)


def _cut(frame: FromWorker) -> bytes:
    return encode(frame)[:40] + b"\n"


@pytest.mark.parametrize(("frame", "write"), [(Unloaded(id=2), encode), (TESTED, _cut)])
def test_an_end_that_makes_no_sense_is_an_end(
    session: Session, frame: FromWorker, write: Callable[[FromWorker], bytes]
) -> None:
    (event,) = session.receive(write(frame))
    assert isinstance(event, Failed)
    assert (event.id, event.code) == (2, "worker-protocol")


def test_a_death_ends_it(session: Session) -> None:
    death, (failed,) = session.ended(None, 6, "vk::DeviceLostError")
    assert death is not None
    assert (failed.id, failed.code) == (2, "device-lost")

"""Tokens a second from bytes and bandwidth."""

from __future__ import annotations

import msgspec
import pytest

from engine.memory.fit import Verdict, predict
from engine.memory.fit.bandwidth import bandwidth_of
from engine.memory.sizes import GIB
from engine.protocol.types import LoadOptions
from tests.engine.memory.fit.conftest import cpu, gpu
from tests.engine.memory.fit.test_plan import model

SHORT = LoadOptions(n_ctx=1024)


def speed(*arguments) -> float:
    found = predict(*arguments).speed
    assert found is not None
    return found


def test_bytes_over_bandwidth() -> None:
    read = model().weights * 0.99 + 32 * 1024 * 2048 * 2
    assert speed(model(), SHORT, [gpu(20 * GIB, bandwidth=100e9), cpu()]) == pytest.approx(65e9 / read, rel=0.01)
    assert speed(model(), SHORT, [gpu(20 * GIB, bandwidth=200e9), cpu()]) == pytest.approx(130e9 / read, rel=0.01)


def test_experts_count_as_far_as_they_are_used() -> None:
    dense, mixed = model(8 * GIB), model(4 * GIB, experts=4 * GIB)
    devices = [gpu(20 * GIB), cpu()]
    assert speed(mixed, SHORT, devices) / speed(dense, SHORT, devices) == pytest.approx(8 / 5, rel=0.03)


def test_layers_in_ram_take_their_time() -> None:
    devices = [gpu(20 * GIB, bandwidth=960e9), cpu(bandwidth=50e9)]
    whole, half = speed(model(), SHORT, devices), speed(model(), LoadOptions(n_ctx=1024, n_gpu_layers=17), devices)
    assert half < whole / 5


def test_on_the_processor_by_what_was_measured() -> None:
    measured = msgspec.structs.replace(cpu(), bandwidth=20e9, measured=True)
    read = model().weights * 0.99 + 32 * 1024 * 2048 * 2
    assert speed(model(), SHORT, [measured]) == pytest.approx(0.65 * 20e9 / read, rel=0.01)
    partly = predict(model(), SHORT, [gpu(3 * GIB), measured])
    assert partly.verdict is Verdict.PARTLY
    assert partly.speed is not None


def test_unknown_where_a_bandwidth_is() -> None:
    assert predict(model(), SHORT, [gpu(20 * GIB, bandwidth=None), cpu()]).speed is None
    assert predict(model(), SHORT, [cpu()]).speed is None
    assert predict(model(), LoadOptions(n_gpu_layers=5), [gpu(20 * GIB), cpu()]).speed is None
    assert predict(model(), SHORT, [gpu(20 * GIB), cpu()]).speed is not None, "one row of the embeddings is nothing"


def test_a_partly_fitting_model_is_as_fast_as_its_proposal() -> None:
    devices = [gpu(3 * GIB), cpu(bandwidth=50e9)]
    plan = predict(model(), SHORT, devices)
    assert plan.proposal is not None
    assert plan.speed == predict(model(), plan.proposal, devices).speed


@pytest.mark.parametrize(
    ("name", "speed"),
    [
        ("AMD Radeon RX 7900 XTX (RADV NAVI31)", 960e9),
        ("AMD Radeon RX 7900 XT", 800e9),
        ("AMD Radeon RX 7900 GRE", 576e9),
        ("AMD Custom GPU 0405 (RADV VANGOGH)", 88e9),
        ("AMD Radeon 890M Graphics", 120e9),
        ("Radeon 8060S", 256e9),
        ("AMD Radeon RX 6900 XT", 512e9),
        ("AMD Radeon RX 6700", 320e9),
        ("Navi 31 [Radeon RX 7900 XT/7900 XTX/7900M]", 800e9),
        ("AMD Radeon Graphics", None),
        ("llvmpipe (LLVM 15.0.6, 256 bits)", None),
        ("RX 6600/RX 6700", None),
    ],
)
def test_bandwidth_by_name(name: str, speed: float | None) -> None:
    assert bandwidth_of(name) == speed

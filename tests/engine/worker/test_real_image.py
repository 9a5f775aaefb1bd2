"""The real worker loading an image encoder beside a model: on the processor, and on llvmpipe."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.protocol.frames import Failed, Load
from engine.protocol.types import DeviceKind, LoadOptions, ModelInfo
from tests.engine.worker.conftest import StartWorker
from tests.engine.worker.driver import Worker, user
from tests.fakes.tiny_gguf import SMALL, STR
from tests.fakes.tiny_mmproj import Tower, encoder_size, mmproj

ROUNDING = 0.011 * (1 << 20)
OPTIONS: dict[str, Any] = {"n_ctx": 128, "n_threads": 1}
TOWER = Tower(width=256, heads=4, ff=512, layers=2, image=256, patch=16)
WORK = (512 + 3 * 256) * 4 * (256 // 16) ** 2
"""Bytes of the buffer: the feed-forward step and three streams for each of the patches."""

PIXELS = 256 * 256 * 3 * 4


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    path = tmp_path / "encoder.gguf"
    path.write_bytes(mmproj(SMALL.embd, TOWER))
    return path


@pytest.fixture
def small(models: Path) -> Path:
    return models / "small.gguf"


@pytest.fixture(scope="module")
def graphics(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    env = {"VRAMBLE_ALLOW_SOFTWARE_GPU": "1", "GGML_VK_VISIBLE_DEVICES": "0"}
    with Worker(log=tmp_path_factory.mktemp("graphics") / "worker.log", env=env) as worker:
        yield worker


def image(info: ModelInfo) -> dict[str, int]:
    return {use.device: use.image for use in info.memory if use.image}


def test_its_memory_is_a_part_of_its_own(worker: Worker, small: Path, encoder: Path) -> None:
    plain = worker.loaded(small, **OPTIONS).model
    assert image(plain) == {}
    info = worker.loaded(small, **OPTIONS, mmproj=str(encoder)).model
    assert image(info) == {"CPU": pytest.approx(encoder_size(SMALL.embd, TOWER) + WORK, abs=ROUNDING)}
    without = [(use.weights, use.kv, use.compute, use.output) for use in info.memory]
    assert without == [(use.weights, use.kv, use.compute, use.output) for use in plain.memory]
    assert info.fingerprint == plain.fingerprint
    assert worker.finished(user("hi"))[1].stats.generated_tokens > 0


def test_it_lies_where_the_model_lies(graphics: Worker, small: Path, encoder: Path) -> None:
    kinds = {device.id: device.kind for device in graphics.hello.devices}
    assert kinds.get("Vulkan0") is DeviceKind.SOFTWARE, "no software Vulkan driver: ./dev test installs it"
    info = graphics.loaded(small, **OPTIONS, device="Vulkan0", mmproj=str(encoder)).model
    whole = encoder_size(SMALL.embd, TOWER) + WORK
    assert image(info) == {
        "Vulkan0": pytest.approx(whole, abs=ROUNDING),
        "CPU": pytest.approx(PIXELS, abs=ROUNDING),
    }
    on_cpu = graphics.loaded(small, **OPTIONS, device="cpu", mmproj=str(encoder)).model
    assert image(on_cpu) == {"CPU": pytest.approx(whole, abs=ROUNDING)}


def test_loads_with_and_without_follow_each_other(worker: Worker, small: Path, encoder: Path) -> None:
    for _ in range(3):
        assert image(worker.loaded(small, **OPTIONS, mmproj=str(encoder)).model)
        assert image(worker.loaded(small, **OPTIONS).model) == {}
    worker.unload()


@pytest.mark.parametrize("name", ["missing-encoder", "not-an-encoder", "encoder-mismatch", "encoder-failed", "cut"])
def test_what_cannot_be_loaded(start_worker: StartWorker, tmp_path: Path, small: Path, name: str) -> None:
    path = tmp_path / "image.gguf"
    contents = {
        "not-an-encoder": small.read_bytes(),
        "encoder-mismatch": mmproj(SMALL.embd * 2, TOWER),
        "encoder-failed": mmproj(SMALL.embd, TOWER, projector_type=(STR, "nobody")),
        "cut": mmproj(SMALL.embd, TOWER)[:-70_000],
    }
    if name in contents:
        path.write_bytes(contents[name])
    worker = start_worker()
    worker.send(Load(id=1, path=str(small), options=LoadOptions(**OPTIONS, mmproj=str(path))))
    _, end = worker.until_terminal(1)
    assert isinstance(end, Failed)
    assert end.code == ("not-an-encoder" if name == "cut" else name)
    assert end.next_step
    assert "image.gguf" in end.message
    if name == "encoder-mismatch":
        assert str(SMALL.embd * 2) in end.message
        assert str(SMALL.embd) in end.message
    assert worker.generate(user("hi"))[1].code == "no-model"  # type: ignore[union-attr]
    worker.loaded(small, **OPTIONS)

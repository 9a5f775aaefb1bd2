"""The Vulkan path on any machine: Mesa's llvmpipe, which is listed, refused, and used where it is allowed and named."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.protocol.types import DeviceInfo, DeviceKind, FinishReason, FlashAttention
from tests.engine.worker.conftest import StartWorker
from tests.engine.worker.driver import Worker, user
from tests.fakes.tiny_gguf import SCRIPT_END, byte_token, scripted_llama

ALLOWED = {"VRAMBLE_ALLOW_SOFTWARE_GPU": "1"}


def software_of(worker: Worker) -> DeviceInfo:
    found = [device for device in worker.hello.devices if device.kind is DeviceKind.SOFTWARE]
    assert found, f"no software Vulkan driver: ./dev test installs mesa-vulkan-drivers\n{worker.hello.backends}"
    return found[0]


def test_listed_as_software_and_refused(start_worker: StartWorker, models: Path) -> None:
    worker = start_worker()
    device = software_of(worker)
    assert "llvmpipe" in device.name
    assert not device.usable
    assert device.reason
    for wanted in (None, device.id):
        info = worker.loaded(models / "small.gguf", n_ctx=128, n_threads=1, device=wanted).model
        assert info.device.kind is DeviceKind.CPU
        assert info.device_reason == "Runs on the CPU: the only graphics driver found is a software one (llvmpipe)."
        assert info.gpu_layers == 0
        assert bool(info.warnings) >= (wanted is not None)


def test_allowed_but_never_chosen_by_itself(start_worker: StartWorker, models: Path) -> None:
    worker = start_worker(env=ALLOWED)
    assert software_of(worker).usable
    assert worker.loaded(models / "small.gguf", n_ctx=128, n_threads=1).model.device.kind is DeviceKind.CPU


def test_allowed_and_named_it_says_what_the_cpu_says(start_worker: StartWorker, models: Path) -> None:
    worker = start_worker(env=ALLOWED)
    device = software_of(worker)
    question = user("ab ba")
    options = {"n_ctx": 128, "n_threads": 1}
    on_cpu = worker.loaded(models / "small.gguf", device="cpu", **options).model
    expected = worker.finished(question, max_tokens=12)
    on_gpu = worker.loaded(models / "small.gguf", device=device.id, **options).model
    text, end = worker.finished(question, max_tokens=12)
    assert (on_gpu.device.id, on_gpu.device.kind, on_gpu.gpu_layers) == (device.id, DeviceKind.SOFTWARE, 3)
    assert on_gpu.device_reason is None
    uses = {use.device: use for use in on_gpu.memory}
    assert uses[device.id].weights > 4e6
    assert uses[device.id].kv > 0
    assert on_cpu.gpu_layers == 0
    assert end.stats.generated_tokens == expected[1].stats.generated_tokens > 0
    assert text == expected[0]


@pytest.mark.parametrize("layers", [1, 2])
def test_some_layers_on_the_gpu(start_worker: StartWorker, models: Path, layers: int) -> None:
    worker = start_worker(env=ALLOWED)
    device = software_of(worker)
    info = worker.loaded(models / "small.gguf", device=device.id, n_gpu_layers=layers, n_ctx=128, n_threads=1).model
    assert info.gpu_layers == layers
    assert worker.finished(user("a"), max_tokens=2)[1].reason in {FinishReason.LENGTH, FinishReason.STOP}


def test_guesses_on_a_device_that_computes_aside(start_worker: StartWorker, tmp_path: Path) -> None:
    """The next call is on its way while text is written; what was guessed wrong is taken back behind it."""
    path = tmp_path / "scripted.gguf"
    said = "the quickfox"
    script = [byte_token(byte) for byte in f"\n{said}".encode()]
    template = "{% for m in messages %}{{ m.content }}\n{% endfor %}"
    path.write_bytes(scripted_llama([*script, SCRIPT_END], template=template))
    worker = start_worker(env=ALLOWED)
    device = software_of(worker)
    options = {"n_ctx": 128, "n_threads": 1, "device": device.id, "flash_attention": FlashAttention.OFF}
    model = worker.loaded(path, draft=str(path), draft_p_min=0.0, ngram=True, **options).model
    assert next(use for use in model.memory if use.device == device.id).draft > 0
    for limit, expected in ((None, FinishReason.STOP), (5, FinishReason.LENGTH)):
        text, end = worker.finished(user("?"), max_tokens=limit)
        assert (text, end.reason) == (said[:limit], expected)
        assert end.stats.accepted > 0

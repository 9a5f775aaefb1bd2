"""The real worker loading files, good and bad."""

from __future__ import annotations

import resource
import signal
from pathlib import Path

import psutil
import pytest

from engine.protocol.frames import Cancel, Failed, Load, Progress
from engine.protocol.types import DeviceKind, LoadOptions
from tests.engine.worker.conftest import StartWorker
from tests.engine.worker.driver import Worker, starter_model, user
from tests.fakes.tiny_gguf import ARR, STR, U32, byte_vocabulary, tiny_llama

GIB = 1 << 30


def test_hello(chat: Worker) -> None:
    hello = chat.hello
    assert hello.protocol == 1
    assert hello.pid == chat.process.pid
    assert hello.amd_cards is not None
    assert hello.engine == "llama-cpp-python 0.3.36"
    names = {backend.name: backend for backend in hello.backends}
    assert names["CPU"].loaded
    assert any(device.kind is DeviceKind.CPU and device.usable for device in hello.devices)
    assert chat.devices().backends == hello.backends


def test_the_starter_model(start_worker: StartWorker) -> None:
    worker = start_worker()
    request = Load(id=1, path=str(starter_model()), options=LoadOptions(n_ctx=512, n_threads=1))
    worker.send(request)
    frames, end = worker.until_terminal(1)
    steps = [frame.done for frame in frames if isinstance(frame, Progress) and frame.stage == "load"]
    assert steps == sorted(set(steps))
    assert steps[-1] == 1000
    info = end.model
    assert (info.architecture, info.quant, info.n_layers, info.n_ctx) == ("llama", "Q4_1", 30, 512)
    assert (info.n_params, info.size_bytes, info.n_ctx_train) == (134515008, 96576768, 8192)
    assert (info.gpu_layers, info.device.kind, info.template_source) == (0, DeviceKind.CPU, "file")
    assert info.device_reason is not None
    (memory,) = info.memory
    assert memory.device == "CPU"
    assert 90e6 < memory.weights < 110e6
    assert 11e6 < memory.kv < 13e6
    assert memory.compute > 0
    assert memory.output > 0


def test_cancel_while_loading_and_load_again(start_worker: StartWorker) -> None:
    worker = start_worker()
    worker.send(Load(id=1, path=str(starter_model())), Cancel(target=1))
    _, end = worker.until_terminal(1)
    assert isinstance(end, Failed)
    assert end.code == "cancelled"
    assert worker.generate(user("hi"))[1].code == "no-model"  # type: ignore[union-attr]
    worker.loaded(starter_model(), n_ctx=256, n_threads=1)


def test_unload_frees_and_repeats(chat: Worker, start_worker: StartWorker, tiny: Path) -> None:
    worker = start_worker()
    worker.unload()
    worker.loaded(tiny, n_threads=1)
    worker.unload()
    assert worker.generate(user("hi"))[1].code == "no-model"  # type: ignore[union-attr]
    worker.loaded(tiny, n_threads=1)
    assert worker.finished(user("hi"))[1].stats.generated_tokens > 0


BAD = {
    "not-gguf": b"<!doctype html>" * 20,
    "cut-file": tiny_llama()[:-5000],
    "unknown-architecture": tiny_llama(**{"general.architecture": (STR, "flux")}),
    "damaged-file": tiny_llama(**{"tokenizer.ggml.token_type": (ARR, (U32, [1]))}),
    "load-failed": tiny_llama(**{"llama.block_count": (U32, 2)}),
    "not-a-chat-model": tiny_llama(**{"general.architecture": (STR, "clip")}),
}


@pytest.mark.parametrize("code", BAD)
def test_bad_files_are_one_sentence_and_the_worker_goes_on(
    worker: Worker, tmp_path: Path, tiny: Path, code: str
) -> None:
    path = tmp_path / "bad.gguf"
    path.write_bytes(BAD[code])
    error = worker.load(path)
    assert isinstance(error, Failed)
    assert error.code == code
    assert "bad.gguf" in error.message
    assert "\n" not in error.message
    assert error.next_step
    worker.loaded(tiny, n_threads=1, n_ctx=64)


def test_an_unknown_architecture_is_named(worker: Worker, tmp_path: Path) -> None:
    path = tmp_path / "flux.gguf"
    path.write_bytes(BAD["unknown-architecture"])
    error = worker.load(path)
    assert isinstance(error, Failed)
    assert "the architecture flux, which the engine 0.3.36 does not know" in error.message


def test_a_file_that_is_not_there(worker: Worker, tmp_path: Path) -> None:
    error = worker.load(tmp_path / "gone.gguf")
    assert isinstance(error, Failed)
    assert (error.code, error.detail) == ("missing-file", str(tmp_path / "gone.gguf"))


def test_a_context_that_fits_in_no_memory(start_worker: StartWorker) -> None:
    worker = start_worker()
    resource.prlimit(worker.process.pid, resource.RLIMIT_AS, (4 * GIB, 4 * GIB))
    error = worker.load(starter_model(), n_ctx=1_000_000, n_threads=1)
    assert isinstance(error, Failed)
    assert error.code == "context-memory"
    assert "1000192 tokens" in error.message or "1000000 tokens" in error.message
    worker.loaded(starter_model(), n_ctx=256, n_threads=1)


def test_weights_that_fit_in_no_memory(start_worker: StartWorker) -> None:
    worker = start_worker()
    used = psutil.Process(worker.process.pid).memory_info().vms
    resource.prlimit(worker.process.pid, resource.RLIMIT_AS, (used + 60 * 1024 * 1024, GIB))
    error = worker.load(starter_model(), n_ctx=256, n_threads=1, mmap=False)
    assert isinstance(error, Failed)
    assert error.code == "out-of-memory"


def test_two_tokens_with_one_text_end_only_the_worker(start_worker: StartWorker, tmp_path: Path, tiny: Path) -> None:
    texts = ["a", "b", "a", *byte_vocabulary()[0][3:259]]
    path = tmp_path / "twice.gguf"
    path.write_bytes(tiny_llama(tokens=texts))
    worker = start_worker()
    worker.send(Load(id=1, path=str(path)))
    frame = worker.receive()
    while isinstance(frame, Progress):
        frame = worker.receive()
    if frame is None:
        assert worker.process.wait(60) == -signal.SIGABRT
        assert "GGML_ASSERT" in worker.log_text()
    else:
        assert isinstance(frame, Failed)
    start_worker().loaded(tiny, n_threads=1, n_ctx=64)


def test_no_template_is_said(worker: Worker, tiny: Path, tmp_path: Path) -> None:
    info = worker.loaded(tiny, n_threads=1, n_ctx=64).model
    assert info.template_source == "fallback"
    assert any("no chat template" in warning for warning in info.warnings)
    own = tmp_path / "own.gguf"
    own.write_bytes(tiny_llama(template="{% for m in messages %}{{ m.content }}{% endfor %}"))
    assert worker.loaded(own, n_threads=1, n_ctx=64).model.template_source == "file"


def test_a_context_longer_than_trained_is_a_warning(worker: Worker, tiny: Path) -> None:
    info = worker.loaded(tiny, n_threads=1, n_ctx=1024).model
    assert info.n_ctx == 1024
    assert any("longer than the 512" in warning for warning in info.warnings)


def test_a_device_that_is_gone_is_a_warning(worker: Worker, tiny: Path) -> None:
    info = worker.loaded(tiny, n_threads=1, n_ctx=64, device="0000:fe:00.0").model
    assert info.device.kind is DeviceKind.CPU
    assert any("0000:fe:00.0 was not found" in warning for warning in info.warnings)


def test_the_cpu_as_chosen(worker: Worker, tiny: Path) -> None:
    assert worker.loaded(tiny, n_threads=1, n_ctx=64, device="cpu").model.device_reason == "Runs on the CPU, as chosen."

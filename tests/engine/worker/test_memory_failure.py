"""Enough memory, but no single block that large: the sentence says its size and the setting that makes it smaller."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from engine.protocol.frames import Failed
from engine.worker.memory_failure import refused_block
from engine.worker.validate import context_failure, load_failure
from tests.engine.worker.conftest import StartWorker
from tests.engine.worker.driver import starter_model, user

GIB = 1 << 30
BLOCK = 4831838208
REFUSED = (
    f"E ggml_vulkan: Device memory allocation of size {BLOCK} failed.\n"
    "E ggml_vulkan: vk::Device::allocateMemory: ErrorOutOfDeviceMemory\n"
)
WEIGHTS = f"{REFUSED}E alloc_tensor_range: failed to allocate Vulkan0 buffer of size {BLOCK}\n"
KV_CACHE = (
    f"{REFUSED}E llama_init_from_model: failed to initialize the context: failed to allocate buffer for kv cache\n"
)
COMPUTING = (
    f"{REFUSED}E ggml_gallocr_reserve_n_impl: failed to allocate Vulkan0 buffer of size {BLOCK}\n"
    "E llama_init_from_model: failed to initialize the context: failed to allocate compute pp buffers\n"
)


def test_weights_on_the_gpu() -> None:
    error = load_failure(Path("/m/big.gguf"), WEIGHTS, "0.3.36")
    assert error.code == "out-of-memory"
    assert error.message == (
        "There is not enough memory to load big.gguf: the graphics driver refused one block of 4.5 GiB."
    )
    assert "n_gpu_layers" in error.next_step
    assert error.detail == WEIGHTS


@pytest.mark.parametrize(("log", "settings"), [(KV_CACHE, ("n_ctx", "kv_type_k")), (COMPUTING, ("n_ubatch", "n_ctx"))])
def test_the_context_after_the_weights(log: str, settings: tuple[str, ...]) -> None:
    error = context_failure(131072, log)
    assert error.code == "context-memory"
    assert error.message == (
        "There is not enough memory for a context of 131072 tokens: the graphics driver refused one block of 4.5 GiB."
    )
    assert all(f"({setting}" in error.next_step for setting in settings)


def test_the_last_attempt_counts() -> None:
    log = COMPUTING + COMPUTING.replace(str(BLOCK), str(2 * GIB))
    assert refused_block(log) == ": the graphics driver refused one block of 2.0 GiB"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (f"E ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size {3 * GIB}", "the system"),
        (f"E alloc_tensor_range: failed to allocate CPU buffer of size {3 * GIB}", "the system"),
        (f"E alloc_tensor_range: failed to allocate ROCm0 buffer of size {3 * GIB}", "the graphics driver"),
        (f"E ggml_vulkan: Memory allocation of size {3 * GIB} failed.", "the system"),
    ],
)
def test_who_refused(line: str, words: str) -> None:
    assert refused_block(line) == f": {words} refused one block of 3.0 GiB"


@pytest.mark.parametrize(
    "line",
    [
        "E llama_init_from_model: failed to initialize the context: failed to allocate buffer for kv cache",
        "E output_reserve: failed to allocate output buffer of size 513.50 MiB",
        "I llama_model_load: file of size 4831838208",
        "",
    ],
)
def test_without_a_size_none_is_made_up(line: str) -> None:
    assert refused_block(line) == ""


def test_a_real_refusal_leaves_an_idle_worker_without_the_weights(start_worker: StartWorker) -> None:
    """The weights are there when the context is refused; they are given back."""
    worker = start_worker()
    resource.prlimit(worker.process.pid, resource.RLIMIT_AS, (4 * GIB, 4 * GIB))
    error = worker.load(starter_model(), n_ctx=250_000, n_threads=1, device="cpu", n_ubatch=32)
    assert isinstance(error, Failed)
    assert error.code == "context-memory"
    assert "the system refused one block of" in error.message
    assert "n_ctx" in error.next_step
    assert worker.generate(user("hi"))[1].code == "no-model"  # type: ignore[union-attr]
    assert starter_model().name not in Path(f"/proc/{worker.process.pid}/maps").read_text()

"""How a worker died, in words: signal, exit code and last log lines to sentence and next step."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from engine.client.death import describe_death
from engine.client.death_words import BY_LOG, BY_SIGNAL, BY_VERDICT, Verdict

VK_LOST = "terminate called after throwing an instance of 'vk::DeviceLostError'\n  what():  ErrorDeviceLost"
VK_MEMORY = "ggml_vulkan: vk::Device::allocateMemory: ErrorOutOfDeviceMemory"
VK_BUFFER = "llama_model_load: error loading model: unable to allocate Vulkan0 buffer"
HOST_MEMORY = "ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate CPU buffer of size 99"
ASSERT = "/src/ggml/src/ggml.c:1234: GGML_ASSERT(n_dims > 0) failed"
LIBRARY = "OSError: libvulkan.so.1: cannot open shared object file: No such file or directory"
MODULE = "ModuleNotFoundError: No module named 'llama_cpp'"

RADV_LOST = (
    "radv/amdgpu: The CS has been cancelled because the context is lost. This context is innocent.\n"
    "terminate called after throwing an instance of 'vk::DeviceLostError'\n"
    "  what():  vk::Queue::submit: ErrorDeviceLost"
)
RADV_FULL = "radv/amdgpu: Not enough memory for command submission.\nvk::Queue::submit: ErrorDeviceLost"
HIP_FULL = (
    "ggml_cuda_compute_forward: MUL_MAT failed\nROCm error: out of memory\n"
    "  current device: 0, in function alloc at /src/ggml/src/ggml-cuda/ggml-cuda.cu:442\n"
    "/src/ggml/src/ggml-cuda/ggml-cuda.cu:98: ROCm error"
)
HIP_BUFFER = (
    "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 4096.00 MiB on device 0: cudaMalloc failed: out of memory"
)
HIP_LAUNCH = "ROCm error: unspecified launch failure\n/src/ggml/src/ggml-cuda/ggml-cuda.cu:98: ROCm error"
HIP_HANG = "HW Exception by GPU node-1 (Agent handle: 0x55d1c0) reason :GPU Hang"
HIP_FAULT = (
    "Memory access fault by GPU node-1 (Agent handle: 0x5605) on address 0x7f2c000. "
    "Reason: Page not present or supervisor privilege."
)
HIP_NO_CODE = "ROCm error: invalid device function\n/src/ggml/src/ggml-cuda/ggml-cuda.cu:98: ROCm error"
ROCBLAS = (
    "rocBLAS error: Cannot read /opt/rocm/lib/rocblas/library/TensileLibrary.dat: "
    "No such file or directory for GPU arch : gfx1103"
)
FATAL = "/src/ggml/src/ggml-vulkan/ggml-vulkan.cpp:7312: fatal error"
VK_HOST = "terminate called after throwing an instance of 'vk::OutOfHostMemoryError'\n  what():  ErrorOutOfHostMemory"
MESA_LOST = "radv: GPUVM fault detected at address 0x800000000000.\nVK_ERROR_DEVICE_LOST"

LOGS = [
    (RADV_LOST, "device-lost", "lost the GPU"),
    (RADV_FULL, "out-of-device-memory", "GPU memory"),
    (MESA_LOST, "device-lost", "lost the GPU"),
    (HIP_LAUNCH, "device-lost", "lost the GPU"),
    (HIP_HANG, "device-lost", "lost the GPU"),
    (HIP_FAULT, "device-lost", "lost the GPU"),
    (HIP_FULL, "out-of-device-memory", "GPU memory"),
    (HIP_BUFFER, "out-of-device-memory", "GPU memory"),
    (HIP_NO_CODE, "gpu-not-supported", "no code for this GPU"),
    (ROCBLAS, "gpu-not-supported", "no code for this GPU"),
    (VK_HOST, "out-of-memory", "memory of the computer"),
    (FATAL, "engine-assert", "own checks"),
]
"""Last lines as RADV, ggml-vulkan, ggml-hip, the HIP runtime and rocBLAS write them."""

# exit code, signal, log, code, words of the sentence
DEATHS = [
    (None, signal.SIGKILL, "", "killed", "memory ran out"),
    (None, signal.SIGKILL, ASSERT, "killed", "memory ran out"),
    (None, signal.SIGABRT, "", "worker-aborted", "internal error"),
    (None, signal.SIGABRT, VK_LOST, "device-lost", "lost the GPU"),
    (None, signal.SIGABRT, VK_MEMORY, "out-of-device-memory", "GPU memory"),
    (None, signal.SIGABRT, VK_BUFFER, "out-of-device-memory", "GPU memory"),
    (None, signal.SIGABRT, HOST_MEMORY, "out-of-memory", "memory of the computer"),
    (
        None,
        signal.SIGABRT,
        "terminate called after throwing an instance of 'std::bad_alloc'",
        "out-of-memory",
        "memory",
    ),
    (None, signal.SIGABRT, ASSERT, "engine-assert", "own checks"),
    (None, signal.SIGABRT, f"{ASSERT}\n{VK_LOST}", "device-lost", "lost the GPU"),
    (None, signal.SIGSEGV, "", "worker-crashed", "crashed"),
    (None, signal.SIGSEGV, VK_LOST, "device-lost", "lost the GPU"),
    (None, signal.SIGBUS, "", "model-unreadable", "model file"),
    (None, signal.SIGILL, "", "processor-too-old", "processor"),
    (None, signal.SIGILL, ASSERT, "processor-too-old", "processor"),
    (None, signal.SIGFPE, "", "worker-crashed", "arithmetic"),
    (None, signal.SIGTERM, "", "worker-ended", "from outside (SIGTERM)"),
    (None, 63, "", "worker-ended", "63"),
    (None, None, "[Errno 2] No such file", "worker-not-started", "could not be started"),
    (0, None, "", "worker-ended", "by itself"),
    (1, None, "", "worker-ended", "exit code 1"),
    *((None, signal.SIGABRT, log, code, words) for log, code, words in LOGS),
    *((134, None, log, code, words) for log, code, words in LOGS),
    (1, None, LIBRARY, "library-missing", "library"),
    (1, None, MODULE, "engine-missing", "not installed completely"),
    (137, None, "", "killed", "memory ran out"),
    (134, None, VK_LOST, "device-lost", "lost the GPU"),
    (255, None, "", "worker-ended", "exit code 255"),
]


@pytest.mark.parametrize(("exit_code", "number", "log", "code", "words"), DEATHS)
def test_words_for_a_death(exit_code, number, log, code, words) -> None:
    death = describe_death(exit_code, number, log)
    assert (death.code, death.exit_code, death.signal) == (code, exit_code, number)
    assert words in death.sentence


@pytest.mark.parametrize("verdict", list(Verdict))
def test_a_kill_of_our_own_is_not_blamed_on_memory(verdict) -> None:
    death = describe_death(None, signal.SIGKILL, "", verdict)
    assert "memory" not in death.sentence
    assert death.signal == signal.SIGKILL


def test_every_sentence_and_next_step_is_one_plain_sentence() -> None:
    words = [*BY_VERDICT.values(), *(w for _, w in BY_LOG), *BY_SIGNAL.values()]
    words += [(d.code, d.sentence, d.next_step) for d in (describe_death(*row[:3]) for row in DEATHS)]
    for code, sentence, next_step in words:
        assert code == code.lower().replace(" ", "-")
        for text in (sentence, next_step):
            assert text[0].isupper()
            assert text.endswith(".")
            assert "!" not in text


def test_only_the_end_of_the_log_is_judged() -> None:
    log = "\n".join([VK_MEMORY, *(f"line {number}" for number in range(100))])
    assert describe_death(None, signal.SIGABRT, log).code == "worker-aborted"


def test_detail_is_the_last_lines_without_the_home_folder() -> None:
    log = "\n".join([*(f"line {number}" for number in range(100)), "", "open /home/ada/models/a.gguf", "/home/adam/x"])
    death = describe_death(None, signal.SIGABRT, log, home=Path("/home/ada"))
    lines = death.log_tail.splitlines()
    assert lines[-3:] == ["line 99", "open ~/models/a.gguf", "/home/adam/x"]
    assert len(lines) == 20


def test_the_stacks_that_python_writes_do_not_hide_the_cause() -> None:
    stack = ["Fatal Python error: Aborted", *(f'  File "/x.py", line {number} in f' for number in range(150))]
    death = describe_death(None, signal.SIGABRT, "\n".join(["loading", VK_MEMORY, *stack]))
    assert death.code == "out-of-device-memory"
    assert death.log_tail.splitlines()[:3] == ["loading", VK_MEMORY, "Fatal Python error: Aborted"]
    assert len(death.log_tail.splitlines()) <= 32

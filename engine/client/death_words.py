"""The words for each end of a worker, and what points to it: verdict, log line or signal."""

from __future__ import annotations

import signal as signals
from enum import StrEnum


class Verdict(StrEnum):
    """Why the driver itself ended the worker, or has to."""

    NO_HELLO = "no-hello"
    NO_ANSWER = "no-answer"
    """A cancel was not answered."""
    NO_PROGRESS = "no-progress"
    """A load or an answer stood still for too long."""
    WRONG_PROTOCOL = "wrong-protocol"
    CLOSED = "closed"
    """It closed its frame channel and went on running."""


Words = tuple[str, str, str]
"""Code, sentence, next step."""

AGAIN = "The next message starts it again."
LESS_MEMORY = "Choose a smaller model, a shorter context or fewer GPU layers."

HANG = "hang"
"""Code of the end of a worker that stood still."""

KILLED: Words = ("killed", "The engine was killed, most likely by the system because memory ran out.", LESS_MEMORY)
KILLED_FOR_MEMORY: Words = ("killed", "The system ended the engine because memory ran out.", LESS_MEMORY)
KILLED_UNDER_PRESSURE: Words = (
    "killed",
    "The engine was ended while memory was short, most likely by the system to save itself.",
    LESS_MEMORY,
)

BY_VERDICT: dict[Verdict, Words] = {
    Verdict.NO_HELLO: (
        "worker-silent",
        "The engine did not start within 30 seconds and was ended.",
        "Try again; if it happens again, restart the computer to reset the graphics driver.",
    ),
    Verdict.NO_ANSWER: (
        "worker-silent",
        "The engine did not react to Stop within 2 seconds and was ended.",
        "The next message starts it again and loads the model.",
    ),
    Verdict.NO_PROGRESS: (
        HANG,
        "The engine stood still for too long and was ended.",
        "The next message starts it again and loads the model.",
    ),
    Verdict.CLOSED: ("worker-silent", "The engine stopped talking and was ended.", AGAIN),
    Verdict.WRONG_PROTOCOL: (
        "worker-protocol",
        "The engine belongs to another version of Vramble.",
        "Close all Vramble windows and start it again; if that does not help, install it again.",
    ),
}

GPU_MEMORY_WORDS = (
    r"Out_?Of_?Device_?Memory|hipErrorOutOfMemory|(ROCm|HIP|CUDA) error: out of memory"
    r"|(hip|cuda)Malloc\w* failed: out of memory|device memory allocation"
    r"|(unable|failed) to allocate (?!CPU)\w+ buffer"
)

GPU_LOST_WORDS = (
    r"Device_?Lost|device lost|amdgpu.*reset|the context is lost|GPU hang|HW exception by GPU"
    r"|memory access fault by GPU|hipErrorLaunchFailure|unspecified launch failure|illegal memory access"
)

NO_GPU_CODE_WORDS = (
    r"hipErrorNoBinaryForGpu|invalid device function|no kernel image is available"
    r"|rocBLAS error: .*(TensileLibrary|GPU arch)"
)

GPU_FULL: Words = ("out-of-device-memory", "The GPU memory was not enough.", LESS_MEMORY)

BY_LOG: tuple[tuple[str, Words], ...] = (
    (r"not enough memory for command submission", GPU_FULL),  # RADV; "device lost" follows from it
    (
        GPU_LOST_WORDS,
        (
            "device-lost",
            "The graphics driver lost the GPU while the engine was using it.",
            "Send the message again; if it happens again, use fewer GPU layers or the CPU.",
        ),
    ),
    (
        NO_GPU_CODE_WORDS,
        (
            "gpu-not-supported",
            "The ROCm backend holds no code for this GPU.",
            "Use Vulkan for it: switch ROCm off in the settings.",
        ),
    ),
    (GPU_MEMORY_WORDS, GPU_FULL),
    (
        r"Out_?Of_?Host_?Memory|std::bad_alloc|MemoryError|cannot allocate memory|(unable|failed) to allocate CPU",
        ("out-of-memory", "The memory of the computer was not enough.", LESS_MEMORY),
    ),
    (
        r"GGML_ASSERT|GGML_ABORT|Assertion .* failed|(ggml|llama)[\w./-]*\.(c|cc|cpp|cu|cuh|h|hpp):\d+: ",
        (
            "engine-assert",
            "The engine stopped because one of its own checks failed.",
            "Try other load options or another model; the details say which check it was.",
        ),
    ),
    (
        r"cannot open shared object file",
        (
            "library-missing",
            "A library that the engine needs is missing.",
            "The details name it; install it and try again.",
        ),
    ),
    (
        r"ModuleNotFoundError|ImportError",
        ("engine-missing", "The engine is not installed completely.", "Install Vramble again."),
    ),
)
"""Words in the log that say more than the signal does, the most telling first."""

BY_SIGNAL: dict[int, Words] = {
    signals.SIGKILL: KILLED,
    signals.SIGABRT: ("worker-aborted", "The engine aborted because of an internal error.", AGAIN),
    signals.SIGSEGV: (
        "worker-crashed",
        "The engine crashed.",
        "The next message starts it again; if it happens again, use fewer GPU layers or the CPU.",
    ),
    signals.SIGBUS: (
        "model-unreadable",
        "The engine could not read the model file to its end.",
        "Check that the drive is still there and that the file is complete.",
    ),
    signals.SIGILL: (
        "processor-too-old",
        "This processor lacks instructions that the engine was built for.",
        "Use a build of Vramble for this processor.",
    ),
    signals.SIGFPE: ("worker-crashed", "The engine crashed because of an arithmetic error.", AGAIN),
}

KILLS = frozenset({signals.SIGKILL, signals.SIGTERM})
"""How the system ends what takes too much memory: earlyoom asks by SIGTERM first."""

LOG_BEFORE_SIGNAL = frozenset({signals.SIGABRT, signals.SIGSEGV, signals.SIGBUS})
"""Signals that a driver or an allocator raises after it wrote why. SIGKILL and SIGILL speak for themselves."""

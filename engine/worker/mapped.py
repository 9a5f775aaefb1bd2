"""How much of a mapped file is needed by the processor.

With a mapping llama.cpp names the span of the file from the first tensor that stays with the processor to the last one
(``CPU_Mapped``), also what lies between them and was copied elsewhere: to a GPU, or into the order that the
processor's backend prefers (``CPU_REPACK``). What is left of the tensors without these copies is what is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from engine.memory.fit import FitModel, read_model
from engine.protocol.types import MemoryUse
from engine.worker.log import LoadReport

CPU = "CPU"


def needed_of_mapping(report: LoadReport, tensors: int, tied: int) -> int:
    """Bytes of the mapping that the processor computes with.

    Args:
        tensors: Bytes of all tensors of the model, each once.
        tied: Of these the embeddings, when a copy of them is the output.
    """
    copied = report.copied
    both = tied if copied >= tied else 0
    return max(0, min(report.mapped, tensors - copied + both))


def with_needed(
    memory: Sequence[MemoryUse], report: LoadReport, tensors: int, path: Path, *, several: bool
) -> tuple[MemoryUse, ...]:
    """``memory`` with the weights of the processor as they are needed, not as they span the file.

    Args:
        tensors: As `needed_of_mapping`.
        several: Devices that share each tensor: llama.cpp tells one part, so nothing can be reckoned.
    """
    if several or not report.mapped or not report.copied:
        return tuple(memory)
    excess = report.mapped - needed_of_mapping(report, tensors, _tied(path))
    return tuple(
        msgspec.structs.replace(use, weights=max(0, use.weights - excess)) if use.device == CPU else use
        for use in memory
    )


def _tied(path: Path) -> int:
    found = read_model(path)
    return found.tied if isinstance(found, FitModel) else 0

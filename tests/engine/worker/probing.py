"""Asking real workers for self-tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.protocol.frames import Failed, SelfTest, SelfTested
from engine.protocol.probe import Probe, Reference
from engine.protocol.types import LoadOptions
from tests.engine.worker.driver import Worker
from tests.fakes.tiny_gguf import TINY, gguf, llama_parts

SMALL_CONTEXT: dict[str, Any] = {"n_ctx": 256, "n_threads": 1}


def asked(worker: Worker, reference: Reference | None = None) -> SelfTested | Failed:
    request = SelfTest(id=worker.new_id(), reference=reference)
    worker.send(request)
    answer = worker.until_terminal(request.id)[1]
    assert isinstance(answer, SelfTested | Failed)
    return answer


def probed(worker: Worker, reference: Reference | None = None) -> Probe:
    answer = asked(worker, reference)
    assert isinstance(answer, SelfTested), answer
    return answer.probe


def load_and_probe(worker: Worker, path: Path, **options: Any) -> tuple[Probe, Reference]:
    worker.loaded(path, **SMALL_CONTEXT, **options)
    probe = probed(worker)
    return probe, Reference(path=str(path), options=LoadOptions(**SMALL_CONTEXT, **options), probe=probe)


def changed_tensors(change: Callable[[str, bytes], bytes]) -> bytes:
    kvs, tensors = llama_parts(TINY, 1)
    return gguf(kvs, [tensor._replace(data=change(tensor.name, tensor.data)) for tensor in tensors])

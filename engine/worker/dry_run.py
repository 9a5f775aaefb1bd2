"""What llama.cpp would allocate for a load, without loading: it simulates the allocation (``no_alloc``).

Only the header of the file is read, so a sparse file with the real header and the right length is enough. Weights and
caches are not named by device in this mode; compute and output buffers are, exactly, and all caches together.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import msgspec

from engine.backends.catalogue import Catalogue
from engine.protocol.types import LoadOptions, MemoryUse
from engine.worker import params
from engine.worker.cancel import CancelFlag
from engine.worker.native import Llama
from engine.worker.plan import Plan
from engine.worker.planning import plan_load, trained_context
from engine.worker.validate import context_failure, load_failure

_READ = 0
"""``LLAMA_LOAD_MODE_NONE``: with a mapping llama.cpp would map the file in spite of ``no_alloc``."""


@dataclass(frozen=True)
class Simulation:
    """Compute and output buffers by device, bytes of all caches, and what llama.cpp decided."""

    memory: tuple[MemoryUse, ...]
    caches: int
    gpu_layers: int
    flash_attention: bool | None


def simulate(llama: Llama, catalogue: Catalogue, cancel: CancelFlag, path: Path, options: LoadOptions) -> Simulation:
    """Simulate the load of ``path``; adapters and image encoder are left out.

    Raises:
        VrambleError: As `engine.worker.loader.Loader.load`, but memory is never too small.
    """
    plan, metadata = plan_load(llama, catalogue, path, msgspec.structs.replace(options, lora=(), mmproj=None))
    native, alive = params.model_params(llama, plan, lambda _done: not cancel.is_set)
    native.no_alloc = True
    native.load_mode = _READ
    model = llama.api.llama_model_load_from_file(os.fsencode(path), native)
    del alive
    if not model:
        raise load_failure(path, llama.log.tail(), llama.version)
    try:
        context_params = params.context_params(llama, plan.options, trained_context(llama, model, metadata), cancel)
        context = llama.api.llama_init_from_model(model, context_params)
        if not context:
            raise context_failure(options.n_ctx, llama.log.tail())
        llama.api.llama_free(context)
    finally:
        llama.api.llama_model_free(model)
    return _simulation(llama, plan)


def _simulation(llama: Llama, plan: Plan) -> Simulation:
    report = llama.log.report
    return Simulation(
        report.memory([device.id for device in plan.placement.devices]),
        report.caches,
        report.offloaded if plan.on_gpu else 0,
        report.flash_attention,
    )

"""The CPU's word on a self-test: the same tokens through the same file, without the memory of a second model.

The file is mapped and the weights stay as they lie there (no repacking), so they are page cache, which the system
takes back whenever it wants. All tokens go through the model in one batch: each weight is read once, in the order of
the file, and the pass costs little more than reading the file. The context is as short as the test.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np

from engine.backends.catalogue import Catalogue
from engine.backends.placement import place
from engine.errors import VrambleError
from engine.library.gguf.metadata import Metadata
from engine.loading.metadata import file_metadata
from engine.loading.rope import CONTEXT_STEP, TrainedContext, frequency_scale
from engine.loading.suits import original_context
from engine.protocol.probe import Position, Probe, Reference
from engine.protocol.types import FlashAttention, KvType, LoadOptions, RopeScaling
from engine.worker import params
from engine.worker.cancel import CancelFlag
from engine.worker.logits import position
from engine.worker.lora import load_adapters, set_adapters
from engine.worker.native import Llama, Pointer
from engine.worker.plan import Plan
from engine.worker.validate import check_file, context_failure, load_failure

NICENESS: Final = 19
LONG_ROPE: Final = "longrope"
_ABORTED: Final = 2


class ReferenceRun:
    """One reference. The process is meant for nothing else: it takes the lowest priority first."""

    def __init__(self, llama: Llama, catalogue: Catalogue, cancel: CancelFlag) -> None:
        self._llama, self._catalogue, self._cancel = llama, catalogue, cancel

    def run(self, reference: Reference) -> Probe:
        """What the CPU expects at the places of the device's probe, for the device's tokens as well.

        Raises:
            VrambleError: ``cancelled``, those of `engine.worker.validate`, ``decode-failed``.
        """
        os.nice(NICENESS)
        path = Path(reference.path)
        metadata = file_metadata(path)
        with self._model(path) as model, self._context(model, reference, metadata) as context:
            self._decode(context, reference.probe)
            return self._read(model, context, reference.probe)

    @contextmanager
    def _model(self, path: Path) -> Iterator[Pointer]:
        api, header = self._llama.api, check_file(path)
        on_cpu = LoadOptions(device="cpu", n_gpu_layers=0, mmap=True)
        placement = place(self._catalogue.infos(), self._catalogue.backends, on_cpu, lambda _devices: False)
        self._llama.log.begin_load()
        native, alive = params.model_params(
            self._llama, Plan(path, header, on_cpu, placement, ()), lambda _done: not self._cancel.is_set
        )
        native.use_extra_bufts = False
        model = api.llama_model_load_from_file(os.fsencode(path), native)
        del alive
        if not model:
            raise self._cancelled() or load_failure(path, self._llama.log.tail(), self._llama.version)
        try:
            yield model
        finally:
            api.llama_model_free(model)

    @contextmanager
    def _context(self, model: Pointer, reference: Reference, metadata: Metadata) -> Iterator[Pointer]:
        api, options = self._llama.api, reference.options
        adapters = load_adapters(self._llama, model, options.lora)
        n_ctx = api.llama_model_n_ctx_train(model)
        trained = TrainedContext(
            n_ctx, original_context(metadata) or n_ctx, api.llama_model_rope_freq_scale_train(model)
        )
        short = short_options(options, trained, metadata, len(reference.probe.tokens))
        native = params.context_params(self._llama, short, trained, self._cancel)
        native.n_outputs_max, native.n_outputs_max_per_seq = len(reference.probe.positions), 0
        context = api.llama_init_from_model(model, native)
        if not context:
            raise context_failure(short.n_ctx, self._llama.log.tail())
        try:
            set_adapters(self._llama, context, adapters, options.lora)
            yield context
        finally:
            api.llama_free(context)

    def _decode(self, context: Pointer, probe: Probe) -> None:
        api = self._llama.api
        batch = api.llama_batch_init(len(probe.tokens), 0, 1)
        try:
            _fill(batch, probe.tokens, {place.read - 1 for place in probe.positions})
            result = api.llama_decode(context, batch)
            api.llama_synchronize(context)
        finally:
            api.llama_batch_free(batch)
        if result != 0:
            message = f"The engine failed while computing (code {result})."
            raise self._cancelled() or VrambleError("decode-failed", message, "", self._llama.log.tail())

    def _read(self, model: Pointer, context: Pointer, probe: Probe) -> Probe:
        api = self._llama.api
        n_vocab = api.llama_vocab_n_tokens(api.llama_model_get_vocab(model))
        places: list[Position] = []
        for found in probe.positions:
            logits = np.ctypeslib.as_array(api.llama_get_logits_ith(context, found.read - 1), (n_vocab,))
            places.append(position(logits, found.read, [candidate.token for candidate in found.best]))
        return msgspec.structs.replace(probe, positions=tuple(places))

    def _cancelled(self) -> VrambleError | None:
        return VrambleError("cancelled", "The self-test was cancelled.") if self._cancel.is_set else None


def _fill(batch: Any, tokens: Sequence[int], wanted: set[int]) -> None:
    batch.n_tokens = len(tokens)
    for index, token in enumerate(tokens):
        batch.token[index] = token
        batch.pos[index] = index
        batch.n_seq_id[index] = 1
        batch.seq_id[index][0] = 0
        batch.logits[index] = index in wanted


def short_options(options: LoadOptions, trained: TrainedContext, metadata: Metadata, n_tokens: int) -> LoadOptions:
    """What decides the numbers as on the device, everything else as small and as plain as it goes.

    The frequency scale of RoPE may follow from the context length, so it is settled before that is shortened. Models
    with LongRoPE have other factors beyond their original context: there the context is as long as it takes.
    """
    n_ctx = -(-n_tokens // CONTEXT_STEP) * CONTEXT_STEP
    kind = metadata.text(f"{metadata.text('general.architecture')}.rope.scaling.type")
    if kind == LONG_ROPE and (options.n_ctx or trained.n_ctx) > trained.original:
        n_ctx = trained.original + CONTEXT_STEP
    quantised = options.kv_type_v is not KvType.F16
    return LoadOptions(
        n_ctx=n_ctx,
        device="cpu",
        n_gpu_layers=0,
        n_batch=n_ctx,
        n_ubatch=n_tokens,
        flash_attention=FlashAttention.ON if quantised else FlashAttention.OFF,
        kv_type_k=options.kv_type_k,
        kv_type_v=options.kv_type_v,
        rope_scaling=options.rope_scaling,
        rope_freq_base=options.rope_freq_base,
        rope_freq_scale=frequency_scale(options, trained),
        yarn_orig_ctx=options.yarn_orig_ctx or (trained.original if options.rope_scaling is RopeScaling.YARN else 0),
        yarn_ext_factor=options.yarn_ext_factor,
        yarn_attn_factor=options.yarn_attn_factor,
        yarn_beta_fast=options.yarn_beta_fast,
        yarn_beta_slow=options.yarn_beta_slow,
        lora=options.lora,
    )

"""The draft model beside the model that is loaded, or none of it where guesses could not be taken back."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from engine.backends.placement import Placement
from engine.errors import VrambleError
from engine.loading.metadata import file_metadata
from engine.loading.rope import TrainedContext
from engine.loading.suits import check_heads
from engine.protocol.types import KvType, LoadOptions, MemoryUse
from engine.worker import params
from engine.worker.cancel import CancelFlag
from engine.worker.context_memory import check_context_memory, weight_bytes
from engine.worker.log import LoadReport
from engine.worker.mapped import with_needed
from engine.worker.native import Llama, Pointer
from engine.worker.pace import Pace
from engine.worker.plan import Plan
from engine.worker.prompt_cache import PromptCache
from engine.worker.speculation.draft_model import DraftModel
from engine.worker.speculation.speculation import Speculation
from engine.worker.speculation.vocabularies import OTHER_DRAFT, check_vocabularies
from engine.worker.validate import check_file, context_failure, load_failure

NO_WAY_BACK = "This model keeps a state that cannot go back, so nothing is guessed ahead."
NO_ROOM = "A batch of one token has no room for guesses, so nothing is guessed ahead."
SMALLER = "Load without a draft model, with a smaller one, or with fewer of its layers on the GPU."
T = TypeVar("T")


def check_draft(llama: Llama, plan: Plan) -> None:
    """Refuse a draft model that cannot serve, before anything large is loaded.

    Raises:
        VrambleError: ``draft-mismatch``, ``draft-failed``.
    """
    if plan.options.draft:
        draft = Path(plan.options.draft)
        _named(lambda: check_file(draft))
        _named(lambda: check_vocabularies(llama, plan.path, draft))


class SpeculationLoader:
    """Loads what guesses for a model that is loaded already."""

    def __init__(self, llama: Llama, cancel: CancelFlag) -> None:
        self._llama, self._cancel = llama, cancel

    def load(self, plan: Plan, cache: PromptCache, n_vocab: int, n_ctx: int) -> Speculation | None:
        """None where the options ask for nothing.

        Args:
            plan: Of the loaded model; ``cache`` is its first sequence.
            n_vocab: Tokens that it knows.
            n_ctx: Its context.

        Raises:
            VrambleError: ``draft-failed``, ``draft-unsuited``, ``cancelled``.
        """
        options, most = plan.options, params.most_guessed(plan.options)
        if not (options.draft or options.ngram):
            return None
        if cache.recurrent or not most:
            warning = NO_WAY_BACK if cache.recurrent else NO_ROOM
            return Speculation(None, (), ngram=False, least=1, most=1, warnings=(warning,))
        draft: DraftModel | None = None
        memory: tuple[MemoryUse, ...] = ()
        if options.draft:
            draft, memory = _named(lambda: self._load(plan, Path(options.draft or ""), n_vocab, n_ctx))
        weighs = options.draft_p_min > 0
        return Speculation(draft, memory, ngram=options.ngram, least=options.n_draft_min, most=most, weighs=weighs)

    def _load(self, target: Plan, path: Path, known: int, n_ctx: int) -> tuple[DraftModel, tuple[MemoryUse, ...]]:
        """The draft model and what it holds. The log's report of the large model stays as it is."""
        place = Placement((target.placement.main,))  # one device is enough
        plan = Plan(path, check_file(path), _own_options(target.options, path, n_ctx), place, target.handles[:1])
        log, told = self._llama.log, self._llama.log.report
        log.report = LoadReport()
        try:
            check_context_memory(plan)
            draft = self._model(plan, known, target.options.draft_p_min)
            memory = with_needed(log.report.memory(), log.report, weight_bytes(plan), path, several=False)
        finally:
            log.report = told
        return draft, tuple(MemoryUse(device=use.device, draft=use.total) for use in memory)

    def _model(self, plan: Plan, known: int, least_p: float) -> DraftModel:
        api, cancel = self._llama.api, self._cancel
        native, alive = params.model_params(self._llama, plan, lambda _done: not cancel.is_set)
        model = api.llama_model_load_from_file(os.fsencode(plan.path), native)
        del alive
        if not model:
            log = self._llama.log.tail()
            raise _cancelled() if cancel.is_set else load_failure(plan.path, log, self._llama.version)
        try:
            return self._with_context(plan, model, known, least_p)
        except BaseException:
            api.llama_model_free(model)
            raise

    def _with_context(self, plan: Plan, model: Pointer, known: int, least_p: float) -> DraftModel:
        api, options = self._llama.api, plan.options
        if _cannot_guess(api, model):
            message = f"{plan.path.name} cannot be a draft model: it keeps a state that cannot go back."
            raise VrambleError("draft-unsuited", message, OTHER_DRAFT)
        trained = TrainedContext(options.n_ctx, options.n_ctx, api.llama_model_rope_freq_scale_train(model))
        context = api.llama_init_from_model(model, params.context_params(self._llama, options, trained, self._cancel))
        if not context:
            raise context_failure(options.n_ctx, self._llama.log.tail())
        return DraftModel(
            self._llama,
            model,
            context,
            PromptCache(self._llama, context, n_swa=api.llama_model_n_swa(model), recurrent=False),
            n_vocab=api.llama_vocab_n_tokens(api.llama_model_get_vocab(model)),
            known=known,
            least_p=least_p,
            pace=Pace(api.llama_n_batch(context), polled=not plan.on_gpu),
        )


def _own_options(target: LoadOptions, path: Path, n_ctx: int) -> LoadOptions:
    """The draft model reads what the large one reads; where its heads are too odd, its KV cache is not quantised."""
    own = LoadOptions(
        n_ctx=n_ctx,
        n_gpu_layers=target.draft_gpu_layers,
        n_batch=target.n_batch,
        n_ubatch=target.n_ubatch,
        n_threads=target.n_threads,
        flash_attention=target.flash_attention,
        kv_type_k=target.kv_type_k,
        kv_type_v=target.kv_type_v,
        kv_on_cpu=target.kv_on_cpu,
        mmap=target.mmap,
    )
    try:
        check_heads(own, file_metadata(path))
    except VrambleError:
        return msgspec.structs.replace(own, kv_type_k=KvType.F16, kv_type_v=KvType.F16)
    return own


def _cannot_guess(api: Any, model: Pointer) -> bool:
    goes_on_only = api.llama_model_is_recurrent(model) or api.llama_model_is_hybrid(model)
    return bool(goes_on_only or api.llama_model_has_encoder(model) or api.llama_model_is_diffusion(model))


def _cancelled() -> VrambleError:
    return VrambleError("cancelled", "Loading was cancelled.")


def _named(work: Callable[[], T]) -> T:
    """What goes wrong with a draft model is told as that."""
    try:
        return work()
    except VrambleError as error:
        if error.code == "cancelled" or error.code.startswith("draft-"):
            raise
        message = f"The draft model cannot be used. {error.message}"
        raise VrambleError("draft-failed", message, SMALLER, error.detail) from error

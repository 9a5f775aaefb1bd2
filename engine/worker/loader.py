"""Loading a model: checks, device, weights, context, template, one warm-up step."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from pathlib import Path

from engine.backends.catalogue import Catalogue
from engine.errors import VrambleError
from engine.library.gguf.metadata import Metadata
from engine.loading.rope import TrainedContext
from engine.loading.suits import option_warnings
from engine.protocol.types import DeviceKind, LoadOptions
from engine.worker import params
from engine.worker.cancel import CancelFlag
from engine.worker.context_memory import check_context_memory
from engine.worker.graph_top_k import GraphTopK
from engine.worker.image import ImageEncoders
from engine.worker.lora import load_adapters, set_adapters
from engine.worker.model import LoadedModel
from engine.worker.model_info import model_info
from engine.worker.native import Llama, Pointer
from engine.worker.pace import Pace
from engine.worker.plan import Plan
from engine.worker.planning import plan_load, trained_context
from engine.worker.prompt_cache import PromptCache
from engine.worker.speculation.loading import SpeculationLoader, check_draft
from engine.worker.templates.chat import CHATML_STOPS, ChatTemplate
from engine.worker.templates.process import RenderCancelled, TemplateProcess
from engine.worker.validate import OTHER_FILE, context_failure, load_failure
from engine.worker.vocabulary import SpecialTextGuard, Vocabulary

PROGRESS_PARTS = 1000
_ABORTED = 2


def cancelled_load() -> VrambleError:
    """The error of a load that was cancelled."""
    return VrambleError("cancelled", "Loading was cancelled.")


class Loader:
    """Makes `LoadedModel` objects."""

    def __init__(self, llama: Llama, catalogue: Catalogue, templates: TemplateProcess, cancel: CancelFlag) -> None:
        self._llama = llama
        self._catalogue = catalogue
        self._templates = templates
        self._cancel = cancel
        self._images = ImageEncoders(llama, cancel)
        self._speculation = SpeculationLoader(llama, cancel)

    def load(self, path: Path, options: LoadOptions, progress: Callable[[int], None]) -> LoadedModel:
        """Load the file at ``path``.

        Args:
            progress: Called with parts of 1000, each value once.

        Raises:
            VrambleError: ``missing-file``, ``not-gguf``, ``cut-file``, ``unknown-architecture``, ``out-of-memory``,
                ``context-memory``, ``cancelled``, ``bad-load-options``, those of `engine.worker.lora`,
                `engine.worker.image`, `engine.worker.speculation` and the others of `engine.worker.validate`.
        """
        plan, metadata = plan_load(self._llama, self._catalogue, path, options)
        check_context_memory(plan)
        check_draft(self._llama, plan)
        self._unless_cancelled()
        self._templates.start()
        native, alive = params.model_params(self._llama, plan, self._reporter(progress))
        model = self._llama.api.llama_model_load_from_file(os.fsencode(path), native)
        del alive
        if not model:
            raise cancelled_load() if self._cancel.is_set else self._load_failure(path)
        try:
            return self._finish(plan, metadata, model)
        except BaseException:
            self._llama.api.llama_model_free(model)
            raise

    def _reporter(self, progress: Callable[[int], None]) -> Callable[[float], bool]:
        last = -1

        def report(done: float) -> bool:
            nonlocal last
            parts = int(done * PROGRESS_PARTS)
            if parts != last:
                last = parts
                progress(parts)
            return not self._cancel.is_set

        return report

    def _unless_cancelled(self) -> None:
        """Between steps that nobody can interrupt."""
        if self._cancel.is_set:
            raise cancelled_load()

    def _load_failure(self, path: Path) -> VrambleError:
        return load_failure(path, self._llama.log.tail(), self._llama.version)

    def _finish(self, plan: Plan, metadata: Metadata, model: Pointer) -> LoadedModel:
        api, options, path = self._llama.api, plan.options, plan.path
        adapters = load_adapters(self._llama, model, options.lora)
        trained = trained_context(self._llama, model, metadata)
        native = params.context_params(self._llama, options, trained, self._cancel)
        self._unless_cancelled()
        context = api.llama_init_from_model(model, native)
        if not context:
            raise context_failure(native.n_ctx or trained.n_ctx, self._llama.log.tail())
        try:
            self._unless_cancelled()
            if not self._writes_text(model, context):
                message = f"{path.name} ({plan.header.architecture}) is no chat model: it cannot write text."
                raise VrambleError("not-a-chat-model", message, OTHER_FILE, self._llama.log.tail())
            set_adapters(self._llama, context, adapters, options.lora)
            warnings = option_warnings(options, metadata, plan.placement.main.kind)
            loaded = self._assemble(plan, trained, tuple(warnings), model, context)
            self._load_beside(plan, loaded)
            return loaded
        except BaseException:
            api.llama_free(context)
            raise

    def _load_beside(self, plan: Plan, loaded: LoadedModel) -> None:
        """What comes from files of its own: image encoder and draft model."""
        try:
            loaded.take_images(self._images.load(plan, loaded.model))
            guesses = self._speculation.load(plan, loaded.cache, loaded.vocabulary.size, loaded.info.n_ctx)
            loaded.take_speculation(guesses)
        except BaseException:
            loaded.close_beside()
            raise

    def _writes_text(self, model: Pointer, context: Pointer) -> bool:
        """Whether the model continues a text from left to right. Embedding, T5 and diffusion models do not."""
        api = self._llama.api
        if api.llama_model_has_encoder(model) or api.llama_model_is_diffusion(model):
            return False
        return bool(api.llama_get_memory(context))

    def _assemble(
        self, plan: Plan, trained: TrainedContext, warnings: tuple[str, ...], model: Pointer, context: Pointer
    ) -> LoadedModel:
        api = self._llama.api
        vocabulary = Vocabulary(self._llama, model)
        self._unless_cancelled()
        raw_template = api.llama_model_chat_template(model, None) or b""
        template = ChatTemplate.of_model(
            raw_template.decode("utf-8", "replace"),
            plan.path.name,
            vocabulary.text(vocabulary.bos),
            vocabulary.text(vocabulary.eos),
        )
        recurrent = api.llama_model_is_recurrent(model) or api.llama_model_is_hybrid(model)
        n_swa = api.llama_model_n_swa(model)
        several = plan.options.n_parallel > 1

        def cache(sequence: int) -> PromptCache:
            return PromptCache(
                self._llama, context, n_swa=n_swa, recurrent=recurrent, sequence=sequence, alone=not several
            )

        loaded = LoadedModel(
            llama=self._llama,
            model=model,
            context=context,
            vocabulary=vocabulary,
            guard=SpecialTextGuard(vocabulary.control_texts),
            cache=cache(0),
            more=tuple(cache(sequence) for sequence in range(1, plan.options.n_parallel)),
            template=template,
            info=model_info(self._llama, plan, trained, warnings, template, model, context),
            n_batch=api.llama_n_batch(context),
            graph=GraphTopK(self._llama, context, vocabulary.size, on=_sorts_on_gpu(plan)),
            pace=Pace(api.llama_n_batch(context), polled=not (plan.on_gpu or several)),
            stops=self._end_of_turn(template, vocabulary),
        )
        self._warm_up(loaded)
        return loaded

    def _end_of_turn(self, template: ChatTemplate, vocabulary: Vocabulary) -> tuple[str, ...]:
        """Let the template's own end marker end the turn: as a token where it is one, else as text."""
        try:
            marker = template.end_of_turn(self._templates, lambda: self._cancel.is_set)
        except RenderCancelled:
            raise cancelled_load() from None
        markers = [marker] if marker else []
        if template.source == "fallback":
            markers.extend(CHATML_STOPS)
        texts = []
        for text in dict.fromkeys(markers):
            tokens = vocabulary.tokenize(text, special=True)
            if len(tokens) == 1 and vocabulary.is_control(tokens[0]):
                vocabulary.end_turn_at(tokens)
            else:
                texts.append(text)
        return tuple(texts)

    def _warm_up(self, loaded: LoadedModel) -> None:
        """Compute one token: weights are paged in and GPU kernels built now, not in the first answer."""
        api, vocabulary = self._llama.api, loaded.vocabulary
        token = ctypes.c_int32(next(t for t in (vocabulary.bos, vocabulary.eos, 0) if 0 <= t < vocabulary.size))
        api.llama_set_warmup(loaded.context, True)
        result = api.llama_decode(loaded.context, api.llama_batch_get_one(ctypes.pointer(token), 1))
        api.llama_synchronize(loaded.context)
        api.llama_set_warmup(loaded.context, False)
        loaded.cache.clear()
        if result == 0:
            loaded.graph.check(token.value)
            loaded.cache.clear()
        if result == _ABORTED or self._cancel.is_set:
            raise cancelled_load()
        if result != 0:
            raise context_failure(loaded.info.n_ctx, self._llama.log.tail())


def _sorts_on_gpu(plan: Plan) -> bool:
    """Guesses want logits of several tokens of a sequence in one call. Software drivers gain nothing."""
    guesses = plan.options.draft or plan.options.ngram
    return plan.on_gpu and plan.placement.main.kind in (DeviceKind.GPU, DeviceKind.IGPU) and not guesses

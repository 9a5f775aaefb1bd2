"""Loading a model: checks, device, weights, context, template, one warm-up step."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from engine.backends.catalogue import Catalogue
from engine.backends.placement import place
from engine.errors import VrambleError
from engine.library.gguf.metadata import Metadata
from engine.library.names import short_name
from engine.loading.check import check_options
from engine.loading.rope import TrainedContext, reach
from engine.loading.suits import check_heads, entries_needed, option_warnings, original_context
from engine.protocol.types import DeviceInfo, DeviceKind, LoadOptions, ModelInfo
from engine.worker import params
from engine.worker.cancel import CancelFlag
from engine.worker.context_memory import check_context_memory
from engine.worker.lora import check_adapter, load_adapters, set_adapters
from engine.worker.model import LoadedModel
from engine.worker.native import Llama, Pointer
from engine.worker.pace import Pace
from engine.worker.plan import Plan
from engine.worker.prompt_cache import PromptCache
from engine.worker.templates.chat import CHATML_STOPS, ChatTemplate
from engine.worker.templates.process import RenderCancelled, TemplateProcess
from engine.worker.validate import OTHER_FILE, check_file, context_failure, load_failure
from engine.worker.vocabulary import SpecialTextGuard, Vocabulary

PROGRESS_PARTS = 1000
_ABORTED = 2

NO_TEMPLATE = "The file brings no chat template; ChatML is used instead. Answers may be poor."


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

    def load(self, path: Path, options: LoadOptions, progress: Callable[[int], None]) -> LoadedModel:
        """Load the file at ``path``.

        Args:
            progress: Called with parts of 1000, each value once.

        Raises:
            VrambleError: ``missing-file``, ``not-gguf``, ``cut-file``, ``unknown-architecture``, ``out-of-memory``,
                ``context-memory``, ``cancelled``, ``bad-load-options``, those of `engine.worker.lora` and the others
                of `engine.worker.validate`.
        """
        plan, metadata = self._plan(path, options)
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

    def _plan(self, path: Path, options: LoadOptions) -> tuple[Plan, Metadata]:
        check_options(options)
        header = check_file(path)
        metadata = entries_needed(path, options)
        check_heads(options, metadata)
        for adapter in options.lora:
            check_adapter(Path(adapter.path), header.architecture)
        self._llama.log.begin_load()
        devices = self._catalogue.devices()
        handles = {device.info.id: device.handle for device in devices}

        def splits_rows(infos: Sequence[DeviceInfo]) -> bool:
            return self._llama.ggml.splits_rows([handles[info.id] for info in infos])

        infos = [device.info for device in devices]
        placement = place(infos, self._catalogue.backends, options, splits_rows)
        gpus = tuple(handles[info.id] for info in placement.devices if info.kind is not DeviceKind.CPU)
        plan = Plan(path, header, options, placement, gpus)
        check_context_memory(plan, metadata)
        return plan, metadata

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

    def _load_failure(self, path: Path) -> VrambleError:
        return load_failure(path, self._llama.log.tail(), self._llama.version)

    def _finish(self, plan: Plan, metadata: Metadata, model: Pointer) -> LoadedModel:
        api, options, path = self._llama.api, plan.options, plan.path
        adapters = load_adapters(self._llama, model, options.lora)
        trained = self._trained(model, metadata)
        native = params.context_params(self._llama, options, trained, self._cancel)
        context = api.llama_init_from_model(model, native)
        if not context:
            raise context_failure(native.n_ctx or trained.n_ctx, self._llama.log.tail())
        try:
            if not self._writes_text(model, context):
                message = f"{path.name} ({plan.header.architecture}) is no chat model: it cannot write text."
                raise VrambleError("not-a-chat-model", message, OTHER_FILE, self._llama.log.tail())
            set_adapters(self._llama, context, adapters, options.lora)
            warnings = option_warnings(options, metadata, plan.placement.main.kind)
            return self._assemble(plan, trained, tuple(warnings), model, context)
        except BaseException:
            api.llama_free(context)
            raise

    def _trained(self, model: Pointer, metadata: Metadata) -> TrainedContext:
        """Asked before the context is made: a context with YaRN changes the model's own figure."""
        api = self._llama.api
        n_ctx = api.llama_model_n_ctx_train(model)
        return TrainedContext(n_ctx, original_context(metadata) or n_ctx, api.llama_model_rope_freq_scale_train(model))

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
        raw_template = api.llama_model_chat_template(model, None) or b""
        template = ChatTemplate.of_model(
            raw_template.decode("utf-8", "replace"),
            plan.path.name,
            vocabulary.text(vocabulary.bos),
            vocabulary.text(vocabulary.eos),
        )
        recurrent = api.llama_model_is_recurrent(model) or api.llama_model_is_hybrid(model)
        n_swa = api.llama_model_n_swa(model)
        loaded = LoadedModel(
            llama=self._llama,
            model=model,
            context=context,
            vocabulary=vocabulary,
            guard=SpecialTextGuard(vocabulary.control_texts),
            cache=PromptCache(self._llama, context, n_swa=n_swa, recurrent=recurrent),
            template=template,
            info=self._info(plan, trained, warnings, template, model, context),
            n_batch=api.llama_n_batch(context),
            pace=Pace(api.llama_n_batch(context), polled=not plan.on_gpu),
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

    def _info(
        self,
        plan: Plan,
        trained: TrainedContext,
        option_warnings: tuple[str, ...],
        template: ChatTemplate,
        model: Pointer,
        context: Pointer,
    ) -> ModelInfo:
        api, report, header, placement = self._llama.api, self._llama.log.report, plan.header, plan.placement
        n_ctx, far = api.llama_n_ctx(context), reach(plan.options, trained)
        warnings = [*placement.warnings, *header.warnings, *option_warnings]
        if template.source == "fallback":
            warnings.append(NO_TEMPLATE)
        if n_ctx > far > 0:
            warnings.append(f"The context of {n_ctx} tokens is longer than the {far} the model was made for.")
        return ModelInfo(
            path=str(plan.path),
            name=short_name(plan.path.name, header.name, plan.path.parent.name),
            architecture=header.architecture,
            quant=header.quant,
            n_params=api.llama_model_n_params(model),
            size_bytes=api.llama_model_size(model),
            n_ctx=n_ctx,
            n_ctx_train=trained.n_ctx,
            n_layers=api.llama_model_n_layer(model),
            gpu_layers=report.offloaded if plan.on_gpu else 0,
            device=placement.main,
            device_reason=placement.reason,
            devices=placement.devices,
            flash_attention=report.flash_attention,
            memory=report.memory([device.id for device in placement.devices]),
            template_source=template.source,
            warnings=tuple(warnings),
        )

    def _warm_up(self, loaded: LoadedModel) -> None:
        """Compute one token: weights are paged in and GPU kernels built now, not in the first answer."""
        api, vocabulary = self._llama.api, loaded.vocabulary
        token = ctypes.c_int32(next(t for t in (vocabulary.bos, vocabulary.eos, 0) if 0 <= t < vocabulary.size))
        api.llama_set_warmup(loaded.context, True)
        result = api.llama_decode(loaded.context, api.llama_batch_get_one(ctypes.pointer(token), 1))
        api.llama_synchronize(loaded.context)
        api.llama_set_warmup(loaded.context, False)
        loaded.cache.clear()
        if result == _ABORTED or self._cancel.is_set:
            raise cancelled_load()
        if result != 0:
            raise context_failure(loaded.info.n_ctx, self._llama.log.tail())

"""What is told of a model that was loaded: out of its header, the plan of the load, and llama.cpp's report."""

from __future__ import annotations

from engine.library.names import short_name
from engine.loading.rope import TrainedContext, reach
from engine.protocol.types import MemoryUse, ModelInfo, SplitMode
from engine.worker.log import LoadReport
from engine.worker.mapped import with_needed
from engine.worker.native import Llama, Pointer
from engine.worker.plan import Plan
from engine.worker.templates.chat import ChatTemplate

NO_TEMPLATE = "The file brings no chat template; ChatML is used instead. Answers may be poor."


def model_info(
    llama: Llama,
    plan: Plan,
    trained: TrainedContext,
    option_warnings: tuple[str, ...],
    template: ChatTemplate,
    model: Pointer,
    context: Pointer,
) -> ModelInfo:
    """The record for the window. ``option_warnings``: sentences about options that do less than was hoped for."""
    api, report, header, placement = llama.api, llama.log.report, plan.header, plan.placement
    n_ctx, far = api.llama_n_ctx(context), reach(plan.options, trained)
    size = api.llama_model_size(model)
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
        size_bytes=size,
        n_ctx=n_ctx,
        n_ctx_train=trained.n_ctx,
        n_layers=api.llama_model_n_layer(model),
        gpu_layers=report.offloaded if plan.on_gpu else 0,
        device=placement.main,
        device_reason=placement.reason,
        devices=placement.devices,
        flash_attention=report.flash_attention,
        memory=_memory(report, plan, size),
        template_source=template.source,
        warnings=tuple(warnings),
        device_warnings=placement.warnings,
    )


def _memory(report: LoadReport, plan: Plan, size: int) -> tuple[MemoryUse, ...]:
    """What lies where; of a mapped file only what is needed."""
    devices = plan.placement.devices
    several = plan.placement.split in (SplitMode.ROW, SplitMode.TENSOR)
    memory = report.memory([device.id for device in devices])
    return with_needed(memory, report, size, plan.path, several=several)

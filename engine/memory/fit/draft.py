"""What a draft model takes beside the model that it guesses for: loaded as `engine.worker.speculation` does."""

from __future__ import annotations

from engine.memory.fit.placement import Layout, lay_out
from engine.memory.fit.records import FitModel
from engine.memory.fit.sizes import buffer_bytes, cache_bytes, context_cells, output_bytes, weight_bytes
from engine.protocol.types import DeviceKind, KvType, LoadOptions


def draft_bytes(model: FitModel, options: LoadOptions, layout: Layout) -> list[int]:
    """Bytes of the draft model of ``model`` for each device of ``layout``; it reads the same context, on one GPU."""
    sums = [0] * len(layout.devices)
    draft = model.draft
    if draft is None:
        return sums
    own = _own_options(draft, options, context_cells(model, options), layout)
    inside = lay_out(draft, own, [device for device in layout.devices if _takes_part(device.info.kind, own)])
    places = [next(n for n, one in enumerate(layout.devices) if one.info.id == d.info.id) for d in inside.devices]
    parts = zip(
        weight_bytes(draft, own, inside), cache_bytes(draft, own, inside), buffer_bytes(draft, own, inside), strict=True
    )
    for place, sizes in zip(places, parts, strict=True):
        sums[place] += sum(sizes)
    sums[layout.cpu] += output_bytes(draft, own)
    return sums


def _own_options(draft: FitModel, options: LoadOptions, n_ctx: int, layout: Layout) -> LoadOptions:
    """One answer at a time; a KV cache in f16 where its heads are too odd for a quantised one."""
    main = layout.devices[0].info
    on_cpu = main.kind is DeviceKind.CPU
    return LoadOptions(
        n_ctx=n_ctx,
        n_gpu_layers=0 if on_cpu else options.draft_gpu_layers,
        device="cpu" if on_cpu else main.id,
        n_batch=options.n_batch,
        n_ubatch=options.n_ubatch,
        flash_attention=options.flash_attention,
        kv_type_k=options.kv_type_k if draft.quantised_kv else KvType.F16,
        kv_type_v=options.kv_type_v if draft.quantised_kv else KvType.F16,
    )


def _takes_part(kind: DeviceKind, own: LoadOptions) -> bool:
    return kind is DeviceKind.CPU or own.device != "cpu"

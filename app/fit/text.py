"""A forecast for a terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from app.fit.source import Source
from engine.library.listing import RepoFile
from engine.library.names import short_name
from engine.memory.fit import DeviceUse, FitModel, FitPlan, Suggestion
from engine.memory.sizes import gib_number
from engine.protocol.types import DeviceKind, LoadOptions

COLUMNS = ("weights", "KV cache", "compute", "image", "draft", "total", "room")
_FLAGS = {
    "n_ctx": "--ctx {}",
    "n_gpu_layers": "--gpu-layers {}",
    "n_cpu_moe": "--cpu-moe {}",
    "n_ubatch": "--micro-batch {}",
    "kv_type_k": "--kv {}",
    "flash_attention": "--flash-attention {}",
}
"""Field that a suggestion may change -> flag."""


def document(plan: FitPlan, source: Source, suggestions: Sequence[Suggestion], quants: Sequence[RepoFile]) -> bytes:
    """What ``--json`` prints. The sums are those of the devices that decide; ``devices`` has each."""
    return msgspec.json.encode(
        {
            **_sums(plan.deciding),
            "room": plan.room,
            "verdict": plan.verdict,
            "gpu_layers": plan.proposed_layers,
            "n_layers": plan.max_layers,
            "reason": plan.reason,
            "speed_tps": None if plan.speed is None else round(plan.speed, 1),
            "exact": plan.exact,
            "bytes_read": source.bytes_read,
            "learned": {"bytes": plan.learned, "loads": plan.loads},
            "options": plan.options,
            "proposal": plan.proposal,
            "devices": [
                {"id": use.device, "name": use.name, "kind": use.kind, **_sums((use,)), "room": use.room}
                for use in plan.uses
            ],
            "suggestions": [
                {"kind": item.kind, "text": item.text, "total": item.plan.total, "options": item.plan.options}
                for item in suggestions
            ],
            "quants": [{"file": file.path, "quant": file.quant, "bytes": file.size} for file in quants],
        }
    )


def _sums(uses: Sequence[DeviceUse]) -> dict[str, int]:
    """The buffer for the scores of the last token counts as one for computing."""
    return {
        "weights": sum(use.weights for use in uses),
        "kv": sum(use.kv for use in uses),
        "compute": sum(use.compute + use.output for use in uses),
        "image": sum(use.image for use in uses),
        "draft": sum(use.draft for use in uses),
        "total": sum(use.total for use in uses),
    }


def table(
    model: FitModel, plan: FitPlan, source: Source, suggestions: Sequence[Suggestion], quants: Sequence[RepoFile]
) -> str:
    """Devices as aligned lines, the verdict, and what would help."""
    name = short_name(source.path.name, model.name, source.path.parent.name)
    head = "  ".join(part for part in (name, model.quant, model.architecture) if part)
    lines = [head, *_rows(plan), f"{plan.verdict.value}: {plan.reason}"]
    if plan.speed is not None:
        lines.append(f"expected speed: about {plan.speed:.0f} tok/s")
    if not model.known_cache and not plan.exact:
        lines.append("The KV cache of this architecture is only estimated.")
    if not plan.exact:
        lines.append("Compute buffers are estimated; the engine was not asked.")
    if plan.loads:
        share = 100 * plan.learned / max(1, plan.total - plan.learned)
        lines.append(f"learned from {plan.loads} load{'s' if plan.loads > 1 else ''}: {share:+.1f} %")
    if source.bytes_read:
        lines.append(f"read from the Hub: {source.bytes_read / 1e6:.1f} MB")
    if suggestions or quants:
        lines += ["To make it fit:", *_suggestions(plan.options, suggestions), *map(_quant, quants)]
    return "\n".join(lines)


def _rows(plan: FitPlan) -> list[str]:
    names = [use.name if use.kind is not DeviceKind.CPU else "RAM" for use in plan.uses]
    width = max(len(name) for name in names)
    empty = {name for name in ("image", "draft") if not any(getattr(use, name) for use in plan.uses)}
    shown = [column for column in COLUMNS if column not in empty]
    lines = [f"{'':{width}}" + "".join(f"{column:>10}" for column in shown) + "  GiB"]
    for name, use in zip(names, plan.uses, strict=True):
        room = "unknown" if use.room is None else gib_number(use.room)
        sizes = [use.weights, use.kv, use.compute + use.output, use.image, use.draft, use.total]
        cells = dict(zip(COLUMNS, [*map(gib_number, sizes), room], strict=True))
        lines.append(f"{name:{width}}" + "".join(f"{cells[column]:>10}" for column in shown))
    return lines


def _suggestions(asked: LoadOptions, suggestions: Sequence[Suggestion]) -> list[str]:
    if not suggestions:
        return []
    width = max(len(item.text) for item in suggestions)
    return [
        f"  {item.text:{width}}  {gib_number(item.plan.total):>5} GiB  {flags(asked, item.plan.options)}".rstrip()
        for item in suggestions
    ]


def _quant(file: RepoFile) -> str:
    size = "" if file.size is None else f"  {gib_number(file.size)} GiB"
    return f"  Take {file.quant or file.path}{size}  {file.path}"


def flags(asked: LoadOptions, changed: LoadOptions) -> str:
    """The flags that make ``changed`` out of ``asked``."""
    found = []
    for field, flag in _FLAGS.items():
        value = getattr(changed, field)
        if value != getattr(asked, field):
            found.append(flag.format(value))
    if asked.mmproj is not None and changed.mmproj is None:
        found.append("without --mmproj")
    if asked.draft is not None and changed.draft is None:
        found.append("without --draft")
    return " ".join(found)

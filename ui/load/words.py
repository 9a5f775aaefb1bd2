"""Sentences and figures of the load dialog. Pure, apart from translation."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from engine.memory.fit.records import FitPlan, Suggestion, Verdict
from engine.memory.sizes import gib_number
from engine.protocol.types import DeviceKind, FlashAttention, KvType, RopeScaling, SplitMode

SURE_SPEED = 200
"""Tokens a second up to which a forecast is worth a number."""


def tr(text: str) -> str:
    """Translate a text of this module."""
    return QCoreApplication.translate("LoadWords", text)


def gib(size: int | None) -> str:
    """Memory in GiB; a word where it is not known."""
    return tr("unknown") if size is None else f"{gib_number(size)} GiB"


def count(number: int) -> str:
    """A whole number with its thousands apart."""
    return f"{number:,}".replace(",", "\u202f") if number >= 10_000 else str(number)


def kv_format(kind: KvType) -> str:
    """The format of the KV cache in bits."""
    return {
        KvType.F16: tr("16-bit (f16)"),
        KvType.Q8_0: tr("8-bit (q8_0), half the memory"),
        KvType.Q4_0: tr("4-bit (q4_0), a quarter of the memory"),
    }[kind]


def kv_short(kind: KvType) -> str:
    """The same, without what it saves."""
    return {KvType.F16: tr("16-bit"), KvType.Q8_0: tr("8-bit"), KvType.Q4_0: tr("4-bit")}[kind]


def flash(mode: FlashAttention) -> str:
    """How flash attention is chosen."""
    return {
        FlashAttention.AUTO: tr("Automatic"),
        FlashAttention.ON: tr("On"),
        FlashAttention.OFF: tr("Off"),
    }[mode]


def split(mode: SplitMode) -> str:
    """What is shared out."""
    return {
        SplitMode.LAYER: tr("Whole layers"),
        SplitMode.ROW: tr("Rows of each layer"),
        SplitMode.TENSOR: tr("Everything together"),
    }[mode]


def rope(kind: RopeScaling) -> str:
    """How positions are stretched."""
    return {
        RopeScaling.MODEL: tr("As the file says"),
        RopeScaling.NONE: tr("None"),
        RopeScaling.LINEAR: tr("Linear"),
        RopeScaling.YARN: tr("YaRN"),
    }[kind]


def verdict(found: Verdict) -> str:
    """The verdict in one or two words."""
    return {
        Verdict.FITS: tr("Fits"),
        Verdict.TIGHT: tr("Fits, but tightly"),
        Verdict.PARTLY: tr("Fits in part"),
        Verdict.NO: tr("Does not fit"),
        Verdict.UNKNOWN: tr("Not known"),
    }[found]


def impossible() -> str:
    """Options that contradict each other."""
    return tr("Cannot be loaded like this")


def part(name: str) -> str:
    """What a part of a bar holds."""
    return {
        "weights": tr("Weights"),
        "kv": tr("KV cache"),
        "compute": tr("Compute buffers"),
        "image": tr("Image encoder"),
        "draft": tr("Draft model"),
        "learned": tr("Driver, as learned"),
    }[name]


def is_ram(kind: DeviceKind) -> bool:
    """Whether what the device holds is plain RAM."""
    return kind in (DeviceKind.CPU, DeviceKind.SOFTWARE)


def sum_of(total: int, room: int | None) -> str:
    """What is needed, and of how much."""
    if room is None:
        return gib(total)
    return tr("{0} of {1} GiB").format(gib_number(total), gib_number(room))


def load_button(total: int | None, room: int | None, *, again: bool) -> str:
    """What the button says."""
    word = tr("Load again") if again else tr("Load")
    return word if total is None else f"{word} ({sum_of(total, room)})"


def speed(expected: float) -> str:
    """Tokens a second; small models are bounded by other things than memory, so beyond some hundreds none is named."""
    if expected > SURE_SPEED:
        return tr("Over {0} tok/s expected").format(SURE_SPEED)
    return tr("About {0} tok/s expected").format(f"{expected:.0f}" if expected >= 10 else f"{expected:.1f}")


def suggestion(found: Suggestion) -> str:
    """A change that makes it fit, short enough for a button."""
    options, plan = found.plan.options, found.plan
    if found.kind == "kv":
        return tr("KV cache in {0}").format(kv_short(options.kv_type_k))
    if found.kind == "context":
        tokens = count(options.n_ctx)
        quantised = options.kv_type_k is not KvType.F16
        text = tr("Context of {0}, KV cache in {1}") if quantised else tr("Context of {0}")
        return text.format(tokens, kv_short(options.kv_type_k))
    if found.kind == "together":
        text = tr("Experts in RAM, context of {0}, KV cache in {1}")
        return text.format(count(options.n_ctx), kv_short(options.kv_type_k))
    if found.kind == "batch":
        return tr("Micro-batch of {0}").format(options.n_ubatch)
    if found.kind == "experts":
        return tr("Experts of {0} layers in RAM").format(options.n_cpu_moe)
    if found.kind == "layers":
        return tr("{0} of {1} layers on the GPU").format(plan.gpu_layers, plan.max_layers)
    if found.kind == "image":
        return tr("Without the image encoder")
    if found.kind == "draft":
        return tr("Without the draft model")
    return tr("Run it on the CPU") if found.kind == "cpu" else found.text


def other_quant(quant: str, size: int) -> str:
    """A smaller file of the same model that is here."""
    return tr("Load {0} instead ({1})").format(quant, gib(size))


def made_to_fit(found: Suggestion) -> str:
    """What was changed beside a profile."""
    return tr("So that it fits: {0}.").format(suggestion(found))


def footnote(plan: FitPlan, *, refining: bool = False) -> str:
    """Where the figures come from, and what holds for them."""
    if plan.exact:
        source = tr("Exact: the engine simulated this load.")
    elif refining:
        source = tr("Estimated from the file's header. Asking the engine…")
    else:
        source = tr("Estimated from the file's header.")
    kinds = {use.kind for use in plan.uses}
    shared = tr("GPU and CPU share the same memory here.") if DeviceKind.IGPU in kinds else ""
    reserve = max((use.reserve for use in plan.deciding), default=0)
    kept = tr("{0} stay free for everything else.").format(gib(reserve)) if reserve else ""
    return " ".join(filter(None, (source, kept, shared)))


def learned(plan: FitPlan) -> str:
    """What earlier loads changed of the forecast; empty when there were none."""
    before = plan.total - plan.learned
    if not plan.loads or before <= 0:
        return ""
    percent = f"{100 * plan.learned / before:+.1f}".replace("-", "\u2212")
    text = tr("Learned from 1 load: {1} %") if plan.loads == 1 else tr("Learned from {0} loads: {1} %")
    return text.format(plan.loads, percent)

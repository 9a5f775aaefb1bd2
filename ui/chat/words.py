"""Sentences and figures of the chat window, from records. Pure, apart from translation."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from PySide6.QtCore import QCoreApplication

from engine.loading.why_cpu import why_cpu
from engine.memory.sizes import gib_number
from engine.protocol.frames import Hello
from engine.protocol.types import DeviceInfo, DeviceKind, ModelInfo

TURNING = {"R", "AL", "RLE", "RLO", "LRE", "LRO", "PDF", "RLI", "LRI", "FSI", "PDI"}
NOISE = re.compile(r"\([^)]*\)|\b(AMD|NVIDIA|Intel|Corporation|Advanced Micro Devices,? Inc\.?)\b", re.IGNORECASE)
REAL = (DeviceKind.GPU, DeviceKind.IGPU)
NO_NAMES = {"", "graphics", "radeon graphics", "custom gpu"}


def tr(text: str) -> str:
    """Translate a text of this module."""
    return QCoreApplication.translate("ChatWords", text)


def isolated(text: str) -> str:
    """``text`` for the middle of a sentence: what runs from right to left cannot turn the rest around."""
    turns = any(unicodedata.bidirectional(letter) in TURNING for letter in text)
    return f"\u2068{text}\u2069" if turns else text


def tokens_text(count: int) -> str:
    """Tokens, in thousands (of 1024, as context lengths are named) from 10,000 on."""
    if count < 10_000:
        return str(count)
    return f"{count / 1024:.1f}".removesuffix(".0") + "k"


def short_device(name: str) -> str:
    """What a graphics card is called in speech: ``RX 7900 XTX`` for ``AMD Radeon RX 7900 XTX (RADV NAVI31)``."""
    bare = " ".join(NOISE.sub(" ", name).replace("(R)", " ").replace("(TM)", " ").split())
    shorter = re.sub(r"^(Radeon|GeForce)\s+(?=RX|Pro|PRO|RTX|GTX|\d)", "", bare)
    return (shorter if shorter.lower() not in NO_NAMES else bare) or name


def device_text(device: DeviceInfo) -> str:
    """Device and backend for the header; the CPU is one word."""
    if device.kind is DeviceKind.CPU:
        return "CPU"
    return f"{short_device(device.name)} · {device.backend}"


def chosen_device(hello: Hello) -> DeviceInfo | None:
    """The device a model would run on before one is loaded: the first usable GPU, else the CPU.

    Never a software driver: the engine takes one only when it is named (`engine.backends.choice`).
    """
    order = (DeviceKind.GPU, DeviceKind.IGPU, DeviceKind.CPU)
    usable = [d for d in hello.devices if d.usable and d.kind in order]
    return min(usable, key=lambda d: (order.index(d.kind), -(d.memory_free or d.memory_total or 0)), default=None)


def cpu_reason(hello: Hello | None) -> str:
    """Why the CPU is used, from what the worker found, and how to learn more."""
    if hello is None:
        return ""
    refused = [d.reason for d in hello.devices if not d.usable and d.reason and d.kind in REAL]
    reasons = [_sentence(reason) for reason in dict.fromkeys(refused)] or [why_cpu(hello.devices, hello.backends)]
    if hello.amd_cards == 0:
        reasons.append(tr("No AMD graphics card was found."))
    return "\n".join((" ".join(reasons), tr("To see what is missing, run this in a terminal: vramble doctor")))


def is_found_reason(reason: str, hello: Hello | None) -> bool:
    """Whether a model's own ``reason`` for the CPU is what `cpu_reason` says at more length."""
    return hello is not None and reason == why_cpu(hello.devices, hello.backends)


def safer_text(changes: Iterable[str]) -> str:
    """What was changed in the load because the GPU had failed."""
    return tr("Safer settings in use: {changes}").format(changes=" ".join(changes))


def device_lines(hello: Hello | None) -> Iterable[str]:
    """One line for each device, for the explanation of the header."""
    for device in hello.devices if hello is not None else ():
        memory = f", {gib_number(device.memory_total)} GiB" if device.memory_total else ""
        state = tr("can be used") if device.usable else tr("not used")
        yield f"{device.name} ({device.backend}{memory}): {state}"


def layers_text(model: ModelInfo) -> str:
    """Where the layers are, when not all of them are on the GPU."""
    if model.device.kind is DeviceKind.CPU or model.gpu_layers >= model.n_layers:
        return ""
    return tr("{done} of {all} layers on the GPU").format(done=model.gpu_layers, all=model.n_layers)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", ")")) else f"{text}."

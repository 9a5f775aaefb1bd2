"""What is said when a self-test fails."""

from __future__ import annotations

from engine.client.agreement import Outcome
from engine.memory.sizes import gib_number
from engine.protocol.types import DeviceKind, ModelInfo

ON_DEVICE = {
    Outcome.NO_NUMBERS: "{model} gives no valid results on {device}.",
    Outcome.CONSTANT: "{model} expects the same word whatever it reads, on {device}.",
    Outcome.DISAGREES: "{model} gives other results on {device} than on the CPU: answers may be nonsense.",
}
ON_CPU = {
    Outcome.NO_NUMBERS: "{model} gives no valid results: its file may be damaged.",
    Outcome.CONSTANT: "{model} expects the same word whatever it reads: its file may be damaged.",
}
OTHER_FILE = "Download the file again, or choose another model."
OTHER_DRIVER = "Update the graphics driver, or load the model on the CPU."


def on_cpu(model: ModelInfo) -> bool:
    """Nothing of the model is computed elsewhere."""
    return model.device.kind is DeviceKind.CPU


def warning(outcome: Outcome, model: ModelInfo, has_button: bool) -> str:
    """One sentence, and a step where no button offers one."""
    alone = on_cpu(model)
    said = ON_CPU if alone and outcome in ON_CPU else ON_DEVICE
    sentence = said[outcome].format(model=model.name, device=model.device.name)
    if has_button:
        return sentence
    return f"{sentence} {OTHER_FILE if alone else OTHER_DRIVER}"


def report(outcome: Outcome, model: ModelInfo, detail: str) -> str:
    """What can be copied."""
    lines = [
        f"Self-test: {outcome.value}",
        f"Model: {model.name}, {model.architecture}, {model.quant}",
        *(f"Device: {device.name} ({device.backend})" for device in model.devices or (model.device,)),
        f"Layers on it: {model.gpu_layers} of {model.n_layers}; flash attention: {model.flash_attention}",
        detail,
    ]
    return "\n".join(line for line in lines if line)


def no_room(model: ModelInfo, available: int | None, reserve: int) -> str:
    """Why the CPU was not asked. Sizes in bytes; None: nobody knows."""
    free = "unknown" if available is None else f"{gib_number(available)} GiB"
    return (
        f"The CPU was not asked: the file of {gib_number(model.size_bytes)} GiB and a reserve of"
        f" {gib_number(reserve)} GiB do not fit into the RAM that is available ({free})."
    )

"""What is said when a self-test fails."""

from __future__ import annotations

from engine.client.agreement import Outcome
from engine.protocol.types import DeviceKind, ModelInfo

ON_DEVICE = {
    Outcome.NO_NUMBERS: "{model} computes no valid numbers on {device}.",
    Outcome.CONSTANT: "{model} expects the same word whatever it reads, on {device}.",
    Outcome.DISAGREES: "{model} does not compute on {device} what it computes on the CPU: answers may be nonsense.",
}
ON_CPU = {
    Outcome.NO_NUMBERS: "{model} computes no valid numbers: its file may be damaged.",
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

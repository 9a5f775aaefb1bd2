"""Whether a model runs elsewhere than where it was asked for."""

from __future__ import annotations

from engine.loading.device_name import named
from engine.protocol.types import LoadOptions, ModelInfo


def fallback(options: LoadOptions, model: ModelInfo) -> str:
    """What became of devices in ``options`` that ``model`` does not use, in sentences; empty when it uses them all.

    A device that was left out on purpose (no layers on a GPU, the CPU beside it) is no fallback.
    """
    wanted = options.devices or ((options.device,) if options.device else ())
    used = model.devices or (model.device,)
    gone = [name for name in wanted if not any(named(device, name) for device in used)]
    return " ".join(model.device_warnings) if gone else ""

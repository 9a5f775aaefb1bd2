"""The verdict in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from engine.memory.fit.placement import Layout
from engine.memory.fit.records import DeviceUse, FitModel, Verdict
from engine.memory.sizes import gib_number


def reason_for(verdict: Verdict, uses: Sequence[DeviceUse], layout: Layout, proposed: int, model: FitModel) -> str:
    """What is needed, what there is, and what follows.

    Args:
        proposed: Layers that fit on the GPUs.
    """
    gpus = uses[:-1]
    deciding = gpus or uses
    need = gib_number(sum(use.total for use in deciding))
    rooms = [use.room for use in deciding if use.room is not None]
    where = _where(deciding, layout)
    if len(rooms) < len(deciding):
        return f"Needs {need} GiB; how much {where} has free is not known."
    room = gib_number(sum(rooms))
    if verdict is Verdict.FITS:
        return f"Needs {need} GiB of the {room} GiB that a model can use of {where}."
    if verdict is Verdict.TIGHT:
        return f"Needs {need} GiB, nearly all of the {room} GiB that a model can use of {where}."
    short = f"Needs {need} GiB, and a model can use {room} GiB of {where}"
    if verdict is Verdict.PARTLY and proposed:
        return f"{short}: {proposed} of {model.max_layers} layers fit there, the processor takes the others."
    if verdict is Verdict.PARTLY:
        return f"{short}: it runs on the processor only."
    if verdict is Verdict.UNKNOWN:
        return f"Needs {need} GiB of {where}; how much RAM is free is not known."
    if gpus and sum(use.total for use in gpus) <= sum(rooms):
        return _ram_short(uses[-1])
    return f"{short}."


def _ram_short(cpu: DeviceUse) -> str:
    need = gib_number(cpu.total)
    return f"Needs {need} GiB of RAM beside the GPU, and a model can use {gib_number(cpu.room or 0)} GiB."


def _where(deciding: Sequence[DeviceUse], layout: Layout) -> str:
    if not layout.gpu_layers:
        return "the RAM"
    return deciding[0].name if len(deciding) == 1 else f"{len(deciding)} GPUs"

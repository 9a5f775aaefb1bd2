"""The verdict in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from engine.memory.fit.balance import RAM, Balance
from engine.memory.fit.records import DeviceUse, Verdict
from engine.memory.sizes import gib_number


def reason_for(verdict: Verdict, uses: Sequence[DeviceUse], decides: Balance, layers: tuple[int, int]) -> str:
    """What is needed, what there is, and what follows.

    Args:
        decides: The memory on which the verdict for the options as asked rests.
        layers: Layers that fit on the GPUs, and all.
    """
    if decides.room is None:
        return f"Needs {gib_number(decides.need)} GiB of {decides.place}; how much is free there is not known."
    if verdict in (Verdict.FITS, Verdict.TIGHT, Verdict.UNKNOWN):
        return _enough(verdict, uses)
    together = decides.place == RAM and len(uses) > 1
    needs = "Processor and GPU together need" if together else "Needs"
    short = f"{needs} {gib_number(decides.need)} GiB, and a model can use {gib_number(decides.room)} GiB"
    fitting, most = layers
    if verdict is Verdict.PARTLY and fitting:
        return f"{short} of {decides.place}: {fitting} of {most} layers fit there, the processor takes the others."
    if verdict is Verdict.PARTLY:
        return f"{short} of {decides.place}: it runs on the processor only."
    return f"{short} of {decides.place}."


def _enough(verdict: Verdict, uses: Sequence[DeviceUse]) -> str:
    """About all GPUs together, or the RAM."""
    gpus = uses[:-1] or uses
    need, room = gib_number(sum(use.total for use in gpus)), gib_number(sum(use.room or 0 for use in gpus))
    place = RAM if len(uses) == 1 else gpus[0].name if len(gpus) == 1 else f"{len(gpus)} GPUs"
    if verdict is Verdict.UNKNOWN:
        return f"Needs about {need} GiB of the {room} GiB of {place}; what its context takes is only guessed."
    if verdict is Verdict.TIGHT:
        return f"Needs {need} GiB of the {room} GiB that a model can use of {place}, with little to spare."
    return f"Needs {need} GiB of the {room} GiB that a model can use of {place}."

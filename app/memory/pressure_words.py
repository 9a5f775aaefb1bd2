"""What is said of a shortage of memory."""

from __future__ import annotations

from engine.memory.pressure import Cause, Level, Shortage
from engine.memory.sizes import gib_number
from engine.memory.takers import Taker

PARK, PARK_NOW, KEEP, LOAD_AGAIN = "Park the model", "Park it now", "Keep it loaded", "Load again"
ANOTHER = "Another program"


def shortage_text(shortage: Shortage, model: str, *, offered: bool) -> str:
    """The sentences of a warning; ``offered``: there is a button that parks the model."""
    evicted = Cause.EVICTED in shortage.causes
    sentences = [_evicted(shortage, model)] if evicted else []
    if not evicted or len(shortage.causes) > 1:
        sentences.append(_ram(shortage))
        if shortage.taker is not None and not evicted:
            sentences.append(_took(shortage.taker) + ".")
    if offered and shortage.held:
        sentences.append(f"Parking {model} gives about {gib_number(shortage.held)} GiB back until you load it again.")
    return " ".join(sentences)


def waiting_text(model: str) -> str:
    """A park that waits for the end of an answer."""
    return f"{model} is parked when the answer is done, because memory is short."


def parked_text(model: str, size: int, *, stopped: bool) -> str:
    """After a park; ``stopped``: an answer was ended by it."""
    text = f"{model} is parked: about {gib_number(size)} GiB come free." if size else f"{model} is parked."
    return f"{text} The answer was stopped; what was written is kept." if stopped else text


def room_again_text(model: str) -> str:
    """When what the model took would fit again."""
    return f"There is room for {model} again."


def _evicted(shortage: Shortage, model: str) -> str:
    card = f" of {shortage.card}" if shortage.card else ""
    lost = f"{gib_number(shortage.evicted)} GiB of {model} were pushed out of the memory{card}: answers become slow."
    return lost if shortage.taker is None or shortage.taker.ram else f"{_took(shortage.taker)}. {lost}"


def _took(taker: Taker) -> str:
    return f"{taker.name or ANOTHER} took {gib_number(taker.grew)} GiB of {'' if taker.ram else 'graphics '}memory"


def _ram(shortage: Shortage) -> str:
    left = "" if shortage.available is None else f": {gib_number(shortage.available)} GiB are left"
    if shortage.level is Level.CRITICAL:
        return f"Memory is almost used up{left}. The system may end programs at any moment."
    if Cause.STALL in shortage.causes and Cause.RAM not in shortage.causes:
        return f"Programs wait for memory{left}."
    return f"Memory is running short{left}."

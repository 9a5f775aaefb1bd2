"""What a moment of the last minutes looked like, in words. Pure, apart from translation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.memory.history import Marker, MarkerKind, Point
from ui.memory.page_words import tr
from ui.memory.series import Subject, nearest, values
from ui.memory.words import gib, number

MINUTES = 10
NEAR_S = 6.0
"""A sample belongs to a moment when it is not further away."""

MOMENT_S = 3.0
"""A load or unload so near belongs to a moment."""


def ago(seconds: float) -> str:
    """``now``, ``45 s ago``, ``2 min 13 s ago``."""
    whole = round(max(0.0, seconds))
    if whole < 1:
        return tr("now")
    minutes, rest = divmod(whole, 60)
    if not minutes:
        return tr("{s} s ago").format(s=rest)
    if not rest:
        return tr("{m} min ago").format(m=minutes)
    return tr("{m} min {s} s ago").format(m=minutes, s=rest)


def event(marker: Marker, now: float) -> str:
    """What a marker stands for, and when."""
    name = marker.text or tr("the model")
    if marker.kind is MarkerKind.LOAD:
        return tr("{name} was loaded, {ago}").format(name=name, ago=ago(now - marker.at))
    if marker.kind is MarkerKind.UNLOAD:
        return tr("{name} was unloaded, {ago}").format(name=name, ago=ago(now - marker.at))
    if marker.until is None:
        return tr("{name} answers, begun {ago}").format(name=name, ago=ago(now - marker.at))
    length = f"{max(0.0, marker.until - marker.at):.0f}"
    return tr("{name} answered for {n} s, {ago}").format(name=name, n=length, ago=ago(now - marker.at))


@dataclass(frozen=True)
class Minute:
    """One minute in words. ``used`` is empty where there is no figure: ``what`` says why, and else has the sensors."""

    when: str
    used: str
    what: str
    events: tuple[str, ...] = ()


def minute_rows(
    subject: Subject, points: Sequence[Point], markers: Sequence[Marker], card: str | None
) -> tuple[Minute, ...]:
    """The history for a table, a minute for each row."""
    if not points:
        return ()
    now, rows = points[-1].at, []
    for minute in range(MINUTES + 1):
        at = now - 60.0 * minute
        point = nearest(points, at, NEAR_S)
        sizes = values(point, subject) if point is not None else None
        used = gib(sum(sizes)) if sizes is not None else ""
        begun = (marker for marker in markers if at - 60.0 < marker.at <= at)
        texts = [
            *(() if used else (_missing(subject, point),)),
            *(sensor_texts(subject, point, card) if point is not None else ()),
        ]
        rows.append(Minute(ago(now - at), used, ", ".join(texts), tuple(event(one, now) for one in begun)))
    return tuple(rows)


def events_at(markers: Sequence[Marker], at: float) -> tuple[Marker, ...]:
    """What happened then: answers that ran, loads and unloads near by."""
    return tuple(marker for marker in markers if _touches(marker, at))


def line(subject: Subject, point: Point | None, at: float, now: float, markers: Sequence[Marker]) -> str:
    """The exact figures of one moment."""
    texts = [_figures(subject, point), *(event(marker, now) for marker in events_at(markers, at))]
    return f"{ago(now - at)}: " + ". ".join(texts) + "."


def sensor_texts(subject: Subject, point: Point, card: str | None) -> list[str]:
    """Busy, temperature, power of then."""
    gpu = point.gpu(card or subject.key)
    if gpu is None:
        return []
    texts = []
    if gpu.busy_percent is not None:
        texts.append(tr("{n} % busy").format(n=gpu.busy_percent))
    if gpu.temperature_c is not None:
        texts.append(f"{gpu.temperature_c:.0f} °C")
    if gpu.power_w is not None:
        texts.append(f"{gpu.power_w:.0f} W")
    return texts


def _figures(subject: Subject, point: Point | None) -> str:
    sizes = values(point, subject) if point is not None else None
    if point is None or sizes is None:
        return _missing(subject, point)
    used = tr("{used} of {total} in use").format(used=gib(sum(sizes)), total=gib(subject.total))
    parts = (f"{layer.name} {number(size)}" for layer, size in zip(subject.layers, sizes, strict=True) if size)
    sensors = sensor_texts(subject, point, None)
    return "; ".join(text for text in (used, ", ".join(parts), ", ".join(sensors)) if text)


def _missing(subject: Subject, point: Point | None) -> str:
    """Why there is no figure."""
    if point is None:
        return tr("nothing was measured")
    gpu = point.gpu(subject.key)
    return tr("the card was asleep") if gpu is not None and gpu.asleep else tr("not known")


def _touches(marker: Marker, at: float) -> bool:
    if marker.kind is MarkerKind.ANSWER:
        return marker.at <= at and (marker.until is None or at <= marker.until)
    return abs(marker.at - at) <= MOMENT_S

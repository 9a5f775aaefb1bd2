"""What a running benchmark has measured so far, as a report."""

from __future__ import annotations

import time
from collections.abc import Callable

from engine.bench.course import Course
from engine.bench.records import Report, Subject


def live_report(course: Course | None, clock: Callable[[], float] = time.time) -> Report | None:
    """The report without what only its end tells (rooflines); None before the first figure."""
    info = course.model if course is not None else None
    if course is None or info is None or not any(variant.tests for variant in course.results()):
        return None
    order = course.order
    return Report(
        taken=clock(),
        model=Subject(path=order.path, name=info.name, quant=info.quant, size_bytes=info.size_bytes),
        protocol=order.protocol,
        race=order.race,
        runs=order.runs,
        variants=course.results(),
        left_out=course.left_out,
    )

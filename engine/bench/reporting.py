"""From a course to a report: rooflines are added, and what it ran with is written down."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from engine.bench.bandwidth import Bandwidth, bandwidths
from engine.bench.course import Course
from engine.bench.records import Outcome, Report, Subject, VariantResult
from engine.bench.roofline import roofline
from engine.build_facts import build_facts, build_line
from engine.memory.fit import FitModel
from engine.memory.tree import Tree
from engine.protocol.frames import Hello


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What a report needs to know besides the figures.

    Attributes:
        hello: Of the worker that measured.
        model: From the header of the file; None: no rooflines.
        build: `engine.build_facts.build_line`.
        tree: Where ``sys`` lies.
    """

    hello: Hello
    model: FitModel | None
    build: str
    tree: Tree


def this_build() -> str:
    """The engine's build, in one line."""
    return build_line(build_facts())


def report_of(course: Course, around: Surroundings, clock: Callable[[], float] = time.time) -> Report:
    """The report of what was measured so far. Reads the kernel's topology."""
    order, info = course.order, course.model
    path = Path(order.path)
    speeds = bandwidths(around.hello.devices, around.tree, course.ram)
    return Report(
        taken=clock(),
        model=Subject(
            path=order.path,
            name=info.name if info else path.stem,
            quant=info.quant if info else "",
            architecture=info.architecture if info else "",
            size_bytes=info.size_bytes if info else 0,
            n_params=info.n_params if info else 0,
        ),
        protocol=order.protocol,
        race=order.race,
        runs=order.runs,
        engine=around.hello.engine,
        build=around.build,
        variants=tuple(_with_rooflines(variant, around, speeds) for variant in course.results()),
        left_out=course.left_out,
        finished=not course.cancelled,
    )


def _with_rooflines(variant: VariantResult, around: Surroundings, speeds: dict[str, Bandwidth]) -> VariantResult:
    model = around.model
    if model is None:
        return variant

    def ceiling(outcome: Outcome) -> Outcome:
        found = roofline(model, variant.options, around.hello.devices, speeds, outcome.test)
        return msgspec.structs.replace(outcome, roofline=found)

    return msgspec.structs.replace(variant, tests=tuple(map(ceiling, variant.tests)))

"""A report for a terminal, and what a course is at, in words."""

from __future__ import annotations

from collections.abc import Sequence

from engine.bench.change import change
from engine.bench.course import Course
from engine.bench.document import guess_words, number, variant_name, verdict_sentence
from engine.bench.records import Outcome, Published, Report, VariantResult

HEAD = (
    "",
    "prompt tok/s",
    "generation tok/s",
    "lowest-highest",
    "of the memory's",
    "guesses right",
    "W",
    "tok/J",
    "change",
)


def table(report: Report, history: Sequence[Report]) -> str:
    """Tests as aligned lines under each variant, then what else there is to say."""
    model = report.model
    lines = [" ".join(part for part in (model.name, model.quant, report.protocol.value) if part)]
    rows = [HEAD]
    for variant in report.variants:
        for outcome in variant.tests:
            name = " ".join(part for part in (variant.label, outcome.test.name) if part)
            rows.append((name, *cells(report, variant, outcome, history)))
    used = [place for place in range(len(HEAD)) if place == 0 or any(row[place] for row in rows[1:])]
    widths = {place: max(len(row[place]) for row in rows) for place in used}
    for row in rows:
        first = row[0].ljust(widths[0])
        lines.append("  ".join([first, *(row[place].rjust(widths[place]) for place in used[1:])]).rstrip())
    return "\n".join([*lines, *_remarks(report)])


def cells(
    report: Report, variant: VariantResult, outcome: Outcome, history: Sequence[Report]
) -> tuple[str, str, str, str, str, str, str, str]:
    """The figures of one test as short texts; "" for what is not known."""
    shown = outcome.decode or outcome.prefill
    prefill = outcome.prefill if outcome.test.prompt > 1 else None
    found = change(history, report, variant, outcome)
    delta = (found.decode if outcome.decode else found.prefill) if found else None
    ceiling = outcome.roofline.tps if outcome.roofline else None
    return (
        number(prefill.median if prefill else None),
        number(outcome.decode.median if outcome.decode else None),
        f"{number(shown.low)}-{number(shown.high)}" if shown and len(outcome.samples) > 1 else "",
        "" if outcome.share is None else f"{outcome.share:.0%} of {number(ceiling)}",
        guess_words(outcome),
        number(outcome.power.median if outcome.power else None),
        "" if outcome.tokens_per_joule is None else f"{outcome.tokens_per_joule:.2f}",
        "" if delta is None else f"{delta:+.1%}",
    )


def _remarks(report: Report) -> list[str]:
    lines = []
    for variant in report.variants:
        place = variant.place
        if place is not None:
            prefix = f"{variant.label}: " if variant.label else ""
            lines.append(f"{prefix}{place.name}, {place.backend}")
        if variant.error:
            lines.append(f"{variant_name(variant)} dropped out: {variant.error}")
    ceiling = next((o.roofline for v in report.variants for o in v.tests if o.roofline and o.roofline.bandwidth), None)
    if ceiling is not None:
        speed = (ceiling.bandwidth or 0) / 1e9
        lines.append(f"memory: {speed:.0f} GB/s ({ceiling.source}), {ceiling.n_bytes / 1e6:.0f} MB read for a token")
    lines += [f"left out: {item.test.name}: {item.reason}" for item in report.left_out]
    sentence = verdict_sentence(report)
    return [*lines, *([sentence] if sentence else []), f"llama.cpp: {report.build or report.engine}"]


def published_lines(figures: Sequence[Published]) -> str:
    """Published figures, each with its source."""
    if not figures:
        return ""
    lines = ["Published by others (prompt / generation tok/s):"]
    for item in figures:
        speeds = f"{number(item.prefill) or '-'} / {number(item.decode) or '-'}"
        about = ", ".join(part for part in (item.test, item.conditions, item.source) if part)
        lines.append(f"  {item.card}, {item.backend}, {item.model} {item.quant}: {speeds}  ({about})")
    return "\n".join(lines)


def step_words(course: Course) -> str:
    """What the worker is at."""
    step = course.step
    if step is None:
        return "done"
    if step.variant is None:
        return "measuring the memory"
    label = course.order.variants[step.variant].label
    of = f" with {label}" if label else ""
    if step.test is None:
        return f"loading{of}"
    return f"{step.test.name}{of}, run {step.turn + 1} of {course.order.runs}"

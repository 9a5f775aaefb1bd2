"""A report as JSON for scripts, and as Markdown for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from engine.bench.change import Change, change
from engine.bench.judge import judge
from engine.bench.records import Outcome, Report, Spread, VariantResult
from engine.memory.sizes import gib_number

GUESSED: Final = "guesses right"
COLUMNS: Final = (
    "variant",
    "test",
    "prompt tok/s",
    "generation tok/s",
    "lowest to highest",
    "roofline tok/s",
    "share",
    GUESSED,
    "W",
    "tok/J",
    "change",
)


def document(report: Report, history: Sequence[Report] = ()) -> dict[str, object]:
    """The object that ``vramble bench --json`` prints. Speeds are tokens a second, sizes bytes, times seconds.

    The keys on top are those of the best variant and its test with the least depth.
    """
    verdict = judge(report)
    best = verdict.winner if verdict else next(iter(report.measured or report.variants), None)
    return {
        "model": report.model.name,
        "file": report.model.path,
        "quant": report.model.quant,
        "size_bytes": report.model.size_bytes,
        "protocol": report.protocol,
        "date": _date(report),
        "engine": report.engine,
        "build": report.build,
        "finished": report.finished,
        **(_variant(report, best, history) if best else _NOTHING),
        "left_out": [{"test": item.test.name, "reason": item.reason} for item in report.left_out],
        "race": report.race,
        "variants": [{"label": v.label, **_variant(report, v, history)} for v in report.variants],
        "winner": verdict.winner.label if verdict else None,
        "winner_clear": verdict.clear if verdict else None,
    }


_NOTHING: dict[str, object] = {
    "device": None, "backend": None, "runs": [], "prefill_tps": None, "decode_tps": None, "roofline_tps": None,
    "roofline_share": None,
}  # fmt: skip


def _variant(report: Report, variant: VariantResult, history: Sequence[Report]) -> dict[str, object]:
    main, reading, place = variant.main, variant.reading, variant.place
    first = reading or next((test for test in variant.tests if test.prefill), None)
    return {
        "device": place.name if place else None,
        "backend": place.backend if place else None,
        "pci": place.pci if place else None,
        "driver": place.driver if place else None,
        "flash_attention": variant.flash_attention,
        "gpu_layers": variant.gpu_layers,
        "options": variant.options,
        "runs": [run for outcome in variant.tests for run in _runs(outcome)],
        "prefill_tps": _spread(first.prefill if first else None),
        "decode_tps": _spread(main.decode if main else None),
        **_roofline(main),
        "tests": [_outcome(report, variant, outcome, history) for outcome in variant.tests],
        "error": variant.error or None,
    }


def _runs(outcome: Outcome) -> Iterator[dict[str, object]]:
    test = outcome.test
    for sample in outcome.samples:
        yield {
            "test": test.name,
            "depth": test.depth,
            "prompt_tokens": test.prompt,
            "generated_tokens": outcome.tokens(sample),
            "prefill_tps": _round(test.prompt / sample.prompt_s if sample.prompt_s else None),
            "decode_tps": _round(outcome.tokens(sample) / sample.generated_s if sample.generated_s else None),
            "power_w": _round(sample.power_w),
            **({"drafted": sample.drafted, "accepted": sample.accepted} if sample.drafted else {}),
        }


def _outcome(report: Report, variant: VariantResult, outcome: Outcome, history: Sequence[Report]) -> dict[str, object]:
    found = change(history, report, variant, outcome)
    return {
        "test": outcome.test.name,
        "depth": outcome.test.depth,
        "prefill_tps": _spread(outcome.prefill),
        "decode_tps": _spread(outcome.decode),
        **_roofline(outcome),
        **_guesses(outcome),
        "change": _change(found) if found else None,
    }


def _roofline(outcome: Outcome | None) -> dict[str, object]:
    ceiling = outcome.roofline if outcome else None
    return {
        "roofline_tps": _round(ceiling.tps if ceiling else None),
        "roofline_share": _round(outcome.share if outcome else None, 3),
        "bytes_per_token": ceiling.n_bytes if ceiling else None,
        "bandwidth": _round(ceiling.bandwidth if ceiling else None, 0),
        "bandwidth_source": ceiling.source if ceiling else None,
        "power_w": _round(outcome.power.median if outcome and outcome.power else None),
        "tokens_per_joule": _round(outcome.tokens_per_joule if outcome else None, 3),
    }


def _guesses(outcome: Outcome) -> dict[str, object]:
    found = outcome.guesses
    return {
        "drafted": found.drafted if found else None,
        "accepted": found.accepted if found else None,
        "accepted_rate": _round(found.rate if found else None, 3),
    }


def _change(found: Change) -> dict[str, object]:
    return {
        "since": _date(found.before),
        "prefill": _round(found.prefill, 4),
        "decode": _round(found.decode, 4),
        "other_build": found.build,
        "other_driver": found.driver,
    }


def _spread(value: Spread | None) -> dict[str, object] | None:
    if value is None:
        return None
    return {"median": _round(value.median), "spread": [_round(value.low), _round(value.high)]}


def _round(value: float | None, digits: int = 2) -> float | None:
    return None if value is None else round(value, digits)


def _date(report: Report) -> str:
    return datetime.fromtimestamp(report.taken, UTC).isoformat(timespec="seconds")


def markdown(report: Report, history: Sequence[Report] = ()) -> str:
    """The report as Markdown: what ran, a table of all tests, and what was left out."""
    model = report.model
    size = f", {gib_number(model.size_bytes)} GiB" if model.size_bytes else ""
    lines = [
        f"**{model.name} {model.quant}**{size}, `{report.protocol.value}`, {report.runs} runs, {_date(report)}",
        "",
        *_table(report, history),
        "",
    ]
    lines += [f"- {variant_name(variant)}: {place}" for variant in report.variants if (place := _place(variant))]
    lines += [f"- {variant_name(variant)} dropped out: {variant.error}" for variant in report.variants if variant.error]
    lines += [f"- left out: {item.test.name}. {item.reason}" for item in report.left_out]
    verdict = judge(report)
    if verdict is not None:
        lines.append(f"- {verdict_sentence(report)}")
    if not report.finished:
        lines.append("- The benchmark was stopped before its end.")
    lines.append(f"- {', '.join(part for part in (report.engine, report.build) if part)}")
    return "\n".join(lines) + "\n"


def _table(report: Report, history: Sequence[Report]) -> Iterator[str]:
    """Lines; without the column of guesses where nothing was guessed."""
    guessed = any(outcome.guesses for variant in report.variants for outcome in variant.tests)
    used = [place for place, name in enumerate(COLUMNS) if guessed or name != GUESSED]
    yield f"| {' | '.join(COLUMNS[place] for place in used)} |"
    yield f"| --- | --- |{' ---: |' * (len(used) - 2)}"
    for variant in report.variants:
        for outcome in variant.tests:
            cells = _row(report, variant, outcome, history)
            yield f"| {' | '.join(cells[place] for place in used)} |"


def variant_name(variant: VariantResult) -> str:
    """Its label, or where it ran."""
    return variant.label or (variant.place.backend if variant.place else "the model")


def verdict_sentence(report: Report) -> str:
    """How a race ended; "" when it was none."""
    verdict = judge(report)
    if verdict is None:
        return ""
    first, second = variant_name(verdict.winner), variant_name(verdict.second)
    if not verdict.clear:
        return f"{first} and {second} are as fast as each other: their runs overlap."
    return f"{first} is the fastest, {verdict.factor:.2f} times as fast as {second}."


def _place(variant: VariantResult) -> str:
    place = variant.place
    if place is None:
        return ""
    flash = {True: "flash attention on", False: "flash attention off", None: ""}[variant.flash_attention]
    parts = [place.name, place.backend, flash, f"micro-batch {variant.options.n_ubatch}", place.driver]
    return ", ".join(part for part in parts if part)


def _row(report: Report, variant: VariantResult, outcome: Outcome, history: Sequence[Report]) -> list[str]:
    ceiling, shown = outcome.roofline, outcome.decode or outcome.prefill
    found = change(history, report, variant, outcome)
    delta = (found.decode if outcome.decode else found.prefill) if found else None
    return [
        variant_name(variant),
        outcome.test.name,
        number(outcome.prefill.median if outcome.prefill and outcome.test.prompt > 1 else None),
        number(outcome.decode.median if outcome.decode else None),
        f"{number(shown.low)} to {number(shown.high)}" if shown else "",
        number(ceiling.tps if ceiling else None),
        "" if outcome.share is None else f"{outcome.share:.0%}",
        guess_words(outcome),
        number(outcome.power.median if outcome.power else None),
        "" if outcome.tokens_per_joule is None else f"{outcome.tokens_per_joule:.2f}",
        "" if delta is None else f"{delta:+.1%}",
    ]


def guess_words(outcome: Outcome) -> str:
    """How many guessed tokens were right; "" where nothing was guessed."""
    found = outcome.guesses
    return f"{found.accepted} of {found.drafted} ({found.rate:.0%})" if found else ""


def number(value: float | None) -> str:
    """A speed or a power with as many digits as it deserves; "" for None."""
    if value is None:
        return ""
    return f"{value:.0f}" if value >= 1000 else f"{value:.1f}"

"""Reports as rows of tables and bars of charts. Pure, apart from translation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.bench.change import Change, change
from engine.bench.judge import judge
from engine.bench.records import Outcome, Published, Report, Spread, VariantResult
from ui.bench import words
from ui.bench.cells import CellRow
from ui.bench.chart import Bar
from ui.bench.words import tr

NOTICEABLE = 0.03
"""A change below that is the noise of most machines."""


def result_titles() -> tuple[str, ...]:
    """Columns of the table of results."""
    return (
        tr("Variant"), tr("Test, tokens"), tr("tok/s"), tr("Range"), tr("Limit"), tr("Reached"), tr("Guesses"),
        tr("Power"), tr("tok/J"), tr("Change"),
    )  # fmt: skip


def result_tips() -> dict[int, str]:
    """What its columns mean."""
    return {
        2: tr("Tokens a second, the median of the runs"),
        3: tr("The slowest and the fastest run"),
        4: tr("Tokens a second if nothing but reading the weights and the KV cache took time (roofline)"),
        5: tr("Speed as a share of that limit"),
        6: tr("Guessed tokens that were right, of those that were guessed ahead in all runs"),
        7: tr("Mean power of the card while tokens were generated"),
        8: tr("Tokens generated for each joule that the card took"),
        9: tr("Against the last benchmark of the same model, device, options and test"),
    }


def result_rows(report: Report, history: Sequence[Report]) -> list[CellRow]:
    """One row for each test of each variant; prompts first, as they come first."""
    rows = []
    for variant in report.variants:
        rows += [_result_row(report, variant, outcome, history) for outcome in variant.tests]
        if variant.error:
            rows.append(
                CellRow(
                    (words.variant(report, variant) or variant.label, tr("dropped out"), *[""] * 8),
                    tip=variant.error,
                    tints={1: "bad"},
                )
            )
    return rows


def shown_speed(outcome: Outcome) -> Spread | None:
    """The speed that a test is about."""
    return outcome.decode or outcome.prefill


def _result_row(report: Report, variant: VariantResult, outcome: Outcome, history: Sequence[Report]) -> CellRow:
    found, value = change(history, report, variant, outcome), shown_speed(outcome)
    delta = (found.decode if outcome.decode else found.prefill) if found else None
    ceiling, power = outcome.roofline, outcome.power
    cells = (
        words.variant(report, variant) if len(report.variants) > 1 else "",
        words.outcome(outcome),
        words.median(value),
        words.span(value),
        words.speed(ceiling.tps) if ceiling else "",
        words.percent(outcome.share),
        words.guesses(outcome),
        tr("{0} W").format(f"{power.median:.0f}") if power else "",
        "" if outcome.tokens_per_joule is None else f"{outcome.tokens_per_joule:.2f}",
        words.percent(delta, signed=True),
    )
    tints = {} if delta is None or abs(delta) < NOTICEABLE else {9: "good" if delta > 0 else "bad"}
    return CellRow(cells, tip=_tip(variant, outcome, found), tints=tints)


def _tip(variant: VariantResult, outcome: Outcome, found: Change | None) -> str:
    lines = [tr("Runs: {0}").format(", ".join(_runs(outcome)))]
    if variant.place is not None:
        lines.append(", ".join(part for part in (variant.place.name, variant.place.driver) if part))
    ceiling = outcome.roofline
    if ceiling is not None:
        text = tr("{0} MB are read for each token").format(f"{ceiling.n_bytes / 1e6:,.0f}".replace(",", "\u202f"))
        if ceiling.bandwidth is not None:
            text += tr("; the memory gives {0} GB/s ({1})").format(f"{ceiling.bandwidth / 1e9:.0f}", ceiling.source)
        lines.append(text)
    if found is not None:
        others = [tr("another engine") if found.build else "", tr("another driver") if found.driver else ""]
        reason = ", ".join(part for part in others if part) or tr("the same engine and driver")
        lines.append(tr("Compared with {0}: {1}").format(words.when(found.before), reason))
    return "\n".join(lines)


def _runs(outcome: Outcome) -> Iterator[str]:
    for sample in outcome.samples:
        if sample.generated_s:
            yield words.speed(outcome.tokens(sample) / sample.generated_s)
        elif sample.prompt_s:
            yield words.speed(outcome.test.prompt / sample.prompt_s)


def generation_bars(report: Report, *, live: bool = False) -> list[Bar]:
    """Bars of how fast tokens are generated."""
    verdict = judge(report)
    winner = verdict.winner.label if verdict and verdict.clear else None
    return [
        _bar(report, variant, outcome, outcome.decode, best=winner in (None, variant.label), live=live)
        for variant in report.variants
        for outcome in variant.tests
        if outcome.decode is not None
    ]


def prompt_bars(report: Report, *, live: bool = False) -> list[Bar]:
    """Bars of how fast prompts are read; those of one token say nothing."""
    verdict = judge(report)
    winner = verdict.winner.label if verdict and verdict.clear else None
    return [
        _bar(report, variant, outcome, outcome.prefill, best=winner in (None, variant.label), live=live)
        for variant in report.variants
        for outcome in variant.tests
        if outcome.prefill is not None and outcome.test.prompt > 1
    ]


def _bar(report: Report, variant: VariantResult, outcome: Outcome, speed: Spread, *, best: bool, live: bool) -> Bar:
    depth = tr("behind {0}").format(outcome.test.depth) if outcome.test.depth else ""
    if len(report.variants) > 1:
        label = ", ".join(part for part in (words.variant(report, variant), depth) if part)
    else:
        label = depth or (tr("empty context") if len(variant.tests) > 1 else words.variant(report, variant))
    ceiling = outcome.roofline.tps if outcome.roofline and outcome.decode else None
    return Bar(label, speed.median, speed.low, speed.high, ceiling, best=best, live=live)


def published_titles() -> tuple[str, ...]:
    """Columns of the table of published figures."""
    return tr("Card"), tr("Backend"), tr("Model"), tr("Test"), tr("Prompt"), tr("Generation"), tr("Source")


def published_rows(figures: Sequence[Published]) -> list[CellRow]:
    """One row for each; the source with its conditions. The card is told apart only where there are several."""
    several = len({figure.card for figure in figures}) > 1
    return [
        CellRow(
            (
                figure.card if several else "",
                figure.backend,
                f"{figure.model} {figure.quant}".strip(),
                figure.test,
                words.speed(figure.prefill),
                words.speed(figure.decode),
                ", ".join(part for part in (figure.source, figure.conditions) if part),
            ),
            tip=", ".join(part for part in (figure.source, figure.conditions) if part),
        )
        for figure in figures
    ]


def history_titles() -> tuple[str, ...]:
    """Columns of the table of earlier benchmarks."""
    return (
        tr("Date"), tr("Model"), tr("Protocol"), tr("Where"), tr("Prompt"), tr("tok/s"), tr("Change"),
    )  # fmt: skip


def history_rows(history: Sequence[Report]) -> list[CellRow]:
    """One row for each report, the newest first, with the figures of its best variant."""
    return [_history_row(report, history) for report in reversed(history)]


def _history_row(report: Report, history: Sequence[Report]) -> CellRow:
    best = best_of(report)
    main = best.main if best else None
    delta = None
    if best is not None and main is not None:
        found = change(history, report, best, main)
        delta = found.decode if found else None
    where = words.variant(report, best) if best else ""
    if report.race.value != "none":
        where = tr("{0} (best of {1})").format(where, len(report.variants))
    cells = (
        words.day(report) if report.finished else tr("{0}, stopped").format(words.day(report)),
        " ".join(part for part in (report.model.name, report.model.quant) if part),
        report.protocol.value,
        where,
        words.median(best.reading.prefill) if best and best.reading else "",
        words.median(main.decode) if main else "",
        words.percent(delta, signed=True),
    )
    tints = {} if delta is None or abs(delta) < NOTICEABLE else {6: "good" if delta > 0 else "bad"}
    return CellRow(
        cells, tip="\n".join(part for part in (report.build, report.engine) if part), tints=tints, key=report
    )


def best_of(report: Report) -> VariantResult | None:
    """The winner, or the only one."""
    found = judge(report)
    return found.winner if found else next(iter(report.measured), None)

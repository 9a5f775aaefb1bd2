"""Texts of the benchmark window, from records. Pure, apart from translation."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import QCoreApplication

from app.bench.service import BenchService, Phase
from engine.bench.judge import judge
from engine.bench.records import Outcome, Protocol, Race, Report, Spread, VariantResult
from engine.client.session import WorkerState
from engine.memory.sizes import gib_number
from engine.protocol.bench import BenchTest
from engine.protocol.types import DeviceInfo, DeviceKind, FlashAttention, ModelInfo


def tr(text: str) -> str:
    """Translate a text of this module."""
    return QCoreApplication.translate("Benchmark", text)


def speed(value: float | None) -> str:
    """Tokens a second with as many digits as it deserves; "" unknown."""
    if value is None:
        return ""
    return f"{value:,.0f}".replace(",", "\u202f") if value >= 1000 else f"{value:.1f}"


def median(value: Spread | None) -> str:
    """The median of a spread."""
    return speed(value.median) if value is not None else ""


def span(value: Spread | None) -> str:
    """Lowest to highest; "" where they are the same."""
    if value is None or value.low == value.high:
        return ""
    return tr("{0} to {1}").format(speed(value.low), speed(value.high))


def percent(value: float | None, *, signed: bool = False) -> str:
    """A share; ``signed``: a change."""
    if value is None:
        return ""
    return f"{100 * value:+.1f} %" if signed else f"{100 * value:.0f} %"


def protocol(value: Protocol) -> str:
    """Its name in the list."""
    return {
        Protocol.DECODE512: tr("Generation: 1 + 512 tokens"),
        Protocol.LLAMA_BENCH: tr("llama-bench: pp512, tg128"),
    }[value]


def about_protocol(value: Protocol) -> str:
    """What it measures, in a sentence."""
    return {
        Protocol.DECODE512: tr("A prompt of one token, then 512 tokens are generated. How fast an answer is written."),
        Protocol.LLAMA_BENCH: tr(
            "Reads 512 tokens and generates 128, in an empty context and behind 4096 and 16384 tokens. Comparable"
            " with figures that others publish."
        ),
    }[value]


def race(value: Race) -> str:
    """What is compared."""
    return {
        Race.NONE: tr("Nothing, one device"),
        Race.DEVICES: tr("Devices and backends"),
        Race.FLASH_ATTENTION: tr("Flash attention on and off"),
        Race.MICRO_BATCH: tr("Micro-batch sizes"),
        Race.GUESSES: tr("Guessing ahead on and off"),
    }[value]


def about_race(value: Race) -> str:
    """What a race does, in a sentence."""
    if value is Race.NONE:
        return ""
    turns = tr("They take turns, each with a load of its own, so that a warm card is unfair to none.")
    extra = tr(" Decides how prompts are read.") if value is Race.MICRO_BATCH else ""
    if value is Race.GUESSES:
        extra = tr(
            " Without guesses, with n-gram lookup, and with the draft model if the model is loaded with one. What a"
            " model writes out of nothing repeats itself: in a chat fewer guesses are right."
        )
    return turns + extra


def test(value: BenchTest) -> str:
    """A test in words."""
    if value.prompt and value.generated:
        return tr("{0} generated").format(value.generated)
    what = tr("{0} read").format(value.prompt) if value.prompt else tr("{0} generated").format(value.generated)
    return tr("{0}, behind {1}").format(what, value.depth) if value.depth else what


def device(value: DeviceInfo) -> str:
    """A device in a list."""
    if value.kind is DeviceKind.CPU:
        return tr("Processor")
    return f"{short_device(value.name)} · {value.backend}"


def short_device(name: str) -> str:
    """Without the maker and the driver's name in brackets."""
    return name.partition(" (")[0].removeprefix("AMD ").removeprefix("Radeon ") or name


def variant(report: Report, value: VariantResult) -> str:
    """What tells a variant from the others."""
    if report.race is Race.NONE:
        return place(value)
    if report.race is Race.FLASH_ATTENTION:
        on = value.options.flash_attention is FlashAttention.ON
        return tr("Flash attention on") if on else tr("Flash attention off")
    if report.race is Race.MICRO_BATCH:
        return tr("Micro-batch {0}").format(value.options.n_ubatch)
    if report.race is Race.GUESSES:
        return tr("Draft model") if value.options.draft else guessing(ngram=value.options.ngram)
    return value.label


def guessing(*, ngram: bool) -> str:
    """A way to guess without a model, or none."""
    return tr("N-gram lookup") if ngram else tr("No guesses")


def place(value: VariantResult) -> str:
    """Where it ran."""
    if value.place is None:
        return ""
    if value.place.kind is DeviceKind.CPU:
        return tr("Processor")
    return f"{short_device(value.place.name)} · {value.place.backend}"


def model(report: Report) -> str:
    """The model and its size."""
    name = " ".join(part for part in (report.model.name, report.model.quant) if part)
    size = report.model.size_bytes
    return tr("{0}, {1} GiB").format(name, gib_number(size)) if size else name


def when(report: Report) -> str:
    """Date and time, as the clock on the wall shows it."""
    return datetime.fromtimestamp(report.taken).astimezone().strftime("%Y-%m-%d %H:%M")


def day(report: Report) -> str:
    """The date alone."""
    return when(report).partition(" ")[0]


def verdict(report: Report) -> str:
    """How a race ended; "" when it was none."""
    found = judge(report)
    if found is None:
        return ""
    first, second = variant(report, found.winner), variant(report, found.second)
    if not found.clear:
        return tr("{0} and {1} are as fast as each other: their runs overlap.").format(first, second)
    text = tr("{0} is the fastest: {1} times as fast as {2}.")
    return text.format(first, f"{found.factor:.2f}", second)


def stage(service: BenchService) -> str:
    """What the benchmark is at."""
    course = service.course
    step = course.step if course is not None else None
    if service.phase is Phase.STOPPING:
        return tr("Stopping…")
    if course is None or step is None:
        return tr("Making room…") if service.unloaded else tr("Preparing…")
    if step.variant is None:
        return tr("Measuring the memory…")
    label = course.order.variants[step.variant].label
    name = f"{label}: " if label else ""
    if step.test is None:
        return name + tr("loading the model…")
    words = name + tr("{0}, run {1} of {2}").format(test(step.test), step.turn + 1, course.order.runs)
    live = course.live_tps
    return words if live is None else tr("{0} · {1} tok/s").format(words, speed(live))


def chat_at_work(state: WorkerState) -> str:
    """Why a benchmark has to wait for the chat; "" when it has not to."""
    return {
        WorkerState.GENERATING: tr("The chat is answering. Run can be pressed when the answer has ended."),
        WorkerState.LOADING: tr("The chat is loading its model. Run can be pressed when it is loaded."),
    }.get(state, "")


def about_chat(service: BenchService, state: WorkerState, loaded: ModelInfo | None) -> str:
    """What running does to the chat, or why it has to wait for it."""
    if service.running:
        return tr("A message or a load in the chat stops the benchmark.")
    if at_work := chat_at_work(state):
        return at_work
    if loaded is None:
        return ""
    text = tr("{0} is unloaded first, so that nothing else takes memory. The next message loads it again.")
    return text.format(loaded.name)


def guesses(value: Outcome) -> str:
    """How many guessed tokens were right; "" where nothing was guessed."""
    found = value.guesses
    return tr("{0} of {1}").format(percent(found.rate), f"{found.drafted:,}".replace(",", "\u202f")) if found else ""


def outcome(value: Outcome) -> str:
    """A test in words, with the part that was done when it was stopped."""
    if not value.stopped:
        return test(value.test)
    done = max(value.tokens(sample) for sample in value.samples)
    return tr("{0} (stopped at {1})").format(test(value.test), done)

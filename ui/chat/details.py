"""What is known of one message, in sentences for a small sheet."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale

from app.chat.rows import MessageRow
from engine.chat.records import Role, RunSettings
from engine.protocol.types import GenerationStats, LogitBias, Sampling

NAMES = {
    "top_k": "top-k",
    "top_p": "top-p",
    "min_p": "min-p",
    "typical_p": "typical-p",
    "dry_multiplier": "DRY",
    "xtc_probability": "XTC",
}
"""Where the common name of a sampler is not that of its field."""


def tr(text: str) -> str:
    """Translate a text of this module."""
    return QCoreApplication.translate("MessageDetails", text)


def details(row: MessageRow) -> tuple[str, ...]:
    """Paragraphs: when and by whom, the figures, the settings, the summary of what was before."""
    who = tr("You wrote this") if row.role is Role.USER else tr("Written by {}").format(row.author)
    parts = [f"{who}{_when(row.created)}."]
    if row.stats is not None and row.stats.generated_tokens:
        parts.append("\n".join(_figures(row.stats)))
    if row.settings is not None and row.role is Role.ASSISTANT:
        parts.append("\n".join(_settings(row.settings)))
    if row.summary:
        parts.append(tr("Where the context is full, this stands for the messages before:") + f"\n{row.summary}")
    return tuple(parts)


def _when(created: float) -> str:
    if not created:
        return ""
    moment = QDateTime.fromSecsSinceEpoch(int(created))
    return tr(", {}").format(QLocale().toString(moment, QLocale.FormatType.LongFormat))


def _figures(stats: GenerationStats) -> list[str]:
    lines = [
        tr("Prompt: {} tokens, {} of them from the cache").format(_n(stats.prompt_tokens), _n(stats.cached_tokens))
    ]
    answer = tr("Answer: {} tokens").format(_n(stats.generated_tokens))
    if stats.thinking_tokens:
        answer += tr(", {} of them thought").format(_n(stats.thinking_tokens))
    lines.append(answer)
    lines.append(tr("First token after {} s").format(f"{stats.ttft_ms / 1000:,.2f}"))
    if stats.prefill_tps > 0:
        lines.append(tr("Prefill: {} tok/s").format(f"{stats.prefill_tps:,.1f}"))
    if stats.decode_tps > 0:
        lines.append(tr("Decode: {} tok/s").format(f"{stats.decode_tps:,.1f}"))
    if stats.drafted:
        lines.append(tr("Guessed tokens accepted: {} of {}").format(_n(stats.accepted), _n(stats.drafted)))
    return lines


def _settings(settings: RunSettings) -> list[str]:
    lines = [tr("Samplers: {}").format(_samplers(settings.sampling))]
    if settings.n_ctx is not None:
        lines.append(tr("Context: {} tokens").format(_n(settings.n_ctx)))
    if settings.max_tokens is not None:
        lines.append(tr("Longest answer: {} tokens").format(_n(settings.max_tokens)))
    if settings.system_prompt:
        lines.append(tr("System prompt: {}").format(settings.system_prompt))
    return lines


def _samplers(sampling: Sampling) -> str:
    """Temperature always, of the others what is not as it comes."""
    usual, shown = Sampling(), [f"temperature {sampling.temperature:g}"]
    for name in Sampling.__struct_fields__:
        value = getattr(sampling, name)
        if name != "temperature" and value != getattr(usual, name):
            shown.append(f"{NAMES.get(name, name.replace('_', ' '))} {_short(value)}")
    return ", ".join(shown)


def _short(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    text = ", ".join(map(_entry, value)) if isinstance(value, tuple) else " ".join(str(value).split())
    return text if len(text) <= 40 else text[:39] + "…"


def _entry(value: object) -> str:
    return f"{value.token}: {value.bias:g}" if isinstance(value, LogitBias) else str(value)


def _n(number: int) -> str:
    return f"{number:,}"

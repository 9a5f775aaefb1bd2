"""Messages for the transcript benchmarks, and a model that holds them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from app.chat.rows import MessageRow
from app.chat.transcript import TranscriptModel
from engine.chat.records import Role, Status
from engine.protocol.types import GenerationStats

PARAGRAPH = (
    "The **page tables** of the GPU map system memory, so a model may be larger than the card's own memory; see "
    "`mem_info_gtt_total`, or [the documentation](https://example.org/gtt). Reading it costs nothing.\n\n"
)
LIST = "1. First *step*\n2. Second step\n   - with a detail\n   - and another\n\n"
CODE = "```python\ndef total(values: list[int]) -> int:\n    return sum(values)  # all of them\n```\n\n"
TABLE = "| quant | size | fits |\n|---|--:|:-:|\n| Q4_K_M | 18.6 | yes |\n| Q8_0 | 32.5 | no |\n\n"
ANSWER = PARAGRAPH * 2 + LIST + CODE + PARAGRAPH + TABLE


def rows(count: int) -> list[MessageRow]:
    """``count`` messages, questions and answers in turn."""
    stats = GenerationStats(generated_tokens=312, decode_tps=41.2)
    result = []
    for number in range(count):
        if number % 2 == 0:
            result.append(question(str(number), f"Question {number}: what does GTT mean, and how large is it here?"))
        else:
            result.append(answer(str(number), f"Answer {number}\n\n{ANSWER}", stats=stats))
    return result


def question(name: str, text: str) -> MessageRow:
    """A user's message."""
    return MessageRow(id=name, role=Role.USER, text=text, status=Status.DONE, author="You")


def answer(name: str, text: str, *, status: Status = Status.DONE, stats: GenerationStats | None = None) -> MessageRow:
    """A model's message."""
    return MessageRow(id=name, role=Role.ASSISTANT, text=text, status=status, author="Qwen3 8B Q4_K_M", stats=stats)


def model(content: Sequence[MessageRow]) -> TranscriptModel:
    """A model that shows ``content``."""
    result = TranscriptModel()
    result.reset(content)
    return result

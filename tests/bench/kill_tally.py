"""What the bench of random kills counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import msgspec

from tests.bench.figures import spread, table


@dataclass
class Tally:
    """What is counted.

    Attributes:
        kills: By what the worker was at, and by signal.
        lost: Answers whose shown text is not in the database.
        stuck: Conversations that stayed busy, or could not be continued.
        orphans: Processes left over.
        back: Seconds from each kill to the end of the next, short answer.
    """

    kills: Counter[str]
    signals: Counter[str]
    lost: list[str]
    stuck: list[str]
    orphans: list[str]
    back: list[float]

    @classmethod
    def empty(cls) -> Tally:
        """Nothing counted yet."""
        return cls(Counter(), Counter(), [], [], [], [])

    def figures(self) -> dict[str, Any]:
        """For JSON."""
        seconds = spread(self.back)
        return {
            "kills": sum(self.kills.values()),
            "moments": dict(self.kills),
            "signals": dict(self.signals),
            "lost": self.lost,
            "stuck": self.stuck,
            "orphans": self.orphans,
            "answered_again_seconds": None if seconds is None else msgspec.to_builtins(seconds),
        }


def show(worker: Tally, window: Tally) -> str:
    """Both tallies as a table, and what went wrong."""
    rows: list[list[object]] = [["killed", "kills", "answers lost", "stuck", "orphans", "answered again, median s"]]
    for name, tally in (("worker", worker), ("window", window)):
        back = spread(tally.back)
        counts = [sum(tally.kills.values()), len(tally.lost), len(tally.stuck), len(tally.orphans)]
        rows.append([name, *counts, back.p50 if back else None])
    wrong = [*worker.lost, *worker.stuck, *worker.orphans, *window.lost, *window.stuck, *window.orphans]
    moments = [
        f"{name}: {dict(tally.kills)} {dict(tally.signals)}" for name, tally in (("worker", worker), ("window", window))
    ]
    return "\n".join([table(rows), *moments, *wrong])

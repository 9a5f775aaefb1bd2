"""What the Python parties share. Only the standard library: they run in other environments too."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

TOP_K, TOP_P, MIN_P = 40, 0.95, 0.05


@dataclass
class Clock:
    """Times of one answer."""

    begin: float = 0.0
    first: float = 0.0

    def text(self) -> None:
        """A piece of text has come."""
        self.first = self.first or time.perf_counter()


Answer = Callable[[dict[str, Any], Clock], tuple[int, bool]]
"""Request and clock -> tokens, and whether the limit ended the answer."""


def serve(start: Callable[[dict[str, Any]], tuple[str, Answer]]) -> None:
    """Talk until stdin ends. ``start`` gets the settings and gives a name and what answers."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    name, answer = start(json.loads(sys.stdin.readline()))
    print(json.dumps({"ready": name}), file=out, flush=True)
    for line in sys.stdin:
        clock = Clock(time.perf_counter())
        tokens, cut = answer(json.loads(line), clock)
        end = time.perf_counter()
        times = {"first": clock.first - clock.begin, "seconds": end - clock.begin}
        print(json.dumps({**times, "tokens": tokens, "cut": cut}), file=out, flush=True)

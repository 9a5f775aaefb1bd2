"""How fast this computer's RAM is: what a token on the CPU can be compared with.

Arrays far larger than any cache are read (a dot product) and copied by as many threads as compute, after the pattern of
STREAM: bytes read and bytes written count, and the best of some rounds. Generating reads weights, so reading is
what it can reach; where reading is held up by something else, the copy may be the faster one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from engine.worker.threads import physical_cores

ARRAY_BYTES = 256 << 20
"""Of all arrays together; the L3 cache holds little of it."""

ROUNDS = 8


def ram_speed(
    threads: int = 0, size: int = ARRAY_BYTES, rounds: int = ROUNDS, clock: Callable[[], float] = time.perf_counter
) -> float | None:
    """Bytes a second that reading or a copy moves; None where there is no memory for it."""
    count = threads or physical_cores()
    length = max(1, size // 2 // count // 8)
    try:
        pairs = [(np.ones(length), np.ones(length)) for _ in range(count)]
    except MemoryError:
        return None
    moved = count * length * 16
    best = 0.0
    with ThreadPoolExecutor(count) as pool:
        for work in (lambda pair: np.dot(*pair), lambda pair: np.copyto(*pair)):
            for _ in range(rounds):
                start = clock()
                list(pool.map(work, pairs))
                seconds = clock() - start
                best = max(best, moved / seconds) if seconds > 0 else best
    return best or None

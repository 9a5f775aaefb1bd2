"""How long a search over a large history takes: the first page, as it is shown while somebody types.

Run: python -m tests.bench.search_speed [--database FILE] [--messages 1000000] [--queries 400] [--json FILE]

Without a file a history is made first, and its index built. Each query is asked once, in an order that mixes kinds:
words of every frequency, beginnings of two letters and more, two and three words, words side by side, Chinese, words
that are in one message only, and what is nowhere.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from engine.chat.store import Store
from tests.bench.big_history import CJK, Size, Vocabulary, fill
from tests.bench.figures import percentile

SEED = 7


def queries(vocabulary: Vocabulary, count: int, seed: int = 3) -> Iterator[tuple[str, str]]:
    """Kind and text of each query."""
    chooser = random.Random(seed)
    common, all_words = vocabulary.words[:300], vocabulary.words
    for _ in range(count // 8):
        word = chooser.choice(all_words)
        yield "common word", chooser.choice(common) + " "
        yield "any word", word
        yield "beginning", chooser.choice(all_words)[: chooser.randint(2, 5)]
        yield "two words", f"{chooser.choice(common)} {chooser.choice(all_words[:3000])}"
        yield "three words", " ".join(chooser.choices(common, k=3))
        sentence = chooser.choice(vocabulary.sentences).rstrip(".").split()
        start = chooser.randrange(max(1, len(sentence) - 2))
        yield "side by side", '"' + " ".join(sentence[start : start + 2]) + '"'
        yield "Chinese", CJK[(place := chooser.randrange(len(CJK) - 2)) : place + 2]
        yield "one message", f"unique{97 * chooser.randrange(10_000):07x}word"


class Taken(NamedTuple):
    """Milliseconds that one query took: of this thread's CPU, and by the clock; whether it found something."""

    cpu: float
    wall: float
    found: bool


def measure(store: Store, count: int) -> dict[str, list[Taken]]:
    """Each query, by kind."""
    taken: dict[str, list[Taken]] = {}
    for kind, query in queries(Vocabulary(SEED), count):
        cpu, wall = time.thread_time(), time.perf_counter()
        hits = store.search(query).hits
        spent = ((time.thread_time() - cpu) * 1000, (time.perf_counter() - wall) * 1000)
        taken.setdefault(kind, []).append(Taken(*spent, bool(hits)))
    return taken


def line_of(kind: str, taken: list[Taken]) -> str:
    """One row of the table."""
    cpu, wall = [one.cpu for one in taken], [one.wall for one in taken]
    figures = f"{percentile(cpu, 0.5):8.1f} {percentile(cpu, 0.95):8.1f} {max(cpu):8.1f} {percentile(wall, 0.95):10.1f}"
    return f"{kind:14} {figures}  {sum(one.found for one in taken)} of {len(taken)} found something"


def main() -> int:
    """Print a table, in milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", type=Path)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=400)
    parser.add_argument("--json", type=Path)
    wish = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = wish.database or Path(folder) / "history.sqlite3"
        if wish.database is None:
            fill(path, Size(max(10, wish.messages // 100), wish.messages, min(5000, wish.messages // 2)), seed=SEED)
        store = Store.open(path)
        begun = time.thread_time()
        while store.build_index():
            pass
        built = time.thread_time() - begun
        taken = measure(store, wish.queries)
        store.close()
        size = path.stat().st_size
    every = [one for many in taken.values() for one in many]
    print(f"{wish.messages} messages, {size / 1e6:.0f} MB with the index, built in {built:.0f} s")
    print(f"{'':14} {'CPU p50':>8} {'p95':>8} {'slowest':>8} {'clock p95':>10}")
    for kind, many in (*taken.items(), ("all", every)):
        print(line_of(kind, many))
    print(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
    if wish.json is not None:
        wish.json.write_text(json.dumps({kind: [one.wall for one in many] for kind, many in taken.items()}))
    return int(not any(one.found for one in every))


if __name__ == "__main__":
    raise SystemExit(main())

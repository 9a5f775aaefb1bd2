"""How long a search over a large history takes: the first page, as it is shown while somebody types.

Run: python -m tests.bench.search_speed [--database FILE] [--messages 1000000] [--queries 400] [--json FILE]

Without a file a history is made first, and its index built. Each query is asked once, in an order that mixes kinds:
words of every frequency, beginnings of two letters and more, two and three words, words side by side, Chinese, words
that are in one message only, and what is nowhere.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

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


def measure(store: Store, count: int) -> tuple[dict[str, list[float]], dict[str, int]]:
    """Milliseconds of each query, and how many of them found something, by kind. Of CPU time: others may be at work."""
    taken: dict[str, list[float]] = {}
    found: dict[str, int] = {}
    for kind, query in queries(Vocabulary(SEED), count):
        begun = time.thread_time()
        hits = store.search(query).hits
        taken.setdefault(kind, []).append((time.thread_time() - begun) * 1000)
        found[kind] = found.get(kind, 0) + bool(hits)
    return taken, found


def main() -> int:
    """Print a table: median, p95 and slowest, milliseconds of CPU time."""
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
        taken, found = measure(store, wish.queries)
        store.close()
        size = path.stat().st_size
    every = [value for values in taken.values() for value in values]
    print(f"{wish.messages} messages, {size / 1e6:.0f} MB with the index, built in {built:.0f} s")
    found["all"] = sum(found.values())
    for kind, values in (*taken.items(), ("all", every)):
        figures = f"{percentile(values, 0.5):8.1f} {percentile(values, 0.95):8.1f} {max(values):8.1f} ms"
        print(f"{kind:14} {figures} {found[kind]:5} of {len(values)} found something")
    if wish.json is not None:
        wish.json.write_text(json.dumps(taken))
    return int(not found["all"])


if __name__ == "__main__":
    raise SystemExit(main())

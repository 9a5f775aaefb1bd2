"""A history of any size: made-up conversations with a vocabulary as uneven as that of real texts.

Run: python -m tests.bench.big_history FILE [--conversations 10000] [--messages 1000000] [--long 5000]
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

from engine.chat import search_index
from engine.chat.store import Store

DAY: Final = 86_400.0
YEARS: Final = 3 * 365 * DAY
SYLLABLES: Final = tuple(a + b for a in "bdfgklmnpr" for b in "aeio")
CJK: Final = "内存显卡模型上下文温度速度多少怎么可以使用文件搜索结果北京东京天气今天"
ROLES: Final = ("user", "assistant")
MODELS: Final = (None, "Made-up 8B")
INSERT_MESSAGE: Final = (
    "INSERT INTO message (id, conversation, parent, role, status, created, model) VALUES (?, ?, ?, ?, 'done', ?, ?)"
)
INSERT_PART: Final = "INSERT INTO part (message, position, kind, content) VALUES (?, 0, 'text', ?)"
INSERT_CONVERSATION: Final = "INSERT INTO conversation (id, title, created, updated, tip) VALUES (?, ?, ?, ?, ?)"


class Vocabulary:
    """Words whose frequency falls with their rank (Zipf's law), and sentences made of them."""

    def __init__(self, seed: int, words: int = 60_000, sentences: int = 30_000) -> None:
        self._random = random.Random(seed)
        self.words = self._make_words(words)
        weights = [1 / (rank + 2.7) for rank in range(words)]
        drawn = self._random.choices(self.words, weights, k=sentences * 11)
        lengths = [self._random.randint(5, 17) for _ in range(sentences)]
        self.sentences, at = [], 0
        for length in lengths:
            piece = drawn[at : at + length] or drawn[:length]
            at += length
            self.sentences.append(" ".join(piece).capitalize() + ".")

    def _make_words(self, count: int) -> list[str]:
        found: dict[str, None] = {}
        while len(found) < count:
            syllables = self._random.randint(1, 2) if len(found) < 400 else self._random.randint(2, 5)
            found["".join(self._random.choices(SYLLABLES, k=syllables)) + self._random.choice(("", "s", "n", "t"))] = (
                None
            )
        return list(found)

    def text(self, number: int) -> str:
        """The text of message ``number``: some sentences, now and then code, Chinese, and a word of its own."""
        pieces = self._random.choices(self.sentences, k=self._random.randint(1, 9))
        if number % 50 == 0:
            pieces.append("".join(self._random.choices(CJK, k=24)) + "。")
        if number % 97 == 0:
            pieces.append(f"unique{number:07x}word")
        return " ".join(pieces)


class Size(NamedTuple):
    """How much is made; ``long`` messages of it in one conversation."""

    conversations: int
    messages: int
    long: int


def lengths(size: Size, chooser: random.Random) -> list[int]:
    """Messages of each conversation; the longest one comes last."""
    rest = size.messages - size.long
    count = size.conversations - 1
    shares = [chooser.paretovariate(1.2) for _ in range(count)]
    total = sum(shares)
    found = [max(2, min(1000, int(rest * share / total))) for share in shares]
    missing = rest - sum(found)
    for number in range(abs(missing)):
        place = number % count
        if missing > 0 or found[place] > 2:
            found[place] += 1 if missing > 0 else -1
    return [*found, size.long]


def rows(size: Size, vocabulary: Vocabulary, now: float, seed: int) -> Iterator[tuple[str, list[str], float]]:
    """Each conversation: id, texts of its messages, time of its last one; oldest first."""
    chooser, number = random.Random(seed), 0
    counts = lengths(size, chooser)
    for place, count in enumerate(counts):
        texts = [vocabulary.text(number + one) for one in range(count)]
        number += count
        yield f"c{place:08d}", texts, now - YEARS * (1 - (place + 1) / len(counts))


def fill(path: Path, size: Size, now: float | None = None, seed: int = 7) -> None:
    """Make the database at ``path``. The rows are written as the store would, but many at once; nothing is indexed."""
    now = time.time() if now is None else now
    Store.open(path).close()
    vocabulary = Vocabulary(seed)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA synchronous = OFF")
        db.execute("BEGIN")
        for id_, texts, last in rows(size, vocabulary, now, seed):
            names = [f"{id_}m{one:05d}" for one in range(len(texts))]
            times = [last - 40.0 * (len(texts) - one) for one in range(len(texts))]
            db.execute(INSERT_CONVERSATION, (id_, texts[0][:50], times[0], times[-1], names[-1]))
            db.executemany(
                INSERT_MESSAGE,
                [
                    (name, id_, names[one - 1] if one else None, ROLES[one % 2], times[one], MODELS[one % 2])
                    for one, name in enumerate(names)
                ],
            )
            db.executemany(INSERT_PART, list(zip(names, texts, strict=True)))
        search_index.begin_anew(db)
        db.execute("COMMIT")


def main() -> int:
    """Make the file and say how long that took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--conversations", type=int, default=10_000)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--long", type=int, default=5_000)
    wish = parser.parse_args()
    begun = time.monotonic()
    fill(wish.file, Size(wish.conversations, wish.messages, wish.long))
    print(f"{wish.file}: {wish.file.stat().st_size / 1e6:.0f} MB in {time.monotonic() - begun:.0f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

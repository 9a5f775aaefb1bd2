"""Spoilt GGUF headers by the hundred thousand: the reader answers each one, quickly and in little memory.

    nice -n 19 python -m tests.bench.header_fuzz [--count 1000000] [--seconds 600] [--seed 1] [--json FILE]

Seeds are whole headers of several kinds (model, part of a set, projector, adapter, lists). Each input is one of them
with one to eight changes: bytes, bits, numbers that are likely to hurt (0, 2^31, 2^63, 2^64 - 1), cuts, doubled and
removed stretches, a stretch of another seed; every fourth is read with all its entries, as a load does. A failure is
anything but a header or a reason: an exception, a header that needs more bytes than the file has, a result that the
index cannot keep, more than `SLOW_S` of processor time. A failing input is written to the folder of ``--keep``.
"""

from __future__ import annotations

import argparse
import io
import random
import resource
import struct
import sys
import time
import traceback
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from engine.library.gguf import Contents, HeaderProblem, ModelHeader, read_contents, read_header
from engine.library.roles import is_companion, role_of
from tests.bench.figures import machine_line, spread, table
from tests.fakes.tiny_gguf import ARR, F32, I32, STR, U8, U32, U64, gguf, split_set, tiny_llama

SLOW_S = 1.0
ROOM = 1 << 20
"""Bytes that a file claims to have behind its header."""
NUMBERS = (0, 1, 2, 7, 8, 9, 127, 255, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 63) - 1, 1 << 63)
NUMBERS_64 = (*NUMBERS, (1 << 64) - 1, (1 << 64) - 8)


class Campaign(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it. Times in microseconds of processor time, memory in MB."""

    inputs: int
    failures: int
    results: dict[str, int]
    p50: float
    p95: float
    max: float
    cpu_s: float
    memory_growth: float


def seeds() -> list[bytes]:
    """Headers, without the tensor data behind them."""
    small = gguf(
        [
            ("general.architecture", STR, "llama"),
            ("llama.block_count", U32, 2),
            ("llama.context_length", U64, 4096),
            ("general.license", STR, "mit"),
            ("list", ARR, (I32, list(range(20)))),
            ("texts", ARR, (STR, ["a", "bb", "ccc"])),
            ("bytes", ARR, (U8, [1, 2, 3])),
        ]
    )
    clip = gguf([("general.architecture", STR, "clip"), ("general.type", STR, "mmproj")])
    adapter = gguf([("general.type", STR, "adapter"), ("adapter.lora.alpha", F32, 16.0)])
    whole = [tiny_llama(tokens=["a", "b", "c"]), *split_set(2).values()]
    return [small, clip, adapter, *(_header_of(data) for data in whole)]


def _header_of(data: bytes) -> bytes:
    found = read_header(io.BytesIO(data), len(data))
    return data[: found.data_start] if isinstance(found, ModelHeader) else data[:4096]


def mutated(choice: random.Random, all_seeds: Sequence[bytes]) -> bytes:
    """One input."""
    data = bytearray(choice.choice(all_seeds))
    for _ in range(choice.choice((1, 1, 1, 2, 2, 3, 5, 8))):
        if data:
            choice.choice(CHANGES)(choice, data, all_seeds)
    return bytes(data)


def _bytes(choice: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    data[choice.randrange(len(data))] = choice.randrange(256)


def _bit(choice: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    data[choice.randrange(len(data))] ^= 1 << choice.randrange(8)


def _number_32(choice: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    at = choice.randrange(len(data))
    data[at : at + 4] = struct.pack("<I", choice.choice(NUMBERS) & 0xFFFFFFFF)[: len(data) - at]


def _number_64(choice: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    at = choice.randrange(len(data))
    data[at : at + 8] = struct.pack("<Q", choice.choice(NUMBERS_64))[: len(data) - at]


def _cut(choice: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    del data[choice.randrange(len(data)) :]


def _doubled(choice: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    at, length = choice.randrange(len(data)), choice.randrange(1, 64)
    data[at:at] = data[at : at + length]


def _removed(choice: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    at = choice.randrange(len(data))
    del data[at : at + choice.randrange(1, 64)]


def _spliced(choice: random.Random, data: bytearray, all_seeds: Sequence[bytes]) -> None:
    other = choice.choice(all_seeds)
    at, start = choice.randrange(len(data)), choice.randrange(len(other))
    data[at : at + 32] = other[start : start + choice.randrange(1, 128)]


CHANGES = (_bytes, _bytes, _bit, _number_32, _number_64, _number_64, _cut, _doubled, _removed, _spliced)


def look(data: bytes, *, whole: bool) -> str:
    """What the reader made of ``data``. Raises what is a failure."""
    size = len(data) + ROOM
    found = (read_contents if whole else read_header)(io.BytesIO(data), size)
    if isinstance(found, Contents):
        found = found.header
    if isinstance(found, ModelHeader):
        assert found.implied_size <= size, "it needs more bytes than there are"
        role_of(found)
        is_companion(found)
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(found), type=ModelHeader) == found
        return "header"
    assert isinstance(found, HeaderProblem)
    assert found.message
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(found), type=HeaderProblem) == found
    return found.state.value


def run(count: int, seconds: float, seed: int, keep: Path | None = None) -> Campaign:
    """Spoil headers until ``count`` or ``seconds`` of processor time are reached."""
    choice = random.Random(seed)
    all_seeds = seeds()
    results: Counter[str] = Counter()
    times = array("f")
    failures = 0
    before, begun = _memory_mb(), time.process_time()
    for number in _upto(count, begun + seconds):
        data = mutated(choice, all_seeds)
        start = time.process_time()
        try:
            results[look(data, whole=number % 4 == 0)] += 1
        except Exception:  # whatever it is, it is what this looks for
            failures += 1
            _tell(number, data, keep)
        took = time.process_time() - start
        times.append(took * 1e6)
        if took > SLOW_S:
            failures += 1
            _tell(number, data, keep)
    grown = _memory_mb() - before
    spent = spread(times)
    assert spent is not None
    return Campaign(
        inputs=len(times),
        failures=failures,
        results=dict(results.most_common()),
        p50=spent.p50,
        p95=spent.p95,
        max=spent.max,
        cpu_s=time.process_time() - begun,
        memory_growth=grown,
    )


def _upto(count: int, end: float) -> Iterator[int]:
    for number in range(count):
        if number % 1000 == 0 and time.process_time() > end:
            return
        yield number


def _tell(number: int, data: bytes, keep: Path | None) -> None:
    traceback.print_exc()
    print(f"input {number}: {data[:64].hex()}", file=sys.stderr)
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        (keep / f"{number}.gguf").write_bytes(data)


def _memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it and print what came of it; 1 when there was a failure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args(arguments)
    found = run(chosen.count, chosen.seconds, chosen.seed, chosen.keep)
    print(machine_line())
    rows = [
        ("inputs", f"{found.inputs:,}"),
        ("failures", f"{found.failures:,}"),
        ("time an input, µs: p50, p95, max", f"{found.p50:.0f}, {found.p95:.0f}, {found.max:.0f}"),
        ("processor time, s", f"{found.cpu_s:.0f}"),
        ("growth of memory, MB", f"{found.memory_growth:.0f}"),
        *((f"answer: {name}", f"{number:,}") for name, number in found.results.items()),
    ]
    print(table(rows))
    if chosen.json is not None:
        chosen.json.write_bytes(msgspec.json.encode(found))
    return 1 if found.failures else 0


if __name__ == "__main__":
    sys.exit(main())

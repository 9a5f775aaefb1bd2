"""Time to the first token over the turns of a conversation whose messages are of equal length.

Only the new message has to be read in each turn, so the last turn should take hardly longer than the first one: what
is left is attention over the tokens before, and the template. How much attention costs is asked of llama-bench: it
reads as many tokens behind as many. Use, in the checkout:

    .venv/bin/python -m tests.bench.turns [--turns 10] [--words 60] [--answer 64] [--device Vulkan0] [--model FILE]
        [--exclusive]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from engine.client.command import worker_environment
from engine.protocol.types import ChatMessage, GenerationStats
from engine.worker.threads import physical_cores
from tests.bench.alone import EXCLUSIVE, alone
from tests.bench.build_llama_bench import build, engine_in_cache
from tests.bench.figures import machine_line, table
from tests.engine.worker.driver import Worker, assistant, starter_model, user

WORDS = ["tide", "harbour", "lantern", "rope", "gull", "anchor", "fog", "pilot", "quay", "storm", "chart", "keel"]


def message(number: int, words: int) -> ChatMessage:
    """A message of about ``words`` tokens, another one for each number."""
    text = " ".join(WORDS[(number * 7 + place * 5) % len(WORDS)] for place in range(words))
    return user(f"Message {number:03}: {text}.")


def talk_through(worker: Worker, name: str, turns: int, words: int, answer: int) -> list[GenerationStats]:
    """The figures of each turn of one conversation."""
    talk: list[ChatMessage] = []
    figures = []
    for turn in range(turns):
        talk.append(message(turn + 10 * len(name), words))
        text, end = worker.finished(*talk, max_tokens=answer, conversation=name)
        talk.append(assistant(text or "."))
        figures.append(end.stats)
    return figures


def native_ms(options: argparse.Namespace, turn: GenerationStats) -> float:
    """What llama-bench needs for the tokens that ``turn`` read, behind those that were in the cache, milliseconds."""
    program = options.llama_bench or build(engine_in_cache())
    words = ["-m", options.model or starter_model(), "-n", 0, "-p", turn.prompt_tokens - turn.cached_tokens]
    words += ["-d", turn.cached_tokens, "-r", options.rounds, "-b", 512, "-t", options.threads or physical_cores()]
    words += ["-dev", "none"] if options.device == "cpu" else ["-dev", options.device, "-ngl", 99]
    command = [*(EXCLUSIVE if options.exclusive else ()), str(program), *map(str, words), "-o", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return statistics.median(json.loads(done.stdout)[0]["samples_ns"]) / 1e6


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=None, help="default: the starter model")
    parser.add_argument("--device", default="cpu", help="ggml's name, such as Vulkan0")
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--words", type=int, default=60)
    parser.add_argument("--answer", type=int, default=64, help="tokens of each answer")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--exclusive", action="store_true", help="real-time priority for both")
    parser.add_argument("--llama-bench", type=Path, help="default: built against the engine of this environment")
    options = parser.parse_args()
    print(machine_line())
    command = [*(EXCLUSIVE if options.exclusive else ()), sys.executable, "-P", "-m", "engine.worker"]
    with (
        alone(options.exclusive),
        tempfile.TemporaryDirectory() as folder,
        Worker(log=Path(folder) / "log", env=worker_environment(os.environ), command=command) as worker,
    ):
        path = options.model or starter_model()
        worker.loaded(path, n_ctx=4096, device=options.device, n_threads=options.threads)
        worker.finished(message(999, options.words), max_tokens=8)
        runs = [
            talk_through(worker, "c" * (number + 1), options.turns, options.words, options.answer)
            for number in range(options.rounds)
        ]
        own = [native_ms(options, runs[0][place]) for place in (0, -1)]
    rows: list[tuple[object, ...]] = [("turn", "prompt", "computed", "first token ms", "ms / token read")]
    for turn, stats in enumerate(zip(*runs, strict=True)):
        computed = stats[0].prompt_tokens - stats[0].cached_tokens
        first = statistics.median(one.ttft_ms for one in stats)
        rows.append((turn + 1, stats[0].prompt_tokens, computed, first, first / computed))
    print(table(rows))
    first, last = (statistics.median(run[place].ttft_ms for run in runs) for place in (0, -1))
    print(f"last turn / turn 1, medians of {options.rounds}: {last / first:.2f} (aim: 1.2)")
    print(f"llama-bench, as many tokens behind as many: {own[0]:.1f} and {own[1]:.1f} ms, {own[1] / own[0]:.2f}")
    print(f"worker / llama-bench: turn 1 {first / own[0]:.2f}, last turn {last / own[1]:.2f}")


if __name__ == "__main__":
    main()

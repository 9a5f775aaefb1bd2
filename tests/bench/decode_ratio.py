"""Decode speed of the worker, through its process and protocol, against llama-bench of the same build.

Both run in turns, so that a machine with other work slows both. llama-bench does not sample; the worker samples, turns
tokens into text and writes frames. Use, in the checkout:

    .venv/bin/python -m tests.bench.decode_ratio [--rounds 5] [--threads 2]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

from engine.protocol.types import FinishReason, Sampling
from tests.bench.build_llama_bench import build, engine_in_cache
from tests.engine.worker.driver import Worker, starter_model, user

QUESTION = user("Write a very long story about a lighthouse keeper and the sea. Do not stop early.")


def bench_tps(program: Path, model: Path, threads: int, tokens: int) -> float:
    """Tokens per second of llama-bench's text generation, one repetition after its warm-up."""
    command = [program, "-m", model, "-p", "0", "-n", str(tokens), "-t", str(threads), "-r", "1", "-o", "json"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True)
    (result,) = json.loads(done.stdout)
    return float(result["avg_ts"])


def worker_tps(worker: Worker, tokens: int, seed: int) -> float:
    """Tokens per second of one answer, after its first token; default sampling. Warmed up, as llama-bench does."""
    worker.finished(QUESTION, sampling=Sampling(seed=seed), max_tokens=tokens)
    for attempt in range(20):
        _, end = worker.finished(QUESTION, sampling=Sampling(seed=seed + 1000 * attempt), max_tokens=tokens)
        if end.reason is FinishReason.LENGTH:
            return end.stats.decode_tps
    raise RuntimeError("the model ends its answer before the wanted number of tokens")


def main() -> None:
    """Run the rounds and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=None, help="default: the starter model")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--tokens", type=int, default=128)
    options = parser.parse_args()
    model = options.model or starter_model()
    program = build(engine_in_cache())
    pairs = []
    with tempfile.TemporaryDirectory() as folder, Worker(log=Path(folder) / "worker.log") as worker:
        worker.loaded(model, n_threads=options.threads, n_ctx=1024, device="cpu")
        worker_tps(worker, options.tokens, 0)
        print("round  llama-bench  worker  ratio")
        for number in range(options.rounds):
            native = bench_tps(program, model, options.threads, options.tokens)
            ours = worker_tps(worker, options.tokens, number)
            pairs.append((native, ours))
            print(f"{number + 1:5}  {native:11.1f}  {ours:6.1f}  {ours / native:5.3f}", flush=True)
    native, ours = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(ours / native for native, ours in pairs)
    best = max(ours for _, ours in pairs) / max(native for native, _ in pairs)
    print(f"median {native:10.1f}  {ours:6.1f}  {ratio:5.3f}   best against best {best:5.3f}")


if __name__ == "__main__":
    main()

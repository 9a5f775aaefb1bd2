"""First token of a long conversation after a restart: its KV cache from the file, against computing it again.

A worker with an empty folder reads the conversation, which is the computation, and writes the file when it was idle for
half a minute. Then fresh workers are asked for one token each. On a machine with other work the clock says little;
beside it stands the processor time of the worker for the answer. Use, in the checkout:

    .venv/bin/python -m tests.bench.restore [--tokens 4000] [--device Vulkan0] [--model FILE] [--rounds 3]
        [--numbered] [--always]
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from engine.client.command import worker_environment
from engine.protocol.caching import CachePolicy
from engine.protocol.frames import Load, Loaded
from engine.protocol.types import ChatMessage, GenerationStats, LoadOptions
from tests.bench.big_gguf import numbered_words
from tests.bench.decode_ratio import cpu_seconds
from tests.bench.figures import machine_line, table
from tests.engine.worker.driver import Worker, starter_model, user

WORD = "The tide of day {} came late. "
DISK = 64 << 30
MARGIN = 64
KEPT_SECONDS = 300.0
EAGER = Path(__file__).with_name("eager_worker.py")


@dataclass(frozen=True)
class Taken:
    """The figures of one answer, and the processor time of the worker for it, milliseconds."""

    stats: GenerationStats
    cpu: float


@dataclass(frozen=True)
class Setting:
    """What is measured. ``always``: the file is read also where computing would be faster."""

    model: Path
    options: LoadOptions
    folder: Path
    always: bool

    def ask(self, log: Path, messages: tuple[ChatMessage, ...], *, keep: bool = False) -> Taken:
        """One token in a fresh worker. ``keep``: wait until it has written its cache, which it does when it is idle."""
        command = [sys.executable, "-P", str(EAGER)] if self.always else None
        with Worker(log=log, env=worker_environment(os.environ), command=command) as worker:
            cache = CachePolicy(memory=0, disk=DISK, folder=str(self.folder))
            load = Load(id=worker.new_id(), path=str(self.model), options=self.options, cache=cache)
            worker.send(load)
            loaded = worker.until_terminal(load.id)[1]
            assert isinstance(loaded, Loaded), loaded
            worker.finished(user("Hello."), max_tokens=1, conversation="warm-up", temporary=True)
            begin = cpu_seconds(worker.process.pid)
            stats = worker.finished(*messages, max_tokens=1, conversation="c")[1].stats
            taken = Taken(stats, 1000 * (cpu_seconds(worker.process.pid) - begin))
            deadline = time.monotonic() + KEPT_SECONDS
            while keep and not self.files():
                if time.monotonic() > deadline:
                    raise SystemExit("the worker wrote no file")
                time.sleep(0.5)
            return taken

    def files(self) -> list[Path]:
        """Files that are whole."""
        return [path for path in self.folder.glob("*") if path.suffix != ".part"]


def long_message(tokens: int, *, numbered: bool) -> ChatMessage:
    """About as many tokens of text. ``numbered``: of words that `big_gguf`'s vocabulary has."""
    if numbered:
        return user(numbered_words(tokens - 2))
    return user("".join(WORD.format(day) for day in range(tokens // 11)))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=None, help="default: the starter model")
    parser.add_argument("--device", default="cpu", help="ggml's name, such as Vulkan0")
    parser.add_argument("--tokens", type=int, default=4000)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--numbered", action="store_true", help="for a model of tests.bench.big_gguf")
    parser.add_argument("--always", action="store_true", help="read the file also where computing is faster")
    options = parser.parse_args()
    print(machine_line(), flush=True)
    load = LoadOptions(n_ctx=2 * options.tokens, device=options.device, n_threads=options.threads)
    messages = (long_message(options.tokens, numbered=options.numbered),)
    with tempfile.TemporaryDirectory() as folder:
        log, kv = Path(folder) / "log", Path(folder) / "kv"
        setting = Setting(options.model or starter_model(), load, kv, always=options.always)
        computed = setting.ask(log, messages, keep=True)
        print(f"computed: {computed.stats.ttft_ms:.0f} ms, {computed.cpu:.0f} ms of processor time", flush=True)
        size = sum(path.stat().st_size for path in setting.files()) / 2**20
        restored = [setting.ask(log, messages) for _ in range(options.rounds)]
    rows: list[tuple[object, ...]] = [("", "tokens", "file MiB", "first token ms", "CPU ms", "ratio", "CPU ratio")]
    rows.append(("computed", computed.stats.prompt_tokens, size, computed.stats.ttft_ms, computed.cpu, "", ""))
    for number, one in enumerate(restored, 1):
        if one.stats.cached_tokens < one.stats.prompt_tokens - MARGIN:
            message = f"the file was not used: {one.stats.cached_tokens} of {one.stats.prompt_tokens} tokens"
            raise SystemExit(f"{message}; computing took {one.stats.ttft_ms:.0f} ms; see --always")
        ratio, cpu = one.stats.ttft_ms / computed.stats.ttft_ms, one.cpu / computed.cpu
        row = (f"file, round {number}", one.stats.prompt_tokens, size, one.stats.ttft_ms, one.cpu)
        rows.append((*row, f"{ratio:.3f}", f"{cpu:.3f}"))
    print(table(rows))
    median = statistics.median(one.stats.ttft_ms for one in restored) / computed.stats.ttft_ms
    print(f"restore / recompute, median: {median:.3f} (aim on a GPU: 0.2)")


if __name__ == "__main__":
    main()

"""First token of a long conversation after a restart: its KV cache from the file, against computing it again.

Each round starts a worker with an empty folder, reads the conversation, ends the worker, and asks a fresh worker for
one token with the file and another one without. Use, in the checkout:

    .venv/bin/python -m tests.bench.restore [--tokens 4000] [--device Vulkan0] [--model FILE] [--rounds 3]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

from engine.protocol.caching import CachePolicy
from engine.protocol.frames import Load, Loaded
from engine.protocol.types import ChatMessage, GenerationStats, LoadOptions
from tests.bench.figures import machine_line, table
from tests.engine.worker.driver import Worker, starter_model, user

WORD = "The tide of day {} came late. "
DISK = 64 << 30
MARGIN = 64


@dataclass(frozen=True)
class Setting:
    """What is measured."""

    model: Path
    options: LoadOptions
    folder: Path

    def ask(self, log: Path, messages: tuple[ChatMessage, ...], *, disk: int) -> GenerationStats:
        """One token in a fresh worker."""
        with Worker(log=log) as worker:
            cache = CachePolicy(memory=0, disk=disk, folder=str(self.folder))
            load = Load(id=worker.new_id(), path=str(self.model), options=self.options, cache=cache)
            worker.send(load)
            loaded = worker.until_terminal(load.id)[1]
            assert isinstance(loaded, Loaded), loaded
            worker.finished(user("Hello."), max_tokens=1, conversation="warm-up", temporary=True)
            return worker.finished(*messages, max_tokens=1, conversation="c")[1].stats


def long_message(tokens: int) -> ChatMessage:
    """About as many tokens of text."""
    return user("".join(WORD.format(day) for day in range(tokens // 11)))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=None, help="default: the starter model")
    parser.add_argument("--device", default="cpu", help="ggml's name, such as Vulkan0")
    parser.add_argument("--tokens", type=int, default=4000)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    rows: list[tuple[object, ...]] = [("round", "tokens", "file MiB", "restore ms", "recompute ms", "ratio")]
    ratios = []
    print(machine_line())
    for number in range(options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            kv = Path(folder) / "kv"
            load = LoadOptions(n_ctx=2 * options.tokens, device=options.device, n_threads=options.threads)
            setting = Setting(options.model or starter_model(), load, kv)
            messages = (long_message(options.tokens),)
            setting.ask(Path(folder) / "log", messages, disk=DISK)
            size = sum(path.stat().st_size for path in kv.iterdir()) / 2**20
            restored = setting.ask(Path(folder) / "log", messages, disk=DISK)
            computed = setting.ask(Path(folder) / "log", messages, disk=0)
        if restored.cached_tokens < restored.prompt_tokens - MARGIN:
            raise SystemExit(f"the file was not used: {restored.cached_tokens} of {restored.prompt_tokens} tokens")
        ratios.append(restored.ttft_ms / computed.ttft_ms)
        rows.append((number + 1, computed.prompt_tokens, size, restored.ttft_ms, computed.ttft_ms, f"{ratios[-1]:.3f}"))
    print(table(rows))
    print(f"restore / recompute, median: {statistics.median(ratios):.3f} (aim on a GPU: 0.2)")


if __name__ == "__main__":
    main()

"""Whether samplers inside the compute graph (``llama_set_sampler``) are worth it on a device.

The same answers are decoded with top-k in the graph, so that only its candidates come back, and with all logits copied
to the sampler as the worker does it. Both ways in turns; the tokens have to be the same. Use, in the checkout:

    .venv/bin/python -m tests.bench.backend_sampling [--device Vulkan0] [--model FILE] [--tokens 96] [--rounds 5]
"""

from __future__ import annotations

import argparse
import ctypes
import os
import statistics
import time
from pathlib import Path

from engine.backends.catalogue import Catalogue
from engine.protocol.types import FlashAttention, LoadOptions, Sampling
from engine.worker.cancel import CancelFlag
from engine.worker.loader import Loader
from engine.worker.log import NativeLog
from engine.worker.native import load_llama
from engine.worker.sampler import Sampler
from engine.worker.templates.process import TemplateProcess
from tests.bench.figures import machine_line, table
from tests.engine.worker.driver import starter_model

BEGIN = "Once upon a time there was a lighthouse keeper"
IN_GRAPH = 64
"""Candidates that come back: more than any usual chain looks at."""

CONTEXT = 512


class Bench:
    """A loaded model, decoded in a plain loop."""

    def __init__(self, model: Path, device: str, threads: int, *, flash: bool) -> None:
        self._llama = load_llama(NativeLog(fd=os.open(os.devnull, os.O_WRONLY)))
        self._api, self._cancel, self._templates = self._llama.api, CancelFlag(), TemplateProcess()
        catalogue = Catalogue.load(self._llama.ggml, self._llama.library)
        loader = Loader(self._llama, catalogue, self._templates, self._cancel)
        flash_attention = FlashAttention.AUTO if flash else FlashAttention.OFF
        options = LoadOptions(n_ctx=CONTEXT, device=device, n_threads=threads, flash_attention=flash_attention)
        self._loaded = loader.load(model, options, lambda _parts: None)
        self.device = self._loaded.info.device.name

    def run(self, sampling: Sampling, tokens: int, *, in_graph: bool) -> tuple[list[int], float, float]:
        """Chosen tokens, and medians for one token: wall and processor time of this thread, microseconds."""
        api, context, vocabulary = self._api, self._loaded.context, self._loaded.vocabulary
        sampler = Sampler(self._llama, sampling, n_vocab=vocabulary.size, n_ctx=CONTEXT, vocab=vocabulary.pointer)
        graph = api.llama_sampler_chain_init(api.llama_sampler_chain_default_params())
        api.llama_sampler_chain_add(graph, api.llama_sampler_init_top_k(IN_GRAPH))
        if in_graph and not api.llama_set_sampler(context, 0, graph):
            raise SystemExit("this device takes no sampler into its graph")
        api.llama_memory_clear(api.llama_get_memory(context), True)
        prompt = vocabulary.tokenize(BEGIN, special=False)
        cells = (ctypes.c_int32 * len(prompt))(*prompt)
        api.llama_decode(context, api.llama_batch_get_one(cells, len(prompt)))
        cell = (ctypes.c_int32 * 1)()
        batch, chosen, wall, cpu = api.llama_batch_get_one(cell, 1), [], [], []
        for _ in range(tokens):
            begin, used = time.perf_counter(), time.thread_time()
            cell[0] = api.llama_sampler_sample(sampler.chain, context, -1)
            api.llama_decode(context, batch)
            api.llama_synchronize(context)
            wall.append(1e6 * (time.perf_counter() - begin))
            cpu.append(1e6 * (time.thread_time() - used))
            chosen.append(int(cell[0]))
        api.llama_set_sampler(context, 0, None)
        api.llama_sampler_free(graph)
        sampler.close()
        return chosen, statistics.median(wall), statistics.median(cpu)

    def close(self) -> None:
        """Free the model."""
        self._loaded.close()
        self._templates.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=None, help="default: the starter model")
    parser.add_argument("--device", default="cpu", help="ggml's name, such as Vulkan0")
    parser.add_argument("--tokens", type=int, default=96)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--no-flash-attention", action="store_true", help="for software drivers")
    options = parser.parse_args()
    flash = not options.no_flash_attention
    bench = Bench(options.model or starter_model(), options.device, options.threads, flash=flash)
    rows: list[tuple[object, ...]] = [("sampling", "where", "wall us/token", "CPU us/token", "same tokens")]
    for name, sampling in (("greedy", Sampling(temperature=0)), ("usual", Sampling(seed=1))):
        runs = [
            (place, bench.run(sampling, options.tokens, in_graph=place == "graph"))
            for _ in range(options.rounds)
            for place in ("sampler", "graph")
        ]
        same = all(run[0] == runs[0][1][0] for _, run in runs)
        for place in ("sampler", "graph"):
            found = [run for where, run in runs if where == place]
            wall, cpu = (statistics.median(values) for values in zip(*((w, c) for _, w, c in found), strict=True))
            rows.append((name, place, wall, cpu, "yes" if same else "no"))
    bench.close()
    print(bench.device, machine_line(), sep="\n")
    print(table(rows))


if __name__ == "__main__":
    main()

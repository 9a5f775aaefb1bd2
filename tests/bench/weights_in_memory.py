"""A token's processor time with weights that are mapped, and with weights that were read into huge pages.

The same model twice in one process, in turns, with one thread for computing. Use, in the checkout:

    GLIBC_TUNABLES=glibc.malloc.hugetlb=1 .venv/bin/python -m tests.bench.weights_in_memory [--model FILE] [--rounds 25]
"""

from __future__ import annotations

import argparse
import ctypes
import os
import statistics
import time
from pathlib import Path

from engine.backends.catalogue import Catalogue
from engine.protocol.types import LoadOptions
from engine.worker.cancel import CancelFlag
from engine.worker.loader import Loader
from engine.worker.log import NativeLog
from engine.worker.model import LoadedModel
from engine.worker.native import Llama, load_llama
from engine.worker.templates.process import TemplateProcess
from tests.bench.figures import machine_line, table
from tests.engine.worker.driver import starter_model

WAYS = {"mapped": True, "read": False}


def decode(llama: Llama, loaded: LoadedModel, tokens: int) -> list[float]:
    """Microseconds of processor time of each token, from an empty cache on."""
    api = llama.api
    cell = ctypes.c_int32(loaded.vocabulary.tokenize("the", special=False)[0])
    batch = api.llama_batch_get_one(ctypes.pointer(cell), 1)
    api.llama_memory_clear(api.llama_get_memory(loaded.context), True)
    used = []
    for _ in range(tokens):
        begin = time.thread_time()
        api.llama_decode(loaded.context, batch)
        used.append(1e6 * (time.thread_time() - begin))
    return used


def huge_pages() -> str:
    """What this process has of them."""
    lines = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()
    return next((" ".join(line.split()) for line in lines if line.startswith("AnonHugePages")), "unknown")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=None, help="default: the starter model")
    parser.add_argument("--tokens", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=25)
    options = parser.parse_args()
    llama = load_llama(NativeLog(fd=os.open(os.devnull, os.O_WRONLY)))
    templates, cancel = TemplateProcess(), CancelFlag()
    loader = Loader(llama, Catalogue.load(llama.ggml, llama.library), templates, cancel)
    models, seconds = {}, {}
    for way, mmap in WAYS.items():
        begin = time.process_time()
        load = LoadOptions(n_ctx=512, device="cpu", n_threads=1, mmap=mmap)
        models[way] = loader.load(options.model or starter_model(), load, lambda _parts: None)
        seconds[way] = time.process_time() - begin
    used: dict[str, list[float]] = {way: [] for way in WAYS}
    for _ in range(options.rounds):
        for way, loaded in models.items():
            used[way] += decode(llama, loaded, options.tokens)
    rows = [
        (way, statistics.median(times), statistics.quantiles(times, n=10)[0], 1000 * seconds[way])
        for way, times in used.items()
    ]
    print(machine_line(), huge_pages(), sep="\n")
    print(table([("weights", "us a token", "its p10", "load, ms of processor time"), *rows]))
    for loaded in models.values():
        loaded.close()
    templates.close()


if __name__ == "__main__":
    main()

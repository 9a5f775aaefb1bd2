"""The same weights in another type, by llama.cpp's own quantiser.

Two files of one model with the same vocabulary: written out in 32 bits it is the large one of a pair, in 4 bits the one
that guesses for it. Use, in the checkout:

    .venv/bin/python -m tests.bench.quantise GOAL --type f32 [--model FILE]
"""

from __future__ import annotations

import argparse
import ctypes
import os
from pathlib import Path
from typing import Final

from engine.backends.catalogue import Catalogue
from engine.worker.log import NativeLog
from engine.worker.native import load_llama
from tests.engine.worker.driver import starter_model

TYPES: Final = {"f32": 0, "f16": 1, "q4_0": 2, "q8_0": 7, "q2_k": 10}
"""``llama_ftype``."""


def quantise(source: Path, goal: Path, name: str, threads: int = 1) -> None:
    """Write ``source`` as ``goal`` with tensors of the type that `TYPES` knows by ``name``.

    Raises:
        RuntimeError: llama.cpp's quantiser failed.
    """
    llama = load_llama(NativeLog(fd=os.open(os.devnull, os.O_WRONLY)))
    Catalogue.load(llama.ggml, llama.library)  # it converts with the processor's backend
    api = llama.api
    params = api.llama_model_quantize_default_params()
    params.ftype, params.nthread, params.allow_requantize = TYPES[name], threads, True
    result = api.llama_model_quantize(os.fsencode(source), os.fsencode(goal), ctypes.byref(params))
    if result:
        raise RuntimeError(f"the quantiser ended with {result}")


def main() -> None:
    """Write one file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("goal", type=Path)
    parser.add_argument("--type", choices=sorted(TYPES), required=True)
    parser.add_argument("--model", type=Path, default=None, help="default: the starter model")
    options = parser.parse_args()
    quantise(options.model or starter_model(), options.goal, options.type)
    print(f"{options.goal}: {options.goal.stat().st_size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()

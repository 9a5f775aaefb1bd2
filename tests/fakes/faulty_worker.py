"""The real worker on a device that computes wrongly: its logits are changed on the way out of llama.cpp.

    python tests/fakes/faulty_worker.py MODE

Modes: ``nan`` (no numbers), ``constant`` (one token stands out everywhere), ``garbage`` (logits of other tokens),
``none``.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from engine.worker import process
from engine.worker.log import NativeLog
from engine.worker.native import Llama, load_llama

FAVOURITE = 70


class FaultyApi:
    """The bindings, with another ``llama_get_logits_ith``."""

    def __init__(self, api: Any, mode: str) -> None:
        self._api, self._mode = api, mode

    def __getattr__(self, name: str) -> Any:
        return getattr(self._api, name)

    def llama_get_logits_ith(self, context: Any, index: int) -> Any:
        pointer = self._api.llama_get_logits_ith(context, index)
        model = self._api.llama_get_model(context)
        size = self._api.llama_vocab_n_tokens(self._api.llama_model_get_vocab(model))
        logits = np.ctypeslib.as_array(ctypes.cast(pointer, ctypes.POINTER(ctypes.c_float)), (size,))
        if self._mode == "nan":
            logits[size // 2] = np.nan
        elif self._mode == "constant":
            logits[FAVOURITE] = logits.max() + 1
        elif self._mode == "garbage":
            logits[:] = logits[::-1].copy()
        return pointer


def main() -> int:
    mode = sys.argv[1]

    def load(log: NativeLog) -> Llama:
        llama = load_llama(log)
        return Llama(FaultyApi(llama.api, mode), llama.ggml, llama.library, llama.version, log, llama.callbacks)

    setattr(process, "load_llama", load)  # noqa: B010
    return process.run()


if __name__ == "__main__":
    raise SystemExit(main())

"""The high-level class of llama-cpp-python, of the same build as this program's engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import llama_cpp

from engine.backends.ggml import Ggml
from tests.bench.chat_parties.speaking import MIN_P, TOP_K, TOP_P, Answer, Clock, serve


def start(settings: dict[str, Any]) -> tuple[str, Answer]:
    """Load the model in this process. The backends are plugins in this build; the bindings do not load them."""
    library = Path(llama_cpp.__file__).parent / "lib"
    Ggml.of_process(library).load(library / "libggml-cpu.so")
    llama = llama_cpp.Llama(
        settings["model"],
        n_ctx=settings["context"],
        n_threads=settings["threads"],
        n_threads_batch=settings["threads"],
        n_gpu_layers=0,
        verbose=False,
    )

    def answer(request: dict[str, Any], clock: Clock) -> tuple[int, bool]:
        reason = None
        pieces = 0
        for chunk in llama.create_chat_completion(
            [{"role": "user", "content": request["prompt"]}],
            max_tokens=request["max_tokens"],
            temperature=request["temperature"],
            seed=request["seed"],
            top_k=TOP_K,
            top_p=TOP_P,
            min_p=MIN_P,
            repeat_penalty=1.0,
            stream=True,
        ):
            choice = chunk["choices"][0]
            if choice["delta"].get("content"):
                clock.text()
                pieces += 1
            reason = choice["finish_reason"] or reason
        cut = reason == "length"
        return request["max_tokens"] if cut else pieces, cut

    return f"llama-cpp-python {llama_cpp.__version__}, class Llama", answer


if __name__ == "__main__":
    serve(start)

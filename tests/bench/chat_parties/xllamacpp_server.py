"""xllamacpp: llama.cpp's server inside the process. Runs in an environment of its own, so without this program."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import xllamacpp  # type: ignore[import-not-found]
from speaking import MIN_P, TOP_K, TOP_P, Answer, Clock, serve  # type: ignore[import-not-found]


def start(settings: dict[str, Any]) -> tuple[str, Answer]:
    """Load the model in this process."""
    params = xllamacpp.CommonParams()
    params.model.path = settings["model"]
    params.n_ctx = settings["context"]
    params.n_parallel = 1
    params.n_gpu_layers = 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings["threads"]
    server = xllamacpp.Server(params)

    def answer(request: dict[str, Any], clock: Clock) -> tuple[int, bool]:
        end: dict[str, Any] = {}

        def take(chunk: dict[str, Any]) -> None:
            choice = chunk["choices"][0]
            if choice["delta"].get("content"):
                clock.text()
            if choice["finish_reason"]:
                end.update(chunk)

        server.handle_chat_completions(
            {
                "messages": [{"role": "user", "content": request["prompt"]}],
                "max_tokens": request["max_tokens"],
                "temperature": request["temperature"],
                "seed": request["seed"],
                "top_k": TOP_K,
                "top_p": TOP_P,
                "min_p": MIN_P,
                "stream": True,
            },
            take,
        )
        return end["timings"]["predicted_n"], end["choices"][0]["finish_reason"] == "length"

    return f"xllamacpp {version('xllamacpp')}", answer


if __name__ == "__main__":
    serve(start)

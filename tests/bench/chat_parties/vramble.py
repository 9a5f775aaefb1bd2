"""This program's worker, through its protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.client.blocking import BlockingWorker
from engine.client.calls import generate, load_model
from engine.client.command import worker_command
from engine.protocol.frames import Delta
from engine.protocol.types import ChatMessage, FinishReason, LoadOptions, Sampling
from tests.bench.chat_parties.speaking import MIN_P, TOP_K, TOP_P, Answer, Clock, serve


def start(settings: dict[str, Any]) -> tuple[str, Answer]:
    """Load the model in a worker that ends with this process."""
    worker = BlockingWorker(worker_command())
    hello = worker.start()
    options = LoadOptions(n_ctx=settings["context"], n_threads=settings["threads"], device="cpu")
    load_model(worker, Path(settings["model"]), options, lambda _progress: None)

    def answer(request: dict[str, Any], clock: Clock) -> tuple[int, bool]:
        def take(delta: Delta) -> None:
            if delta.text:
                clock.text()

        sampling = Sampling(
            temperature=request["temperature"], seed=request["seed"], top_k=TOP_K, top_p=TOP_P, min_p=MIN_P
        )
        messages = [ChatMessage(role="user", content=request["prompt"])]
        end = generate(worker, messages, sampling, request["max_tokens"], take)
        return end.stats.generated_tokens, end.reason is FinishReason.LENGTH

    return f"vramble ({hello.engine})", answer


if __name__ == "__main__":
    serve(start)

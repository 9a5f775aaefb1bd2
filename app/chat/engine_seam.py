"""What the chat needs of the engine. `app.worker.service.WorkerService` is it; tests bring their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import SignalInstance

from engine.client.session import WorkerState
from engine.protocol.caching import Overflow
from engine.protocol.frames import Delta, Failed, Finished, Loaded, Progress
from engine.protocol.types import ChatMessage, LoadOptions, ModelInfo, Sampling, Thinking


class AnswerEngine(Protocol):
    """Each `load` and `generate` calls its ``done`` exactly once, after it returned."""

    @property
    def state(self) -> WorkerState:
        """What the engine does now."""

    @property
    def model(self) -> ModelInfo | None:
        """The loaded model."""

    @property
    def last_load(self) -> tuple[Path, LoadOptions] | None:
        """What `generate` loads by itself when no model is loaded."""

    @property
    def state_changed(self) -> SignalInstance:
        """Emits `WorkerState`."""

    @property
    def model_changed(self) -> SignalInstance:
        """Emits `ModelInfo` or None."""

    def load(self, path: Path, options: LoadOptions, done: Callable[[Loaded | Failed], None]) -> int:
        """Load a model; the id is for `cancel`."""

    def generate(
        self,
        messages: Sequence[ChatMessage],
        sampling: Sampling,
        max_tokens: int | None,
        stop: Sequence[str],
        on_delta: Callable[[Delta], None],
        on_progress: Callable[[Progress], None],
        done: Callable[[Finished | Failed], None],
        *,
        thinking: Thinking = Thinking(),  # noqa: B008 - frozen
        prefill: str = "",
        prefill_thinking: str = "",
        conversation: str = "",
        overflow: Overflow = Overflow.STOP,
    ) -> int:
        """Answer; waits for a load that runs. `Failed` with code ``no-model`` when there is none to load."""

    def cancel(self, request_id: int) -> None:
        """End a request as soon as possible."""

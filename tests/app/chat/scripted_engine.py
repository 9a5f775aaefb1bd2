"""An engine that remembers what it was asked and says what the test wants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from engine.client.session import WorkerState
from engine.protocol.caching import Overflow
from engine.protocol.frames import Delta, Failed, Finished, Loaded, Progress
from engine.protocol.types import (
    ChatMessage,
    DeviceInfo,
    DeviceKind,
    FinishReason,
    GenerationStats,
    LoadOptions,
    ModelInfo,
    Sampling,
    Thinking,
)

CPU = DeviceInfo(
    id="CPU",
    backend="CPU",
    name="Processor",
    pci=None,
    kind=DeviceKind.CPU,
    memory_total=None,
    memory_free=None,
    usable=True,
)


def model_info(name: str = "Tiny", n_ctx: int = 2048) -> ModelInfo:
    return ModelInfo(
        path=f"/models/{name}.gguf",
        name=name,
        architecture="llama",
        quant="Q4_0",
        n_params=1,
        size_bytes=1,
        n_ctx=n_ctx,
        n_ctx_train=n_ctx,
        n_layers=1,
        gpu_layers=0,
        device=CPU,
    )


@dataclass
class Asked:
    """One `generate`."""

    id: int
    messages: tuple[ChatMessage, ...]
    sampling: Sampling
    max_tokens: int | None
    on_delta: Callable[[Delta], None]
    on_progress: Callable[[Progress], None]
    done: Callable[[Finished | Failed], None]
    conversation: str = ""
    overflow: Overflow = Overflow.STOP
    thinking: Thinking = field(default_factory=Thinking)
    prefill: str = ""
    prefill_thinking: str = ""

    def say(self, *pieces: str) -> None:
        """One delta for each piece."""
        for piece in pieces:
            self.on_delta(Delta(id=self.id, text=piece))

    def finish(self, reason: FinishReason = FinishReason.STOP, **stats: int) -> None:
        """The last event, when all went well."""
        self.done(Finished(id=self.id, reason=reason, stats=GenerationStats(**stats)))

    def fail(self, code: str, message: str = "It failed.", next_step: str = "") -> None:
        """The last event, when it did not."""
        self.done(Failed(id=self.id, code=code, message=message, next_step=next_step))


@dataclass
class LoadAsked:
    """One `load`."""

    id: int
    path: Path
    options: LoadOptions
    done: Callable[[Loaded | Failed], None]


@dataclass
class Log:
    """Everything in order."""

    generated: list[Asked] = field(default_factory=list)
    loaded: list[LoadAsked] = field(default_factory=list)
    cancelled: list[int] = field(default_factory=list)


class ScriptedEngine(QObject):
    """`AnswerEngine` by hand."""

    state_changed = Signal(object)
    model_changed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.log = Log()
        self.state = WorkerState.READY
        self.model: ModelInfo | None = model_info()
        self.last_load: tuple[Path, LoadOptions] | None = None
        self._ids = 0

    @property
    def asked(self) -> Asked:
        """The last `generate`."""
        return self.log.generated[-1]

    def load(self, path: Path, options: LoadOptions, done: Callable[[Loaded | Failed], None]) -> int:
        self._ids += 1
        self.log.loaded.append(LoadAsked(self._ids, path, options, done))
        return self._ids

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
        self._ids += 1
        how = (conversation, overflow, thinking, prefill, prefill_thinking)
        asked = Asked(self._ids, tuple(messages), sampling, max_tokens, on_delta, on_progress, done, *how)
        self.log.generated.append(asked)
        return self._ids

    def cancel(self, request_id: int) -> None:
        self.log.cancelled.append(request_id)

    def set_state(self, state: WorkerState) -> None:
        self.state = state
        self.state_changed.emit(state)

    def set_model(self, model: ModelInfo | None) -> None:
        self.model = model
        self.model_changed.emit(model)

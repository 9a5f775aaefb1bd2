"""The loaded model: native handles with one owner."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.protocol.types import ModelInfo
from engine.worker.native import Llama, Pointer
from engine.worker.pace import Pace
from engine.worker.prompt_cache import PromptCache
from engine.worker.templates.chat import ChatTemplate
from engine.worker.thinking.tags import ThoughtMarks
from engine.worker.vocabulary import SpecialTextGuard, Vocabulary


@dataclass
class LoadedModel:
    """Everything that a generation needs. ``stops`` are end-of-turn markers that exist only as text."""

    llama: Llama
    model: Pointer
    context: Pointer
    vocabulary: Vocabulary
    guard: SpecialTextGuard
    cache: PromptCache
    template: ChatTemplate
    info: ModelInfo
    n_batch: int
    pace: Pace
    stops: tuple[str, ...] = ()
    marks: ThoughtMarks = field(init=False)

    def __post_init__(self) -> None:
        self.marks = ThoughtMarks.of(self.vocabulary)
        self.vocabulary.go_on_at(self.marks.of_token)

    def close(self) -> None:
        """Free context and model."""
        self.llama.api.llama_free(self.context)
        self.llama.api.llama_model_free(self.model)

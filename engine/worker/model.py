"""The loaded model: native handles with one owner."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from engine.memory.host import read_ram
from engine.memory.tree import Tree, sysroot
from engine.protocol.caching import CachePolicy
from engine.protocol.types import ModelInfo
from engine.worker.conversations import Conversations
from engine.worker.disk_states import DiskStates
from engine.worker.graph_top_k import GraphTopK
from engine.worker.image import ImageEncoder, with_images
from engine.worker.kept_states import KeptStates
from engine.worker.native import Llama, Pointer
from engine.worker.pace import Pace
from engine.worker.prompt_cache import PromptCache
from engine.worker.slots import Slot
from engine.worker.speculation.speculation import Speculation, with_draft
from engine.worker.templates.chat import ChatTemplate
from engine.worker.thinking.tags import ThoughtMarks
from engine.worker.vocabulary import SpecialTextGuard, Vocabulary


@dataclass
class LoadedModel:
    """Everything that a generation needs.

    Attributes:
        cache: The first sequence of the KV cache.
        more: The other sequences, for answers that are written at the same time.
        stops: End-of-turn markers that exist only as text.
        images: The image encoder, where one was asked for.
        speculation: Guesses the next tokens, where that was asked for.
        graph: Sorts out the best tokens on the GPU.
    """

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
    graph: GraphTopK
    stops: tuple[str, ...] = ()
    more: tuple[PromptCache, ...] = ()
    images: ImageEncoder | None = None
    speculation: Speculation | None = None
    marks: ThoughtMarks = field(init=False)
    conversations: Conversations = field(init=False)

    def __post_init__(self) -> None:
        self.keep(CachePolicy(memory=0), "")
        self.marks = ThoughtMarks.of(self.vocabulary)
        self.vocabulary.go_on_at(self.marks.of_token)
        marks = {self.vocabulary.text(token) for token in self.marks.of_token}
        if not marks <= self.vocabulary.control_texts:
            self.guard = SpecialTextGuard(self.vocabulary.control_texts | marks)

    def keep(self, policy: CachePolicy, mark: str) -> None:
        """Keep the caches of conversations, from now on. ``mark``: fingerprint of the load."""
        tree = Tree(sysroot())
        kept = KeptStates(policy.memory, lambda: read_ram(tree).available)
        slots = [Slot(cache) for cache in (self.cache, *self.more)]
        self.conversations = Conversations(slots, kept, DiskStates(policy, mark), self.info.n_ctx)

    def turn_to_other_work(self) -> None:
        """Empty the context; all logits come back from it."""
        self.conversations.leave_all()
        self.graph.leave()

    def take_images(self, images: ImageEncoder | None) -> None:
        """Own the image encoder, and tell its memory."""
        self.images = images
        if images is not None:
            memory = with_images(self.info.memory, images.memory)
            self.info = msgspec.structs.replace(self.info, memory=memory)

    def take_speculation(self, speculation: Speculation | None) -> None:
        """Own what guesses, and tell its memory, or why nothing is guessed."""
        self.speculation = speculation
        if speculation is not None:
            info, warnings = self.info, (*self.info.warnings, *speculation.warnings)
            memory = with_draft(info.memory, speculation.memory)
            self.info = msgspec.structs.replace(info, memory=memory, warnings=warnings)

    def close(self) -> None:
        """Free context, image encoder, draft model and model."""
        self.conversations.close()
        self.close_beside()
        self.graph.close()
        self.llama.api.llama_free(self.context)
        self.llama.api.llama_model_free(self.model)

    def close_beside(self) -> None:
        """Free what was loaded beside the model."""
        if self.speculation is not None:
            self.speculation.close()
        if self.images is not None:
            self.images.close()

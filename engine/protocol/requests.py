"""Frames that go to the worker."""

from __future__ import annotations

import msgspec

from engine.protocol.answers import ChatMessage, Thinking
from engine.protocol.bench import BenchTest
from engine.protocol.caching import CachePolicy, Overflow
from engine.protocol.load_options import LoadOptions
from engine.protocol.probe import Reference
from engine.protocol.sampling import Sampling


class Load(msgspec.Struct, frozen=True, kw_only=True, tag="load"):
    """Load a GGUF file; a loaded model is unloaded first."""

    id: int
    path: str
    options: LoadOptions = LoadOptions()
    cache: CachePolicy = CachePolicy()


class Unload(msgspec.Struct, frozen=True, kw_only=True, tag="unload"):
    """Free the loaded model. Succeeds when there is none."""

    id: int


class Generate(msgspec.Struct, frozen=True, kw_only=True, tag="generate"):
    """Answer the conversation.

    Attributes:
        max_tokens: None: up to the end of the context. Tokens of the thought count.
        stop: Texts that end the answer; in a thought they are just text.
        prefill: The beginning of the answer, which the model goes on with; the deltas hold only what is new.
        prefill_thinking: The thought before ``prefill``; without one the model goes on with the thought.
        conversation: Name of the conversation; its KV cache is kept by that, see `CachePolicy`. "": by no name.
        temporary: Nothing of it goes to a disk.
        overflow: What happens when the context is full.
        endless: Tokens that end the turn are never chosen; for measuring, as llama.cpp's ``--ignore-eos``.
    """

    id: int
    messages: tuple[ChatMessage, ...]
    sampling: Sampling = Sampling()
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    thinking: Thinking = Thinking()
    prefill: str = ""
    prefill_thinking: str = ""
    conversation: str = ""
    temporary: bool = False
    overflow: Overflow = Overflow.STOP
    endless: bool = False


class ListDevices(msgspec.Struct, frozen=True, kw_only=True, tag="list_devices"):
    """Ask again for backends and devices, with memory as it is now (wakes sleeping GPUs)."""

    id: int


class SelfTest(msgspec.Struct, frozen=True, kw_only=True, tag="self_test"):
    """Read off what the loaded model expects at some places of a text; its context is empty before and after.

    With ``reference`` the CPU computes what a device has computed, straight from the file. That is for a worker which
    does nothing else: it takes the lowest priority and holds no model.
    """

    id: int
    reference: Reference | None = None


class DryRun(msgspec.Struct, frozen=True, kw_only=True, tag="dry_run"):
    """Simulate a load: nothing but the header of ``path`` is read, and the loaded model stays.

    For a worker of its own, because llama.cpp may abort on options that no device can take.
    """

    id: int
    path: str
    options: LoadOptions = LoadOptions()


class Bench(msgspec.Struct, frozen=True, kw_only=True, tag="bench"):
    """Time one run of ``test`` with the loaded model; what its context held is lost.

    Without a ``test`` the speed of this computer's RAM is measured, and no model is needed.
    """

    id: int
    test: BenchTest | None = None
    warm: bool = False
    """The warm-up is left out: the last request of this model was the same test."""
    begun: bool = False
    """The last request of this model was a test as well, so its tokens may serve this one."""


class SaveCaches(msgspec.Struct, frozen=True, kw_only=True, tag="save_caches"):
    """Write what is kept of conversations to the disk, as far as `CachePolicy` wants it there: the model is to go.

    Attributes:
        seconds: The most it may take.
    """

    id: int
    seconds: float = 10.0


class Cancel(msgspec.Struct, frozen=True, kw_only=True, tag="cancel"):
    """End the request ``target`` as soon as possible."""

    target: int


class Forget(msgspec.Struct, frozen=True, kw_only=True, tag="forget"):
    """Keep nothing of these conversations any more, in memory or on the disk. Has no answer; waits for what runs."""

    conversations: tuple[str, ...]


Request = Load | Unload | Generate | ListDevices | SelfTest | DryRun | Bench | SaveCaches
ToWorker = Load | Unload | Generate | ListDevices | SelfTest | DryRun | Bench | SaveCaches | Cancel | Forget

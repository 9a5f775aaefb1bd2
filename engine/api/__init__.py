"""Local models for Python programs: the engine of the window, without the window.

>>> from engine.api import ChatModule
>>> cm = ChatModule(model)                              # doctest: +SKIP
>>> print(cm.generate("What is a lighthouse?"))         # doctest: +SKIP
>>> cm.stats()                                          # doctest: +SKIP
'prefill: 133.9 tok/s, decode: 55.8 tok/s'

`ChatModule` chats, `Engine` answers conversations that the program keeps itself, `AsyncEngine` does so under asyncio.
Each has a worker process of its own, which ends with it. Failures that a user can understand are `VrambleError`.
The page is ``docs/python.md``.
"""

from engine.api.async_engine import AsyncEngine
from engine.api.async_stream import AsyncStream
from engine.api.callbacks import DeltaCallback, ProgressCallback, StreamToStdout
from engine.api.chat_module import ChatModule
from engine.api.engine import Engine
from engine.api.figures import Figures
from engine.api.request import Answer, Conversation
from engine.api.stream import Stream
from engine.errors import VrambleError
from engine.protocol.caching import CachePolicy, Overflow
from engine.protocol.frames import Delta
from engine.protocol.types import (
    ChatMessage,
    FinishReason,
    FlashAttention,
    GenerationStats,
    KvType,
    LoadOptions,
    LogitBias,
    LoraAdapter,
    ModelInfo,
    RopeScaling,
    Sampling,
    SplitMode,
    Thinking,
)

__all__ = [
    "Answer",
    "AsyncEngine",
    "AsyncStream",
    "CachePolicy",
    "ChatMessage",
    "ChatModule",
    "Conversation",
    "Delta",
    "DeltaCallback",
    "Engine",
    "Figures",
    "FinishReason",
    "FlashAttention",
    "GenerationStats",
    "KvType",
    "LoadOptions",
    "LogitBias",
    "LoraAdapter",
    "ModelInfo",
    "Overflow",
    "ProgressCallback",
    "RopeScaling",
    "Sampling",
    "SplitMode",
    "Stream",
    "StreamToStdout",
    "Thinking",
    "VrambleError",
]

"""The files of conversations, as the worker uses them: read where that is faster than computing."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from engine.kv_files.names import forget
from engine.kv_files.store import Contents, StateFiles
from engine.protocol.caching import CachePolicy
from engine.worker.prompt_cache import PromptCache
from engine.worker.slots import WORTH

DISK_RATE: Final = 500e6
"""Bytes a second at which a file is taken to be read, checked and put in place, before one was."""

SURELY_FASTER: Final = 0.8
"""A file is read when that takes at most this part of the time that computing would take."""

LEAST: Final = 256
"""Tokens that say something of the speed at which prompts are read."""


class DiskStates:
    """Files of conversations.

    Args:
        mark: Fingerprint of the load: files of another one are not read.
    """

    def __init__(self, policy: CachePolicy, mark: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._folder = Path(policy.folder)
        self._files = StateFiles(self._folder, policy.disk if policy.folder else 0, mark)
        self._clock = clock
        self._rate, self._prefill_tps, self._begin = DISK_RATE, 0.0, 0.0

    @property
    def on(self) -> bool:
        """Whether anything is written."""
        return self._files.on

    def computed(self, tokens: int, seconds: float) -> None:
        """So many tokens of a prompt were read."""
        if tokens >= LEAST and seconds > 0:
            self._prefill_tps = tokens / seconds

    def read(self, conversation: str, cache: PromptCache, prompt: Sequence[int]) -> Contents | None:
        """The file of a conversation, if it spares more than it costs."""
        stored = self._files.find(conversation)
        if stored is None:
            return None
        spared = cache.usable_of(self._files.tokens(stored), (), prompt) - cache.usable(prompt)
        speed = self._prefill_tps or stored.header.prefill_tps
        if spared < WORTH or (speed > 0 and stored.header.state / self._rate > SURELY_FASTER * spared / speed):
            return None
        self._begin = self._clock()
        contents = self._files.read(stored)
        self._prefill_tps = self._prefill_tps or stored.header.prefill_tps
        return contents

    def was_read(self, conversation: str, contents: Contents, done: bool) -> None:
        """The state was put into the context; ``done`` false: llama.cpp refused it."""
        seconds = self._clock() - self._begin
        if done and seconds > 0:
            self._rate = len(contents.state) / seconds
        elif not done:
            forget(self._folder, [conversation])

    def write(
        self, conversation: str, tokens: list[int], state: memoryview, stopped: Callable[[], bool] = lambda: False
    ) -> bool:
        """Keep a state; false: it was not written."""
        return self._files.write(conversation, tokens, state, self._prefill_tps, stopped)

    def fill(
        self,
        conversation: str,
        tokens: list[int],
        size: int,
        put: Callable[[memoryview], bool],
        stopped: Callable[[], bool],
    ) -> bool:
        """Keep a state that ``put`` copies into the file itself; false: it was not written."""
        return self._files.fill(conversation, tokens, size, put, self._prefill_tps, stopped)

    def forget(self, conversations: Sequence[str]) -> None:
        """Delete the files of these conversations, of all models."""
        if str(self._folder) not in {"", "."}:
            forget(self._folder, conversations)

"""Which conversation each sequence of the KV cache holds, and where the caches of the others are.

A conversation that comes back finds its tokens in a sequence, as a copy in RAM, or in a file; what spares most is
taken. A sequence that changes hands is copied to RAM first. ADR 11 says why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.worker.disk_states import DiskStates
from engine.worker.kept_states import KeptState, KeptStates
from engine.worker.slots import WORTH, Slot, best_slot


class Conversations:
    """The caches of one loaded model.

    Args:
        slots: One for each sequence. The first one is used for other work too, after `leave_all`.
        kept: Copies in RAM.
        disk: Files.
        n_ctx: Cells of the KV cache that all sequences share.
    """

    def __init__(self, slots: Sequence[Slot], kept: KeptStates, disk: DiskStates, n_ctx: int) -> None:
        self.slots, self._kept, self.disk, self._n_ctx = tuple(slots), kept, disk, n_ctx
        self._uses = 0

    def turn_to(self, conversation: str, prompt: Sequence[int], *, temporary: bool = False) -> Slot:
        """The slot for an answer to ``prompt``; it holds as much of it as is known anywhere, and is busy now."""
        slot = best_slot(self.slots, conversation, prompt)
        self._clear_way(slot)
        copy = self._best_copy(slot, prompt)
        if copy is not None and copy.conversation == conversation:
            self._kept.take(copy)
        self._leave(slot, conversation, prompt, replaced=copy is not None)
        if copy is not None:
            self._put(slot, copy)
        elif not temporary:
            self._read_file(slot, conversation, prompt)
        self._uses += 1
        slot.scrap = False
        slot.conversation, slot.temporary, slot.used, slot.busy = conversation, temporary, self._uses, True
        return slot

    def room_of(self, slot: Slot) -> int:
        """Tokens that ``slot`` may come to hold while the others stay as they are."""
        return self._n_ctx - sum(other.taken for other in self.slots if other is not slot)

    def make_cells(self, slot: Slot, count: int) -> bool:
        """Let free sequences go until ``count`` more tokens fit into ``slot``; false: others are busy with them."""
        while len(slot.cache.tokens) + count > self.room_of(slot):
            others = [other for other in self.slots if not (other is slot or other.busy) and other.cache.tokens]
            if not others:
                return False
            self._park(oldest := min(others, key=lambda other: other.used))
            oldest.empty()
        return True

    def leave_all(self) -> None:
        """Empty the context, for other work."""
        for slot in self.slots:
            self._park(slot)
            slot.empty()
            slot.scrap = True

    def forget(self, conversations: Sequence[str]) -> None:
        """Nothing of these conversations is kept any more, wherever it was."""
        for conversation in conversations:
            self._kept.forget(conversation)
        for slot in self.slots:
            if slot.conversation in conversations and slot.conversation:
                slot.empty()
        self.disk.forget(conversations)

    def save(self, stopped: Callable[[], bool], *, straight: bool = False) -> bool:
        """Write what is not on the disk yet, until ``stopped``. True: nothing is left to write.

        Args:
            straight: What RAM has no room to copy is copied into the file itself, which cannot be stopped.
        """
        if not self.disk.on:
            return True
        for state in reversed(tuple(self._kept)):
            if not state.written and not self._write(state, stopped):
                return False
            state.written = True
        for slot in sorted(self.slots, key=lambda slot: -slot.used):
            if stopped():
                return False
            if self._is_news(slot):
                self._write_slot(slot, stopped, straight=straight)
        return not stopped()

    def close(self) -> None:
        """Give the copies back."""
        self._kept.clear()

    def _best_copy(self, slot: Slot, prompt: Sequence[int]) -> KeptState | None:
        """The copy in RAM that spares clearly more than what ``slot`` holds."""
        cache = slot.cache
        found = max(self._kept, key=lambda s: cache.usable_of(s.tokens, s.checkpoints, prompt), default=None)
        if found is None:
            return None
        spared = cache.usable_of(found.tokens, found.checkpoints, prompt)
        return found if spared >= cache.usable(prompt) + WORTH else None

    def _leave(self, slot: Slot, conversation: str, prompt: Sequence[int], *, replaced: bool) -> None:
        """Copy what ``slot`` holds if it is another's and would be lost."""
        if slot.holds(conversation) or not slot.cache.tokens:
            return
        lost = len(slot.cache.tokens) - (0 if replaced else slot.cache.usable(prompt))
        if lost >= WORTH:
            self._park(slot)

    def _clear_way(self, slot: Slot) -> None:
        """Move free conversations to RAM: attention looks at all cells that are taken, also at those of others."""
        for other in self.slots:
            if not (other is slot or other.busy) and other.cache.tokens and self._park(other):
                other.empty()

    def _park(self, slot: Slot) -> bool:
        """Copy a sequence to RAM, if it is worth that and there is room; false: it would be lost."""
        cache = slot.cache
        if slot.scrap or len(cache.tokens) < WORTH:
            return True
        data = cache.state.copy() if self._kept.make_room(cache.state.size()) else None
        if data is not None:
            written = slot.temporary or not slot.conversation or slot.written == len(cache.tokens)
            self._kept.put(
                KeptState(
                    slot.conversation, list(cache.tokens), data, tuple(cache.checkpoints), slot.temporary, written
                )
            )
        return data is not None

    def _put(self, slot: Slot, copy: KeptState) -> None:
        if slot.cache.put(copy.tokens, memoryview(copy.data), copy.checkpoints):
            slot.written = len(copy.tokens) if copy.written else 0
        else:
            slot.empty()

    def _read_file(self, slot: Slot, conversation: str, prompt: Sequence[int]) -> None:
        contents = self.disk.read(conversation, slot.cache, prompt)
        if contents is None:
            return
        done = slot.cache.put(contents.tokens, contents.state)
        self.disk.was_read(conversation, contents, done)
        slot.written = len(contents.tokens) if done else 0

    def _is_news(self, slot: Slot) -> bool:
        wanted = bool(slot.conversation) and not (slot.temporary or slot.busy or slot.scrap)
        return wanted and len(slot.cache.tokens) >= WORTH and len(slot.cache.tokens) != slot.written

    def _write_slot(self, slot: Slot, stopped: Callable[[], bool], *, straight: bool) -> None:
        cache, tokens = slot.cache, list(slot.cache.tokens)
        size = cache.state.size()
        if not self._kept.fits(size):
            if straight and self.disk.fill(slot.conversation, tokens, size, cache.state.copy_into, stopped):
                slot.written = len(tokens)
            return
        data = cache.state.copy()
        if data is not None and self._write(KeptState(slot.conversation, tokens, data), stopped):
            slot.written = len(tokens)

    def _write(self, state: KeptState, stopped: Callable[[], bool]) -> bool:
        """False: it was ended by ``stopped``. What cannot be written is not tried again."""
        self.disk.write(state.conversation, state.tokens, memoryview(state.data), stopped)
        return not stopped()

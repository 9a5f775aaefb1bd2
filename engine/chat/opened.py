"""Reading what is stored."""

from __future__ import annotations

from engine.chat import reading
from engine.chat.link import Link
from engine.chat.records import Conversation, Thread
from engine.chat.tree import Tree
from engine.errors import VrambleError


class Reading(Link):
    """The part of the store that reads."""

    def conversation(self, conversation: str) -> Conversation | None:
        """One conversation, deleted or not; None when there is none."""
        with self._translated():
            return reading.conversation(self._db, conversation)

    def thread(self, conversation: str) -> Thread | None:
        """The shown branch, root first; None when the conversation does not exist."""
        with self._translated():
            return reading.thread(self._db, conversation)

    def tail(self, conversation: str, count: int) -> Thread | None:
        """The end of the shown branch, quickly: ``count`` messages, or all that there are. None: ask `thread`."""
        with self._translated():
            return reading.tail(self._db, conversation, count)

    def _existing_thread(self, conversation: str) -> Thread:
        thread = self.thread(conversation)
        if thread is None:
            raise gone("The conversation is no longer there.")
        return thread

    def _tree_with(self, conversation: str, message: str) -> Tree:
        tree, _ = reading.tree(self._db, conversation)
        if message not in tree.parents:
            raise gone("The message is no longer there.")
        return tree


def gone(sentence: str) -> VrambleError:
    """What was asked for is not there any more."""
    return VrambleError("message-gone", sentence, "Open the conversation again.")

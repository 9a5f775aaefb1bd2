"""Messages that wait for the answer before them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from engine.chat.records import Draft


class MessageQueue(QObject):
    """Texts by conversation, first one first. They are kept with the draft, so that a quit loses none.

    Args:
        keep: Saves a draft for a conversation.

    Attributes:
        changed: What waits in a conversation (its id) is other than before.
    """

    changed = Signal(str)

    def __init__(self, keep: Callable[[str | None, Draft], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._keep = keep
        self._waiting: dict[str, list[str]] = {}
        self._typed: dict[str | None, Draft] = {}

    def of(self, conversation: str | None) -> tuple[str, ...]:
        """What waits in ``conversation``."""
        return tuple(self._waiting.get(conversation or "", ()))

    def add(self, conversation: str, text: str) -> None:
        """Send ``text`` after what waits already."""
        self._waiting.setdefault(conversation, []).append(text)
        self._tell(conversation)

    def take(self, conversation: str, number: int = 0) -> str | None:
        """Take one out: to be sent, edited or dropped; None when there is none."""
        waiting = self._waiting.get(conversation, [])
        if not 0 <= number < len(waiting):
            return None
        text = waiting.pop(number)
        self._tell(conversation)
        return text

    def put_first(self, conversation: str, text: str) -> None:
        """Give back what could not be sent."""
        self._waiting.setdefault(conversation, []).insert(0, text)
        self._tell(conversation)

    def keep(self, conversation: str | None, draft: Draft) -> None:
        """Save what is typed in ``conversation``, with what waits there."""
        self._typed[conversation] = draft
        pasted = (*self.of(conversation), *draft.pasted)
        self._keep(conversation, Draft(text=draft.text, pasted=pasted))

    def save(self, conversation: str) -> None:
        """Save again what is typed and what waits: the draft became a message."""
        self.keep(conversation, self._typed.get(conversation, Draft()))

    def _tell(self, conversation: str) -> None:
        self.save(conversation)
        self.changed.emit(conversation)

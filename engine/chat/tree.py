"""The message tree as a pure structure: paths, versions, and what to do with broken links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Node:
    """One message's place. Nodes are given in the order in which they were written."""

    id: str
    parent: str | None
    role: str


@dataclass
class Tree:
    """Messages of one conversation.

    A parent is always written before its child. A link that breaks this rule (to nothing, to
    itself, to a later message: every loop has one) is cut, and the message follows the one
    written before it, so that one bad row hides no other. `relinked` names these messages.
    """

    parents: dict[str, str | None] = field(default_factory=dict)
    children: dict[str | None, list[str]] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    relinked: set[str] = field(default_factory=set)
    last: str | None = None

    @classmethod
    def of(cls, nodes: Sequence[Node]) -> Tree:
        """The tree of ``nodes``."""
        tree = cls()
        for node in nodes:
            tree._add(node)
        return tree

    def _add(self, node: Node) -> None:
        parent = node.parent
        if parent is not None and parent not in self.parents:
            parent = self.last
            self.relinked.add(node.id)
        self.parents[node.id] = parent
        self.children.setdefault(parent, []).append(node.id)
        self.roles[node.id] = node.role
        self.last = node.id

    def tip(self, wanted: str | None) -> str | None:
        """``wanted`` if it exists, else the newest message."""
        return wanted if wanted in self.parents else self.last

    def path(self, tip: str | None) -> list[str]:
        """Root to ``tip``, both included."""
        path: list[str] = []
        while tip is not None:
            path.append(tip)
            tip = self.parents[tip]
        path.reverse()
        return path

    def versions(self, message: str) -> list[str]:
        """What could stand where ``message`` stands: same parent, same role, oldest first, itself included."""
        role = self.roles[message]
        return [other for other in self.children[self.parents[message]] if self.roles[other] == role]

    def below(self, message: str) -> list[str]:
        """``message`` and all that follows it, in any branch."""
        found = [message]
        for one in found:
            found += self.children.get(one, [])
        return found

    def newest_leaf(self, message: str) -> str:
        """The end of the branch that was continued last below ``message``."""
        while below := self.children.get(message):
            message = below[-1]
        return message

"""Asks the Hub for the GGUF files of one repository at a time."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QObject, Signal

from app.downloads.child import Child
from engine.downloads.messages import Event, Failed, Listed, ListRepo
from engine.library.listing import FilePart, RepoListing


class Lister(QObject):
    """One question at a time; a new one takes the place of the old one.

    Attributes:
        listed: A `RepoListing`, or the `VrambleError` why there is none.
        last: The last listing.
    """

    listed = Signal(object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._child: Child | None = None
        self._children: set[Child] = set()
        self.last: RepoListing | None = None

    @property
    def is_asking(self) -> bool:
        """A listing is on its way."""
        return self._child is not None

    def ask(self, text: str, environ: Mapping[str, str]) -> None:
        """Ask for what ``text`` names."""
        self.cancel()
        self._child = child = Child(self, environ)
        self._children.add(child)
        child.ended.connect(self._take)
        child.gone.connect(self._forget)
        child.start(ListRepo(text=text))

    def cancel(self) -> None:
        """Want no answer any more."""
        if self._child is not None:
            child, self._child = self._child, None
            child.kill()

    def shutdown(self) -> None:
        """End all children before this returns. Only for quitting."""
        self._child = None
        for child in tuple(self._children):
            child.shutdown()
        self._children.clear()

    def parts_of(self, repo: str, path: str) -> tuple[tuple[FilePart, ...], str]:
        """All parts of the model that begins with ``path``, and its revision, as far as the last listing knows it."""
        known = self.last if self.last is not None and self.last.repo == repo else None
        for file in known.files if known is not None else ():
            if file.path == path:
                return file.parts, known.revision if known is not None else "main"
        return (FilePart(path=path),), known.revision if known is not None else "main"

    def _take(self, event: Event) -> None:
        self._child = None
        if isinstance(event, Listed):
            self.last = event.listing
            self.listed.emit(event.listing)
        elif isinstance(event, Failed):
            self.listed.emit(event.error())

    def _forget(self, child: Child) -> None:
        self._children.discard(child)
        child.deleteLater()

"""Facts of models, read from their headers off the GUI thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.jobs import Err, Executor, Result, SerialRunner
from engine.loading.facts import ModelFacts

if TYPE_CHECKING:
    from engine.memory.fit.image import Encoder

Key = tuple[Path, int | None]
"""A file, and its size when it was asked about: another size is another model."""


class Headers(QObject):
    """Reads each header once. What somebody waits for goes before what is read ahead.

    Args:
        size_of: Bytes of an installed model, None when it is not known. Asks no file.

    Attributes:
        read: One more is known.
    """

    read = Signal()

    def __init__(
        self, executor: Executor, size_of: Callable[[Path], int | None], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._runner = SerialRunner(executor, self)
        self._size_of = size_of
        self._facts: dict[Key, ModelFacts] = {}
        self._asked: set[Key] = set()
        self._ahead: list[Path] = []
        self._sizes: dict[str, int | None] = {}
        self._encoders: dict[Path, Encoder | None] = {}

    def adapter_bytes(self, path: str) -> int:
        """Size of an adapter's file; 0 before it is known, which `read` tells."""
        if path not in self._sizes:
            self._sizes[path] = None
            self._runner.run(lambda: _bytes_of(path), lambda result: self._take_size(path, result))
        return self._sizes[path] or 0

    def encoder(self, path: Path) -> Encoder | None:
        """The image encoder in a file; None before that is known, which `read` tells, and for other files."""
        if path not in self._encoders:
            self._encoders[path] = None
            self._runner.run(lambda: _encoder(path), lambda result: self._take_encoder(path, result))
        return self._encoders[path]

    def facts(self, path: Path) -> ModelFacts | None:
        """What the header says, little when it could not be read; None before it was."""
        return self._facts.get(self._key(path))

    def ask(self, path: Path) -> None:
        """Read the header now, unless that was done."""
        key = self._key(path)
        if key not in self._asked:
            self._asked.add(key)
            self._runner.run(lambda: _read(path), lambda result: self._take(key, result))

    def read_ahead(self, paths: Iterable[Path]) -> None:
        """Read these headers one after the other, when nothing else is to be read."""
        self._ahead = [path for path in paths if self._key(path) not in self._asked]
        if len(self._asked) == len(self._facts):
            self._next()

    def shutdown(self) -> None:
        """Read nothing more. Only for quitting."""
        self._ahead.clear()
        self._runner.close()

    def _key(self, path: Path) -> Key:
        return path, self._size_of(path)

    def _next(self) -> None:
        if self._ahead:
            self.ask(self._ahead.pop(0))

    def _take(self, key: Key, result: Result[ModelFacts | None]) -> None:
        if isinstance(result, Err):
            raise result.error
        self._facts[key] = result.value or ModelFacts()
        self._next()
        self.read.emit()

    def _take_size(self, path: str, result: Result[int | None]) -> None:
        if isinstance(result, Err):
            raise result.error
        if result.value is not None:
            self._sizes[path] = result.value
            self.read.emit()

    def _take_encoder(self, path: Path, result: Result[Encoder | None]) -> None:
        if isinstance(result, Err):
            raise result.error
        if result.value is not None:
            self._encoders[path] = result.value
            self.read.emit()


def _encoder(path: Path) -> Encoder | None:
    from engine.memory.fit.image import Encoder, read_encoder

    found = read_encoder(path)
    return found if isinstance(found, Encoder) else None


def _bytes_of(path: str) -> int | None:
    from engine.loading.reading import adapter_bytes

    return adapter_bytes(Path(path))


def _read(path: Path) -> ModelFacts | None:
    from engine.loading.reading import read_facts

    return read_facts(path)

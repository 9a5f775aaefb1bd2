"""Models of the library that could guess for another one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from app.load.headers import Headers
from engine.library.records import InstalledModel
from engine.library.states import FileState
from engine.loading.drafts import may_draft
from engine.loading.facts import ModelFacts

MOST_SIZE: Final = 0.6
"""Of the size of the model that it guesses for: a larger one takes longer than it spares."""


class DraftChoice(NamedTuple):
    """One of them: its file, what it is called, its size in bytes."""

    path: Path
    label: str
    size: int


class DraftChoices:
    """Asks headers only; what is not known yet is told by `Headers.read`.

    Args:
        models: What the library has.
    """

    def __init__(self, headers: Headers, models: Callable[[], Sequence[InstalledModel]]) -> None:
        self._headers, self._models = headers, models

    def of(self, path: Path) -> tuple[DraftChoice, ...]:
        """Those for the model at ``path``, the smallest first."""
        models = self._models()
        size = next((model.size_bytes for model in models if model.path == path), None)
        facts = self._headers.facts(path) or ModelFacts()
        found = [
            DraftChoice(model.path, model.label, model.size_bytes)
            for model in models
            if self._is_one(model, size) and may_draft(facts, self._known(model.path))
        ]
        return tuple(sorted(found, key=lambda choice: (choice.size, choice.label)))

    @staticmethod
    def _is_one(model: InstalledModel, size: int | None) -> bool:
        usable = model.can_chat and model.state is FileState.OK
        return usable and size is not None and model.size_bytes <= MOST_SIZE * size

    def _known(self, path: Path) -> ModelFacts:
        self._headers.ask(path)
        return self._headers.facts(path) or ModelFacts()

"""Files that are loaded together with a model: which lie beside it, and what they take of the memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from app.load.headers import Headers
from engine.library.records import InstalledModel, Role
from engine.library.states import FileState
from engine.protocol.types import LoadOptions

if TYPE_CHECKING:
    from engine.memory.fit import FitModel
    from engine.memory.fit.image import Encoder


class Companions:
    """Asks headers only; what is not known yet is told by `Headers.read`.

    Args:
        files: Companions that the library has (`LibraryService.companions`).
    """

    def __init__(self, headers: Headers, files: Callable[[], Sequence[InstalledModel]]) -> None:
        self._headers, self._files = headers, files

    def encoders(self, path: Path, model: FitModel | None) -> tuple[Encoder, ...]:
        """Image encoders in the folder of ``path`` that can belong to ``model``, the smallest first."""
        if model is None:
            return ()
        near = [file.path for file in self._files() if _is_encoder(file) and _is_near(file, path)]
        found = [encoder for file in near if (encoder := self._headers.encoder(file)) is not None]
        return tuple(sorted((e for e in found if e.suits(model)), key=lambda e: (e.weights, e.path)))

    def together(self, model: FitModel, options: LoadOptions) -> FitModel:
        """``model`` with the files that ``options`` name, as far as they are known."""
        if options.lora:
            adapters = sum(self._headers.adapter_bytes(adapter.path) for adapter in options.lora)
            model = msgspec.structs.replace(model, adapters=adapters)
        if options.mmproj is not None:
            from engine.memory.fit.image import with_encoder

            model = with_encoder(model, self._headers.encoder(Path(options.mmproj)))
        if options.draft is not None:
            self._headers.ask(Path(options.draft))
            facts = self._headers.facts(Path(options.draft))
            model = msgspec.structs.replace(model, draft=facts.fit if facts is not None else None)
        return model


def _is_encoder(file: InstalledModel) -> bool:
    return file.role is Role.PROJECTOR and file.state is FileState.OK


def _is_near(file: InstalledModel, path: Path) -> bool:
    """In the same folder; where one folder holds everything, the owner says what belongs together."""
    return path in file.belongs_to if file.belongs_to else file.folder == path.parent

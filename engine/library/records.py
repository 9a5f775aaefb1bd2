"""Models on this machine, as the library hands them out."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import msgspec

from engine.library.states import FileState


class Role(StrEnum):
    """What a model file is for."""

    CHAT = "chat"
    EMBEDDING = "embedding"
    """Turns text into numbers, or ranks texts; writes nothing."""
    PROJECTOR = "projector"
    """Lets another model see or hear."""
    OTHER = "other"
    """Images, speech, adapters, statistics."""
    UNKNOWN = "unknown"
    """The header could not be read."""


class InstalledModel(msgspec.Struct, frozen=True, kw_only=True):
    """One model in a models folder; a split set is one model.

    Attributes:
        path: File to load: of a split set the first part. May hold bytes that are no text
            (surrogates); use `name` and `label` for showing.
        name: Short name without the quantisation.
        label: Name and quantisation, unique enough for a menu.
        quant: Such as ``Q4_K_M``; empty when unknown.
        architecture: As in the header; empty when unknown.
        size_bytes: Sum over all parts.
        frees_bytes: What deleting gives back on disk: 0 for links.
        folder: The folder that holds the file.
        repo: ``owner/repo`` when the file lies in such a folder below the models folder.
        state: Whether it can be used.
        problem: One sentence when the state is not ok, or why it cannot chat; else empty.
        can_chat: Offer it for chat.
        role: What it is for.
        parts: All files of the model.
        linked: The file is a symbolic link: deleting removes only the link.
        n_params: Number of weights, None when unknown.
        n_layers: Block count, None when unknown.
        context_length: Trained context in tokens, None when unknown.
        has_template: The file brings a chat template.
        warnings: Sentences about oddities that do not prevent loading.
    """

    path: Path
    name: str
    label: str
    quant: str = ""
    architecture: str = ""
    size_bytes: int
    frees_bytes: int = 0
    folder: Path
    repo: str | None = None
    state: FileState = FileState.OK
    problem: str = ""
    can_chat: bool = False
    role: Role = Role.UNKNOWN
    parts: tuple[Path, ...] = ()
    linked: bool = False
    n_params: int | None = None
    n_layers: int | None = None
    context_length: int | None = None
    has_template: bool = False
    warnings: tuple[str, ...] = ()


class ScanResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a scan found.

    Attributes:
        models: Models, usable or not, sorted by name.
        companions: Files that belong to other models: projectors, adapters, imatrix files.
        folder_missing: The models folder is not there (never made yet, or a card was taken out).
        problems: Sentences about folders that could not be read.
    """

    models: tuple[InstalledModel, ...] = ()
    companions: tuple[InstalledModel, ...] = ()
    folder_missing: bool = False
    problems: tuple[str, ...] = ()

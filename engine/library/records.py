"""Models on this machine, as the library hands them out."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import msgspec

from engine.library.roots import RootInfo, RootKind
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


class Mend(StrEnum):
    """What can be done about a file that is not as it should be."""

    REPAIR = "repair"
    """The wrong bytes are found and fetched again."""
    DOWNLOAD = "download"
    """Its repository is known: fetch it again."""
    JOIN = "join"
    """Put the raw pieces together."""
    INSERT = "insert"
    """Put the card or drive back."""
    SHARE = "share"
    """Let both names of the same bytes be one file on disk."""
    DELETE = "delete"


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
        source: Kind of the root that it lies in.
        root: Id of that root.
        owner: Program that the files belong to; empty for the user's own.
        also: Other names that the owner has for the same file, such as tags of Ollama.
        belongs_to: Models that this companion goes with, where its owner says so; else those of its folder may be.
        licence: As in the header or the owner's records, short; empty when unknown.
        last_used: When it was loaded here last, in seconds since 1970; None: never.
        commit: Revision of ``repo`` that it comes from, None when unknown.
        file: Path in ``repo``, empty when unknown.
        hashes: Known sha256 of each of ``parts`` (empty: not known).
        verified: All bytes were hashed: True they are right, False they are not, None never
            compared, or nothing to compare with.
        checked: When they were hashed last, in seconds since 1970.
        duplicate_of: Another model, listed before this one, with the same bytes.
        likely_duplicate: ``duplicate_of`` was told by size, header and samples, not by the sha256.
        same_file: It and ``duplicate_of`` are one file on disk: no space is lost.
        mends: What can be done about it, the best first.
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
    source: RootKind = RootKind.OWN
    root: str = ""
    owner: str = ""
    also: tuple[str, ...] = ()
    belongs_to: tuple[Path, ...] = ()
    licence: str = ""
    last_used: float | None = None
    commit: str | None = None
    file: str = ""
    hashes: tuple[str, ...] = ()
    verified: bool | None = None
    checked: float | None = None
    duplicate_of: Path | None = None
    likely_duplicate: bool = False
    same_file: bool = False
    mends: tuple[Mend, ...] = ()


class Deletion(msgspec.Struct, frozen=True, kw_only=True):
    """What deleting a model would do; nothing is deleted by making one.

    Attributes:
        model: Which one.
        paths: Everything that goes: links, blobs, records of the owner.
        frees_bytes: What the disk gets back (with the trash: once that is emptied).
        owner: Program that the files belong to; empty for the user's own.
        notes: Sentences that the user should read before: whose files they are, what goes with it.
        stays: Why space stays in use although the model goes (a link, a second name); empty when it does not.
        refused: Why it cannot be deleted here, and what can be done; empty when it can.
    """

    model: InstalledModel
    paths: tuple[Path, ...] = ()
    frees_bytes: int = 0
    owner: str = ""
    notes: tuple[str, ...] = ()
    stays: str = ""
    refused: str = ""


class ModelUpdate(msgspec.Struct, frozen=True, kw_only=True):
    """The repository has other bytes under the name of an installed model.

    Attributes:
        path: The installed model.
        repo: ``owner/repo``.
        file: Path in the repository.
        commit: The revision that has the new bytes, None when the Hub did not say.
        n_bytes: Size of the new file in bytes, None when unknown.
        checked: When this was found, in seconds since 1970.
    """

    path: Path
    repo: str
    file: str
    commit: str | None = None
    n_bytes: int | None = None
    checked: float = 0.0


class ScanResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a scan found.

    Attributes:
        models: Models, usable or not, sorted by name.
        companions: Files that belong to other models: projectors, adapters, imatrix files.
        folder_missing: The models folder is not there (never made yet, or a card was taken out).
        problems: Sentences about folders that could not be read.
        roots: Roots that are shown, the own one first.
        hidden: Folders of other programs that were taken off the list.
        folders: All folders in which something may change.
    """

    models: tuple[InstalledModel, ...] = ()
    companions: tuple[InstalledModel, ...] = ()
    folder_missing: bool = False
    problems: tuple[str, ...] = ()
    roots: tuple[RootInfo, ...] = ()
    hidden: tuple[RootInfo, ...] = ()
    folders: tuple[Path, ...] = ()

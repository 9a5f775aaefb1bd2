"""Folders that hold models: the own one, those of other programs, any that the user added."""

from __future__ import annotations

import hashlib
import os
from enum import StrEnum
from pathlib import Path

import msgspec


class RootKind(StrEnum):
    """Who keeps the files of a folder, and so in which layout they lie."""

    OWN = "own"
    HUB_CACHE = "hub-cache"
    LM_STUDIO = "lm-studio"
    OLLAMA = "ollama"
    JAN = "jan"
    LEMONADE = "lemonade"
    GPT4ALL = "gpt4all"
    LLAMA_CPP = "llama-cpp"
    FOLDER = "folder"
    CARD = "card"
    """A folder on a drive that can be taken out."""


OWNERS = {
    RootKind.HUB_CACHE: "Hugging Face Hub cache",
    RootKind.LM_STUDIO: "LM Studio",
    RootKind.OLLAMA: "Ollama",
    RootKind.JAN: "Jan",
    RootKind.LEMONADE: "Lemonade",
    RootKind.GPT4ALL: "GPT4All",
    RootKind.LLAMA_CPP: "llama.cpp",
}
"""Name of the program that the files of such a root belong to. Others belong to the user."""


class LibraryRoot(msgspec.Struct, frozen=True, kw_only=True):
    """One folder that holds models.

    Attributes:
        kind: Layout and owner.
        path: Where it was when it was added.
        uuid: Of its file system, where that can be taken out; else empty. Such a root is found by
            ``uuid`` and ``relative``, wherever the drive is mounted now.
        relative: Path below the mount point of that file system.
    """

    kind: RootKind = RootKind.FOLDER
    path: str = ""
    uuid: str = ""
    relative: str = ""

    @property
    def id(self) -> str:
        """Stays the same for the same folder, also where a card is mounted elsewhere."""
        place = f"{self.uuid}:{self.relative}" if self.uuid else self.path
        digest = hashlib.blake2b(os.fsencode(place), digest_size=6).hexdigest()
        return f"{self.kind}-{digest}"

    @property
    def owner(self) -> str:
        """Program that the files belong to, or an empty text."""
        return OWNERS.get(self.kind, "")


class RootState(StrEnum):
    """Whether the folder can be looked at."""

    PRESENT = "present"
    MISSING = "missing"
    NOT_INSERTED = "not-inserted"
    """It lies on a card or drive that is not there now."""
    UNREADABLE = "unreadable"


class RootInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One root as the last scan found it.

    Attributes:
        root: Which one.
        path: Where it is now; where it was last when it is not there.
        name: The owner's name, else the folder's.
        state: Whether it can be looked at.
        problem: One sentence when it cannot; else empty.
        found: It was found by itself, nobody added it.
        models: Models in it.
        files: Model files in it, companions and parts included.
        n_bytes: Bytes on disk, each file counted once, however many names it has.
        free: Bytes that a user may still write there, None when unknown.
        total: Size of its file system in bytes, None when unknown.
        writable: Files can be put here.
        file_limit: Largest file in bytes that its file system holds, None without such a limit.
        file_system: Such as ``ext4``; empty when unknown.
    """

    root: LibraryRoot
    path: Path
    name: str
    state: RootState = RootState.PRESENT
    problem: str = ""
    found: bool = False
    models: int = 0
    files: int = 0
    n_bytes: int = 0
    free: int | None = None
    total: int | None = None
    writable: bool = False
    file_limit: int | None = None
    file_system: str = ""

    @property
    def id(self) -> str:
        """The root's."""
        return self.root.id

"""GGUF files of a Hub repository, from the answer of its API: lenient about what is missing or odd."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import PurePosixPath

import msgspec

from engine.errors import VrambleError
from engine.library.gguf.tables import quant_in_name
from engine.library.names import base_stem, shard_name, shard_of
from engine.library.safe_path import safe_relative

REPO = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
COMMIT = re.compile(r"[0-9a-f]{7,64}")
SHA256 = re.compile(r"[0-9a-f]{64}")


class FileKind(StrEnum):
    """What a GGUF file of a repository is, told by its name: the header is not here yet."""

    MODEL = "model"
    PROJECTOR = "projector"
    """Lets a model see or hear."""
    DRAFT = "draft"
    """A small model that guesses ahead for another one; also the separate heads that do so."""
    ADAPTER = "adapter"
    STATISTICS = "statistics"
    """Made while quantising (imatrix)."""


KINDS = (
    (FileKind.PROJECTOR, re.compile(r"(^|[-._])mmproj([-._]|$)", re.IGNORECASE)),
    (FileKind.STATISTICS, re.compile(r"(^|[-._])imatrix([-._]|$)", re.IGNORECASE)),
    (FileKind.DRAFT, re.compile(r"(^|[-._])(draft|eagle[23]?)([-._]|$)|^mtp-", re.IGNORECASE)),
    (FileKind.ADAPTER, re.compile(r"(^|[-._])lora([-._](f16|bf16|f32|q8_0))?$", re.IGNORECASE)),
)
"""Models with a draft head inside are called ``...-MTP-Q4_K_M``: only at the beginning does the word mean a part."""


class FilePart(msgspec.Struct, frozen=True, kw_only=True):
    """One file in a repository. Size in bytes; None: the Hub did not say."""

    path: str
    size: int | None = None
    sha256: str | None = None


class RepoFile(msgspec.Struct, frozen=True, kw_only=True):
    """One model of a repository; a split set is one.

    Attributes:
        path: Path in the repository, of a split set the first part's.
        quant: Label from the name, or empty.
        size: Bytes of all parts, None when one is unknown.
        sha256: Of a single file, None when unknown or split.
        parts: All files.
        kind: What it is, by its name.
    """

    path: str
    quant: str
    size: int | None
    sha256: str | None
    parts: tuple[FilePart, ...]
    kind: FileKind = FileKind.MODEL

    @property
    def companion(self) -> bool:
        """It is no model by itself."""
        return self.kind is not FileKind.MODEL


class RepoListing(msgspec.Struct, frozen=True, kw_only=True):
    """What a repository offers.

    Attributes:
        repo: ``owner/repo`` as the Hub spells it.
        revision: What was asked for: a branch, tag or commit.
        commit: Commit the listing is of, None when unknown.
        gated: The owner asks for accepted terms.
        files: Models by size, companions last.
        wanted: Path that was part of the pasted address, if it is there.
        left_out: Names that were not taken because they are unsafe as file names.
    """

    repo: str
    revision: str = "main"
    commit: str | None = None
    gated: bool = False
    files: tuple[RepoFile, ...] = ()
    wanted: str | None = None
    left_out: tuple[str, ...] = ()


def parse_listing(repo: str, data: object, revision: str = "main") -> RepoListing:
    """The listing in the JSON answer ``data`` of ``/api/models/<repo>?blobs=true``. Never raises."""
    answer = data if isinstance(data, Mapping) else {}
    siblings = answer.get("siblings")
    parts: dict[str, FilePart] = {}
    unsafe: list[str] = []
    for item in siblings if isinstance(siblings, list) else []:
        name = item.get("rfilename") if isinstance(item, Mapping) else None
        if not isinstance(name, str) or not name.lower().endswith(".gguf"):
            continue
        try:
            safe_relative(name)
        except VrambleError:
            unsafe.append(repr(name)[:100])
            continue
        parts[name] = _file_part(name, item)
    commit = answer.get("sha")
    return RepoListing(
        repo=_text(answer.get("id")) or repo,
        revision=revision,
        commit=commit if isinstance(commit, str) and COMMIT.fullmatch(commit) else None,
        gated=answer.get("gated") not in (None, False, ""),
        files=tuple(sorted(_models(parts), key=_order)),
        left_out=tuple(unsafe),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) and REPO.fullmatch(value) else ""


def _file_part(name: str, item: Mapping[str, object]) -> FilePart:
    lfs = item.get("lfs")
    lfs = lfs if isinstance(lfs, Mapping) else {}
    sha256 = lfs.get("sha256") or lfs.get("oid")
    return FilePart(
        path=name,
        size=_size(lfs.get("size")) or _size(item.get("size")),
        sha256=sha256 if isinstance(sha256, str) and SHA256.fullmatch(sha256) else None,
    )


def _size(value: object) -> int | None:
    """A file size; 0 and nonsense are unknown: no GGUF file is empty."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 60:
        return value
    return None


def _models(parts: Mapping[str, FilePart]) -> Iterable[RepoFile]:
    for name, part in parts.items():
        path = PurePosixPath(name)
        shard = shard_of(path.name)
        if shard is None or not 1 <= shard.no <= shard.total <= len(parts):
            yield _model(name, (part,))
        elif shard.no == 1:
            names = [str(path.with_name(shard_name(shard, no))) for no in range(1, shard.total + 1)]
            if all(other in parts for other in names):
                yield _model(name, tuple(parts[other] for other in names))


def _model(name: str, parts: tuple[FilePart, ...]) -> RepoFile:
    sizes = [part.size for part in parts]
    known = [size for size in sizes if size is not None]
    file_name = PurePosixPath(name).name
    return RepoFile(
        path=name,
        quant=quant_in_name(base_stem(file_name)) or quant_in_name(str(PurePosixPath(name).parent)),
        size=sum(known) if len(known) == len(sizes) else None,
        sha256=parts[0].sha256 if len(parts) == 1 else None,
        parts=parts,
        kind=_kind(PurePosixPath(name)),
    )


def _kind(path: PurePosixPath) -> FileKind:
    """Heads of a model lie in a folder ``MTP`` in some repositories."""
    stem = base_stem(path.name)
    if path.parent.name.lower() == "mtp":
        return FileKind.DRAFT
    return next((kind for kind, pattern in KINDS if pattern.search(stem)), FileKind.MODEL)


def _order(file: RepoFile) -> tuple[bool, int, str]:
    return file.companion, file.size or 0, file.path


def choose(listing: RepoListing, wanted: str | None) -> tuple[RepoFile, str]:
    """The file to get, and a sentence on why when nobody named it.

    ``wanted`` may be a path, a file name or a quantisation. Without it: the only model there is,
    else Q4_K_M, else the nearest to it.

    Raises:
        VrambleError: ``hub-no-gguf`` without models, ``hub-no-file`` when ``wanted`` is not there.
    """
    models = [file for file in listing.files if not file.companion]
    if wanted:
        return _named(listing, wanted), ""
    if not models:
        raise no_gguf(listing)
    if len(models) == 1:
        return models[0], ""
    for quant in ("Q4_K_M", "UD-Q4_K_XL", "Q4_K_S", "Q4_0", "Q5_K_M", "Q8_0"):
        for file in models:
            if file.quant == quant:
                return file, f"{len(models)} files are there; taking {quant}: {file.path}."
    return models[0], f"{len(models)} files are there; taking the smallest: {models[0].path}."


def no_gguf(listing: RepoListing) -> VrambleError:
    """The repository holds no GGUF model."""
    return VrambleError(
        "hub-no-gguf",
        f"{listing.repo} holds no GGUF files.",
        "Look for a repository with “GGUF” in its name.",
    )


def _named(listing: RepoListing, wanted: str) -> RepoFile:
    for file in listing.files:
        if wanted in {part.path for part in file.parts}:
            return file
    folded = wanted.casefold()
    for file in listing.files:
        if folded in {PurePosixPath(file.path).name.casefold(), file.quant.casefold()}:
            return file
    names = ", ".join(file.path for file in listing.files[:8])
    raise VrambleError(
        "hub-no-file",
        f"{listing.repo} has no file “{wanted}”.",
        f"It has: {names}." if names else "It has no GGUF files at all.",
    )

"""Models of Ollama: blobs without names, and manifests that give them names.

``manifests/<registry>/<namespace>/<model>/<tag>`` is JSON with ``layers``, each with ``mediaType``, ``digest``
and ``size``; ``blobs/sha256-<hex>`` holds the bytes, so a blob's name is the sha256 that it should have.
(Layout: ollama, docs "faq" and server/manifest.)
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from engine.library.names import shown
from engine.library.walk import Known, Walk, found_file

MODEL = "application/vnd.ollama.image.model"
PROJECTOR = "application/vnd.ollama.image.projector"
ADAPTER = "application/vnd.ollama.image.adapter"
LICENCE = "application/vnd.ollama.image.license"
WANTED = (MODEL, PROJECTOR, ADAPTER)

DIGEST = re.compile(r"^sha256[:-]([0-9a-f]{64})$")
HOME_REGISTRY = "registry.ollama.ai"
HOME_NAMESPACE = "library"
HUB_REGISTRIES = {"hf.co", "huggingface.co"}
MAX_MANIFEST = 1 << 20
MAX_MANIFESTS = 20_000
MAX_LICENCE = 4096

TITLES = (
    ("apache license", "apache-2.0"),
    ("mit license", "mit"),
    ("gnu general public license", "gpl"),
    ("bsd 3-clause", "bsd-3-clause"),
)


class Layer(msgspec.Struct, frozen=True):
    """One blob of a manifest."""

    media: str = msgspec.field(default="", name="mediaType")
    digest: str = ""
    size: int = 0

    @property
    def hex(self) -> str:
        """The sha256, or an empty text."""
        match = DIGEST.match(self.digest)
        return match[1] if match else ""


class Manifest(msgspec.Struct, frozen=True):
    """What one name stands for."""

    layers: tuple[Layer, ...] = ()
    config: Layer | None = None

    @property
    def blobs(self) -> set[str]:
        """sha256 of everything that this name needs."""
        every = (*self.layers, *((self.config,) if self.config else ()))
        return {layer.hex for layer in every if layer.hex}


class Named(msgspec.Struct, frozen=True):
    """A manifest and where it lies."""

    path: Path
    name: str
    manifest: Manifest
    repo: str | None = None


def is_ollama(root: Path) -> bool:
    """Whether ``root`` is a models folder of Ollama."""
    return (root / "manifests").is_dir() and (root / "blobs").is_dir()


def find(root: Path, stop: Callable[[], bool] = lambda: False) -> Walk:
    """All models that have a name, each blob once."""
    problems: list[str] = []
    folders = [root, root / "blobs"]
    named = list(manifests(root, problems, folders, stop))
    files = []
    for digest, owners in _by_blob(named).items():
        path = blob_path(root, digest)
        try:
            info = path.stat()
        except OSError:
            continue
        file = found_file(path, info)
        if file is not None:
            files.append(msgspec.structs.replace(file, known=_known(root, digest, owners)))
    return Walk(tuple(files), tuple(problems), tuple(folders))


def blob_path(root: Path, digest: str) -> Path:
    """Where the blob with this sha256 lies: older versions wrote a colon."""
    old = root / "blobs" / f"sha256:{digest}"
    new = root / "blobs" / f"sha256-{digest}"
    return old if not new.exists() and old.exists() else new


def manifests(
    root: Path,
    problems: list[str],
    folders: list[Path],
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[Named]:
    """All manifests; what cannot be read is told in ``problems``, ``folders`` gets where they lie."""
    base = root / "manifests"
    left = MAX_MANIFESTS

    def refused(error: OSError) -> None:
        problems.append(f"{shown(error.filename or base)} cannot be read: {error.strerror or error}.")

    for folder, inside, names in os.walk(base, onerror=refused):
        folders.append(Path(folder))
        inside.sort()
        for name in sorted(names):
            left -= 1
            if stop() or left < 0:
                return
            path = Path(folder, name)
            manifest = _read(path)
            parts = path.relative_to(base).parts
            if manifest is not None and len(parts) >= 2:
                yield Named(path, _name(parts), manifest, _repo(parts))


def _read(path: Path) -> Manifest | None:
    try:
        with path.open("rb") as file:
            return msgspec.json.decode(file.read(MAX_MANIFEST), type=Manifest)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _name(parts: tuple[str, ...]) -> str:
    *place, tag = (shown(part) for part in parts)
    if place[0] == HOME_REGISTRY and len(place) > 1:
        place = place[1:]
        if place[0] == HOME_NAMESPACE and len(place) > 1:
            place = place[1:]
    return f"{'/'.join(place)}:{tag}"


def _repo(parts: tuple[str, ...]) -> str | None:
    return shown(f"{parts[1]}/{parts[2]}") if parts[0] in HUB_REGISTRIES and len(parts) == 4 else None


def _by_blob(named: list[Named]) -> dict[str, list[Named]]:
    found: dict[str, list[Named]] = {}
    for owner in named:
        for digest in dict.fromkeys(layer.hex for layer in owner.manifest.layers if layer.media in WANTED):
            if digest:
                found.setdefault(digest, []).append(owner)
    return found


def _known(root: Path, digest: str, owners: list[Named]) -> Known:
    owners = sorted(owners, key=lambda owner: (owner.name.endswith(":latest"), owner.name))
    first = owners[0]
    licences = (layer.hex for layer in first.manifest.layers if layer.media == LICENCE and layer.hex)
    licence = next(licences, "")
    models = dict.fromkeys(
        layer.hex
        for owner in owners
        for layer in owner.manifest.layers
        if layer.media == MODEL and layer.hex not in ("", digest)
    )
    return Known(
        title=first.name,
        also=tuple(owner.name for owner in owners[1:]),
        sha256=digest,
        repo=first.repo,
        licence=licence_title(root, licence) if licence else "",
        of=tuple(blob_path(root, model) for model in models),
    )


def licence_title(root: Path, digest: str) -> str:
    """The licence in a word where its text is a common one, else its first line."""
    try:
        with blob_path(root, digest).open("rb") as file:
            text = file.read(MAX_LICENCE).decode("utf-8", "replace")
    except OSError:
        return ""
    folded = " ".join(text[:400].split()).casefold()
    for words, title in TITLES:
        if words in folded:
            return title
    return next((" ".join(line.split())[:60] for line in text.splitlines() if line.strip()), "")

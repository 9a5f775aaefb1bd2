"""Folders of models as other programs keep them, and a machine with drives to put them on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.library.surroundings import Surroundings

OLLAMA_MODEL = "application/vnd.ollama.image.model"
OLLAMA_PROJECTOR = "application/vnd.ollama.image.projector"
OLLAMA_LICENCE = "application/vnd.ollama.image.license"


def put(path: Path, data: bytes) -> Path:
    """Write a file, with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def hub_file(cache: Path, repo: str, commit: str, file: str, data: bytes, *, main: bool = True) -> Path:
    """A file in a cache of the Hub: blob, link in the snapshot, and the ref. Gives the link."""
    repository = cache / f"models--{repo.replace('/', '--')}"
    blob = put(repository / "blobs" / hashlib.sha256(data).hexdigest(), data)
    link = repository / "snapshots" / commit / file
    link.parent.mkdir(parents=True, exist_ok=True)
    up = "../" * len(link.relative_to(repository).parts[:-1])
    link.symlink_to(f"{up}blobs/{blob.name}")
    if main:
        put(repository / "refs/main", commit.encode())
    return link


def ollama_model(models: Path, name: str, layers: Sequence[tuple[str, bytes]]) -> list[Path]:
    """A model of Ollama, ``name`` as ``library/llama3/8b`` below the registry. Gives the blobs."""
    written = []
    entries = []
    for media, data in layers:
        digest = hashlib.sha256(data).hexdigest()
        written.append(put(models / "blobs" / f"sha256-{digest}", data))
        entries.append({"mediaType": media, "digest": f"sha256:{digest}", "size": len(data)})
    place = name if name.count("/") > 2 else f"registry.ollama.ai/{name}"
    config = hashlib.sha256(name.encode()).hexdigest()
    put(models / "blobs" / f"sha256-{config}", name.encode())
    manifest = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
        "config": {"mediaType": "application/vnd.docker.container.image.v1+json", "digest": f"sha256:{config}"},
        "layers": entries,
    }
    put(models / "manifests" / place, json.dumps(manifest).encode())
    return written


def machine(folder: Path, environ: Mapping[str, str] | None = None) -> Surroundings:
    """A machine below ``folder``: an empty home folder, and nothing mounted."""
    home = folder / "home"
    home.mkdir(parents=True, exist_ok=True)
    system = folder / "system"
    put(system / "proc/self/mounts", b"/dev/nvme0n1p2 / ext4 rw,relatime 0 0\n")
    return Surroundings(home, dict(environ or {}), system)


def insert(around: Surroundings, device: str, uuid: str, point: Path, kind: str = "ext4", options: str = "rw") -> Path:
    """Mount a drive at ``point``, as its table of mounts tells it. Gives the mount point."""
    table = around.system / "proc/self/mounts"
    escaped = str(point).replace("\\", "\\134").replace(" ", "\\040")
    table.write_text(f"{table.read_text()}/dev/{device} {escaped} {kind} {options} 0 0\n")
    link = around.system / "dev/disk/by-uuid" / uuid
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.is_symlink():
        link.symlink_to(f"../../{device}")
    point.mkdir(parents=True, exist_ok=True)
    return point


def eject(around: Surroundings, device: str) -> None:
    """Take a drive out: it is mounted no more, and its device is gone."""
    table = around.system / "proc/self/mounts"
    lines = [line for line in table.read_text().splitlines(keepends=True) if not line.startswith(f"/dev/{device} ")]
    table.write_text("".join(lines))
    for link in (around.system / "dev/disk/by-uuid").iterdir():
        if link.readlink().name == device:
            link.unlink()

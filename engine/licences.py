"""The packages that the program is made of, and their licences, as their own metadata says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import metadata

import msgspec

PROGRAM = "vramble"
LONGEST = 60
"""Characters of a licence's name; more is the text itself."""

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_FILE = re.compile(r"(^|/)(LICEN[CS]E|COPYING|NOTICE)[^/]*$", re.IGNORECASE)


class Licence(msgspec.Struct, frozen=True):
    """One package. ``licence`` is an SPDX expression or the package's own word for it; ``text`` may be empty."""

    package: str
    version: str
    licence: str
    text: str = ""


def licences(program: str = PROGRAM) -> tuple[Licence, ...]:
    """``program`` first, then what it needs, by name. Empty when it is not installed. Reads some dozens of files."""
    found: dict[str, Licence] = {}
    waiting = [program]
    while waiting:
        name = _canonical(waiting.pop())
        if name in found:
            continue
        try:
            package = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        found[name] = Licence(package.metadata["Name"], package.version, _name(package), _text(package))
        waiting += _needed(package)
    own = found.pop(_canonical(program), None)
    others = sorted(found.values(), key=lambda licence: licence.package.casefold())
    return ((own,) if own else ()) + tuple(others)


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _needed(package: metadata.Distribution) -> Iterator[str]:
    """Names of what ``package`` requires; extras are left out, what is for other systems is not installed anyway."""
    for requirement in package.requires or ():
        match = _REQUIREMENT.match(requirement)
        if match and "extra ==" not in requirement:
            yield match[1]


def _name(package: metadata.Distribution) -> str:
    facts = package.metadata
    for field in ("License-Expression", "License"):
        text = str(facts[field] or "").strip() if field in facts else ""
        if text and len(text) <= LONGEST and "\n" not in text:
            return text
    classifiers = [entry for entry in facts.get_all("Classifier") or () if entry.startswith("License ::")]
    return ", ".join(entry.rpartition(":: ")[2] for entry in classifiers) or "unknown"


def _text(package: metadata.Distribution) -> str:
    texts = []
    for file in package.files or ():
        if ".dist-info/" in file.as_posix() and _FILE.search(file.as_posix()):
            try:
                texts.append(file.read_text(encoding="utf-8").strip())
            except (OSError, UnicodeDecodeError):
                continue
    return "\n\n".join(dict.fromkeys(texts))

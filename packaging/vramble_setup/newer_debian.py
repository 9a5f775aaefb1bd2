"""Takes single packages of the next Debian into a private folder. The system itself stays as it is.

Apt does the work, with a state of its own: it finds the mirror from this machine's sources, checks
the signatures with Debian's keyring and follows the dependencies. `dpkg-deb` unpacks.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from vramble_setup.commands import logged
from vramble_setup.report import SetupError

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


@dataclass(frozen=True)
class Source:
    """One archive that apt reads: its address, suite, components and the options in brackets."""

    address: str
    suite: str
    components: tuple[str, ...]
    signed_by: str = ""

    def line(self) -> str:
        options = f"[signed-by={self.signed_by}] " if self.signed_by else ""
        return f"deb {options}{self.address} {self.suite} {' '.join(self.components)}"


def parse_list(text: str) -> list[Source]:
    """Reads the one-line format (`deb [options] address suite component...`)."""
    found = []
    for raw in text.splitlines():
        line = raw.partition("#")[0].strip()
        if not line.startswith("deb "):
            continue
        rest, signed_by = line[4:].strip(), ""
        if rest.startswith("["):
            options, _, rest = rest[1:].partition("]")
            for option in options.split():
                name, _, value = option.partition("=")
                if name == "signed-by":
                    signed_by = value
        words = rest.split()
        if len(words) >= 3:
            found.append(Source(words[0], words[1], tuple(words[2:]), signed_by))
    return found


def parse_deb822(text: str) -> list[Source]:
    """Reads the paragraph format (`Types:`, `URIs:`, `Suites:`, `Components:`)."""
    found = []
    for paragraph in _paragraphs(text):
        if paragraph.get("enabled", "yes").lower() in ("no", "false", "0"):
            continue
        if "deb" not in paragraph.get("types", "").split():
            continue
        signed_by = paragraph.get("signed-by", "")
        key = signed_by if signed_by.startswith("/") else ""
        components = tuple(paragraph.get("components", "").split())
        suites = paragraph.get("suites", "").split()
        for address in paragraph.get("uris", "").split():
            found += [Source(address, suite, components, key) for suite in suites]
    return found


def _paragraphs(text: str) -> Iterable[dict[str, str]]:
    fields: dict[str, str] = {}
    last = ""
    for line in [*text.splitlines(), ""]:
        if line.startswith("#"):
            continue
        if not line.strip():
            if fields:
                yield fields
            fields, last = {}, ""
        elif line[0].isspace():
            fields[last] = f"{fields.get(last, '')} {line.strip()}".strip()
        else:
            name, _, value = line.partition(":")
            last = name.strip().lower()
            fields[last] = value.strip()


def sources_of_next(sources: Iterable[Source], current: str, following: str) -> list[Source]:
    """The main archives of `current`, asked for `following` instead."""
    found = []
    for source in sources:
        if source.suite == current and "main" in source.components:
            signed_by = source.signed_by or str(KEYRING)
            found.append(replace(source, suite=following, components=("main",), signed_by=signed_by))
    return list(dict.fromkeys(found))


def machine_sources(etc_apt: Path = Path("/etc/apt")) -> list[Source]:
    """All sources that apt on this machine reads."""
    found = []
    for file in [etc_apt / "sources.list", *sorted((etc_apt / "sources.list.d").glob("*"))]:
        try:
            text = file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        if file.suffix == ".sources":
            found += parse_deb822(text)
        elif file.suffix == ".list":
            found += parse_list(text)
    return found


def unpack_packages(packages: Sequence[str], into: Path, log: Path, *, current: str, following: str) -> None:
    """Downloads the packages and all that they depend on, and unpacks them below `into`."""
    sources = sources_of_next(machine_sources(), current, following)
    if not sources:
        raise SetupError(
            f"No package source of this machine offers {current}, so none is known for {following}.",
            "Check /etc/apt/sources.list.",
        )
    state = into.with_name(f"{into.name}.apt")
    shutil.rmtree(state, ignore_errors=True)
    try:
        apt = _private_apt(state, sources)
        logged([*apt, "update"], log, f"Reading the package list of Debian {following}")
        logged(
            [*apt, "install", "--download-only", "--yes", "--no-install-recommends", *packages],
            log,
            f"Downloading packages of Debian {following}",
        )
        into.mkdir(parents=True, exist_ok=True)
        for package in sorted((state / "archives").glob("*.deb")):
            logged(["dpkg-deb", "-x", package, into], log, f"Unpacking {package.name}")
    finally:
        shutil.rmtree(state, ignore_errors=True)


def _private_apt(state: Path, sources: Iterable[Source]) -> list[str]:
    for folder in ("lists/partial", "archives/partial", "parts"):
        (state / folder).mkdir(parents=True)
    (state / "status").touch()
    listing = state / "sources.list"
    listing.write_text("".join(f"{source.line()}\n" for source in sources), encoding="utf-8")
    options = {
        "Dir::State::lists": state / "lists",
        "Dir::State::status": state / "status",
        "Dir::State::extended_states": state / "extended_states",
        "Dir::Cache": state,
        "Dir::Cache::archives": state / "archives",
        "Dir::Etc::sourcelist": listing,
        "Dir::Etc::sourceparts": state / "parts",
        "Dir::Etc::preferences": "/dev/null",
        "Dir::Etc::preferencesparts": state / "parts",
        "APT::Default-Release": "",
        "APT::Sandbox::User": "",
        "APT::Update::Error-Mode": "any",
        "Debug::NoLocking": "1",
    }
    return ["apt-get", "-q", *(f"-o{name}={value}" for name, value in options.items())]

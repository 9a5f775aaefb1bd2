"""Text of system files and tools to values. Whatever cannot be right is None or left out; nothing here raises."""

from __future__ import annotations

import re
import shlex

Version = tuple[int, ...]

_VERSION = re.compile(r"(?:\d+:)?(\d{1,5})\.(\d{1,5})(?:\.(\d{1,5}))?")
_TIMEOUT = re.compile(r"-?[0-9]{1,12}")
_NUMBER = re.compile(r"[0-9]{1,18}")
_APP = re.compile(r"[A-Za-z0-9._-]{1,255}")


def version(text: str | None) -> Version | None:
    """``(6, 16, 12)`` from ``6.16.12-valve1``; an epoch (``1:25.2.8-1``) is left off."""
    match = _VERSION.match((text or "").strip())
    return tuple(int(part) for part in match.groups(default="0")) if match else None


def count(text: str | None) -> int | None:
    """A decimal number of pages, MiB or bytes, alone; None for -1 and everything else."""
    value = (text or "").strip()
    return int(value) if _NUMBER.fullmatch(value) else None


def shell_pairs(text: str | None) -> dict[str, str]:
    """``KEY=value`` lines with shell quotes, as in os-release."""
    pairs = {}
    for line in (text or "").splitlines():
        key, sign, value = line.strip().partition("=")
        if sign and key and not key.startswith("#"):
            pairs[key.strip()] = _unquoted(value)
    return pairs


def cmdline(text: str | None) -> dict[str, str]:
    """Parameters of the kernel's command line; of a repeated one the last counts, as for the kernel.

    The kernel takes ``-`` and ``_`` in names for the same.
    """
    parameters = {}
    for word in (text or "").split():
        name, _, value = word.partition("=")
        parameters[name.replace("-", "_")] = value.strip('"')
    return parameters


def module_options(text: str | None) -> dict[str, str]:
    """``ttm.pages_limit -> value`` from the ``options`` lines of a modprobe.d file."""
    found = {}
    for line in (text or "").splitlines():
        words = line.split("#")[0].split()
        if len(words) < 3 or words[0] != "options":
            continue
        module = words[1].replace("-", "_")
        for word in words[2:]:
            name, sign, value = word.partition("=")
            if sign:
                found[f"{module}.{name.replace('-', '_')}"] = value.strip('"')
    return found


def lockup_timeouts(text: str | None) -> tuple[int, ...] | None:
    """Milliseconds in the order of ``amdgpu.lockup_timeout``; None when nothing is set or it makes no sense."""
    parts = [part.strip() for part in (text or "").strip().split(",") if part.strip()]
    if not parts or len(parts) > 4 or not all(_TIMEOUT.fullmatch(part) for part in parts):
        return None
    return tuple(int(part) for part in parts)


def swaps(text: str | None) -> tuple[tuple[str, int], ...] | None:
    """Kind (``zram``, ``file``, ``partition``) and bytes of each line of ``/proc/swaps``; None when it is no such."""
    lines = (text or "").splitlines()
    if not lines or not lines[0].startswith("Filename"):
        return None
    found = []
    for line in lines[1:]:
        words = line.split()
        if len(words) < 5 or not _NUMBER.fullmatch(words[-3]):
            continue
        is_zram = words[0].rpartition("/")[2].startswith("zram")
        kind = words[-4] if words[-4] in ("file", "partition") else "of unknown kind"
        found.append(("zram" if is_zram else kind, int(words[-3]) * 1024))
    return tuple(found)


def sections(text: str | None) -> dict[str, dict[str, str]]:
    """Section -> key -> value of a key file such as ``/.flatpak-info``."""
    found: dict[str, dict[str, str]] = {}
    section: dict[str, str] = {}
    for line in (text or "").splitlines():
        row = line.strip()
        if row.startswith("[") and row.endswith("]"):
            section = found.setdefault(row[1:-1], {})
        elif "=" in row and not row.startswith("#"):
            key, _, value = row.partition("=")
            section[key.strip()] = value.strip()
    return found


def app_id(text: str | None) -> str:
    """A Flatpak application id that is safe in a line to copy; empty for anything else."""
    value = (text or "").strip()
    return value if _APP.fullmatch(value) else ""


def words(text: str | None) -> frozenset[str]:
    """The entries of a list separated by semicolons, as in key files."""
    return frozenset(word.strip() for word in (text or "").split(";") if word.strip())


def vulkan_summary(text: str | None) -> tuple[str | None, dict[str, str]]:
    """The loader's version, and driver name -> driver info, from ``vulkaninfo --summary``."""
    loader = None
    drivers: dict[str, str] = {}
    name = ""
    for line in (text or "").splitlines():
        if line.startswith("Vulkan Instance Version:"):
            loader = line.partition(":")[2].strip() or None
        key, sign, value = (part.strip() for part in line.partition("="))
        if sign and key == "driverName":
            name = value
        elif sign and key == "driverInfo" and name:
            drivers[name] = value
    return loader, drivers


def _unquoted(value: str) -> str:
    try:
        return " ".join(shlex.split(value))
    except ValueError:
        return value.strip().strip("\"'")

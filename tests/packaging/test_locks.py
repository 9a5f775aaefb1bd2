"""The lock files pin everything by hash and say nothing about where it comes from."""

import re
import tomllib
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
LOCKS = sorted((CHECKOUT / "requirements").glob("*.txt"))
OWN_FILES = [
    CHECKOUT / "dev",
    CHECKOUT / ".ci" / "run",
    CHECKOUT / "pyproject.toml",
    *sorted((CHECKOUT / "packaging").rglob("*.py")),
    *sorted((CHECKOUT / "packaging").rglob("*.sh")),
    *sorted((CHECKOUT / "requirements").iterdir()),
]


def pins(lock: Path) -> dict[str, list[str]]:
    """The versions of each package in a lock file (more than one where they differ by Python)."""
    found: dict[str, list[str]] = {}
    for name, version in re.findall(r"^([a-z0-9-]+)==([^ ;]+)", lock.read_text(), re.MULTILINE):
        found.setdefault(name, []).append(version)
    return found


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_everything_is_pinned_by_hash(lock):
    entries = re.sub(r"\\\n", " ", re.sub(r"(?m)^\s*#.*\n", "", lock.read_text())).splitlines()
    assert entries
    for line in entries:
        assert re.match(r"[a-z0-9-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", line), line


@pytest.mark.parametrize("file", OWN_FILES, ids=lambda file: file.name)
def test_no_file_of_the_set_up_names_an_address(file):
    assert "://" not in file.read_text()


@pytest.mark.parametrize("name", ["runtime", "build", "dev"])
def test_what_is_asked_for_is_locked(name):
    asked = [
        re.split(r"[=<>! ]", line)[0].lower()
        for line in (CHECKOUT / "requirements" / f"{name}.in").read_text().splitlines()
        if line and not line.startswith(("#", "-"))
    ]
    assert set(asked) <= pins(CHECKOUT / "requirements" / f"{name}.txt").keys()


def test_the_same_package_has_the_same_version_everywhere():
    seen: dict[str, list[str]] = {}
    for lock in LOCKS:
        for name, versions in pins(lock).items():
            assert seen.setdefault(name, versions) == versions


def test_the_qt_that_loses_references_on_older_pythons_is_not_used():
    assert pins(CHECKOUT / "requirements" / "runtime.txt")["pyside6-essentials"] == ["6.11.3"]


def test_the_project_asks_for_what_the_locks_hold():
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    named = {re.split(r"[=<>! ]", line)[0].lower() for line in project["dependencies"]}
    locked = pins(CHECKOUT / "requirements" / "runtime.txt").keys() | {"llama-cpp-python"}
    assert named <= locked


def test_the_licence_of_everything_that_ships_is_written_down():
    text = (CHECKOUT / "docs" / "licences.md").read_text().lower()
    shipped = pins(CHECKOUT / "requirements" / "runtime.txt").keys()
    elsewhere = {"colorama", "httpx2-jsfetch", "pywin32-ctypes"}  # other systems only
    assert [name for name in shipped - elsewhere if f"| {name} |" not in text] == []

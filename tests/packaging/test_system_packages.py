"""Which system packages are installed, by whom, and what is said when nobody may."""

import os
import shutil

import pytest
from vramble_setup import system_packages
from vramble_setup.report import SetupError
from vramble_setup.system_packages import Need, candidates, ensure, line_to_type, missing, needs_for, privileges

COMPILER = Need(("g++",), "build the engine", command="no-such-compiler")
CACHE = Need(("ccache",), "build the engine", command="no-such-cache", optional=True)
GLIB = Need(("libglib2.0-0t64", "libglib2.0-0"), "show the window")


def test_either_name_of_a_package_will_do():
    assert missing([GLIB], {"libglib2.0-0"}.__contains__) == []
    assert missing([GLIB], {"libglib2.0-0t64"}.__contains__) == []
    assert missing([GLIB], set().__contains__) == [GLIB]


def test_a_program_from_elsewhere_counts_too():
    shell = Need(("some-shell",), "run", command="sh")
    assert missing([shell], set().__contains__) == []


def test_the_tests_need_more_than_the_program():
    def names(level):
        return {need.names[0] for need in needs_for(level, newer_vulkan_tools=False, has_ensurepip=True)}

    assert names("test") - names("run") == {"xvfb", "xauth", "xdotool"}


def test_debian_12_does_not_get_its_old_vulkan_tools():
    names = {need.names[0] for need in needs_for("run", newer_vulkan_tools=True, has_ensurepip=True)}
    assert "glslc" not in names
    assert "libvulkan1" in names


def test_a_python_without_venv_gets_it():
    needs = needs_for("run", newer_vulkan_tools=True, has_ensurepip=False)
    assert "python3-venv" in needs[-1].names


def test_root_needs_no_sudo():
    assert privileges({"PATH": ""}, 0, False) == []


def test_without_sudo_there_are_no_rights(tmp_path):
    assert privileges({"PATH": str(tmp_path)}, 1000, True) is None


@pytest.mark.parametrize(("answer", "expected"), [("exit 0", True), ("exit 1", False)])
def test_sudo_that_would_ask_is_used_only_on_a_terminal(tmp_path, answer, expected):
    sudo = tmp_path / "sudo"
    sudo.write_text(f"#!/bin/sh\n{answer}\n")
    sudo.chmod(0o755)
    path = {"PATH": str(tmp_path)}
    assert (privileges(path, 1000, False) == [str(sudo)]) is expected
    assert privileges(path, 1000, True) == [str(sudo)]


@pytest.fixture
def bare(monkeypatch):
    """A system with apt, nothing installed, and a user without rights."""
    monkeypatch.setattr(system_packages, "dpkg_status", lambda names: set())
    monkeypatch.setattr(system_packages, "privileges", lambda *given: None)
    monkeypatch.setattr(shutil, "which", lambda name, **_: "/x" if name == "apt-get" else None)


@pytest.mark.usefixtures("bare")
def test_without_rights_it_gives_the_one_line_to_type():
    with pytest.raises(SetupError) as caught:
        ensure([COMPILER, CACHE])
    assert "apt-get install --yes --no-install-recommends g++ ccache" in caught.value.advice
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.usefixtures("bare")
def test_without_rights_it_does_without_what_is_optional():
    ensure([CACHE])


def test_a_system_without_apt_is_told_which_programs_it_lacks(monkeypatch):
    monkeypatch.setattr(system_packages, "dpkg_status", lambda names: set())
    monkeypatch.setenv("PATH", os.devnull)
    with pytest.raises(SetupError, match="no-such-compiler"):
        ensure([COMPILER, CACHE, GLIB])


@pytest.mark.parametrize(("sudo", "start"), [("/usr/bin/sudo", "sudo apt-get update &&"), (None, "su -c '")])
def test_the_line_to_type_fits_the_system_and_every_release(monkeypatch, sudo, start):
    monkeypatch.setattr(shutil, "which", lambda name: sudo)
    line = line_to_type([GLIB])
    assert line.startswith(start)
    assert " libglib2.0-0" in line


def test_what_apt_offers_is_read_from_its_policy():
    policy = "g++:\n  Installed: (none)\n  Candidate: 4:12.2.0\nlibold:\n  Installed: (none)\n  Candidate: (none)\n"
    assert candidates(policy) == {"g++"}

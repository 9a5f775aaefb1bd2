"""`./dev` as a person types it, as far as it needs no set-up."""

import os
import subprocess
from pathlib import Path

import pytest
from vramble_setup import __main__, cleaning, display
from vramble_setup.environment import Environment
from vramble_setup.report import SetupError

CHECKOUT = Path(__file__).parents[2]
SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")


def dev(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in SCREENS}
    return subprocess.run([CHECKOUT / "dev", *arguments], env=environment, capture_output=True, text=True, check=False)


def test_without_a_display_run_says_one_line_and_fails():
    done = dev("run")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "no display" in done.stderr


@pytest.mark.parametrize("arguments", [(), ("nonsense",)])
def test_an_unknown_command_shows_the_known_ones(arguments):
    done = dev(*arguments)
    assert done.returncode == 2
    assert "run | test | lint | shots | clean" in done.stderr


@pytest.mark.parametrize("word", ["--help", "-h", "help"])
def test_help_has_a_line_for_each_command(word):
    done = dev(word)
    assert (done.returncode, done.stderr) == (0, "")
    words = [line.split()[0] for line in done.stdout.splitlines()[2:]]
    assert words == ["run", "test", "lint", "shots", "clean"]
    assert all(len(line) <= 90 for line in done.stdout.splitlines())


@pytest.mark.parametrize("ready", [True, False])
def test_the_end_of_the_first_set_up_is_told(tmp_path, monkeypatch, capsys, ready):
    started = []
    environment = Environment(tmp_path)
    program = environment.shared / "steps" / "program"
    if ready:
        program.parent.mkdir(parents=True)
        program.write_text("before")
    monkeypatch.setattr(__main__, "CHECKOUT", tmp_path)
    monkeypatch.setattr(__main__, "set_up", lambda checkout, level: environment)
    monkeypatch.setattr(os, "execv", lambda *words: started.append(words))
    __main__.run(["doctor"])
    assert len(started) == 1
    assert ("Vramble is starting." in capsys.readouterr().err) is not ready


def test_clean_refuses_words_that_it_does_not_know():
    done = dev("clean", "everything")
    assert done.returncode == 1
    assert "./dev clean [--cache]" in done.stderr


@pytest.mark.parametrize("arguments", [[], ["--style", "Fusion"]])
def test_the_window_needs_a_display(arguments):
    with pytest.raises(SetupError):
        display.check(arguments, {})
    display.check(arguments, {"WAYLAND_DISPLAY": "wayland-0"})
    display.check(arguments, {"QT_QPA_PLATFORM": "offscreen"})


@pytest.mark.parametrize("arguments", [["devices", "--json"], ["--help"], ["--version"], ["chat", "x"]])
def test_commands_need_no_display(arguments):
    display.check(arguments, {})


def test_clean_removes_what_the_set_up_left_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setenv("VRAMBLE_BUILD_CACHE", str(tmp_path / "cache"))
    checkout = tmp_path / "checkout"
    for name in (".venv/bin", "app/__pycache__", ".pytest_cache", "docs"):
        (checkout / name).mkdir(parents=True)
    (tmp_path / "cache").mkdir()
    cleaning.clean(checkout, [])
    assert sorted(path.name for path in checkout.iterdir()) == ["app", "docs"]
    assert not (checkout / "app" / "__pycache__").exists()
    assert (tmp_path / "cache").exists()
    cleaning.clean(checkout, ["--cache"])
    assert not (tmp_path / "cache").exists()


def test_clean_never_follows_a_link_out_of_the_checkout(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / ".venv").symlink_to(elsewhere)
    cleaning.clean(checkout, [])
    assert elsewhere.exists()
    assert not (checkout / ".venv").exists()


def test_packaging_is_no_package_because_it_would_hide_the_library_of_that_name():
    assert not (CHECKOUT / "packaging" / "__init__.py").exists()
    assert [file.name for file in (CHECKOUT / "packaging").glob("*.py")] == []

"""What `./dev test` does with tests that fail, on real small test files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from vramble_setup.test_round import failed_tests, run_tests

pytestmark = pytest.mark.slow

FAILS_ONCE = """
import pathlib, pytest

@pytest.mark.parametrize("number", range({count}))
def test_of_the_mood(number):
    seen = pathlib.Path("seen-" + str(number))
    first = not seen.exists()
    seen.touch()
    assert not first
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    (tmp_path / "test_good.py").write_text("def test_good():\n    pass\n")
    return tmp_path


def run(checkout: Path, *arguments: str) -> int:
    return run_tests(Path(sys.executable), checkout, arguments)


def test_when_all_pass_there_is_one_round(checkout, capfd):
    assert run(checkout) == 0
    assert "beside others" not in capfd.readouterr().err


def test_what_fails_only_beside_others_is_named_and_passes(checkout, capfd):
    (checkout / "test_mood.py").write_text(FAILS_ONCE.format(count=2))
    assert run(checkout) == 0
    told = capfd.readouterr().err
    assert "test_mood.py::test_of_the_mood[0]" in told
    assert "Unsteady" in told


def test_what_fails_twice_fails(checkout, capfd):
    (checkout / "test_bad.py").write_text("def test_bad():\n    assert False\n")
    assert run(checkout) == 1
    assert failed_tests(checkout) == ("test_bad.py::test_bad",)
    assert "Unsteady" not in capfd.readouterr().err


def test_many_failures_have_no_second_look(checkout):
    (checkout / "test_mood.py").write_text(FAILS_ONCE.format(count=4))
    assert run(checkout) == 1


def test_a_chosen_round_has_no_second_look(checkout):
    (checkout / "test_mood.py").write_text(FAILS_ONCE.format(count=1))
    assert run(checkout, "test_mood.py") == 1


def test_a_file_that_cannot_be_read_fails(checkout):
    (checkout / "test_broken.py").write_text("import nothing_of_this_name\n")
    assert run(checkout) != 0

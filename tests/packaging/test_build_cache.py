"""An entry of the build cache is whole or absent, whatever happens while it is made."""

import subprocess
import sys
from pathlib import Path

import pytest
from vramble_setup import build_cache

PACKAGING = Path(build_cache.__file__).parents[1]


def test_the_cache_lies_where_the_user_says(tmp_path):
    assert build_cache.cache_root({"VRAMBLE_BUILD_CACHE": str(tmp_path)}) == tmp_path
    assert build_cache.cache_root({"XDG_CACHE_HOME": "/c"}) == Path("/c/vramble/build")
    assert build_cache.cache_root({}) == Path.home() / ".cache/vramble/build"


def test_a_relative_xdg_folder_is_ignored():
    assert build_cache.cache_root({"XDG_CACHE_HOME": "cache"}) == Path.home() / ".cache/vramble/build"


def test_the_key_depends_on_the_facts_and_not_on_their_order():
    assert build_cache.key_of({"a": 1, "b": "x"}) == build_cache.key_of({"b": "x", "a": 1})
    assert build_cache.key_of({"a": 1}) != build_cache.key_of({"a": 2})


def test_an_entry_is_made_once(tmp_path):
    made = []

    def make(folder: Path) -> None:
        made.append(folder)
        (folder / "file").write_text("whole")

    first = build_cache.entry(tmp_path, "thing", "a thing", make)
    second = build_cache.entry(tmp_path, "thing", "a thing", make)
    assert first == second
    assert (first / "file").read_text() == "whole"
    assert len(made) == 1


@pytest.mark.parametrize("stop", [RuntimeError, KeyboardInterrupt])
def test_a_failed_or_interrupted_entry_leaves_nothing(tmp_path, stop):
    def make(folder: Path) -> None:
        (folder / "half").write_text("half")
        raise stop

    with pytest.raises(stop):
        build_cache.entry(tmp_path, "thing", "a thing", make)
    assert [path.name for path in tmp_path.iterdir()] == ["thing.lock"]


def test_what_a_killed_set_up_left_is_not_used(tmp_path):
    left = tmp_path / "thing.unfinished"
    left.mkdir()
    (left / "old").write_text("old")
    place = build_cache.entry(tmp_path, "thing", "a thing", lambda folder: None)
    assert list(place.iterdir()) == []


def test_two_set_ups_at_once_make_it_once(tmp_path):
    script = (
        "import sys, time; from pathlib import Path; from vramble_setup import build_cache\n"
        "def make(folder):\n"
        "    with open(sys.argv[1] + '/made', 'a') as log: log.write('x')\n"
        "    time.sleep(0.5)\n"
        "build_cache.entry(Path(sys.argv[1]) / 'cache', 'thing', 'a thing', make)\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    children = [subprocess.Popen(command, env={"PYTHONPATH": str(PACKAGING)}, stderr=subprocess.PIPE) for _ in range(2)]
    said = b"".join(child.communicate()[1] for child in children)
    assert [child.returncode for child in children] == [0, 0]
    assert (tmp_path / "made").read_text() == "x"
    assert said.count(b"Waiting: another set-up is busy with a thing.") <= 1

"""The examples of the CommonMark specification come out of a source archive, and only if their bytes are the expected
ones.
"""

import hashlib
import io
import json
import tarfile

import pytest
from vramble_setup import markdown_examples, starter_model, steps, system_packages
from vramble_setup.environment import Environment
from vramble_setup.report import SetupError

EXAMPLES = b'[{"example": 1}]'


def packed(folder, *names):
    file = folder / "parser-1.tar.gz"
    with tarfile.open(file, "w:gz") as archive:
        for name in names:
            member = tarfile.TarInfo(f"parser-1/{name}")
            member.size = len(EXAMPLES)
            archive.addfile(member, io.BytesIO(EXAMPLES))
    return file


@pytest.fixture
def expected(monkeypatch):
    monkeypatch.setattr(markdown_examples, "SHA256", hashlib.sha256(EXAMPLES).hexdigest())


def test_only_the_examples_are_taken(tmp_path, expected):
    archive = packed(tmp_path, "setup.py", "tests/test_cmark_spec/commonmark.json", "tests/test_cmark_spec/spec.md")
    markdown_examples.unpack(archive, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [markdown_examples.NAME]
    assert json.loads((tmp_path / markdown_examples.NAME).read_bytes()) == [{"example": 1}]


def test_other_bytes_are_refused(tmp_path):
    archive = packed(tmp_path, "tests/test_cmark_spec/commonmark.json")
    with pytest.raises(SetupError, match="not the expected file"):
        markdown_examples.unpack(archive, tmp_path)


def test_an_archive_without_them_is_refused(tmp_path, expected):
    with pytest.raises(SetupError, match="not the expected file"):
        markdown_examples.unpack(packed(tmp_path, "setup.py"), tmp_path)


def test_they_are_fetched_once_and_linked_into_each_environment(tmp_path, expected, monkeypatch):
    fetched = []

    def download(self, requirements, folder, *options):
        fetched.append((requirements.name, options))
        packed(folder, "tests/test_cmark_spec/commonmark.json")

    monkeypatch.setattr(Environment, "download", download)
    for checkout in ("one", "other", "other"):
        environment = Environment(tmp_path / checkout)
        link = markdown_examples.ensure(environment, tmp_path / "examples.txt", tmp_path / "cache")
        assert link == environment.shared / "examples" / "commonmark.json"
        assert link.read_bytes() == EXAMPLES
    assert fetched == [("examples.txt", ("--no-binary", "markdown-it-py", "--no-build-isolation"))]


@pytest.mark.parametrize(("level", "wanted"), [("run", False), ("test", True)])
def test_the_tests_have_them_and_a_user_does_not_wait_for_them(tmp_path, monkeypatch, level, wanted):
    asked = []
    monkeypatch.setenv("VRAMBLE_BUILD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(Environment, "ensure", lambda self: None)
    for step in ("_packages", "_engine", "_program"):
        monkeypatch.setattr(steps, step, lambda *words: None)
    monkeypatch.setattr(system_packages, "ensure", lambda needs: None)
    monkeypatch.setattr(starter_model, "ensure", lambda *words: None)
    monkeypatch.setattr(markdown_examples, "ensure", lambda *words: asked.append(words))
    steps.set_up(tmp_path, level)
    assert bool(asked) is wanted

"""Where the newer packages come from is read off the machine's own package sources."""

import pytest
from vramble_setup import newer_debian
from vramble_setup.newer_debian import Source, machine_sources, parse_deb822, parse_list, sources_of_next
from vramble_setup.report import SetupError

PARAGRAPHS = """\
# a comment
Types: deb deb-src
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main
 contrib
Signed-By: /usr/share/keyrings/mirror.gpg

Enabled: no
Types: deb
URIs: http://off.example/debian
Suites: bookworm
Components: main
"""


def test_the_one_line_format():
    text = "# deb http://no.example x main\ndeb [arch=amd64 signed-by=/k.gpg] http://m.example/debian bookworm main\n"
    assert parse_list(text) == [Source("http://m.example/debian", "bookworm", ("main",), "/k.gpg")]


def test_the_paragraph_format():
    found = parse_deb822(PARAGRAPHS)
    assert [source.suite for source in found] == ["bookworm", "bookworm-updates"]
    assert found[0].components == ("main", "contrib")
    assert found[0].signed_by == "/usr/share/keyrings/mirror.gpg"


def test_a_key_inside_the_paragraph_is_replaced_by_debians_keyring():
    text = "Types: deb\nURIs: http://m.example/\nSuites: bookworm\nComponents: main\nSigned-By:\n -----BEGIN\n x\n"
    (source,) = sources_of_next(parse_deb822(text), "bookworm", "trixie")
    assert source.signed_by == str(newer_debian.KEYRING)


def test_only_the_main_archive_is_asked_for_the_next_debian():
    found = sources_of_next(parse_deb822(PARAGRAPHS), "bookworm", "trixie")
    assert [source.line() for source in found] == [
        "deb [signed-by=/usr/share/keyrings/mirror.gpg] http://mirror.example/debian trixie main"
    ]


def test_all_files_of_the_machine_are_read(tmp_path):
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text("deb http://a.example/ bookworm main\n")
    (tmp_path / "sources.list.d" / "b.sources").write_text(PARAGRAPHS)
    (tmp_path / "sources.list.d" / "c.list.save").write_text("deb http://c.example/ bookworm main\n")
    assert [source.address for source in machine_sources(tmp_path)] == [
        "http://a.example/",
        "http://mirror.example/debian",
        "http://mirror.example/debian",
    ]


def test_without_a_fitting_source_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(newer_debian, "machine_sources", list)
    with pytest.raises(SetupError, match="none is known for trixie"):
        newer_debian.unpack_packages(
            ["glslc"], tmp_path / "x", tmp_path / "log", current="bookworm", following="trixie"
        )

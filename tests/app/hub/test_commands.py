"""``vramble search``."""

from __future__ import annotations

import json

import pytest

from app import cli
from app.hub.commands import weights
from app.paths import find_paths
from tests.fakes.hub_pages import row
from tests.fakes.local_hub import LocalHub, Refusal


@pytest.fixture
def full(hub: LocalHub) -> LocalHub:
    hub.pages.rows = [
        row("maker/small-GGUF", downloads=5, gguf={"total": 1_700_000_000, "architecture": "qwen3"}),
        row("maker/large-GGUF", downloads=9, gguf={"total": 70_000_000_000, "architecture": "llama"}, gated="manual"),
        row("other/strange-GGUF", downloads=None, likes=18, gguf=None, tags=["gguf"], lastModified=None),
    ]
    return hub


def test_rows_for_people(full: LocalHub, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["search", "maker"]) == 0
    out, err = capsys.readouterr()
    head, first, second = out.splitlines()
    assert head.split() == ["REPOSITORY", "WEIGHTS", "ARCH", "LICENCE", "DOWNLOADS", "UPDATED"]
    assert first.split() == ["maker/large-GGUF", "70.0B", "llama", "apache-2.0", "9", "2026-01-02", "gated"]
    assert second.split()[:2] == ["maker/small-GGUF", "1.7B"]
    assert err == ""


def test_rows_for_scripts(full: LocalHub, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["search", "--author", "other", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "results": [
            {
                "repo": "other/strange-GGUF",
                "parameters": None,
                "architecture": None,
                "context_length": None,
                "licence": None,
                "languages": [],
                "gated": "open",
                "downloads": None,
                "likes": 18,
                "updated": None,
            }
        ],
        "from_cache": False,
        "more": False,
    }


def test_filters_are_handed_on(full: LocalHub, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["search", "--min", "1B", "--max", "3B", "--arch", "qwen3", "--open", "--sort", "likes", "--limit", "5"]
    assert cli.run([*arguments, "--licence", "apache-2.0", "--language", "en", "--json"]) == 0
    assert [one["repo"] for one in json.loads(capsys.readouterr().out)["results"]] == ["maker/small-GGUF"]
    (asked,) = full.pages.queries
    assert (asked["filter"], asked["gated"], asked["sort"]) == (
        ["gguf", "license:apache-2.0", "en"], ["false"], ["likes"],
    )  # fmt: skip


def test_as_many_rows_as_were_asked_for(hub: LocalHub, capsys: pytest.CaptureFixture[str]) -> None:
    hub.pages.rows = [row(f"maker/m{number}-GGUF") for number in range(90)]
    assert cli.run(["search", "--limit", "40", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (len(found["results"]), found["more"], len(hub.pages.queries)) == (40, True, 2)


def test_without_the_hub_kept_rows_and_the_reason(full: LocalHub, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["search", "maker"]) == 0
    before = capsys.readouterr().out
    full.pages.refusal = Refusal(500)
    assert cli.run(["search", "maker", "--fresh"]) == 0
    out, err = capsys.readouterr()
    assert out == before
    assert "kept from earlier" in err
    full.log.clear()
    assert cli.run(["search", "small", "--offline"]) == 0
    assert "maker/small-GGUF" in capsys.readouterr().out
    assert full.log == []


def test_settings_of_the_window_count(
    full: LocalHub, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = find_paths().settings
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"download": {"endpoint": full.url}}))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert cli.run(["search", "maker"]) == 0
    full.log.clear()
    settings.write_text(json.dumps({"download": {"endpoint": full.url, "offline": True}}))
    assert cli.run(["search", "small", "--fresh"]) == 0
    assert "maker/small-GGUF" in capsys.readouterr().out
    assert full.log == []


def test_nothing_found(full: LocalHub, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["search", "no such model"]) == 0
    assert capsys.readouterr().out == "No repository was found.\n"


def test_a_refusal_is_one_line(full: LocalHub, capsys: pytest.CaptureFixture[str]) -> None:
    full.pages.refusal = Refusal(429, headers={"Retry-After": "7"})
    assert cli.run(["search", "x"]) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "Try again in 7 seconds" in err


@pytest.mark.parametrize("arguments", [["--min", "many"], ["--limit", "0"], ["--limit", "x"], ["--sort", "size"]])
def test_wrong_use(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["search", *arguments]) == 2
    assert capsys.readouterr().out == ""


def test_the_catalogue_needs_no_network(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["search", "--catalogue"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 20
    assert any("Deck" in line for line in lines)
    assert cli.run(["search", "--catalogue", "--json"]) == 0
    models = json.loads(capsys.readouterr().out)["models"]
    assert len(models) == len(lines) - 1
    assert all(len(model["sha256"]) == 64 for model in models)


def test_the_catalogue_is_looked_through_by_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["search", "QWEN", "coder", "--catalogue", "--json"]) == 0
    names = [model["name"] for model in json.loads(capsys.readouterr().out)["models"]]
    assert names
    assert all("Qwen" in name and "Coder" in name for name in names)
    assert cli.run(["search", "nosuchname", "--catalogue"]) == 0
    assert capsys.readouterr().out.startswith("No recommended model has that name")


def test_numbers_of_weights() -> None:
    assert [weights(text) for text in ("3B", "1.5b", "500M", " 7 B")] == [3 * 10**9, 15 * 10**8, 5 * 10**8, 7 * 10**9]

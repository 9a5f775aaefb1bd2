"""``vramble pull``."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from app import cli
from app.downloads.commands import Terminal
from app.paths import find_paths
from engine.downloads.messages import Note, Progress, Waiting
from engine.loading.getting_back import FROM_ELSEWHERE, FROM_THE_INSTALLATION
from tests.engine.downloads.conftest import FILE, REPO, content, sha256
from tests.fakes.local_hub import LocalHub, Refusal


@pytest.fixture
def models() -> Path:
    return find_paths().models


def test_pull_the_only_file(hub: LocalHub, models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = hub.add(REPO, FILE, content())
    assert cli.run(["pull", REPO, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "path": str(models / REPO / FILE),
        "bytes": 300_000,
        "sha256": file.sha256,
        "verified": True,
    }
    assert cli.run(["models", "verify", "--json"]) == 1
    entry = json.loads(capsys.readouterr().out)["models"][0]
    assert (entry["verified"], entry["state"]) == (True, "not-gguf")


def test_pull_says_which_file_it_takes(hub: LocalHub, models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for quant in ("Q2_K", "Q4_K_M", "Q8_0"):
        hub.add(REPO, f"m-{quant}.gguf", content(1000))
    assert cli.run(["pull", f"https://hub.example/{REPO}"]) == 0
    out, err = capsys.readouterr()
    assert "m-Q4_K_M.gguf" in out
    assert "taking Q4_K_M" in err
    assert cli.run(["pull", REPO, "q2_k"]) == 0
    assert sorted(path.name for path in (models / REPO).glob("*.gguf")) == ["m-Q2_K.gguf", "m-Q4_K_M.gguf"]


@pytest.mark.parametrize(
    ("repo", "file", "words"),
    [("a", None, "does not name"), ("no/where", None, "no repository"), (REPO, "none", "has no file")],
)
def test_failures_are_one_line(
    hub: LocalHub, capsys: pytest.CaptureFixture[str], repo: str, file: str | None, words: str
) -> None:
    hub.add(REPO, FILE, content(1000))
    assert cli.run(["pull", repo, *([file] if file else [])]) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n"), words in err) == ("", 1, True), err


def test_a_wrong_checksum_fails(hub: LocalHub, models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hub.add(REPO, FILE, content(), body=bytes(300_000))
    assert cli.run(["pull", REPO]) == 1
    assert "checksum" in capsys.readouterr().err
    assert not list(models.rglob("*.gguf"))


def test_a_refused_download_fails(hub: LocalHub, capsys: pytest.CaptureFixture[str]) -> None:
    hub.add(REPO, FILE, content(), refusal=Refusal(403, "GatedRepo"))
    assert cli.run(["pull", REPO]) == 1
    assert "accept the terms" in capsys.readouterr().err


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_on_a_terminal_is_one_line_that_is_rewritten() -> None:
    screen, clock = Screen(), iter([0.0, 1.0, 2.0])
    terminal = Terminal(screen, lambda: next(clock))
    for done in (0, 2_000_000, 4_000_000):
        terminal.show(Progress(stage="loading", done=done, total=8_000_000))
    terminal.end()
    last = screen.getvalue().split("\r")[-1]
    assert last.strip() == "loading  4.0 MB of 8.0 MB  50 %  2.0 MB/s"
    assert screen.getvalue().count("\n") == 1


def test_a_log_gets_only_what_is_worth_keeping() -> None:
    log = io.StringIO()
    terminal = Terminal(log)
    terminal.show(Progress(stage="loading", done=1, total=2))
    terminal.show(Note(text="Started again."))
    terminal.show(Waiting(seconds=2.0, reason="No data came."))
    assert log.getvalue() == "Started again.\nNo data came. Trying again in 2 s.\n"


# ---- repair and login


def test_repair_fetches_what_is_wrong(hub: LocalHub, models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = hub.add(REPO, FILE, content(3 << 20))
    assert cli.run(["pull", REPO, "--connections", "2", "--limit", "1000"]) == 0
    target = models / REPO / FILE
    with target.open("r+b") as there:
        there.write(b"wrong")
    hub.sent.clear()
    capsys.readouterr()
    assert cli.run(["repair", str(target), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sha256"] == file.sha256
    assert hub.sent[FILE] == 1 << 20


def test_repair_needs_to_know_where_a_model_came_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(b"GGUF")
    assert cli.run(["repair", str(path)]) == 1
    told = capsys.readouterr().err
    assert "where x.gguf came from" in told
    assert FROM_ELSEWHERE in told
    assert cli.run(["repair", "starter"]) == 1
    assert FROM_THE_INSTALLATION in capsys.readouterr().err


def test_the_settings_of_the_window_count_here_too(hub: LocalHub, capsys: pytest.CaptureFixture[str]) -> None:
    hub.add(REPO, FILE, content(1000))
    settings = find_paths().settings
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"download": {"offline": True}}))
    assert cli.run(["pull", REPO]) == 1
    assert "Offline mode" in capsys.readouterr().err
    assert hub.log == []


def test_login_keeps_a_good_token_and_never_shows_it(
    hub: LocalHub, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    hub.accounts["hf_right"] = "somebody"
    monkeypatch.setattr("sys.stdin", io.StringIO("hf_wrong\n"))
    assert cli.run(["login", "--file"]) == 1
    monkeypatch.setattr("sys.stdin", io.StringIO("hf_right\n"))
    assert cli.run(["login", "--file"]) == 0
    assert cli.run(["login", "--status"]) == 0
    told = capsys.readouterr()
    assert told.out.count("in a file that only you can read (somebody)") == 2
    assert "hf_" not in told.out + told.err
    file = hub.add(REPO, FILE, content(1000), needs_token="hf_right")
    assert cli.run(["pull", REPO]) == 0
    assert sha256(find_paths().models / REPO / FILE) == file.sha256
    assert cli.run(["login", "--forget"]) == 0
    assert "no token is known" in capsys.readouterr().out

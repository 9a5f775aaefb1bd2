"""The model manager window against a Hub on this machine: get, cancel, wrong bytes, no Hub."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.downloads.partial import bytes_here
from tests.e2e.harness import Program, Screen, program
from tests.fakes.local_hub import HubFile, LocalHub, Refusal
from tests.fakes.tiny_gguf import small_llama

REPO = "someone/tiny-GGUF"
FILE = "tiny-F32.gguf"


@pytest.fixture
def hub() -> Iterator[LocalHub]:
    with LocalHub() as hub:
        hub.repos[REPO] = {FILE: HubFile(small_llama())}
        yield hub


def open_repo(run: Program, repo: str = REPO) -> None:
    run.click("findModelButton")
    run.click("discoverSearch")
    run.key("ctrl+a")
    run.type(repo)
    run.key("Return")


def start_download(run: Program) -> None:
    """Begin it in Discover, and go to the queue."""
    open_repo(run)
    run.click("get-F32", 180)
    run.focus_window(run.widget("modelManager")["window"])
    run.key("ctrl+3")


def installed(home: Path) -> list[Path]:
    return sorted((home / "data/models").rglob("*.gguf"))


def manager_text(run: Program) -> str:
    return " ".join(run.ask("texts", name="modelManager"))


def test_download_load_and_answer(screen: Screen, home: Path, hub: LocalHub) -> None:
    with program(screen, home, {"HF_ENDPOINT": hub.url}) as run:
        start_download(run)
        run.click("loadDownloadedButton", 60)
        run.until(lambda: run.widget("modelPicker")["text"].startswith("tiny"), "the model to be loaded", 60)
        [path] = installed(home)
        assert hashlib.sha256(path.read_bytes()).hexdigest() == hub.repos[REPO][FILE].sha256
        main = run.widget("composer")
        run.screen.xdotool("windowraise", str(main["window"]))
        run.send("Hi")
        assert run.answer()["text"] != ""


def test_cancel_leaves_nothing(screen: Screen, home: Path, hub: LocalHub) -> None:
    hub.repos[REPO][FILE].pause_after = 500_000
    with program(screen, home, {"HF_ENDPOINT": hub.url}) as run:
        start_download(run)
        run.until(lambda: sorted((home / "data/models").rglob("*.part")), "a partial file")
        run.click("cancelDownloadButton")
        run.until(lambda: not sorted((home / "data/models").rglob("*.part*")), "the partial file to go", 60)
        assert installed(home) == []
        run.until(
            lambda: not any(b"engine.downloads" in cmdline(pid) for pid in run.children()), "the child to end", 60
        )


def cmdline(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_wrong_bytes_never_become_a_model(screen: Screen, home: Path, hub: LocalHub) -> None:
    right = hub.repos[REPO][FILE].data
    hub.repos[REPO][FILE].body = right[:-4] + b"\0\1\2\3"
    with program(screen, home, {"HF_ENDPOINT": hub.url}) as run:
        start_download(run)
        problem = run.until(lambda: run.widget("downloadProblem", 60)["text"], "the problem in words")
        assert "checksum" in problem.lower() or "damaged" in problem.lower() or "not the" in problem.lower(), problem
        assert installed(home) == []
        hub.repos[REPO][FILE].body = None
        run.click("retryDownloadButton")
        run.widget("loadDownloadedButton", 60)
        assert [p.read_bytes() == right for p in installed(home)] == [True]


def test_no_hub_and_no_such_repository(screen: Screen, home: Path, hub: LocalHub) -> None:
    with program(screen, home, {"HF_ENDPOINT": "http://127.0.0.1:9"}) as run:
        open_repo(run)
        run.until(lambda: "reach" in manager_text(run).lower(), "the sentence that the Hub cannot be reached", 60)
    with program(screen, home, {"HF_ENDPOINT": hub.url}) as run:
        open_repo(run, "someone/nothing")
        run.until(
            lambda: "no repository" in manager_text(run).lower(), "the sentence that there is no such repository", 60
        )


def test_a_hub_that_asks_to_wait_is_waited_for_with_a_countdown(screen: Screen, home: Path, hub: LocalHub) -> None:
    """While one looks for models, and while one of them comes."""
    hub.repos[REPO][FILE].body_refusal = Refusal(429, headers={"Retry-After": "3000"})
    with program(screen, home, {"HF_ENDPOINT": hub.url}) as run:
        start_download(run)
        run.until(lambda: "Trying again in 50 min." in manager_text(run), "the wait of the download", 180)
        hub.pages.refusal = Refusal(429, headers={"Retry-After": "3000"})
        run.key("ctrl+1")
        run.click("discoverSearch")
        run.key("ctrl+a")
        run.type("tiny")
        run.until(lambda: "The Hub asks to wait: 50 min" in manager_text(run), "the wait of the search", 180)


def test_a_killed_window_goes_on_where_it_was(screen: Screen, home: Path, hub: LocalHub) -> None:
    """kill -9 in the middle of a file: the next start fetches what is missing, by itself."""
    file = hub.add(REPO, FILE, small_llama() + bytes(3 << 20), pause_after=1 << 20)
    with program(screen, home, {"HF_ENDPOINT": hub.url}) as run:
        start_download(run)
        target = home / "data/models" / REPO / FILE
        run.until(lambda: bytes_here(target, file.size) >= 1 << 20, "the first MiB", 180)
        run.process.kill()
        run.process.wait()
    file.pause_after = None
    hub.release()
    with program(screen, home, {"HF_ENDPOINT": hub.url}) as run:
        run.until(lambda: installed(home), "the model", 180)
    assert hashlib.sha256(installed(home)[0].read_bytes()).hexdigest() == file.sha256
    asked = [entry.range for entry in hub.requests("GET", FILE)]
    assert asked.count(None) == 1, "the whole file is asked for once"
    assert asked.count(f"bytes={1 << 20}-") == 1, "then what is missing"

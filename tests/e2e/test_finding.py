"""The window of models against a Hub on this machine: search, scroll, a page with its card, and all of it offline."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.harness import Program, Screen, program
from tests.fakes.hub_pages import row
from tests.fakes.local_hub import LocalHub
from tests.fakes.tiny_gguf import small_llama

REPO = "someone/seen-GGUF"
COUNT = 75
CARD = b"""---
license: mit
---
# Seen

<img src="http://127.0.0.1:9/a.png"> Words ![b](/pictures/b.png)
"""


@pytest.fixture
def hub() -> Iterator[LocalHub]:
    with LocalHub() as hub:
        hub.pages.rows = [row(REPO, downloads=10**7)]
        hub.pages.rows += [row(f"other/seen-{number:03}-GGUF", downloads=10**6 - number) for number in range(COUNT - 1)]
        hub.add(REPO, "seen-Q4_K_M.gguf", small_llama())
        hub.add(REPO, "seen-F16-00001-of-00002.gguf", small_llama())
        hub.add(REPO, "seen-F16-00002-of-00002.gguf", small_llama())
        hub.add(REPO, "README.md", CARD, linked=False)
        yield hub


def search(run: Program) -> None:
    run.click("findModelButton")
    run.click("discoverSearch")
    run.type("seen")
    run.until(lambda: names(run)[:1] == ["seen-GGUF"], "the rows of the search")


def names(run: Program) -> list[str]:
    return [found["text"] for found in run.ask("rows", name="foundList")]


def files(run: Program, column: int = 0) -> list[str]:
    return [file["text"] for file in run.ask("rows", name="filesTable", column=column)]


def texts(run: Program) -> str:
    return " ".join(run.ask("texts", name="modelManager"))


def end_of_list(run: Program) -> bool:
    """Scroll on; whether every repository is there."""
    run.key("End")
    return len(names(run)) == COUNT


def test_search_scroll_and_page(screen: Screen, home: Path, hub: LocalHub) -> None:
    with program(screen, home, {"HF_ENDPOINT": hub.url}) as run:
        search(run)
        assert len(names(run)) < COUNT
        run.click_row("foundList", "seen-GGUF")
        run.until(lambda: len(files(run)) == 2, "a line for each quantisation, split files as one")
        run.until(lambda: "Fits" in files(run, 2), "the badge from the remote header")
        run.until(lambda: end_of_list(run), "the last page of the search")
        assert not hub.requests(path=".png")
        assert run.quit() == 0


def test_what_was_seen_is_there_offline(screen: Screen, home: Path, hub: LocalHub) -> None:
    with program(screen, home, {"HF_ENDPOINT": hub.url}) as run:
        search(run)
        run.click_row("foundList", "seen-GGUF")
        run.until(lambda: len(files(run)) == 2, "the files")
        assert run.quit() == 0
    asked = len(hub.log)
    with program(screen, home, {"HF_ENDPOINT": hub.url, "HF_HUB_OFFLINE": "1"}) as run:
        search(run)
        run.click_row("foundList", "seen-GGUF")
        run.until(lambda: len(files(run)) == 2, "the files as they were kept")
        run.click_row("foundList", "seen-000-GGUF")
        run.until(lambda: "offline" in texts(run).lower(), "the sentence that this page was not kept")
        assert len(hub.log) == asked

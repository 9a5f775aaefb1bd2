"""Files that are no models: one sentence each in the window, and it goes on working."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.harness import Program, Screen, program
from tests.e2e.test_first_chat import load_starter
from tests.fakes.tiny_gguf import STR, tiny_llama


def bad_files() -> dict[str, bytes]:
    whole = tiny_llama()
    return {
        "noise": b"This is not a model at all." * 50,
        "cut": whole[:-5000],
        "foreign": tiny_llama(**{"general.architecture": (STR, "flux")}),
    }


@pytest.fixture
def home_with_bad_files(home_with_starter: Path) -> Path:
    for name, data in bad_files().items():
        folder = home_with_starter / "data/models/bad" / name
        folder.mkdir(parents=True)
        (folder / f"{name}.gguf").write_bytes(data)
    return home_with_starter


def picker_texts(run: Program) -> list[str]:
    run.click("modelPicker")
    run.until(lambda: any("SmolLM2" in entry["text"] for entry in run.ask("menu")), "the model that was found")
    entries = run.ask("menu")
    run.key("Escape")
    return [e["text"] for e in entries if e["enabled"]]


def test_bad_files_are_named_and_never_offered(screen: Screen, home_with_bad_files: Path) -> None:
    with program(screen, home_with_bad_files) as run:
        offered = " ".join(picker_texts(run))
        assert "SmolLM2" in offered
        assert not any(name in offered for name in bad_files())
        run.click("modelsButton")
        rows = run.until(lambda: len(r := run.ask("rows", name="installedTable")) == 4 and r, "four rows")
        assert {"noise", "cut", "foreign"} <= {r["text"] for r in rows}
        run.click_row("installedTable", "cut")
        run.until(
            lambda: "incomplete" in " ".join(run.ask("texts", name="modelManager")).lower(), "why it cannot be loaded"
        )
        assert not run.widget("loadModelButton")["enabled"]


def test_a_model_that_vanished(screen: Screen, home_with_starter: Path) -> None:
    with program(screen, home_with_starter) as run:
        run.click("modelPicker")
        run.until(lambda: any("SmolLM2" in entry["text"] for entry in run.ask("menu")), "the model in the list")
        for path in (home_with_starter / "data/models").rglob("*.gguf"):
            path.unlink()
        run.click_menu("SmolLM2")
        run.until(lambda: "does not exist" in " ".join(run.ask("texts", name="noticeBar")), "a sentence")


def test_blank_messages_are_not_sent(screen: Screen, home_with_starter: Path) -> None:
    with program(screen, home_with_starter) as run:
        load_starter(run)
        run.send("   ")
        assert run.messages() == []
        assert run.widget("composer")["focus"]

"""Models that hurt the engine, in the real window: it stays, says what it was, and the next model answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.harness import Program, Screen, program
from tests.e2e.test_first_chat import load_starter
from tests.engine.worker.crafted import BYTES, FATAL
from tests.fakes.tiny_gguf import tiny_llama

ENDLESS = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}x"
REFUSING = "{{ raise_exception('Only the third of May is spoken of') }}"

FILES = {
    "twice": tiny_llama(name="Twice", tokens=["a", "b", "a", *BYTES]),
    "endless": tiny_llama(name="Endless", template=ENDLESS),
    "refusing": tiny_llama(name="Refusing", template=REFUSING),
    "whole-numbers": FATAL["whole numbers as weights"][0],
}


@pytest.fixture
def home_with(home_with_starter: Path, request: pytest.FixtureRequest) -> Path:
    """A home with the starter model and the one that the test names."""
    folder = home_with_starter / "data/models/made/to-hurt"
    folder.mkdir(parents=True)
    (folder / f"{request.param}.gguf").write_bytes(FILES[request.param])
    return home_with_starter


def choose(run: Program, name: str) -> None:
    run.click("modelPicker")
    run.click_menu(name)


def notice(run: Program, words: str) -> str:
    """The notice with these words."""
    return run.until(
        lambda: words in (text := " ".join(run.ask("texts", name="noticeBar"))) and text, f"a notice: {words}", 60
    )


def ask_the_starter(run: Program) -> None:
    load_starter(run)
    run.send("Hi")
    assert run.answer()["text"].strip()


@pytest.mark.parametrize(
    ("home_with", "entry", "file"),
    [("twice", "twice", "twice.gguf"), ("whole-numbers", "whole-numbers", "whole-numbers.gguf")],
    indirect=["home_with"],
)
def test_a_file_that_ends_the_engine(screen: Screen, home_with: Path, entry: str, file: str) -> None:
    with program(screen, home_with) as run:
        ask_the_starter(run)
        before = run.messages()
        choose(run, entry)
        text = notice(run, f"It was loading {file}.")
        assert "The engine" in text
        assert run.messages() == before
        window = run.process.pid
        load_starter(run)
        run.send("And now?")
        run.until(lambda: len(run.messages()) == len(before) + 2, "the next answer to begin")
        assert run.answer()["text"].strip()
        assert (run.process.poll(), run.process.pid) == (None, window)
        assert run.quit() == 0


@pytest.mark.parametrize("home_with", ["endless"], indirect=True)
def test_a_template_without_end_holds_nothing_up(screen: Screen, home_with: Path) -> None:
    """While it runs the window takes what is typed; then the answer says which file it was."""
    with program(screen, home_with) as run:
        choose(run, "endless")
        run.until(lambda: run.visible("unloadButton") and run.widget("unloadButton")["enabled"], "the model", 60)
        run.send("Hi")
        run.until(lambda: run.messages(), "the question")
        run.until(lambda: run.widget("composer")["focus"], "the focus in the composer")
        run.type("typed meanwhile")
        run.until(lambda: run.widget("composer")["text"] == "typed meanwhile", "the text")
        failed = run.answer("failed", 60)
        assert "endless.gguf" in failed["error"]
        assert "5 seconds" in failed["error"]
        run.key("ctrl+a", "BackSpace")
        ask_the_starter(run)


@pytest.mark.parametrize("home_with", ["refusing"], indirect=True)
def test_a_template_that_raises_is_quoted(screen: Screen, home_with: Path) -> None:
    with program(screen, home_with) as run:
        choose(run, "refusing")
        run.until(lambda: run.visible("unloadButton") and run.widget("unloadButton")["enabled"], "the model", 60)
        run.send("Hi")
        failed = run.answer("failed", 60)
        assert "refusing.gguf" in failed["error"]
        assert "Only the third of May is spoken of" in failed["error"]
        ask_the_starter(run)

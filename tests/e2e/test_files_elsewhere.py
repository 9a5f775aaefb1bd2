"""Models and folders that lie where, and are called as, nobody thought of."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.conftest import limit_answers
from tests.e2e.harness import Program, Screen, program
from tests.fakes.model_homes import OLLAMA_MODEL, hub_file, ollama_model

STRANGE = 'tëst 日本 😀 it\'s "q" %20 #1'


def ask(run: Program, model: str) -> str:
    """Load ``model`` by the picker and give its answer to a question."""
    run.until(lambda: run.widget("modelPicker")["enabled"], "the model picker")
    run.click("modelPicker")
    run.click_menu(model)
    run.until(
        lambda: run.visible("unloadButton") and run.widget("unloadButton")["enabled"], "the model to be loaded", 120
    )
    run.send("What is the capital of France?")
    return str(run.answer()["text"])


def test_models_of_other_programs_are_there_and_answer(screen: Screen, home: Path, starter_file: Path) -> None:
    user = home / "user"
    data = starter_file.read_bytes()
    (blob,) = ollama_model(user / ".ollama/models", "library/smollm2/135m", [(OLLAMA_MODEL, data)])
    link = hub_file(user / ".cache/huggingface/hub", "a/b-GGUF", "c" * 40, "broken-Q4_1.gguf", data[:-1000])
    environ = {"HOME": str(user), "HF_HOME": "", "XDG_CACHE_HOME": "", "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": ""}
    with program(screen, home, environ) as run:
        assert ask(run, "smollm2:135m").strip()
        assert run.quit() == 0
    assert blob.read_bytes() == data
    assert link.exists()


def test_everything_works_in_a_folder_with_a_strange_name(screen: Screen, tmp_path: Path, starter_file: Path) -> None:
    base = tmp_path / STRANGE
    home = base / "home"
    (home / "config").mkdir(parents=True)
    limit_answers(home, 20)
    model = home / "data/models" / STRANGE / "repo" / f"{STRANGE} Q4_1.gguf"
    model.parent.mkdir(parents=True)
    model.symlink_to(starter_file)
    (base / "tmp").mkdir()
    with program(screen, home, {"HOME": str(base), "TMPDIR": str(base / "tmp")}) as run:
        answer = ask(run, "日本")
        assert answer.strip()
        assert run.quit() == 0
    with program(screen, home, {"HOME": str(base), "TMPDIR": str(base / "tmp")}) as run:
        run.until(lambda: len(run.messages()) == 2, "the conversation to be back")
        assert run.messages()[1]["text"] == answer

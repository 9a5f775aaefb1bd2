"""Which models of the library are offered as draft models."""

from __future__ import annotations

from pathlib import Path

from app.load.drafts import DraftChoices
from app.load.headers import Headers
from engine.library.scan import scan
from tests.app.chat.cranked import Cranked
from tests.fakes.tiny_gguf import STR, byte_vocabulary, small_llama, tiny_llama

TEXTS = byte_vocabulary()[0]
CHATS = {"template": "{{ messages[0].content }}"}


def offered(folder: Path, files: dict[str, bytes]) -> tuple[list[str], list[str]]:
    """Names of the choices for large.gguf before and after the headers were read."""
    for name, data in files.items():
        (folder / name).write_bytes(data)
    reading = Cranked()
    headers = Headers(reading, lambda _path: None)
    choices = DraftChoices(headers, lambda: scan(folder).models)
    large = folder / "large.gguf"
    headers.ask(large)
    before = [choice.path.name for choice in choices.of(large)]
    reading.drain()
    return before, [choice.path.name for choice in choices.of(large)]


def test_smaller_models_with_the_same_vocabulary(tmp_path: Path) -> None:
    files = {
        "large.gguf": small_llama(**CHATS),
        "twin.gguf": small_llama(2, **CHATS),
        "little.gguf": tiny_llama(**CHATS),
        "padded.gguf": tiny_llama(tokens=[*TEXTS, *(f"t{number}" for number in range(50))], **CHATS),
        "longer.gguf": tiny_llama(tokens=[*TEXTS, *(f"t{number}" for number in range(500))], **CHATS),
        "other.gguf": tiny_llama(**{"tokenizer.ggml.pre": (STR, "qwen2")}, **CHATS),
        "broken.gguf": tiny_llama(**CHATS)[:-4000],
    }
    before, after = offered(tmp_path, files)
    assert sorted(after) == ["little.gguf", "padded.gguf"]
    assert set(after) < set(before)
    assert not {"twin.gguf", "broken.gguf", "large.gguf"} & set(before)


def test_a_model_that_the_library_does_not_have_gets_none(tmp_path: Path) -> None:
    headers = Headers(Cranked(), lambda _path: None)
    (tmp_path / "little.gguf").write_bytes(tiny_llama(**CHATS))
    choices = DraftChoices(headers, lambda: scan(tmp_path).models)
    assert choices.of(tmp_path / "elsewhere.gguf") == ()

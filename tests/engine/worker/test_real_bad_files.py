"""Files made to hurt, through the real worker: a sentence each, and after it the next model works."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.client.blocking import BlockingWorker
from engine.client.calls import generate, load_model
from engine.client.command import worker_command
from engine.errors import VrambleError
from engine.protocol.types import ChatMessage, LoadOptions, ModelInfo, Sampling
from tests.engine.worker.crafted import FATAL, NO_NUMBERS, REFUSED, USABLE, split_without
from tests.fakes.tiny_gguf import split_set, tiny_llama

OPTIONS = LoadOptions(n_ctx=64, n_threads=1, device="cpu")

MUTATIONS = 60
FATAL_CODES = {
    "engine-assert",
    "worker-aborted",
    "worker-crashed",
    "model-unreadable",
    "out-of-memory",
    "killed",
}


class Engine:
    """A worker that is started again when it died."""

    def __init__(self) -> None:
        self._worker: BlockingWorker | None = None
        self.starts = 0

    @property
    def alive(self) -> bool:
        return self._worker is not None and self._worker.pid is not None

    @property
    def _running(self) -> BlockingWorker:
        if self._worker is None or self._worker.pid is None:
            self.close()
            self._worker = BlockingWorker(worker_command())
            self._worker.start()
            self.starts += 1
        return self._worker

    def load(self, path: Path) -> ModelInfo:
        return load_model(self._running, path, OPTIONS, lambda _progress: None).model

    def refusal(self, path: Path) -> VrambleError:
        with pytest.raises(VrambleError) as caught:
            self.load(path)
        return caught.value

    def trouble_with(self, path: Path) -> VrambleError | None:
        """What goes wrong with a load and an answer, if something does."""
        try:
            self.load(path)
            self.answer(2)
        except VrambleError as error:
            return error
        return None

    def answer(self, max_tokens: int = 6) -> int:
        """Tokens of a short answer."""
        question = [ChatMessage(role="user", content="ab, a")]
        end = generate(self._running, question, Sampling(temperature=0), max_tokens, lambda _delta: None)
        return end.stats.generated_tokens

    def close(self) -> None:
        if self._worker is not None:
            self._worker.close()


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    made = Engine()
    yield made
    made.close()


@pytest.fixture
def file(tmp_path: Path) -> Callable[[bytes], Path]:
    def write(data: bytes) -> Path:
        path = tmp_path / "crafted.gguf"
        path.write_bytes(data)
        return path

    return write


@pytest.fixture
def good(engine: Engine, tiny: Path) -> Iterator[None]:
    """Whatever the test did, a good model works afterwards."""
    yield
    engine.load(tiny)
    assert engine.answer() > 0


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_a_reason(engine: Engine, file: Callable[[bytes], Path], good: None, name: str) -> None:
    data, code, words = REFUSED[name]
    engine.load(file(tiny_llama()))
    starts = engine.starts
    error = engine.refusal(file(data))
    assert error.code == code
    assert words in error.message
    assert error.message.startswith("crafted.gguf")
    assert "\n" not in error.message
    assert "/" not in error.message.replace("end-of-text", "")
    assert error.next_step.endswith(".")
    assert (engine.alive, engine.starts) == (True, starts), "the worker went on"


@pytest.mark.parametrize("name", FATAL)
def test_what_ends_the_engine_names_the_file(
    engine: Engine, file: Callable[[bytes], Path], good: None, name: str
) -> None:
    data, codes = FATAL[name]
    error = engine.refusal(file(data))
    assert error.code in codes
    assert not engine.alive
    assert error.message.endswith("It was loading crafted.gguf.")
    assert error.detail, "the log's last lines"
    assert str(Path.home()) not in error.detail


@pytest.mark.parametrize("name", USABLE)
def test_odd_files_work_with_a_warning(engine: Engine, file: Callable[[bytes], Path], name: str) -> None:
    info = engine.load(file(USABLE[name]))
    assert info.warnings
    assert engine.answer() > 0
    if name.startswith("17"):
        assert info.template_source == "fallback"
        assert any("no chat template" in warning for warning in info.warnings)


@pytest.mark.parametrize("name", NO_NUMBERS)
def test_nonsense_numbers_are_told_and_not_chosen_from(
    engine: Engine, file: Callable[[bytes], Path], good: None, name: str
) -> None:
    engine.load(file(NO_NUMBERS[name]))
    with pytest.raises(VrambleError) as caught:
        engine.answer()
    assert caught.value.code == "bad-logits"
    assert engine.alive


@pytest.mark.parametrize("number", [2, 3])
def test_a_set_with_a_missing_part(engine: Engine, good: None, tmp_path: Path, number: int) -> None:
    for name, data in split_without(number).items():
        (tmp_path / name).write_bytes(data)
    error = engine.refusal(tmp_path / "big-00001-of-00003.gguf")
    assert engine.alive
    assert error.code == "missing-part"
    assert error.message == f"big-00001-of-00003.gguf: Part {number} of 3 is missing."
    assert f"big-0000{number}-of-00003.gguf" in error.next_step


def test_a_part_that_is_not_the_first(engine: Engine, tmp_path: Path) -> None:
    for name, data in split_set(3).items():
        (tmp_path / name).write_bytes(data)
    error = engine.refusal(tmp_path / "big-00002-of-00003.gguf")
    assert (error.code, error.next_step) == ("not-first-part", "Load big-00001-of-00003.gguf instead.")


@pytest.mark.parametrize("first_empty", [False, True])
def test_a_whole_set_loads_by_its_first_part(engine: Engine, tmp_path: Path, first_empty: bool) -> None:
    parts = split_set(3, first_empty=first_empty)
    for name, data in parts.items():
        (tmp_path / name).write_bytes(data)
    info = engine.load(tmp_path / min(parts))
    assert info.size_bytes > 90_000
    assert engine.answer() > 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(MUTATIONS // 10))
def test_damage_at_random_places(engine: Engine, file: Callable[[bytes], Path], good: None, seed: int) -> None:
    """Whatever native code makes of it, the program gets one classified end and goes on."""
    rng = random.Random(seed)
    whole = tiny_llama()
    for _ in range(10):
        data = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(24, 9000)] = rng.randrange(256)
        error = engine.trouble_with(file(bytes(data)))
        assert error is None or error.message.strip()
        assert engine.alive or (error is not None and error.code in FATAL_CODES), error

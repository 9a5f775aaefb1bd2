"""Answers whose tokens are chosen of candidates from the compute graph: the same words as from all logits."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from engine.protocol.frames import Generate
from engine.protocol.types import LogitBias, Sampling
from engine.worker.graph_top_k import CANDIDATES
from tests.engine.worker.driver import ROOT, Worker, user
from tests.engine.worker.probing import probed
from tests.engine.worker.test_several import QUESTIONS, together
from tests.fakes.tiny_gguf import small_llama

SORTING = ROOT / "tests" / "fakes" / "sorting_worker.py"
USED, UNUSED = "candidates: True", "candidates: False"
QUESTION = user("The keeper of the light went down to the sea.")

CONTENT = {
    "greedy": Sampling(temperature=0),
    "usual": Sampling(seed=1),
    "hot": Sampling(seed=2, temperature=1.5, top_k=100, top_p=1.0, min_p=0.0),
    "penalties": Sampling(seed=3, repeat_penalty=1.3, repeat_last_n=64),
    "greedy with penalties": Sampling(temperature=0, repeat_penalty=1.3, repeat_last_n=64),
    "xtc": Sampling(seed=9, xtc_probability=0.7, xtc_threshold=0.01),
}
ALL_LOGITS = {
    "no top-k": Sampling(seed=4, top_k=0),
    "a large top-k": Sampling(seed=5, top_k=CANDIDATES + 1),
    "a bias": Sampling(seed=6, logit_bias=(LogitBias(77, 2.0),)),
    "a grammar": Sampling(seed=7, grammar='root ::= [a-z ]+ "."'),
    "mirostat": Sampling(seed=8, mirostat=2),
}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Worker, Worker]]:
    """A worker that sees all logits, and one that sees candidates, both with the same model."""
    folder = tmp_path_factory.mktemp("pair")
    path = folder / "small.gguf"
    path.write_bytes(small_llama())
    with ExitStack() as stack:
        plain = stack.enter_context(Worker(log=folder / "plain.log"))
        sorting = stack.enter_context(Worker(log=folder / "sorting.log", command=[sys.executable, "-P", str(SORTING)]))
        for worker in (plain, sorting):
            worker.loaded(path, n_threads=1, n_ctx=1024, n_parallel=4)
        yield plain, sorting


def said(worker: Worker, sampling: Sampling, *, endless: bool = False) -> tuple[str, bool]:
    """The text, and whether it was chosen of candidates."""
    before = worker.log_text().count(USED)
    text, end = worker.finished(QUESTION, sampling=sampling, max_tokens=40, endless=endless)
    assert end.stats.generated_tokens > 0
    return text, worker.log_text().count(USED) > before


@pytest.mark.parametrize("endless", [False, True])
@pytest.mark.parametrize("name", CONTENT)
def test_candidates_give_the_same_words(pair: tuple[Worker, Worker], name: str, *, endless: bool) -> None:
    plain, sorting = pair
    assert said(sorting, CONTENT[name], endless=endless) == (said(plain, CONTENT[name], endless=endless)[0], True)


@pytest.mark.parametrize("name", ALL_LOGITS)
def test_what_needs_all_logits_gets_them(pair: tuple[Worker, Worker], name: str) -> None:
    plain, sorting = pair
    said(sorting, CONTENT["usual"])  # candidates came back before
    assert said(sorting, ALL_LOGITS[name]) == (said(plain, ALL_LOGITS[name])[0], False)


def test_several_at_once_of_both_kinds(pair: tuple[Worker, Worker]) -> None:
    ways = [CONTENT["greedy"], ALL_LOGITS["a bias"], CONTENT["usual"], ALL_LOGITS["no top-k"]]

    def texts(worker: Worker) -> list[str]:
        requests = [
            Generate(
                id=worker.new_id(),
                messages=(user(text),),
                sampling=way,
                max_tokens=24,
                conversation=text[:11],
                endless=True,
            )
            for text, way in zip(QUESTIONS, ways, strict=True)
        ]
        return [one.text for one in together(worker, requests)]

    plain, sorting = pair
    assert texts(sorting) == texts(plain)


def test_a_self_test_between_answers_sees_all_logits(pair: tuple[Worker, Worker]) -> None:
    plain, sorting = pair
    first = said(sorting, CONTENT["usual"])
    assert probed(sorting) == probed(plain)
    assert said(sorting, CONTENT["usual"]) == first


def test_wrong_candidates_are_never_used(tmp_path: Path, pair: tuple[Worker, Worker]) -> None:
    path = tmp_path / "small.gguf"
    path.write_bytes(small_llama())
    command = [sys.executable, "-P", str(SORTING), "wrong"]
    with Worker(log=tmp_path / "log", command=command) as worker:
        worker.loaded(path, n_threads=1, n_ctx=1024)
        text, used = said(worker, CONTENT["usual"])
        assert not used
        assert UNUSED in worker.log_text()
    assert text == said(pair[0], CONTENT["usual"])[0]

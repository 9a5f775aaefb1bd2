"""Loads that are cancelled: between any two steps, also behind the weights, where there is no progress any more."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from engine.protocol.frames import Cancel, Failed, Load, Loaded, Progress
from engine.protocol.types import LoadOptions
from tests.engine.worker.conftest import StartWorker
from tests.engine.worker.driver import Worker, starter_model, user
from tests.fakes.tiny_gguf import tiny_llama

OPTIONS = LoadOptions(n_ctx=256, n_threads=1, device="cpu")


def cancelled_after(worker: Worker, path: Path, parts: int) -> Failed | Loaded:
    """The end of a load that is cancelled when so many parts of 1000 are done."""
    request = Load(id=worker.new_id(), path=str(path), options=OPTIONS)
    worker.send(request)
    frame = worker.receive()
    while isinstance(frame, Progress) and frame.done < parts:
        frame = worker.receive()
    if isinstance(frame, Progress):
        worker.send(Cancel(target=request.id))
        frame = worker.until_terminal(request.id)[1]
    assert isinstance(frame, Failed | Loaded)
    return frame


def test_cancelled_at_any_step_it_loads_again(worker: Worker) -> None:
    """The end may overtake a late cancel; it is one of the two, never a bug's."""
    for parts in (0, 1, 250, 500, 750, 999, 1000, 1000, 1000):
        end = cancelled_after(worker, starter_model(), parts)
        assert isinstance(end, Loaded) or end.code == "cancelled", end
    worker.loaded(starter_model(), n_ctx=256, n_threads=1)
    assert worker.finished(user("Hi"), max_tokens=3)[1].stats.generated_tokens > 0


TEMPLATE = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"

SIGNALLING = """
import sys
from engine.worker import process
from engine.worker.templates.process import TemplateProcess

original = TemplateProcess._exchange

def exchange(self, line, cancelled):
    print("template asked", file=sys.stderr, flush=True)
    return original(self, line, cancelled)

TemplateProcess._exchange = exchange
sys.exit(process.run())
"""


@pytest.mark.parametrize("times", [1, 3])
def test_cancelled_while_the_template_is_looked_at(start_worker: StartWorker, tmp_path: Path, times: int) -> None:
    """The end-of-turn marker is looked for by rendering; a slow template must not turn a cancel into an error."""
    path = tmp_path / "slow.gguf"
    path.write_bytes(tiny_llama(template=TEMPLATE))
    worker = start_worker(command=[sys.executable, "-P", "-c", SIGNALLING])
    for number in range(1, times + 1):
        request = Load(id=worker.new_id(), path=str(path), options=OPTIONS)
        worker.send(request)
        while worker.log_text().count("template asked") < number:
            time.sleep(0.01)
        worker.send(Cancel(target=request.id))
        end = worker.until_terminal(request.id)[1]
        assert isinstance(end, Failed)
        assert end.code == "cancelled"

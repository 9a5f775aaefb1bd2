"""The time limit of a dry run: a worker that says nothing is ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.client.blocking import BlockingWorker
from engine.client.calls import dry_run
from engine.client.command import worker_command
from engine.errors import VrambleError
from engine.protocol.types import LoadOptions
from tests.fakes.fake_worker import worker_command as fake_command


def scripted(tmp_path: Path, **script: object) -> BlockingWorker:
    return BlockingWorker(worker_command(environ={"VRAMBLE_WORKER_COMMAND": fake_command(script, tmp_path)}))


def test_an_answer(tmp_path: Path) -> None:
    with scripted(tmp_path, dry_run={"caches": 5, "memory": [{"device": "CPU", "compute": 7}]}) as worker:
        worker.start()
        answer = dry_run(worker, tmp_path / "model.gguf", LoadOptions(), seconds=30)
    assert (answer.caches, answer.memory[0].compute) == (5, 7)


def test_silence_ends_at_the_limit(tmp_path: Path) -> None:
    with scripted(tmp_path, dry_run={"silence": True}) as worker:
        worker.start()
        with pytest.raises(VrambleError) as caught:
            dry_run(worker, tmp_path / "model.gguf", LoadOptions(), seconds=0.1)
        assert worker.pid is None, "it was ended"
    assert caught.value.code == "cancelled"


def test_a_refusal_and_a_death(tmp_path: Path) -> None:
    script = {"fail": {"code": "bad-load-options", "message": "No.", "next_step": ""}}, {"signal": "SIGABRT"}
    with scripted(tmp_path, dry_run=list(script)) as worker:
        worker.start()
        codes = []
        for _ in script:
            with pytest.raises(VrambleError) as caught:
                dry_run(worker, tmp_path / "model.gguf", LoadOptions(), seconds=30)
            codes.append(caught.value.code)
    assert codes[0] == "bad-load-options"
    assert codes[1] not in ("cancelled", "bad-load-options")

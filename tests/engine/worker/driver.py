"""The real worker over pipes, driven step by step. Waits have a deadline; nothing is timed."""

from __future__ import annotations

import contextlib
import itertools
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from engine.protocol.codec import Garbage, encode, worker_output
from engine.protocol.frames import (
    TERMINAL_TYPES,
    Cancel,
    Delta,
    Devices,
    Failed,
    Finished,
    FromWorker,
    Generate,
    Hello,
    ListDevices,
    Load,
    Loaded,
    ToWorker,
    Unload,
    Unloaded,
)
from engine.protocol.types import ChatMessage, LoadOptions, Sampling

ROOT = Path(__file__).resolve().parents[3]
DEADLINE = 120.0
GREEDY = Sampling(temperature=0)


def starter_model() -> Path:
    """The model that the set-up unpacks. It is part of a set-up environment, so its absence is a failure."""
    found = sorted((Path(sys.prefix) / "share" / "vramble" / "starter").glob("*.gguf"))
    assert found, "the starter model is missing: run ./dev test"
    return found[0]


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


def assistant(text: str) -> ChatMessage:
    return ChatMessage(role="assistant", content=text)


class Worker:
    """One worker process. Close it, or use it in a ``with`` block."""

    def __init__(self, *, log: Path, env: dict[str, str] | None = None, command: Sequence[str] | None = None) -> None:
        self.log = log
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **(env or {})}
        with log.open("wb") as stderr:
            self.process = subprocess.Popen(
                command or [sys.executable, "-P", "-m", "engine.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env=environment,
            )
        self._decoder = worker_output()
        self._waiting: list[FromWorker | Garbage] = []
        self._ids = itertools.count(1)
        self.garbage: list[Garbage] = []
        hello = self.receive()
        assert isinstance(hello, Hello), f"{hello}\n{self.log_text()}"
        self.hello = hello

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def log_text(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def send(self, *frames: ToWorker) -> None:
        """Write frames in one piece."""
        self.write(b"".join(encode(frame) for frame in frames))

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def receive(self) -> FromWorker | None:
        """The next frame; None at the end of the worker's output."""
        assert self.process.stdout is not None
        deadline = time.monotonic() + DEADLINE
        while True:
            while self._waiting:
                frame = self._waiting.pop(0)
                if not isinstance(frame, Garbage):
                    return frame
                self.garbage.append(frame)
            with selectors.DefaultSelector() as selector:
                selector.register(self.process.stdout, selectors.EVENT_READ)
                assert selector.select(deadline - time.monotonic()), f"the worker is silent\n{self.log_text()}"
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                return None
            self._waiting += self._decoder.feed(data)

    def until_terminal(self, request_id: int) -> tuple[list[FromWorker], Any]:
        """Frames of a request up to its terminal one, and that one."""
        frames: list[FromWorker] = []
        while True:
            frame = self.receive()
            assert frame is not None, f"the worker died\n{self.log_text()}"
            assert not isinstance(frame, Hello)
            assert frame.id == request_id, f"a frame of another request: {frame}"
            if isinstance(frame, TERMINAL_TYPES):
                return frames, frame
            frames.append(frame)

    def new_id(self) -> int:
        return next(self._ids)

    def load(self, path: Path, **options: Any) -> Loaded | Failed:
        request = Load(id=self.new_id(), path=str(path), options=LoadOptions(**options))
        self.send(request)
        answer = self.until_terminal(request.id)[1]
        assert isinstance(answer, Loaded | Failed)
        return answer

    def loaded(self, path: Path, **options: Any) -> Loaded:
        answer = self.load(path, **options)
        assert isinstance(answer, Loaded), answer
        return answer

    def generate(
        self,
        *messages: ChatMessage,
        sampling: Sampling = GREEDY,
        max_tokens: int | None = 32,
        stop: tuple[str, ...] = (),
        **more: Any,
    ) -> tuple[str, Finished | Failed]:
        """The whole text of an answer, and how it ended. ``more``: further fields of `Generate`."""
        _, text, end = self.thought_and_text(*messages, sampling=sampling, max_tokens=max_tokens, stop=stop, **more)
        return text, end

    def thought_and_text(
        self, *messages: ChatMessage, sampling: Sampling = GREEDY, **more: Any
    ) -> tuple[str, str, Finished | Failed]:
        """The thought, the answer, and how it ended."""
        request = Generate(id=self.new_id(), messages=messages, sampling=sampling, **more)
        self.send(request)
        frames, end = self.until_terminal(request.id)
        assert isinstance(end, Finished | Failed)
        deltas = [frame for frame in frames if isinstance(frame, Delta)]
        return "".join(delta.thinking for delta in deltas), "".join(delta.text for delta in deltas), end

    def finished(self, *messages: ChatMessage, **options: Any) -> tuple[str, Finished]:
        text, end = self.generate(*messages, **options)
        assert isinstance(end, Finished), end
        return text, end

    def unload(self) -> None:
        request = Unload(id=self.new_id())
        self.send(request)
        assert self.until_terminal(request.id)[1] == Unloaded(id=request.id)

    def devices(self) -> Devices:
        request = ListDevices(id=self.new_id())
        self.send(request)
        answer = self.until_terminal(request.id)[1]
        assert isinstance(answer, Devices)
        return answer

    def cancel(self, target: int) -> None:
        self.send(Cancel(target=target))

    def close(self) -> int:
        """End stdin and wait. Gives the exit code."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        code = self.process.wait(DEADLINE)
        self.process.stdout.close()
        return code

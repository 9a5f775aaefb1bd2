"""The life of the worker process: private streams, engine, hello, requests, end."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty
from typing import Protocol

from engine.backends.catalogue import BINDINGS, Catalogue, load_guard
from engine.backends.load_guard import LoadGuard
from engine.errors import VrambleError
from engine.memory.cards import CardFinder
from engine.memory.tree import Tree
from engine.protocol.frames import PROTOCOL_VERSION, Forget, FromWorker, Generate, Hello, Request, Terminal
from engine.worker.cancel import CancelFlag
from engine.worker.guard import die_with_parent
from engine.worker.log import NativeLog
from engine.worker.native import load_llama
from engine.worker.reader import FrameWriter, Inbox
from engine.worker.requests import Requests
from engine.worker.together import Arrivals, failed

DEBUG_LOG = "VRAMBLE_WORKER_DEBUG"

IDLE_SECONDS = 30.0
"""Without a request, after an answer, before caches are written: not each turn of a quick talk wears the disk."""


class Desk(Protocol):
    """What `Requests` can be asked for."""

    @property
    def parallel(self) -> int: ...

    def answer(self, request: Request, taken: float) -> Terminal: ...

    def generate(self, request: Generate, taken: float, arrivals: Arrivals) -> None: ...

    def forget(self, conversations: Sequence[str]) -> None: ...

    def save(self, stopped: Callable[[], bool]) -> bool: ...

    def close(self) -> None: ...


def private_streams() -> tuple[int, int]:
    """Copies of stdin and stdout that only frames use.

    Afterwards file descriptor 1 is stderr and 0 is empty: whatever native code prints is log, and it reads nothing.
    """
    frames_in, frames_out = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return frames_in, frames_out


def run() -> int:
    """Serve until stdin ends; then end the process at once, without the exit code of native libraries."""
    frames_in, frames_out = private_streams()
    faulthandler.enable(sys.stderr)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    cancel = CancelFlag()
    writer = FrameWriter(frames_out)
    guard = load_guard(os.environ)
    inbox = Inbox(frames_in, writer.send, cancel, guard.wanted_end)
    inbox.start()
    desk = start_engine(cancel, writer.send, guard)
    serve(inbox, desk, writer.send)
    desk.close()
    sys.stderr.flush()
    os._exit(0)


def serve(inbox: Inbox, desk: Desk, send: Callable[[FromWorker], None]) -> None:
    """Answer requests in order until stdin ends. While none comes, what can be kept on the disk is written."""
    saved = True
    while True:
        try:
            item = inbox.next(None if saved else IDLE_SECONDS)
        except Empty:
            saved = desk.save(lambda: inbox.waiting)
            continue
        if item is None:
            return
        request, taken = item
        if isinstance(request, Forget):
            desk.forget(request.conversations)
            continue
        if isinstance(request, Generate):
            desk.generate(request, taken, inbox)
            saved = False
            continue
        terminal = desk.answer(request, taken)
        inbox.limit = desk.parallel
        inbox.finish()
        send(terminal)


def start_engine(cancel: CancelFlag, send: Callable[[FromWorker], None], guard: LoadGuard) -> Desk:
    """Load the engine and say hello. If it cannot be loaded each request is answered with the reason."""
    log = NativeLog(debug=bool(os.environ.get(DEBUG_LOG)))
    try:
        llama = load_llama(log)
        catalogue = Catalogue.load(llama.ggml, llama.library, guard=guard)
        devices = catalogue.infos()
    except VrambleError as error:
        reason = error
        print(f"{reason.message} {reason.detail}", file=sys.stderr, flush=True)
        send(Hello(protocol=PROTOCOL_VERSION, pid=os.getpid(), engine=""))
        return NoEngine(reason, send)
    requests = Requests(llama, catalogue, cancel, send)
    send(
        Hello(
            protocol=PROTOCOL_VERSION,
            pid=os.getpid(),
            engine=f"{BINDINGS} {llama.version}",
            backends=catalogue.backends,
            devices=devices,
            amd_cards=len(CardFinder(Tree(Path("/"))).cards()),
        )
    )
    return requests


class NoEngine:
    """Answers each request with the reason why there is no engine."""

    def __init__(self, reason: VrambleError, send: Callable[[FromWorker], None]) -> None:
        self._reason, self._send = reason, send

    parallel = 1

    def answer(self, request: Request, taken: float) -> Terminal:
        """The reason."""
        return failed(request.id, self._reason)

    def generate(self, request: Generate, taken: float, arrivals: Arrivals) -> None:
        """The reason."""
        arrivals.finish(request.id)
        self._send(failed(request.id, self._reason))

    def forget(self, conversations: Sequence[str]) -> None:
        """Nothing is kept."""

    def save(self, stopped: Callable[[], bool]) -> bool:
        """Nothing is kept."""
        return True

    def close(self) -> None:
        """Nothing is open."""

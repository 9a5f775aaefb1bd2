"""The life of the worker process: private streams, engine, hello, requests, end."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from engine.backends.catalogue import BINDINGS, Catalogue, load_guard
from engine.backends.load_guard import LoadGuard
from engine.errors import VrambleError
from engine.memory.cards import CardFinder
from engine.memory.tree import Tree
from engine.protocol.frames import PROTOCOL_VERSION, FromWorker, Hello, Request, Terminal
from engine.worker.cancel import CancelFlag
from engine.worker.guard import die_with_parent
from engine.worker.log import NativeLog
from engine.worker.native import load_llama
from engine.worker.reader import FrameWriter, Inbox
from engine.worker.requests import Requests, failed

DEBUG_LOG = "VRAMBLE_WORKER_DEBUG"

Answer = Callable[[Request, float], Terminal]


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
    answer, close = start_engine(cancel, writer.send, guard)
    serve(inbox, answer, writer.send)
    close()
    sys.stderr.flush()
    os._exit(0)


def serve(inbox: Inbox, answer: Answer, send: Callable[[FromWorker], None]) -> None:
    """Answer requests in order until stdin ends."""
    while (item := inbox.next()) is not None:
        request, taken = item
        terminal = answer(request, taken)
        inbox.finish()
        send(terminal)


def start_engine(
    cancel: CancelFlag, send: Callable[[FromWorker], None], guard: LoadGuard
) -> tuple[Answer, Callable[[], None]]:
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
        return (lambda request, _taken: failed(request.id, reason)), (lambda: None)
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
    return requests.answer, requests.close

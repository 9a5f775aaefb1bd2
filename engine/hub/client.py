"""The hub child driven by a command: one request, one answer."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from engine.hub.launch import command, environment
from engine.hub.messages import Event, Failed, Open, Search, decode_event, encode

LOG_TAIL = 2000


def ask(folder: Path, request: Search | Open, environ: Mapping[str, str] | None = None) -> Event:
    """The answer to ``request``; a `Failed` when the child ends without one.

    ``environ``: what the environment of the child is made of; None: this process's own.
    """
    with (
        tempfile.TemporaryFile() as log,
        subprocess.Popen(
            command(folder), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=environment(environ)
        ) as child,
    ):
        assert child.stdin
        assert child.stdout
        try:
            with contextlib.suppress(BrokenPipeError):  # it has ended already: its exit code and its log say why
                child.stdin.write(encode(request))
                child.stdin.flush()
            for line in child.stdout:
                event = decode_event(line)
                if event is not None and event.id == request.id:
                    return event
            code = child.wait()
            log.seek(0)
            return died(request.id, code, log.read())
        finally:
            with contextlib.suppress(BrokenPipeError):
                child.stdin.close()
            child.terminate()


def died(number: int, code: int, log: bytes) -> Failed:
    """Answer for a child that ended without one."""
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return Failed(
        id=number,
        code="hub-died",
        message=f"The process that asks the Hub ended without an answer ({how}).",
        next_step="Try again.",
        detail=log.decode("utf-8", "replace")[-LOG_TAIL:],
    )

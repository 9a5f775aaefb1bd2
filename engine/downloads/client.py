"""The download child driven by a command: start, events one by one, end."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
from collections.abc import Iterator, Mapping

from engine.downloads.launch import command, environment
from engine.downloads.messages import TERMINAL, Event, Failed, Request, decode_event, encode

LOG_TAIL = 2000


def events(request: Request, environ: Mapping[str, str] | None = None) -> Iterator[Event]:
    """Run ``request`` in a child and give its events; the last one is terminal, whatever happens.

    Closing the iterator ends the child. ``environ``: what its environment is made of; None: this process's own.
    """
    with (
        tempfile.TemporaryFile() as log,
        subprocess.Popen(
            command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=environment(environ)
        ) as child,
    ):
        assert child.stdin
        assert child.stdout
        ended = False
        try:
            with contextlib.suppress(BrokenPipeError):  # it has ended already: its exit code and its log say why
                child.stdin.write(encode(request))
                child.stdin.flush()
            for line in child.stdout:
                event = decode_event(line)
                if event is not None:
                    ended = isinstance(event, TERMINAL)
                    yield event
                if ended:
                    return
            code = child.wait()
            log.seek(0)
            yield died(code, log.read())
        finally:
            with contextlib.suppress(BrokenPipeError):
                child.stdin.close()
            child.terminate()


def died(code: int, log: bytes) -> Failed:
    """Terminal event for a child that ended without one."""
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return Failed(
        code="download-died",
        message=f"The download process ended without a result ({how}).",
        next_step="Resume: what was downloaded stays.",
        detail=log.decode("utf-8", "replace")[-LOG_TAIL:],
    )

"""The parent's side of the template process."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable
from typing import Any

from engine.errors import VrambleError
from engine.own_process import module_command, with_source

MODULE = "engine.worker.templates.child"
PATIENCE_SECONDS = 60.0
"""The child ends itself after 5 s of processor time. This is for one that cannot, on a busy machine too."""

POLL_SECONDS = 0.05
_CHUNK = 1 << 16


class RenderCancelled(Exception):  # noqa: N818 - no error
    """The request was cancelled while the template ran."""


class TemplateProcess:
    """A child process that renders templates, started when first needed and again after it was stopped."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the child ahead of the first use."""
        if self._child is None or self._child.poll() is not None:
            self.close()
            self._child = subprocess.Popen(
                module_command(MODULE), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=with_source(os.environ)
            )

    def render(self, template: str, variables: dict[str, Any], cancelled: Callable[[], bool], file: str) -> str:
        """The prompt for ``variables``. ``file`` is named in errors.

        Raises:
            VrambleError: ``template-limit`` (time, memory, length), ``template-failed`` with the template's own words.
            RenderCancelled: ``cancelled()`` became true.
        """
        line = json.dumps({"template": template, "variables": variables}).encode() + b"\n"
        self.start()
        raw = self._exchange(line, cancelled)
        if raw is None and self._was_killed():
            self.start()
            raw = self._exchange(line, cancelled)
        if raw is None:
            killed = self._was_killed()
            self.close()
            raise _limit(file, "ended the process that renders it" if killed else "took longer than 5 seconds")
        reply = json.loads(raw)
        if "text" in reply:
            return str(reply["text"])
        if reply["error"] == "refused":
            raise VrambleError(
                "template-failed",
                f"The chat template in {file} failed: {reply['message'].rstrip('.')}.",
                "Choose another file of this model.",
            )
        self.close()
        raise _limit(file, "used too much memory" if reply["error"] == "memory" else "made a prompt that is too long")

    def _exchange(self, line: bytes, cancelled: Callable[[], bool]) -> bytes | None:
        """The reply line, or None when the child died or is silent."""
        child = self._child
        if child is None or child.stdin is None or child.stdout is None:
            return None
        try:
            child.stdin.write(line)
            child.stdin.flush()
        except BrokenPipeError:
            return None
        parts: list[bytes] = []
        deadline = time.monotonic() + PATIENCE_SECONDS
        with selectors.DefaultSelector() as selector:
            selector.register(child.stdout, selectors.EVENT_READ)
            while time.monotonic() < deadline:
                if cancelled():
                    self.close()
                    raise RenderCancelled
                if selector.select(POLL_SECONDS):
                    data = os.read(child.stdout.fileno(), _CHUNK)
                    parts.append(data)
                    if not data or data.endswith(b"\n"):
                        break
        whole = b"".join(parts)
        return whole if whole.endswith(b"\n") else None

    def _was_killed(self) -> bool:
        """Whether the child ended by something else than its own limit: it is worth another try."""
        child = self._child
        if child is None:
            return False
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(timeout=1)
        return child.returncode not in (None, -signal.SIGPROF)

    def close(self) -> None:
        """End the child, if there is one."""
        child, self._child = self._child, None
        if child is None:
            return
        child.send_signal(signal.SIGKILL)
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                _close_quietly(pipe)
        child.wait()


def _close_quietly(pipe: Any) -> None:
    try:
        pipe.close()
    except OSError:
        return


def _limit(file: str, what: str) -> VrambleError:
    return VrambleError(
        "template-limit",
        f"The chat template in {file} {what} and was stopped.",
        "Choose another file of this model.",
    )

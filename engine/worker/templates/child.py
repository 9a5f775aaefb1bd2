"""The process that renders templates: ``python -P -m engine.worker.templates.child``.

One JSON line in, one out. Each rendering has a limit of processor time that also ends C code: SIGPROF with its default
action. A busy machine does not use it up. The memory limit turns a template that multiplies strings into a
`MemoryError`.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
from collections.abc import Iterable
from datetime import datetime
from typing import Any, TextIO

from jinja2 import TemplateError

from engine.worker.guard import die_with_parent
from engine.worker.templates.sandbox import Renderer, ResultTooLongError

SECONDS = 5
MEMORY_BYTES = 1 << 30


def answer(renderer: Renderer, request: dict[str, Any]) -> dict[str, str]:
    """``{"text": ...}`` or ``{"error": kind, "message": ...}``."""
    try:
        return {"text": renderer.render(request["template"], request["variables"])}
    except ResultTooLongError:
        return {"error": "too-long", "message": ""}
    except (MemoryError, OverflowError):
        return {"error": "memory", "message": ""}
    except TemplateError as error:
        return {"error": "refused", "message": error.message or type(error).__name__}
    except Exception as error:  # untrusted code: whatever it does is its own failure
        return {"error": "refused", "message": f"{type(error).__name__}: {error}"}


def serve(lines: Iterable[str], out: TextIO, *, seconds: int = SECONDS) -> None:
    """Answer each line; ``seconds`` of processor time for each. The timer is off while waiting."""
    renderer = Renderer(lambda: datetime.now().astimezone())
    for line in lines:
        request = json.loads(line)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        result = answer(renderer, request)
        signal.setitimer(signal.ITIMER_PROF, 0)
        out.write(json.dumps(result) + "\n")
        out.flush()


def main() -> None:
    """Set the limits and serve until stdin ends."""
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    serve(sys.stdin, sys.stdout)


if __name__ == "__main__":
    main()

"""The entry point: window, command, worker, download, hub or library process. Imports only what that one needs."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

DISPLAY_VARIABLES = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program with ``argv`` (default: the command line, without the program's name)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    first = arguments[0] if arguments else ""
    if first == "--worker":
        return _worker()
    if first == "--download":
        return _download()
    if first == "--hub":
        return _hub(arguments[1:])
    if first == "--library":
        return _library()
    if first in ("-h", "--help", "--version") or (first and not first.startswith("-")):
        from app.cli import run

        return run(arguments)
    return _window(arguments, os.environ)


def _worker() -> int:
    from engine.worker import main as work

    return work()


def _download() -> int:
    from engine.downloads.main import main as download

    return download()


def _hub(arguments: list[str]) -> int:
    from engine.hub.main import main as serve

    return serve(arguments)


def _library() -> int:
    from engine.library.child.main import main as look

    return look()


def _window(arguments: list[str], environ: Mapping[str, str]) -> int:
    if sys.platform == "linux" and not any(environ.get(name) for name in DISPLAY_VARIABLES):
        print("vramble: There is no display to open a window on. `vramble --help` lists the commands.", file=sys.stderr)
        return 1
    from app.paths import find_paths
    from app.wiring import build
    from ui.start import run

    return run(arguments, lambda alone: build(find_paths(), alone=alone), find_paths().data)


if __name__ == "__main__":
    sys.exit(main())

"""``python -P -m engine.pad``: tells presses until its standard input ends."""

from __future__ import annotations

import sys

from engine.memory.tree import sysroot
from engine.pad.reading import Reader, run


def tell(line: str) -> None:
    """One line to the window."""
    print(line, flush=True)


def main() -> int:
    """See the module."""
    try:
        run(Reader(sysroot(), tell), sys.stdin.fileno())
    except BrokenPipeError:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())

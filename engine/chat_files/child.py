"""The import child: one request, its events, the end."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

import msgspec

from engine.chat.store import Store
from engine.chat_files.importing import Imported, Progress, import_files
from engine.chat_files.messages import Done, Event, Failed, Going, Import, decode_request, encode, failed
from engine.errors import VrambleError

REPORT_SECONDS: Final = 0.2


def main() -> int:
    """Entry point of ``python -P -m engine.chat_files``.

    SIGTERM, SIGINT and the end of stdin end it at once: what it has written by then is never seen.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    send = _private_output()
    line = sys.stdin.buffer.readline()
    if not line:
        return 0
    try:
        request = decode_request(line)
    except msgspec.DecodeError as error:
        send(Failed(code="bad-request", message="The request was not understood.", detail=str(error)))
        return 2
    threading.Thread(target=_follow, name="parent", daemon=True).start()
    try:
        send(Done(imported=work(request, _seldom(send))))
    except VrambleError as error:
        send(failed(error))
        return 1
    return 0


def work(request: Import, report: Callable[[Progress], None]) -> Imported:
    """Do ``request``.

    Raises:
        VrambleError: Nothing was taken.
    """
    with closing(Store.open(Path(os.fsdecode(request.database)), tidy=False)) as store:
        if not store.saved:
            raise store.remarks[0]
        return import_files(store, [Path(os.fsdecode(file)) for file in request.files], report)


def _seldom(send: Callable[[Event], None]) -> Callable[[Progress], None]:
    last = -REPORT_SECONDS

    def report(progress: Progress) -> None:
        nonlocal last
        if time.monotonic() - last >= REPORT_SECONDS:
            last = time.monotonic()
            send(Going(done=progress.done, total=progress.total))

    return report


def _follow() -> None:
    while os.read(0, 65536):
        pass
    os._exit(0)


def _private_output() -> Callable[[Event], None]:
    """Events go to a copy of stdout; the real one goes to stderr from here on, so that stray prints are log."""
    out = os.dup(1)
    os.set_inheritable(out, False)
    os.dup2(2, 1)

    def send(event: Event) -> None:
        view = memoryview(encode(event))
        try:
            while view:
                view = view[os.write(out, view) :]
        except BrokenPipeError:
            os._exit(0)

    return send


if __name__ == "__main__":
    sys.exit(main())

"""The hub child: requests in, answers out, until its parent closes the pipe."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from engine.hub.finder import Finder
from engine.hub.hub_client import HubClient
from engine.hub.kept import Kept
from engine.hub.messages import MAX_LINE, Cancel, Event, Failed, Open, Search, decode_request, encode

Send = Callable[[Event], None]


def main(arguments: list[str] | None = None) -> int:
    """Entry point of ``python -P -m engine.hub FOLDER`` and ``vramble --hub FOLDER``.

    FOLDER keeps what the Hub said. SIGTERM, SIGINT and the end of stdin end it at once.
    """
    found = sys.argv[1:] if arguments is None else arguments
    if len(found) != 1:
        print("usage: vramble --hub FOLDER", file=sys.stderr)
        return 2
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    asyncio.Runner().run(serve(Path(found[0]), _private_output()))
    os._exit(0)  # a name look-up that hangs in a thread must not hold the process


def _private_output() -> Send:
    """Answers go to a copy of stdout; the real one goes to stderr from here on, so that stray prints are log."""
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


async def serve(folder: Path, send: Send) -> None:
    """Answer requests of stdin until it ends. What is unfinished then is dropped."""
    reader = asyncio.StreamReader(limit=MAX_LINE)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    client = HubClient()
    loop.call_soon(_warm_up)
    async with asyncio.TaskGroup() as tasks:
        desk = Desk(Finder(client, Kept(folder, client.endpoint)), send, tasks)
        while line := await reader.readline():
            desk.take(line)
        desk.drop_all()
    await client.close()


def _warm_up() -> None:
    """Load the client while the user still types. It opens no socket."""
    with contextlib.suppress(ImportError):
        import httpx2  # noqa: F401
        from huggingface_hub import get_async_session  # noqa: F401
        from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]  # noqa: F401


class Desk:
    """Takes requests and lets each be answered by a task of its own. A bug in one of them ends the process."""

    def __init__(self, finder: Finder, send: Send, group: asyncio.TaskGroup) -> None:
        self._finder, self._send, self._group = finder, send, group
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def take(self, line: bytes) -> None:
        """Begin what ``line`` asks for, or end what it does not want any more."""
        try:
            request = decode_request(line)
        except msgspec.DecodeError as error:
            sentence = "The request was not understood."
            self._send(Failed(id=0, code="bad-request", message=sentence, detail=str(error)))
            return
        if isinstance(request, Cancel):
            task = self._tasks.pop(request.id, None)
            if task is not None:
                task.cancel()
            return
        self._tasks[request.id] = self._group.create_task(self._answer(request))

    def drop_all(self) -> None:
        """No answer is wanted any more."""
        for task in self._tasks.values():
            task.cancel()
        self._tasks.clear()

    async def _answer(self, request: Search | Open) -> None:
        try:
            event = await self._finder.answer(request)
        except ImportError as error:
            event = Failed(
                id=request.id, code="no-client", message="The Hub client is not installed.", detail=str(error)
            )
        if self._tasks.pop(request.id, None) is not None:
            self._send(event)


if __name__ == "__main__":
    sys.exit(main())

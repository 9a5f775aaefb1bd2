"""The child that looks at model files: a look asked for, what is there told, until its parent closes the pipe."""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Callable

from engine.library.child.messages import (
    BrokenFrameError,
    Event,
    Frames,
    Look,
    Looking,
    Request,
    Setup,
    decode_request,
    encode,
)
from engine.library.child.telling import Teller
from engine.library.index import Index
from engine.library.surroundings import here
from engine.library.survey import Survey
from engine.library.whereabouts import Whereabouts

BLOCK = 64 * 1024
CLOSED = select.POLLHUP | select.POLLERR | select.POLLRDHUP


class Channel:
    """The pipes to the parent. A parent that is gone is an end, not an error."""

    def __init__(self, read_from: int, write_to: int) -> None:
        self._read_from, self._write_to = read_from, write_to
        self._frames = Frames()
        self._poll = select.poll()
        self._poll.register(read_from, select.POLLRDHUP)

    def closed(self) -> bool:
        """The parent wants nothing more. Never waits."""
        return any(state & CLOSED for _, state in self._poll.poll(0))

    def receive(self) -> Request | None:
        """The next request, None at the end. Raises `BrokenFrameError`."""
        while (frame := self._frames.take()) is None:
            data = os.read(self._read_from, BLOCK)
            if not data:
                return None
            self._frames.feed(data)
        return decode_request(frame)

    def send(self, event: Event) -> None:
        """Write one event. Raises BrokenPipeError."""
        view = memoryview(encode(event))
        while view:
            view = view[os.write(self._write_to, view) :]


def main() -> int:
    """Entry point of ``python -P -m engine.library.child`` and ``vramble --library``.

    The end of stdin ends it after the file that it reads; what was read by then is kept for the next time. SIGTERM and
    SIGINT end it at once.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    channel = Channel(0, _private_output())
    try:
        serve(channel.receive, channel.send, channel.closed)
    except BrokenPipeError:
        return 0
    except BrokenFrameError as error:
        print(f"the request was not understood: {error}", file=sys.stderr)
        return 2
    return 0


def _private_output() -> int:
    """A copy of stdout; the real one goes to stderr from here on, so that stray prints are log."""
    out = os.dup(1)
    os.set_inheritable(out, False)
    os.dup2(2, 1)
    return out


def serve(receive: Callable[[], Request | None], send: Callable[[Event], None], closed: Callable[[], bool]) -> None:
    """Answer requests until there are no more. Raises what ``receive`` and ``send`` raise."""
    setup = receive()
    if not isinstance(setup, Setup):
        return
    survey = Survey(Whereabouts(setup.own, here()), Index(setup.index), closed)
    teller = Teller(send)
    while isinstance(request := receive(), Look):
        _look(survey, teller, request, send)


def _look(survey: Survey, teller: Teller, request: Look, send: Callable[[Event], None]) -> None:
    survey.take(request.checked)
    infos = list(survey.begin(request.wishes))
    try:
        for number, info in enumerate(infos):
            send(Looking(name=info.name))
            infos[number] = survey.look_at(info, infos)
            if request.parts and len(infos) > 1:
                teller.tell(survey.result(infos), last=False)
    except BrokenPipeError:
        survey.finish(infos)
        raise
    teller.tell(survey.finish(infos), last=True)

"""The connections that fetch one file at the same time: one thread each.

They share a plan of what is missing. One begins; the others come when it has brought something, unless it is so fast
that the processor holds it up. A connection that breaks gives its bytes back and ends while others go on; the
last one waits and tries again, and after it brought something the others come back.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

from engine.downloads.blocks import BLOCK, ENDLESS
from engine.downloads.body import Body
from engine.downloads.link import broken_off
from engine.downloads.part_file import Partial
from engine.downloads.patience import Patience
from engine.downloads.plan import Claim, Plan
from engine.downloads.source import Source, StartAgainError
from engine.downloads.throttle import Throttle
from engine.errors import VrambleError
from engine.library.hub_errors import HubError

LIVELY: Final = 4 << 20
"""After so many bytes it is known how fast a connection is, and whether another one is worth a try."""

BUSY: Final = 0.5
"""A thread that works this share of the time is held up by the processor, not by the network: more connections would
only take processors from it, and from the hash."""

JOIN_S: Final = 10.0


class Lanes:
    """All connections of one transfer.

    Attributes:
        moved: A condition on the partial file's lock: a block is full, or a lane has ended.
        waits: The last connection broke, and the next attempt is some time away.
        telling: Held while progress is told, so that none is told after `waits` was set.
        error: What ended the transfer.
        finished_size: Size of a file whose size was not known, when its end came.
    """

    def __init__(
        self, source: Source, partial: Partial, connections: int, patience: Patience, throttle: Throttle
    ) -> None:
        self._source = source
        self._partial = partial
        self._most = 1 if source.plain else connections
        self._allowed = 1
        self._busy = False
        self._patience = patience
        self._throttle = throttle
        self._plan = Plan(partial.blocks.missing(), self._most)
        self._threads: list[threading.Thread] = []
        self._working = 0
        self._aborts: dict[int, Callable[[], None]] = {}
        self._over = False
        self.moved = threading.Condition(partial.lock)
        self.waits = False
        self.telling = threading.RLock()
        self.error: BaseException | None = None
        self.finished_size: int | None = None

    @property
    def n_open(self) -> int:
        """Connections that bring bytes now."""
        return len(self._aborts)

    def start(self) -> None:
        """Begin to fetch."""
        self._patience.alarm.renew = self._abort_all
        for number in range(self._most):
            thread = threading.Thread(target=self._run, args=(number,), name=f"lane-{number}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """End all connections; returns when nothing is written any more."""
        with self.moved:
            self._over = True
            self.moved.notify_all()
        self._abort_all()
        self._patience.alarm.ring()
        for thread in self._threads:
            thread.join(JOIN_S)

    def _abort_all(self) -> None:
        with self.moved:
            aborts = list(self._aborts.values())
        for abort in aborts:
            abort()

    def fetch_again(self, span: tuple[int, int]) -> None:
        """``span`` turned out to be wrong. Only with `moved` held."""
        self._plan.add(span)
        self.moved.notify_all()

    # ---- one lane

    def _run(self, number: int) -> None:
        while (claim := self._next()) is not None:
            try:
                self._fetch(number, claim)
            except HubError as error:
                self._failed(number, claim, error)
            except (VrambleError, StartAgainError) as error:
                self._end(number, claim, error)
            except Exception as error:  # a bug here must end the transfer instead of leaving it to wait for ever
                self._end(number, claim, error)
            else:
                self._done(number, claim)

    def _next(self) -> Claim | None:
        with self.moved:
            while not self._over and self.error is None:
                if self._working < self._allowed and (claim := self._plan.take()) is not None:
                    self._working += 1
                    return claim
                self.moved.wait()
            return None

    def _done(self, number: int, claim: Claim) -> None:
        with self.moved:
            self._give_back(number, claim)
            if not self._busy:
                self._allowed = self._most

    def _end(self, number: int, claim: Claim, error: BaseException) -> None:
        with self.moved:
            self._give_back(number, claim)
            self.error = self.error or error

    def _give_back(self, number: int, claim: Claim) -> None:
        self._plan.release(claim)
        self._working -= 1
        self._aborts.pop(number, None)
        self.moved.notify_all()

    def _failed(self, number: int, claim: Claim, error: HubError) -> None:
        """Fewer connections while others go on; the last one waits, as long as there is patience."""
        with self.moved:
            self._aborts.pop(number, None)
            done = self._partial.blocks.done
            last = self._working == 1 or not error.retryable
            if self._over or not last:
                self._allowed = max(1, self._working - 1)
                self._give_back(number, claim)
                return
            self._allowed = 1
        with self.telling:
            self.waits = True
        try:
            self._patience.after(error, done)
        except HubError as final:
            self._end(number, claim, final)
        else:
            with self.moved:
                self._give_back(number, claim)
        finally:
            self.waits = False

    def _fetch(self, number: int, claim: Claim) -> None:
        source, size = self._source, self._partial.blocks.size
        start, end = (0, None) if source.plain else (claim.at, claim.end)
        if self._most == 1 and end == size:
            end = None
        with source.http.open(source.remote.url, source.path, start, source.tag, end) as body:
            with self.moved:
                self._aborts[number] = body.abort
                self._accept(body, start)
            self._copy(body, claim, skip=claim.at - start)

    def _accept(self, body: Body, asked: int) -> None:
        """Whether ``body`` is what was asked for. Only with `moved` held."""
        source, size = self._source, self._partial.blocks.size
        if body.start is None:
            raise StartAgainError("The server has no more bytes than are here; the download starts again.")
        changed = source.heed_tags and None not in (source.tag, body.etag) and body.etag != source.tag
        if changed and self._partial.blocks.done:
            raise StartAgainError("The server has another file than before.", keep=True, changed=True)
        if body.start == 0 and asked:
            raise StartAgainError(
                "The server only sends the whole file, so it is asked for that.", plain=True, keep=True
            )
        if body.start != asked:
            raise StartAgainError("The server sent another part than the one asked for.", plain=True)
        if body.total is not None and size != ENDLESS and body.total != size:
            raise StartAgainError("The server announced another size than the Hub.", plain=True)
        if source.heed_tags:
            source.tag = body.etag

    def _copy(self, body: Body, claim: Claim, skip: int) -> None:
        """Write what comes. ``skip``: so many bytes at the beginning are here already."""
        asked, memory = claim.end, memoryview(bytearray(BLOCK))
        while skip and (count := body.read(memory[:skip])):
            skip -= count
            self._throttle.passed(count)
        begun, worked, first = time.monotonic(), time.thread_time(), claim.at
        while claim.at < claim.end and not self._over:
            to_block, piece = BLOCK - claim.at % BLOCK, BLOCK // self._allowed  # a kill loses all pieces: a block
            count = body.read(memory[: min(self._throttle.read_size, to_block, claim.end - claim.at, piece)])
            if not count:
                break
            self._write(claim, memory[:count])
            self._throttle.passed(count)
            if self._allowed < self._most and claim.at - first > LIVELY:
                self._judge((time.thread_time() - worked) / (time.monotonic() - begun))
        if not self._over:
            self._check_end(body, claim, asked, memory)

    def _judge(self, share: float) -> None:
        """A connection brings bytes, and its thread works ``share`` of the time: are more of them worth a try?"""
        self._busy = self._allowed == 1 and share > BUSY
        if not self._busy:
            with self.moved:
                self._allowed = self._most
                self.moved.notify_all()

    def _write(self, claim: Claim, data: memoryview) -> None:
        self._partial.write(claim.at, data)
        claim.at += len(data)
        if claim.at % BLOCK == 0 or claim.at >= claim.end:
            with self.moved:
                self.moved.notify_all()

    def _check_end(self, body: Body, claim: Claim, asked: int, memory: memoryview) -> None:
        """Less may have come than was ``asked`` for, or more. Who reads to the end can use the connection again."""
        size = self._partial.blocks.size
        if size == ENDLESS:
            self.finished_size = claim.end = claim.at
        elif claim.at < claim.end:
            raise broken_off("the body was shorter than announced")
        elif claim.end == asked and body.read(memory) and claim.end == size:
            raise StartAgainError("The server sent more than it announced.", plain=True)

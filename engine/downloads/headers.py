"""Headers of GGUF files on the Hub, by ranges: enough to say what a model needs before it is downloaded.

A header has no length of its own, so it is read in pieces that grow, and parsed while they come. What was read lies at
the beginning of a sparse file that is as long as the real one: everything that reads headers reads it as well.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final, cast

from engine.downloads.hub_http import HubHttp, RemoteFile
from engine.downloads.link import broken_off
from engine.downloads.messages import FetchHeaders, HeadersFetched, Progress
from engine.downloads.meter import Report
from engine.downloads.patience import Patience, Sleep
from engine.errors import VrambleError
from engine.library.address import parse_repo
from engine.library.gguf import HeaderProblem, read_header
from engine.library.hub_errors import HubError
from engine.library.listing import FilePart
from engine.library.safe_path import safe_relative

FIRST: Final = 256 * 1024
"""A part of a split set that has no vocabulary is read with this."""

LARGEST: Final = 2 * 1024 * 1024


class HeaderFetcher:
    """Reads the headers of one model."""

    def __init__(self, request: FetchHeaders, report: Report, sleep: Sleep = time.sleep) -> None:
        self._request = request
        self._report = report
        self._sleep = sleep
        self._http = HubHttp(parse_repo(request.repo).repo, request.limits)
        self._read = 0

    def run(self) -> HeadersFetched:
        """Read all of them.

        Raises:
            VrambleError: A `HubError`, ``header-too-long``, ``not-a-model``, or an error of the disk.
        """
        paths = [self._one(part) for part in self._request.files]
        return HeadersFetched(path=os.fsencode(paths[0]), bytes_read=self._read)

    def _one(self, part: FilePart) -> Path:
        safe_relative(part.path)
        remote = self._http.resolve(self._request.revision, part.path)
        size = remote.size or part.size
        if size is None:
            raise VrambleError("size-unknown", f"The Hub does not say how large {part.path} is.", "Download it to see.")
        source = _Growing(self._pieces(remote, part.path, size))
        header = read_header(cast("BinaryIO", source), size)
        if isinstance(header, HeaderProblem):
            raise VrambleError("not-a-model", f"{part.path}: {header.message}", "Choose another file.")
        path = Path(os.fsdecode(self._request.folder)) / PurePosixPath(part.path).name
        try:
            with path.open("wb") as file:
                file.write(source.first(header.data_start))
                file.truncate(size)
        except OSError as error:
            raise VrambleError("disk", f"The header cannot be kept: {error.strerror}.", "", str(error)) from error
        return path

    def _pieces(self, remote: RemoteFile, path: str, size: int) -> Iterator[bytes]:
        """The file from its beginning, in pieces that double up to `LARGEST`."""
        start, length = 0, FIRST
        patience = Patience(self._request.limits, self._report, self._sleep)
        while start < size:
            end = min(size, start + length)
            if self._read + end - start > self._request.most:
                raise too_long(path, self._request.most)
            try:
                piece = self._piece(remote, path, start, end)
            except HubError as error:
                patience.after(error, start)
                continue
            start, length = end, min(2 * length, LARGEST)
            self._report(Progress(stage="header", done=self._read, total=None))
            yield piece

    def _piece(self, remote: RemoteFile, path: str, start: int, end: int) -> bytes:
        """Bytes ``start`` to ``end``, also of a server that sends more than was asked for."""
        with self._http.open(remote.url, path, start, None, end) as body:
            if body.start is None or not 0 <= body.start <= start:
                raise broken_off(f"asked for {start}, got {body.start}")
            found, left_out = bytearray(), start - body.start
            place = memoryview(bytearray(FIRST))
            while count := body.read(place):
                self._read += count
                found += place[:count]
                if len(found) >= left_out + end - start:
                    break
                if self._read > self._request.most:
                    raise too_long(path, self._request.most)
        if len(found) < left_out + end - start:
            raise broken_off(f"{len(found)} bytes of {left_out + end - start}")
        return bytes(found[left_out : left_out + end - start])


class _Growing:
    """A file that is read as far as someone looks."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._data = bytearray()
        self._at = 0

    def seek(self, place: int) -> int:
        """Go to ``place``, counted from the start."""
        self._at = place
        return place

    def read(self, count: int) -> bytes:
        """The next ``count`` bytes, fewer at the end of the file."""
        while len(self._data) < self._at + count:
            piece = next(self._pieces, None)
            if piece is None:
                break
            self._data += piece
        found = bytes(self._data[self._at : self._at + count])
        self._at += len(found)
        return found

    def first(self, count: int) -> bytes:
        """The beginning of the file."""
        self._at = 0
        return self.read(count)


def too_long(path: str, most: int) -> VrambleError:
    """The header does not end where headers end."""
    message = f"The header of {path} is longer than {most >> 20} MiB."
    return VrambleError("header-too-long", message, "Download the model to see whether it fits.")

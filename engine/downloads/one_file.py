"""One file on its way: metadata, bytes, check."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec

from engine.downloads.disk import FreeSpace, check_space, no_space
from engine.downloads.hub_http import Body, HubHttp, RemoteFile, broken_off
from engine.downloads.messages import Fetch, Note
from engine.downloads.meter import Meter, Report, sha256_of, size_on_disk
from engine.downloads.partial import Partial, PartRecord, part_path, read_record, record_path, write_record
from engine.downloads.patience import Patience
from engine.errors import VrambleError
from engine.library.hub_errors import HubError
from engine.library.listing import FilePart
from engine.library.names import shown

SAVE_S = 2.0
MAX_RESTARTS = 3


class OneFile:
    """One file on its way: metadata, bytes, check."""

    def __init__(
        self,
        request: Fetch,
        file: FilePart,
        target: Path,
        revision: str,
        http: HubHttp,
        report: Report,
        meter: Meter,
        free: FreeSpace,
    ) -> None:
        self._request = request
        self._limits = request.limits
        self._file = file
        self._target = target
        self._revision = revision
        self._http = http
        self._report = report
        self._meter = meter
        self._free = free
        self._patience = Patience(request.limits, report)
        self._restarts = 0
        self._plain = False

    def get(self) -> PartRecord:
        """Have the whole file in its ``.part`` (or under its name), checked. Raises VrambleError."""
        self._meter.show("connecting", size_on_disk(part_path(self._target)), now=True)
        remote = self._resolve()
        record = self._new_record(remote)
        self._meter.know(record.size)
        if self._already_here(record):
            return msgspec.structs.replace(record, verified=record.sha256 is not None)
        partial = Partial(self._target)
        try:
            record = self._take_over(partial, record)
            write_record(self._target, record)
            record = self._load(partial, record, remote)
            return self._verify(partial, record)
        finally:
            partial.close()

    def _resolve(self) -> RemoteFile:
        while True:
            try:
                return self._http.resolve(self._revision, self._file.path)
            except HubError as error:
                self._patience.after(error, 0)

    def _new_record(self, remote: RemoteFile) -> PartRecord:
        return PartRecord(
            repo=self._request.repo,
            revision=self._request.revision,
            commit=remote.commit,
            path=self._file.path,
            size=remote.size if remote.size is not None else self._file.size,
            sha256=remote.sha256 or self._file.sha256,
            etag=remote.etag,
            files=self._request.files,
        )

    def _already_here(self, record: PartRecord) -> bool:
        if record.size is None or size_on_disk(self._target) != record.size:
            return False
        return record.sha256 is None or sha256_of(self._target, self._meter) == record.sha256

    def _take_over(self, partial: Partial, record: PartRecord) -> PartRecord:
        """Keep the bytes that are there if they belong to the same content, and hash them."""
        old = read_record(record_path(self._target))
        if partial.size and (old is None or not old.same_content(record)):
            self._start_over(partial, "The file on the Hub has changed, so the download starts again.")
        elif record.size is not None and partial.size > record.size:
            self._start_over(partial, "More was here than the file holds, so the download starts again.")
        elif old is not None and partial.size:
            record = msgspec.structs.replace(record, served_etag=old.served_etag)
        partial.rehash(lambda count: self._meter.show("checking", count))
        return record

    def _start_over(self, partial: Partial, why: str) -> None:
        self._restarts += 1
        if self._restarts > MAX_RESTARTS:
            raise VrambleError(
                "keeps-changing",
                "The server keeps sending something other than what it announced.",
                "Try again later.",
                why,
            )
        partial.start_over()
        self._report(Note(text=why))

    def _load(self, partial: Partial, record: PartRecord, remote: RemoteFile) -> PartRecord:
        """Fetch until all bytes are here."""
        while record.size is None or partial.size < record.size:
            needed = (record.size or 0) - partial.size
            check_space(self._target.parent, max(0, needed), self._limits.reserve, self._free)
            try:
                start, tag = (0, None) if self._plain else (partial.size, record.served_etag)
                with self._http.open(remote.url, self._file.path, start, tag) as body:
                    if not self._fits(partial, record, body):
                        continue
                    record = msgspec.structs.replace(record, served_etag=body.etag)
                    self._copy(partial, record, body)
                if record.size is None:
                    return msgspec.structs.replace(record, size=partial.size)
                if partial.size < record.size:
                    raise broken_off("the body was shorter than announced")
            except HubError as error:
                self._save(partial, record)
                self._patience.after(error, partial.size)
        return record

    def _fits(self, partial: Partial, record: PartRecord, body: Body) -> bool:
        """Make ready for ``body``; False when another request is needed."""
        if body.start is None:
            self._start_over(partial, "The server has no more bytes than are here; the download starts again.")
            return False
        if body.start == 0 and partial.size:
            self._start_over(partial, "The server began at the start again.")
        elif body.start != partial.size:
            self._plain = True
            self._start_over(partial, "The server sent another part than the one asked for.")
            return False
        if body.total is not None and record.size is not None and body.total != record.size:
            self._plain = True
            self._start_over(partial, "The server announced another size than the Hub.")
            return False
        return True

    def _copy(self, partial: Partial, record: PartRecord, body: Body) -> None:
        saved = checked = time.monotonic()
        self._save(partial, record)
        for chunk in body.chunks:
            if record.size is not None and partial.size + len(chunk) > record.size:
                self._start_over(partial, "The server sent more than it announced.")
                raise broken_off("the body was longer than announced")
            partial.append(chunk)
            self._meter.show("loading", partial.size)
            now = time.monotonic()
            if now - saved > SAVE_S:
                saved = now
                self._save(partial, record)
            if now - checked > self._limits.report_s:
                checked = now
                self._check_room_left()
        self._meter.show("loading", partial.size, now=True)

    def _check_room_left(self) -> None:
        try:
            free = self._free(self._target.parent)
        except OSError:
            return
        if free < self._limits.reserve // 2:
            raise no_space(self._target.parent, "The disk is nearly full, so the download stopped.")

    def _save(self, partial: Partial, record: PartRecord) -> None:
        done = ((0, partial.size),) if partial.size else ()
        write_record(self._target, msgspec.structs.replace(record, ranges=done))

    def _verify(self, partial: Partial, record: PartRecord) -> PartRecord:
        found = partial.sha256()
        if record.sha256 is not None and found != record.sha256:
            partial.start_over()
            part_path(self._target).unlink(missing_ok=True)
            record_path(self._target).unlink(missing_ok=True)
            raise VrambleError(
                "checksum",
                f"{shown(self._target.name)} arrived damaged: its checksum is wrong, so it was thrown away.",
                "Try again: the download starts over.",
                f"sha256 expected {record.sha256}, found {found}",
            )
        partial.sync()
        done = msgspec.structs.replace(
            record, verified=record.sha256 is not None, sha256=found, ranges=((0, partial.size),)
        )
        write_record(self._target, done)
        return done

"""One file on its way: metadata, bytes, check."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from engine.downloads.blocks import BLOCK, ENDLESS
from engine.downloads.disk import FreeSpace, check_file_size, check_space, has_holes, no_space
from engine.downloads.hub_http import HubHttp, RemoteFile
from engine.downloads.messages import Fetch, Note
from engine.downloads.meter import Meter, Report, sha256_of, size_on_disk
from engine.downloads.part_file import Partial
from engine.downloads.partial import MAPPED, PartRecord, bytes_here, read_record, record_path, write_record
from engine.downloads.patience import Alarm, Patience
from engine.downloads.repair import reopen, wrong_bytes
from engine.downloads.source import Source, StartAgainError
from engine.downloads.throttle import Throttle
from engine.downloads.transfer import Transfer
from engine.errors import VrambleError
from engine.library.hub_errors import HubError
from engine.library.listing import FilePart
from engine.library.names import shown

MAX_RESTARTS: Final = 3
PER_CONNECTION: Final = 16 * BLOCK
"""A file gets one connection for each of so many bytes."""


@dataclass(frozen=True)
class Surroundings:
    """What all files of one request have in common."""

    request: Fetch
    http: HubHttp
    report: Report
    meter: Meter
    free: FreeSpace
    throttle: Throttle
    alarm: Alarm


class OneFile:
    """One file on its way: metadata, bytes, check."""

    def __init__(self, around: Surroundings, file: FilePart, target: Path, revision: str) -> None:
        self._around = around
        self._request = around.request
        self._limits = around.request.limits
        self._file = file
        self._target = target
        self._revision = revision
        self._meter = around.meter
        self._patience = Patience(self._limits, around.report, alarm=around.alarm)
        self._restarts = 0

    def get(self) -> PartRecord:
        """Have the whole file in its ``.part`` (or under its name), checked. Raises VrambleError."""
        self._meter.show("connecting", bytes_here(self._target, self._file.size), now=True)
        remote = self._resolve()
        record = self._new_record(remote)
        self._meter.know(record.size)
        if self._already_here(record):
            return msgspec.structs.replace(record, verified=record.sha256 is not None)
        if record.size is not None:
            check_file_size(self._target, record.size)
            self._check_space(record.size - bytes_here(self._target, record.size))
        partial = Partial(self._target)
        try:
            record = self._take_over(partial, record)
            record, found = self._load(partial, record, remote)
            return self._verified(partial, record, found)
        finally:
            partial.close()

    def _resolve(self) -> RemoteFile:
        while True:
            try:
                return self._around.http.resolve(self._revision, self._file.path)
            except HubError as error:
                self._patience.after(error, 0)

    def _new_record(self, remote: RemoteFile) -> PartRecord:
        return PartRecord(
            version=MAPPED,
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
        """The file lies under its name and is right. One that is to be repaired and is not right becomes a part."""
        if self._request.repair and record.size is not None and self._target.is_file():
            return reopen(self._target, record, self._meter)
        if record.size is None or size_on_disk(self._target) != record.size:
            return False
        return record.sha256 is None or sha256_of(self._target, self._meter) == record.sha256

    def _take_over(self, partial: Partial, record: PartRecord) -> PartRecord:
        """Keep the bytes that are there if they belong to the same content."""
        old = read_record(record_path(self._target))
        if partial.length and (old is None or not old.same_content(record)):
            self._start_over(partial, record, "The file on the Hub has changed, so the download starts again.")
        elif record.size is not None and partial.length > record.size:
            self._start_over(partial, record, "More was here than the file holds, so the download starts again.")
        elif old is None or not partial.length:
            partial.start_over(record.size)
        elif old.suspect and record.size is not None:
            partial.doubt(record.size)
        else:
            partial.take_up(record.size, mapped=old.version >= MAPPED)
            record = msgspec.structs.replace(record, served_etag=old.served_etag)
        write_record(self._target, record)
        return record

    def _start_over(self, partial: Partial, record: PartRecord, why: str) -> None:
        self._count_restart(why)
        partial.start_over(record.size)

    def _count_restart(self, why: str) -> None:
        self._restarts += 1
        if self._restarts > MAX_RESTARTS:
            raise VrambleError(
                "keeps-changing",
                "The server keeps sending something other than what it announced.",
                "Try again later.",
                why,
            )
        self._around.report(Note(text=why))

    # ---- bytes

    def _load(self, partial: Partial, record: PartRecord, remote: RemoteFile) -> tuple[PartRecord, str]:
        """Fetch until all bytes are here; gives the record and the sha256 of what is here."""
        source = Source(self._around.http, remote, self._file.path, record.served_etag)
        while True:
            if not partial.compare:
                self._check_space((self._file_size(partial) or 0) - partial.blocks.done)
            try:
                found = self._transfer(partial, record, source).run()
            except StartAgainError as again:
                record = self._again(partial, record, source, again)
                continue
            record = msgspec.structs.replace(record, size=partial.blocks.size, served_etag=source.tag)
            if not self._request.repair or partial.compare or record.sha256 in (None, found):
                return record, found
            self._around.report(Note(text="No block tells where it is wrong, so the file is fetched and compared."))
            partial.doubt(partial.blocks.size)

    def _transfer(self, partial: Partial, record: PartRecord, source: Source) -> Transfer:
        def tag_known(tag: str | None) -> None:
            write_record(self._target, msgspec.structs.replace(record, served_etag=tag))

        return Transfer(
            source,
            partial,
            self._connections(partial),
            self._patience,
            self._around.throttle,
            self._meter,
            tag_known=tag_known,
            room=self._check_room_left,
            report_s=self._limits.report_s,
            stage="repairing" if partial.compare or self._request.repair else "loading",
        )

    def _connections(self, partial: Partial) -> int:
        """More than one only pays for large files, and where a hole in a file costs nothing."""
        blocks = partial.blocks
        if self._file_size(partial) is None or self._request.connections == 1 or not has_holes(self._target):
            return 1
        return max(1, min(self._request.connections, (blocks.size - blocks.done) // PER_CONNECTION))

    @staticmethod
    def _file_size(partial: Partial) -> int | None:
        return partial.blocks.size if partial.blocks.size < ENDLESS else None

    def _again(self, partial: Partial, record: PartRecord, source: Source, again: StartAgainError) -> PartRecord:
        """Make ready for another try after an answer that does not belong to what is here."""
        source.plain = source.plain or again.plain
        if again.changed:
            source.remote = self._resolve()
            new = self._new_record(source.remote)
            if new.sha256 is not None and new.same_content(record):
                # The Hub says that it is the same file: its sha256 decides, not the tag of one of many servers.
                self._count_restart("Another server answers; the Hub says that the file is the same.")
                source.heed_tags, source.tag = False, None
                return record
            record, again.keep = new, False
            again.why = "The file on the Hub has changed, so the download starts again."
            self._meter.know(record.size)
        self._count_restart(again.why)
        if not again.keep:
            source.tag = None
            partial.start_over(record.size)
        write_record(self._target, record)
        return record

    def _check_space(self, needed: int) -> None:
        needed = max(0, needed) + self._request.promised
        check_space(self._target.parent, needed, self._limits.reserve, self._around.free)

    def _check_room_left(self) -> None:
        try:
            free = self._around.free(self._target.parent)
        except OSError:
            return
        if free < self._limits.reserve // 2:
            raise no_space(self._target.parent, "The disk is nearly full, so the download stopped.")

    # ---- check

    def _verified(self, partial: Partial, record: PartRecord, found: str) -> PartRecord:
        if record.sha256 is not None and found != record.sha256:
            write_record(self._target, msgspec.structs.replace(record, suspect=True))
            raise wrong_bytes(shown(self._target.name), record.sha256, found, compared=partial.compare)
        if partial.mended:
            self._around.report(Note(text=f"Wrong bytes in {len(partial.mended)} MiB were replaced."))
        partial.sync()
        done = msgspec.structs.replace(
            record, verified=record.sha256 is not None, sha256=found, blocks=partial.blocks.sums()
        )
        write_record(self._target, done)
        return done

"""Getting the files of one model: by ranges, with resume, checked by size and sha256."""

from __future__ import annotations

import os
from pathlib import Path

from engine.downloads.disk import FreeSpace, check_file_size, check_space, free_space, write_error
from engine.downloads.hub_http import HubHttp
from engine.downloads.messages import Adjust, Command, Fetch, Fetched
from engine.downloads.meter import Meter, Report
from engine.downloads.one_file import OneFile, Surroundings
from engine.downloads.partial import PartRecord, bytes_here, map_path, part_path, record_path
from engine.downloads.patience import Alarm
from engine.downloads.route import RouteWatch
from engine.downloads.throttle import Throttle
from engine.errors import VrambleError
from engine.library.address import parse_repo
from engine.library.names import shown
from engine.library.origin import origin_path
from engine.library.safe_path import safe_relative


def target_path(models: Path, repo: str, path: str) -> Path:
    """Where the file ``path`` of ``repo`` belongs. Raises VrambleError for names that are not safe."""
    return models / parse_repo(repo).repo / safe_relative(path)


def targets_of(request: Fetch) -> list[Path]:
    """Where the files of ``request`` belong. Raises VrambleError for names that are not safe."""
    if request.targets:
        return [Path(os.fsdecode(target)) for target in request.targets]
    models = Path(os.fsdecode(request.models))
    return [target_path(models, request.repo, file.path) for file in request.files]


class Fetcher:
    """Runs one `Fetch` request."""

    def __init__(self, request: Fetch, report: Report, free: FreeSpace = free_space) -> None:
        self._request = request
        self._report = report
        self._free = free
        self._models = Path(os.fsdecode(request.models))
        self.throttle = Throttle(request.limit_bytes_s)
        self.alarm = Alarm()
        self._route = RouteWatch(self.alarm.nudge)
        http = HubHttp(request.repo, request.limits)
        self._meter = Meter(report, request.limits.report_s, [file.size for file in request.files])
        self._around = Surroundings(request, http, report, self._meter, free, self.throttle, self.alarm)

    def run(self) -> Fetched:
        """Get everything; files get their names only when all are here and right.

        Raises:
            VrambleError: With a sentence for each kind of failure; all of them keep the bytes.
        """
        targets = targets_of(self._request)
        if not targets:
            raise VrambleError("nothing-to-do", "No file was named.")
        self._prepare_folders(targets)
        self._check_room(targets)
        with self._route.watching():
            done = self._get_all(targets)
        for target in targets:
            _put_in_place(target)
        return Fetched(
            path=os.fsencode(targets[0]),
            size=self._meter.before,
            sha256=done[0].sha256 or "",
            verified=all(record.verified for record in done),
        )

    def _get_all(self, targets: list[Path]) -> list[PartRecord]:
        revision, done = self._request.revision, []
        for file, target in zip(self._request.files, targets, strict=True):
            finished = OneFile(self._around, file, target, revision).get()
            revision = finished.commit or revision
            self._meter.next_file(finished.size or 0)
            done.append(finished)
        return done

    def take(self, command: Command) -> None:
        """Do what the parent wants meanwhile. Called by another thread."""
        if isinstance(command, Adjust):
            self.throttle.set_limit(command.limit_bytes_s)
        else:
            self.alarm.nudge()

    def _prepare_folders(self, targets: list[Path]) -> None:
        if not self._request.create_root and not self._models.is_dir():
            raise VrambleError(
                "folder-missing",
                f"The models folder {shown(self._models)} is not there.",
                "Put the card or drive back in, then resume.",
            )
        for target in targets:
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise write_error(error, target) from error

    def _check_room(self, targets: list[Path]) -> None:
        needed = 0
        for file, target in zip(self._request.files, targets, strict=True):
            if file.size is not None and not target.exists():
                check_file_size(target, file.size)
                needed += max(0, file.size - bytes_here(target, file.size))
        needed += self._request.promised
        check_space(targets[0].parent, needed, self._request.limits.reserve, self._free)


def _put_in_place(target: Path) -> None:
    """Give the finished ``.part`` its name. Without one the target was there before."""
    part = part_path(target)
    try:
        if part.exists():
            part.replace(target)
            folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        if record_path(target).exists():
            record_path(target).replace(origin_path(target))
        map_path(target).unlink(missing_ok=True)
    except OSError as error:
        raise write_error(error, target) from error

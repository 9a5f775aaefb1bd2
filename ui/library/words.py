"""Sizes, speeds, times and states of models in words."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.downloads.records import DownloadJob, JobState, QueueSummary, summary_of
from app.library.service import FileState, InstalledModel
from engine.library.records import Role
from engine.library.sizes import size_text


def tr(text: str, n: int = -1) -> str:
    """Translate in the context of this module."""
    return QCoreApplication.translate("LibraryWords", text, None, n)


def file_size(n_bytes: int | None) -> str:
    """Size of a file; a sign for unknown, never 0."""
    return tr("unknown") if n_bytes is None else size_text(n_bytes)


def speed(bytes_per_s: float) -> str:
    """Transfer speed, always in MB/s so that numbers can be compared."""
    value = bytes_per_s / 1e6
    return tr("{0} MB/s").format(f"{value:.0f}" if value >= 100 else f"{value:.1f}")


def time_left(seconds: float) -> str:
    """Rough time: nobody believes seconds an hour ahead."""
    if seconds < 10:
        return tr("a few seconds left")
    if seconds < 60:
        return tr("{0} s left").format(int(seconds) // 10 * 10)
    minutes = round(seconds / 60)
    if minutes < 60:
        return tr("{0} min left").format(minutes)
    if minutes < 24 * 60:
        return tr("{0} h {1:02d} min left").format(minutes // 60, minutes % 60)
    return tr("more than a day left")


def wait(seconds: float) -> str:
    """What is counted down: to the second while that can be waited for."""
    whole = max(0, round(seconds))
    return tr("{0} s").format(whole) if whole < 120 else tr("{0} min").format(-(-whole // 60))


def parameters(count: int | None) -> str:
    """Number of weights as models are named by it: 8.2B, 135M."""
    if not count:
        return ""
    for limit, letter in ((10**9, "B"), (10**6, "M"), (10**3, "K")):
        if count >= limit:
            value = count / limit
            return f"{value:.1f}{letter}" if value < 100 and letter == "B" else f"{value:.0f}{letter}"
    return str(count)


def context(tokens: int | None) -> str:
    """Trained context: 4k, 128k."""
    if not tokens:
        return ""
    return f"{tokens // 1024}k" if tokens >= 1024 else str(tokens)


def model_status(model: InstalledModel, *, loaded: bool) -> str:
    """One or two words on what can be done with a model."""
    if loaded:
        return tr("Loaded")
    if model.state is FileState.OK:
        return _role(model)
    return {
        FileState.INCOMPLETE: tr("Incomplete"),
        FileState.MISSING_PART: tr("Part missing"),
        FileState.RAW_PIECES: tr("In pieces"),
        FileState.UNREADABLE: tr("Unreadable"),
        FileState.ABSENT: tr("Not there now"),
        FileState.TOO_NEW: tr("Too new"),
        FileState.TOO_OLD: tr("Too old"),
        FileState.OLD_FORMAT: tr("Too old"),
    }.get(model.state, tr("Damaged"))


def _role(model: InstalledModel) -> str:
    return {
        Role.CHAT: tr("Ready"),
        Role.EMBEDDING: tr("Embedding"),
        Role.PROJECTOR: tr("Projector"),
    }.get(model.role, tr("Not for chat"))


def quality(quant: str) -> str:
    """What a quantisation means, in plain words; empty for an unknown one."""
    plain = quant.removeprefix("UD-")
    if plain in ("F32", "F16", "BF16"):
        return tr("Original quality, largest")
    for beginning, words in (
        ("Q8", tr("Near the original")),
        ("Q6", tr("Very good")),
        ("Q5", tr("Very good")),
        ("Q4_K", tr("Good, the usual choice")),
        ("MXFP4", tr("Good")),
        ("NVFP4", tr("Good")),
        ("Q4", tr("Good")),
        ("IQ4", tr("Good, small")),
        ("Q3", tr("Weaker, small")),
        ("IQ3", tr("Weaker, small")),
        ("Q2", tr("Clearly weaker, very small")),
        ("IQ2", tr("Clearly weaker, very small")),
        ("IQ1", tr("Poor, smallest")),
        ("TQ", tr("Poor, smallest")),
    ):
        if plain.startswith(beginning):
            return words
    return ""


def amount(job: DownloadJob) -> str:
    """How much of a download is here."""
    if job.state is JobState.DONE:
        return file_size(job.total)
    if job.total is None:
        return size_text(job.done)
    return tr("{0} of {1}").format(size_text(job.done), size_text(job.total))


def job_line(job: DownloadJob) -> str:
    """The line below a download's bar."""
    if job.state is JobState.WAITING:
        return " ".join((job.note, tr("Trying again in {0}.").format(wait(job.retry_in or 0))))
    parts = [amount(job)] if job.done or job.total else []
    if job.state in (JobState.LOADING, JobState.REPAIRING):
        parts += [tr("mending")] if job.state is JobState.REPAIRING else []
        parts += [speed(job.speed)] if job.speed is not None else []
        parts += [time_left(job.seconds_left)] if job.seconds_left is not None else []
        parts += [tr("{0} connections").format(job.connections)] if job.connections > 1 else []
    else:
        parts.append(_job_state(job))
    return " · ".join(parts)


def _job_state(job: DownloadJob) -> str:
    if job.state is JobState.DONE:
        right = tr("mended, checksum right") if job.repair else tr("checksum right")
        return right if job.verified else tr("no checksum to compare with")
    return {
        JobState.QUEUED: tr("waiting for its turn"),
        JobState.CONNECTING: tr("connecting"),
        JobState.CHECKING: tr("looking for wrong bytes") if job.repair else tr("checking what was downloaded"),
        JobState.PAUSED: tr("paused"),
        JobState.INTERRUPTED: tr("interrupted"),
        JobState.FAILED: tr("stopped"),
    }.get(job.state, "")


def overall(jobs: QueueSummary | tuple[DownloadJob, ...]) -> str:
    """All running downloads in one line; empty when there are none."""
    summary = summary_of(jobs) if isinstance(jobs, tuple) else jobs
    if not summary.active:
        return ""
    parts = [tr("1 download") if summary.active == 1 else tr("{0} downloads").format(summary.active)]
    if summary.total:
        parts.append(tr("{0} of {1}").format(size_text(summary.done), size_text(summary.total)))
    if summary.speed:
        parts.append(speed(summary.speed))
        parts += [time_left(summary.seconds_left)] if summary.seconds_left is not None else []
    return " · ".join(parts)

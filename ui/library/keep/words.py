"""What is to be said about a model that is here. Pure, apart from translation."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from app.library.service import FileState, InstalledModel
from engine.library.names import shown
from engine.library.records import Mend, Role
from engine.library.roots import RootInfo
from engine.library.sizes import size_text
from ui.library import words
from ui.library.discover.words import age, licence


def tr(text: str) -> str:
    """Translate in the context of this module."""
    return QCoreApplication.translate("ModelWords", text)


class Status(NamedTuple):
    """A word or two, an icon ("" none), and the token of their colour."""

    text: str
    icon: str = ""
    tint: str = "muted"


def status(model: InstalledModel, *, loaded: bool, newer: bool = False) -> Status:
    """What can be done with a model, or what is wrong with it."""
    if loaded:
        return Status(tr("Loaded"), "check-circle", "good")
    if model.state is FileState.ABSENT:
        return Status(tr("Not inserted"), "hard-drive", "warn")
    if model.state is not FileState.OK:
        return Status(words.model_status(model, loaded=False), "warning-circle", "bad")
    if model.verified is False:
        return Status(tr("Damaged"), "warning-circle", "bad")
    if newer:
        return Status(tr("Newer one"), "arrow-circle-up", "accent")
    if model.duplicate_of is not None and not model.same_file:
        return Status(tr("Duplicate"), "copy", "warn")
    return Status(words.model_status(model, loaded=False))


def facts(model: InstalledModel, root: RootInfo | None, root_name: str) -> str:
    """Everything that is known of a model, in one or two lines."""
    context = words.context(model.context_length)
    found = (
        tr("{0} parameters").format(words.parameters(model.n_params)) if model.n_params else "",
        model.architecture,
        tr("context {0}").format(context) if context else "",
        size_text(model.size_bytes),
        tr("{0} files").format(len(model.parts)) if len(model.parts) > 1 else "",
        licence(model.licence) if model.licence else "",
        _source(model, root, root_name),
        tr("used {0}").format(age(model.last_used)) if model.last_used is not None else tr("never used"),
        _checked(model),
    )
    return " · ".join(fact for fact in found if fact)


def _source(model: InstalledModel, root: RootInfo | None, root_name: str) -> str:
    if model.owner:
        return tr("from {0}").format(model.owner)
    where = tr("in {0}").format(root_name) if root is not None else ""
    return f"{model.repo} {where}".strip() if model.repo else where


def _checked(model: InstalledModel) -> str:
    if model.verified is None or model.state is not FileState.OK:
        return ""
    return tr("checksum right") if model.verified else tr("checksum wrong")


def problem(model: InstalledModel, others: tuple[InstalledModel, ...]) -> tuple[str, str]:
    """What is wrong or worth knowing, and the token of its colour; an empty text: nothing."""
    if model.verified is False:
        return tr("Some of its bytes are not those of the Hub."), "bad"
    if model.problem:
        return model.problem, "bad" if model.state not in (FileState.OK, FileState.ABSENT) else "muted"
    if model.duplicate_of is not None:
        twin = next((one for one in others if one.path == model.duplicate_of), None)
        name = f"{twin.label} ({shown(twin.folder)})" if twin is not None else shown(model.duplicate_of)
        if model.same_file:
            return tr("The same file as {0}: it takes its room once.").format(name), "muted"
        text = tr("Probably the same as {0}.") if model.likely_duplicate else tr("The same bytes as {0}.")
        return text.format(name) + " " + tr("They take {0} twice.").format(size_text(model.size_bytes)), "warn"
    return " ".join(model.warnings), "muted"


def mend(one: Mend) -> tuple[str, str]:
    """What a button that mends says, and its icon."""
    return {
        Mend.REPAIR: (tr("Repair"), "wrench"),
        Mend.DOWNLOAD: (tr("Download again"), "download-simple"),
        Mend.JOIN: (tr("Join the pieces"), "puzzle-piece"),
        Mend.INSERT: (tr("Look again"), "arrow-clockwise"),
        Mend.SHARE: (tr("Keep one copy"), "copy-simple"),
        Mend.DELETE: (tr("Delete"), "trash"),
    }[one]


def is_role_for_chat(model: InstalledModel) -> bool:
    """Whether it is a model to talk to, whatever state its file is in."""
    return model.role in (Role.CHAT, Role.UNKNOWN)

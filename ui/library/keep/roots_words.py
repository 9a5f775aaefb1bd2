"""Folders that hold models, in words. Pure, apart from translation."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QCoreApplication

from engine.library.roots import RootInfo, RootKind, RootState
from engine.library.sizes import size_text

PLACES = (RootKind.OWN, RootKind.FOLDER, RootKind.CARD)
"""Roots that this program puts files into; those of other programs are only read."""

ICONS = {
    RootKind.OWN: "house-simple",
    RootKind.CARD: "hard-drive",
    RootKind.FOLDER: "folder-simple",
}


def tr(text: str) -> str:
    """Translate in the context of this module."""
    return QCoreApplication.translate("RootsWords", text)


def places_to_put(roots: Iterable[RootInfo]) -> tuple[RootInfo, ...]:
    """Roots that a model can be put into now, the own one first."""
    usable = [
        one
        for one in roots
        if one.root.kind is RootKind.OWN
        or (one.root.kind in PLACES and one.writable and one.state is RootState.PRESENT)
    ]
    return tuple(sorted(usable, key=lambda one: one.root.kind is not RootKind.OWN))


def is_away(root: RootInfo) -> bool:
    """Something is amiss with it. An own folder that nothing was put into yet is only empty."""
    unborn = root.root.kind is RootKind.OWN and root.state is RootState.MISSING and not root.models
    return root.state is not RootState.PRESENT and not unborn


def icon(root: RootInfo) -> str:
    """The sign of a root."""
    return "warning" if is_away(root) else ICONS.get(root.root.kind, "app-window")


def name(root: RootInfo) -> str:
    """What it is called."""
    return tr("Own folder") if root.root.kind is RootKind.OWN else root.name


def state(root: RootInfo) -> str:
    """Models and bytes, or why there are none."""
    if root.state is RootState.NOT_INSERTED:
        return tr("Not inserted")
    if root.state is RootState.MISSING:
        return tr("Not there now") if root.root.kind is not RootKind.OWN or root.models else tr("Empty")
    if root.state is RootState.UNREADABLE:
        return tr("Cannot be read")
    if not root.models and not root.files:
        return tr("No models")
    return counted(root.models, root.n_bytes)


def counted(models: int, n_bytes: int) -> str:
    """Models and what they take; links to files elsewhere, such as the installation's starter model, take nothing."""
    count = tr("1 model") if models == 1 else tr("{0} models").format(models)
    taken = size_text(n_bytes) if n_bytes else tr("linked")
    return f"{count} · {taken}"


def free(root: RootInfo) -> str:
    """Room on its drive."""
    if root.free is None or root.state is not RootState.PRESENT:
        return ""
    if root.total is None:
        return tr("{0} free").format(size_text(root.free))
    return tr("{0} free of {1}").format(size_text(root.free), size_text(root.total))


def tooltip(root: RootInfo) -> str:
    """Where it is, whose it is, and what is wrong with it."""
    from engine.library.names import shown

    lines = [shown(root.path), root.problem, free(root)]
    if root.root.owner:
        lines.append(tr("The files belong to {0}: they are used where they are.").format(root.root.owner))
    if root.models and not root.n_bytes:
        lines.append(tr("Links to files that lie elsewhere: they take no room here."))
    if root.file_limit is not None:
        lines.append(tr("Its file system holds no file larger than {0}.").format(size_text(root.file_limit)))
    return "\n".join(line for line in lines if line)

"""What can be done about a model that is not as it should be."""

from __future__ import annotations

from engine.library.records import InstalledModel, Mend
from engine.library.states import FileState

OTHER_BYTES = {FileState.DAMAGED, FileState.INCOMPLETE}
"""The file of the same name at its repository is right where this one is not."""

FETCH_AGAIN = OTHER_BYTES | {FileState.POINTER, FileState.NOT_GGUF, FileState.MISSING_PART, FileState.BAD_PART}


def mends_of(model: InstalledModel, *, described: bool) -> tuple[Mend, ...]:
    """The ways, the best first. ``described``: the origin of all its files lies beside them."""
    if model.state is FileState.ABSENT:
        return (Mend.INSERT,)
    if model.state is FileState.RAW_PIECES:
        return (Mend.JOIN, Mend.DELETE)
    if model.state is FileState.OK:
        return (Mend.SHARE, Mend.DELETE) if model.duplicate_of is not None and not model.same_file else ()
    ways: list[Mend] = []
    if model.state in OTHER_BYTES and described:
        ways.append(Mend.REPAIR)
    if model.state in FETCH_AGAIN and model.repo is not None:
        ways.append(Mend.DOWNLOAD)
    return (*ways, Mend.DELETE)

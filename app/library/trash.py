"""The desktop's trash."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QFile


def qt_trash(path: Path) -> Path | None:
    """By Qt, after the trash specification of freedesktop.org. Not on the GUI thread."""
    name = QFile.decodeName(os.fsencode(path))
    if QFile.encodeName(name).data() != os.fsencode(path):
        return None  # a name that Qt cannot carry
    file = QFile(name)
    return Path(file.fileName()) if file.moveToTrash() else None

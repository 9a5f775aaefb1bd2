"""What a report must not tell: who the user is, and which piece of hardware this is."""

from __future__ import annotations

import re
from collections.abc import Mapping

_HOMES = re.compile(r"(?<![\w.~-])(?:/var)?(?:/home|/Users)/[^/\s:;,'\"]+|(?<![\w.~/-])/root(?![\w.-])")
_MEDIA = re.compile(r"(?<![\w.~-])((?:/run)?/media)/[^/\s:;,'\"]+(?:/[^/\s:;,'\"]+)?")
_UUID = re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b")
_UNIQUE_ID = re.compile(r"\b(?:0x)?(?=[0-9a-fA-F]*[0-9])[0-9a-fA-F]{16,}\b")
"""An amdgpu ``unique_id`` (16 digits) or a machine id (32), also inside ``GPU-...`` of ``ROCR_VISIBLE_DEVICES``."""

LONGEST = 400
"""Characters of one text; a loader's message can be longer, but not more useful."""


def scrubbed(text: str, environ: Mapping[str, str]) -> str:
    """``text`` on one line, with the home folder as ``~`` and without user names in paths and hardware ids."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    for home in sorted({environ.get(name, "").rstrip("/") for name in ("HOME", "VRAMBLE_HOME")}, key=len, reverse=True):
        if home.count("/") >= 1 and len(home) > 1:
            line = re.sub(rf"(?<![\w.~-]){re.escape(home)}(?![\w.-])", "~", line)
    for user in {environ.get(name, "") for name in ("USER", "LOGNAME", "SUDO_USER")}:
        if user:
            line = re.sub(rf"(?<=/){re.escape(user)}(?![\w.-])", "…", line)
    line = _HOMES.sub("~", line)
    line = _MEDIA.sub(r"\1/…", line)
    line = _UNIQUE_ID.sub("…", _UUID.sub("…", line))
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"

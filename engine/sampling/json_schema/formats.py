"""Formats of strings that a grammar can keep, as patterns. Others stay free text."""

from __future__ import annotations

_DATE = "([0-9]{4}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31))"
_TIME = r"(([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9]))"
_BYTE = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_HEX = "[0-9a-fA-F]"
_LABEL = "[A-Za-z0-9]([A-Za-z0-9-]{0,30}[A-Za-z0-9])?"

FORMATS = {
    "date": f"^{_DATE}$",
    "time": f"^{_TIME}$",
    "date-time": f"^{_DATE}T{_TIME}$",
    "uuid": f"^{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}$",
    "ipv4": rf"^{_BYTE}(\.{_BYTE}){{3}}$",
    "ipv6": f"^({_HEX}{{1,4}}:){{7}}{_HEX}{{1,4}}$",
    "hostname": rf"^{_LABEL}(\.{_LABEL}){{0,5}}$",
    "email": rf"^[A-Za-z0-9_+-]{{1,30}}(\.[A-Za-z0-9_+-]{{1,30}}){{0,3}}@{_LABEL}(\.{_LABEL}){{1,4}}$",
    "uri": rf"^https?://{_LABEL}(\.{_LABEL}){{0,4}}(:[1-9][0-9]{{0,3}})?(/[A-Za-z0-9._~-]{{0,40}}){{0,8}}$",
}
"""Name (JSON Schema 2020-12, validation 7.3) -> pattern of some, not all, of its texts: each of them is valid."""

"""What the memory page remembers from one start to the next."""

from __future__ import annotations

import msgspec


class MemoryPageSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Looks of the memory page.

    Attributes:
        geometry: Qt's window geometry, base64.
        one_scale: Bars of equal length hold equally much; else each one fills the width.
        busy: Whether the plot shows how busy the card was; the same for ``temperature`` and ``power``.
        table: The table is shown instead of the bars.
    """

    geometry: str = ""
    one_scale: bool = True
    busy: bool = True
    temperature: bool = False
    power: bool = True
    table: bool = False

    @property
    def lines(self) -> tuple[str, ...]:
        """The sensors that the plot shows."""
        return tuple(name for name in ("busy", "temperature", "power") if getattr(self, name))

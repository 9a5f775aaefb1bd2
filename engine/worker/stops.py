"""Stop strings, found in the text across the borders of tokens."""

from __future__ import annotations

from collections.abc import Iterable


class StopMatcher:
    """Lets text through up to the first stop string.

    The match that is complete first wins, whatever the order of the list and the cut of the text; of two that end
    together the longer one. Text that may be the beginning of a stop string is held back. Empty strings are dropped.
    """

    def __init__(self, stops: Iterable[str]) -> None:
        self._stops = tuple(dict.fromkeys(stop for stop in stops if stop))
        self._longest = max(map(len, self._stops), default=0)
        self._held = ""
        self.matched = False

    def feed(self, text: str) -> str:
        """Text that is free to be shown. After a match nothing more comes."""
        if not self._stops:
            return text
        if self.matched:
            return ""
        text = self._held + text
        start = self._find(text)
        if start is not None:
            self.matched, self._held = True, ""
            return text[:start]
        keep = self._possible_start(text)
        self._held = text[keep:]
        return text[:keep]

    def flush(self) -> str:
        """The held-back text, when the answer ended for another reason."""
        held, self._held = self._held, ""
        return held

    def _find(self, text: str) -> int | None:
        found = [(at + len(stop), at) for stop in self._stops if (at := text.find(stop)) >= 0]
        return min(found)[1] if found else None

    def _possible_start(self, text: str) -> int:
        for start in range(max(0, len(text) - self._longest + 1), len(text)):
            if any(stop.startswith(text[start:]) for stop in self._stops):
                return start
        return len(text)

"""Where a text may be cut: borders of what a reader takes for one character.

The rules are those of Unicode Standard Annex 29, extended grapheme clusters, with two limits. The
pictograph property is not in `unicodedata`; the blocks that hold pictographs stand in for it, so
a joiner also glues symbols that have no joined form. Rule GB9c (conjuncts of Indic scripts) is
left out: a conjunct may be cut between its consonants, as in Unicode before 15.1.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

ZWJ: Final = "\u200d"
_ZWNJ: Final = "\u200c"
_PICTOGRAPH_BLOCKS: Final = (
    (0xA9, 0xA9), (0xAE, 0xAE), (0x203C, 0x203C), (0x2049, 0x2049), (0x2122, 0x2122), (0x2139, 0x2139),
    (0x2190, 0x21FF), (0x2300, 0x23FF), (0x24C2, 0x24C2), (0x25A0, 0x27BF), (0x2900, 0x297F),
    (0x2B00, 0x2BFF), (0x3030, 0x3030), (0x303D, 0x303D), (0x3297, 0x3297), (0x3299, 0x3299),
    (0x1F000, 0x1F1E5), (0x1F200, 0x1F3FA), (0x1F400, 0x1FAFF), (0x1FC00, 0x1FFFD),
)  # fmt: skip
_BLOCK_STARTS: Final = tuple(start for start, _ in _PICTOGRAPH_BLOCKS)
_PREPEND: Final = frozenset(
    [*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0xD4E, 0x110BD, 0x110CD, 0x111C2, 0x111C3]
)


def clusters(text: str) -> Iterator[str]:
    """The grapheme clusters of ``text``, in order; joined they are ``text``."""
    start = 0
    flags = 0
    for at in range(1, len(text)):
        before = text[at - 1]
        flags = flags + 1 if _is_flag_letter(before) else 0
        if _border(text, start, at, flags):
            yield text[start:at]
            start = at
            flags = 0
    if text:
        yield text[start:]


def cut(text: str, most: int) -> str:
    """The first ``most`` clusters of ``text``."""
    length = 0
    for count, cluster in enumerate(clusters(text)):
        if count == most:
            break
        length += len(cluster)
    return text[:length]


def _border(text: str, start: int, at: int, flags: int) -> bool:
    """Whether a cluster that began at ``start`` ends before ``at``.

    ``flags`` counts the flag letters that stand directly before ``at`` in this cluster.
    """
    before, after = text[at - 1], text[at]
    if before == "\r" and after == "\n":
        return False
    if _is_control(before) or _is_control(after):
        return True
    if _extends(after) or ord(before) in _PREPEND or _hangul_joined(ord(before), ord(after)):
        return False
    if before == ZWJ and _is_pictograph(after):
        return not _pictograph_before(text, start, at - 1)
    if _is_flag_letter(before) and _is_flag_letter(after):
        return flags % 2 == 0
    return True


def _pictograph_before(text: str, start: int, end: int) -> bool:
    while end > start and _extends(text[end - 1]) and text[end - 1] != ZWJ:
        end -= 1
    return end > start and _is_pictograph(text[end - 1])


def _is_control(char: str) -> bool:
    if char in (ZWJ, _ZWNJ) or ord(char) in _PREPEND or 0xE0020 <= ord(char) <= 0xE007F:
        return False
    return unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp", "Cs")


def _extends(char: str) -> bool:
    """Marks, joiners, skin tones, tag characters: never the first of a cluster."""
    code = ord(char)
    if code < 0x300:
        return False
    if char in (ZWJ, _ZWNJ) or 0x1F3FB <= code <= 0x1F3FF or 0xE0020 <= code <= 0xE007F:
        return True
    return unicodedata.category(char) in ("Mn", "Me", "Mc")


def _is_flag_letter(char: str) -> bool:
    return 0x1F1E6 <= ord(char) <= 0x1F1FF


def _is_pictograph(char: str) -> bool:
    code = ord(char)
    at = bisect_right(_BLOCK_STARTS, code) - 1
    return at >= 0 and code <= _PICTOGRAPH_BLOCKS[at][1]


def _hangul_joined(before: int, after: int) -> bool:
    """Jamo that make one syllable (rules GB6 to GB8)."""
    leading = 0x1100 <= before <= 0x115F or 0xA960 <= before <= 0xA97C
    vowel = 0x1160 <= before <= 0x11A7 or 0xD7B0 <= before <= 0xD7C6
    trailing = 0x11A8 <= before <= 0x11FF or 0xD7CB <= before <= 0xD7FB
    syllable = 0xAC00 <= before <= 0xD7A3
    open_syllable = syllable and (before - 0xAC00) % 28 == 0
    to_leading = 0x1100 <= after <= 0x115F or 0xA960 <= after <= 0xA97C
    to_vowel = 0x1160 <= after <= 0x11A7 or 0xD7B0 <= after <= 0xD7C6
    to_trailing = 0x11A8 <= after <= 0x11FF or 0xD7CB <= after <= 0xD7FB
    if leading:
        return to_leading or to_vowel or 0xAC00 <= after <= 0xD7A3
    if vowel or open_syllable:
        return to_vowel or to_trailing
    return (trailing or syllable) and to_trailing

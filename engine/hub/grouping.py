"""Files of a repository as a reader chooses among them: by quantisation, each with what goes with it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

from engine.errors import VrambleError
from engine.hub.quality import bits_of, quality_of
from engine.hub.records import ModelFile, QuantGroup
from engine.library.listing import FileKind, RepoFile, RepoListing, choose
from engine.library.names import VAGUE, base_stem, short_name

WORD_OF_KIND: Final = re.compile(r"(^|[-._])(mmproj|draft|mtp|eagle[23]?)(?=[-._]|$)", re.IGNORECASE)

PROJECTORS: Final = ("F16", "BF16", "Q8_0", "F32")
"""Of several projectors the first of these: half precision is exact enough and runs everywhere."""

DRAFTS: Final = ("Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "Q4_0")


def groups_of(listing: RepoListing, n_params: int | None) -> tuple[QuantGroup, ...]:
    """All models of ``listing``, smallest quantisation first.

    Args:
        n_params: Weights of the repository's model, None when unknown: what says how many bits each one takes.
    """
    models = [file for file in listing.files if file.kind is FileKind.MODEL]
    alone = len({family_of(file) for file in models}) == 1
    usual = _usual(listing)
    projectors = [file for file in listing.files if file.kind is FileKind.PROJECTOR]
    drafts = [file for file in listing.files if file.kind is FileKind.DRAFT]
    by_quant: dict[str, list[RepoFile]] = {}
    for file in models:
        by_quant.setdefault(file.quant, []).append(file)
    groups = [
        QuantGroup(
            quant=quant,
            quality=quality_of(quant),
            bits=_bits(quant, files, n_params if alone else None),
            files=tuple(
                ModelFile(
                    file=file,
                    projector=_mate(file, projectors, PROJECTORS, alone=alone),
                    draft=_mate(file, drafts, (file.quant, *DRAFTS), alone=alone),
                )
                for file in files
            ),
            usual=any(file is usual for file in files),
        )
        for quant, files in by_quant.items()
    ]
    return tuple(sorted(groups, key=_order))


def family_of(file: RepoFile) -> str:
    """The name of a file without quantisation and the word for its kind: what belongs together shares it."""
    stem = WORD_OF_KIND.sub("", base_stem(PurePosixPath(file.path).name)).strip("-._ ")
    plain = short_name(f"{stem}.gguf", "", "").casefold() if stem else ""
    return "" if plain in VAGUE or not plain.strip("-._ ") or plain == file.quant.casefold() else plain


def _usual(listing: RepoListing) -> RepoFile | None:
    try:
        return choose(listing, None)[0]
    except VrambleError:
        return None


def _bits(quant: str, files: Sequence[RepoFile], n_params: int | None) -> float | None:
    """From size and weights; a count that cannot be of these files is not used."""
    known = bits_of(quant)
    size = files[0].size
    if not size or not n_params:
        return known
    told = 8 * size / n_params
    near = 0.5 * known < told < 2 * known if known else 0.5 < told < 40
    return round(told, 2) if near else known


def _order(group: QuantGroup) -> tuple[float, str]:
    sizes = [one.file.size for one in group.files if one.file.size]
    return (group.bits or 0.0) or (min(sizes) / 1e12 if sizes else 99.0), group.quant


def _mate(file: RepoFile, others: Sequence[RepoFile], liked: Sequence[str], *, alone: bool) -> RepoFile | None:
    """The companion for ``file``: of its name when there are several models, then the one liked best.

    A projector beside the file goes before others; draft heads have a folder of their own.
    """
    if not others:
        return None
    own = family_of(file)
    folder = PurePosixPath(file.path).parent
    fitting = [one for one in others if alone or _same(own, family_of(one))]

    def key(one: RepoFile) -> tuple[bool, bool, int, int]:
        place = liked.index(one.quant) if one.quant in liked else len(liked)
        apart = PurePosixPath(one.path).parent != folder and one.kind is FileKind.PROJECTOR
        return not _same(own, family_of(one)), apart, place, one.size or 0

    return min(fitting, key=key, default=None)


def _same(model: str, other: str) -> bool:
    """A companion without a name of its own belongs to every model beside it."""
    return not other or other == model or (bool(model) and (model.startswith(other) or other.startswith(model)))

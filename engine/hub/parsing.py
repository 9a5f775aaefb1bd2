"""Records out of the Hub's JSON, lenient: a field that is missing or of another kind is unknown, never an error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Final

from engine.errors import VrambleError
from engine.hub.records import Gate, RepoSummary
from engine.library.address import parse_repo

MOST_TAGS: Final = 60
LONGEST: Final = 200
LAST_MOMENT: Final = 4e9
"""Seconds since 1970: nothing on the Hub is from after 2096."""

CODES: Final = (
    "aa ab af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo"
    " es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka"
    " kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng"
    " nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su"
    " sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"
)
LANGUAGES: Final = frozenset(CODES.split())
"""Codes of ISO 639-1: tags of two letters that are none of them mean something else."""

HIDDEN: Final = ("license:", "base_model:", "region:", "arxiv:", "dataset:", "doi:")
"""Beginnings of tags that are shown elsewhere or say nothing to a reader."""


def summary_of(data: object) -> RepoSummary | None:
    """One repository; None when not even its name is right."""
    answer = data if isinstance(data, Mapping) else {}
    repo = _repo(answer.get("id")) or _repo(answer.get("modelId"))
    if not repo:
        return None
    card = mapping(answer.get("cardData"))
    gguf = mapping(answer.get("gguf"))
    tags = texts(answer.get("tags"))
    return RepoSummary(
        repo=repo,
        downloads=number(answer.get("downloads")),
        likes=number(answer.get("likes")),
        updated=moment(answer.get("lastModified")),
        created=moment(answer.get("createdAt")),
        gate=gate(answer.get("gated")),
        private=answer.get("private") is True,
        licence=_licence(card, tags),
        licence_link=link(card.get("license_link")),
        languages=_languages(card, tags),
        tags=tuple(tag for tag in tags if tag not in LANGUAGES and not tag.startswith(HIDDEN))[:MOST_TAGS],
        base_models=_base_models(card, tags),
        task=text(answer.get("pipeline_tag")),
        architecture=text(gguf.get("architecture")),
        n_params=number(gguf.get("total")) or None,
        context_length=number(gguf.get("context_length")) or None,
    )


def gate(value: object) -> Gate:
    """The Hub says ``false``, ``"auto"`` or ``"manual"``; anything else that is no "no" wants terms accepted."""
    if value in (None, False, ""):
        return Gate.OPEN
    return Gate.BY_HAND if value == Gate.BY_HAND else Gate.AUTOMATIC


def mapping(value: object) -> Mapping[str, object]:
    """``value`` when it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def text(value: object) -> str:
    """One short line without signs that break lines or cannot be written."""
    if not isinstance(value, str):
        return ""
    return " ".join(value[: 4 * LONGEST].encode("utf-8", "replace").decode().split())[:LONGEST]


def texts(value: object) -> tuple[str, ...]:
    """A text, or a list in which the texts count."""
    found = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(filter(None, (text(item) for item in found[:1000])))


def number(value: object) -> int | None:
    """A count that is no less than 0."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 60
    return value if good and isinstance(value, int) else None


def moment(value: object) -> float | None:
    """Seconds since 1970 of a time such as ``2026-03-02T10:00:00.000Z``."""
    if not isinstance(value, str) or len(value) > 40:
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    told = (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    return told if 0 <= told < LAST_MOMENT else None


def link(value: object) -> str:
    """An address of the web, else empty."""
    found = text(value)
    return found if found.startswith(("https://", "http://")) else ""


def _repo(value: object) -> str:
    try:
        return parse_repo(value).repo if isinstance(value, str) and value.count("/") == 1 else ""
    except VrambleError:
        return ""


def _licence(card: Mapping[str, object], tags: Iterable[str]) -> str:
    tagged = (tag.removeprefix("license:") for tag in tags if tag.startswith("license:"))
    found = next(iter(texts(card.get("license"))), "") or next(tagged, "")
    return (text(card.get("license_name")) or found) if found in ("other", "") else found


def _languages(card: Mapping[str, object], tags: Iterable[str]) -> tuple[str, ...]:
    told = [code.lower() for code in texts(card.get("language")) if len(code) <= 12]
    return tuple(dict.fromkeys(told or [tag for tag in tags if tag in LANGUAGES]))[:MOST_TAGS]


def _base_models(card: Mapping[str, object], tags: Iterable[str]) -> tuple[str, ...]:
    """Tags say it twice, the second time with how: ``base_model:quantized:owner/name``."""
    tagged = [tag.rpartition(":")[2] for tag in tags if tag.startswith("base_model:")]
    return tuple(dict.fromkeys(name for one in (*texts(card.get("base_model")), *tagged) if (name := _repo(one))))[:8]

"""The Hub's JSON: fields that are missing or of another kind (case 64)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.hub.parsing import gate, link, moment, number, summary_of, texts
from engine.hub.records import Gate, RepoSummary

FULL: dict[str, Any] = {
    "id": "maker/some-GGUF",
    "downloads": 1200,
    "likes": 34,
    "lastModified": "2026-03-02T10:00:00.000Z",
    "createdAt": "2026-01-01T00:00:00+00:00",
    "gated": "auto",
    "private": True,
    "pipeline_tag": "text-generation",
    "tags": ["gguf", "en", "zh", "moe", "license:apache-2.0", "base_model:Qwen/Qwen3-8B", "region:us"],
    "cardData": {"license": "other", "license_name": "my terms", "license_link": "https://x.example/l"},
    "gguf": {"total": 8_000_000_000, "architecture": "qwen3", "context_length": 40960, "chat_template": "x" * 9000},
}


def summary(**changes: Any) -> RepoSummary:
    found = summary_of({**FULL, **changes})
    assert found is not None
    return found


def test_everything_that_is_told() -> None:
    assert summary() == RepoSummary(
        repo="maker/some-GGUF",
        downloads=1200,
        likes=34,
        updated=1772445600.0,
        created=1767225600.0,
        gate=Gate.AUTOMATIC,
        private=True,
        licence="my terms",
        licence_link="https://x.example/l",
        languages=("en", "zh"),
        tags=("gguf", "moe"),
        base_models=("Qwen/Qwen3-8B",),
        task="text-generation",
        architecture="qwen3",
        n_params=8_000_000_000,
        context_length=40960,
    )
    assert (summary().author, summary().name) == ("maker", "some-GGUF")


@pytest.mark.parametrize(
    "changes",
    [
        {"downloads": None},
        {"downloads": "many", "likes": [1]},
        {"lastModified": None, "createdAt": 17},
        {"lastModified": "yesterday"},
        {"gated": "manual"},
        {"gated": {"terms": 1}},
        {"tags": None},
        {"tags": "gguf"},
        {"tags": [1, None, {"a": 1}, "gguf"]},
        {"gguf": None},
        {"gguf": []},
        {"gguf": {"total": "8000000000", "context_length": -4, "architecture": 3}},
        {"cardData": {"license": ["mit", "apache-2.0"], "language": "en", "base_model": ["a/b", "not a name", 4]}},
        {"cardData": "text"},
        {"siblings": []},
    ],
)
def test_every_variant_is_a_row(changes: dict[str, Any]) -> None:
    assert summary(**changes).repo == "maker/some-GGUF"


@pytest.mark.parametrize("name", [None, "", "one", "a/b/c", "../x", "a b/c", 5, "a/..", ["a/b"]])
def test_without_a_right_name_there_is_no_row(name: object) -> None:
    assert summary_of({**FULL, "id": name}) is None
    assert summary_of({**FULL, "id": name, "modelId": "maker/old"}) is not None


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (False, Gate.OPEN), (None, Gate.OPEN), ("", Gate.OPEN),
        ("auto", Gate.AUTOMATIC), (True, Gate.AUTOMATIC), ("new kind", Gate.AUTOMATIC), ("manual", Gate.BY_HAND),
    ],
)  # fmt: skip
def test_kinds_of_gates(value: object, kind: Gate) -> None:
    assert gate(value) is kind


@pytest.mark.parametrize(
    ("card", "tags", "licence"),
    [
        ({"license": "mit"}, [], "mit"),
        ({"license": ["mit", "apache-2.0"]}, [], "mit"),
        ({}, ["license:gemma"], "gemma"),
        ({"license": "other"}, [], "other"),
        ({"license": "other", "license_name": "LFM 1.0"}, ["license:other"], "LFM 1.0"),
        ({}, [], ""),
    ],
)
def test_licence_from_card_or_tag(card: dict[str, Any], tags: list[str], licence: str) -> None:
    assert summary(cardData=card, tags=tags).licence == licence


def test_numbers_times_and_links() -> None:
    assert [number(one) for one in (0, 7, "8", 2.0, -1, True, None, "x", 1 << 70, 2.5)] == [
        0, 7, 8, 2, None, None, None, None, None, None,
    ]  # fmt: skip
    assert [moment(one) for one in ("1970-01-01T00:00:05Z", "1970-01-01", "9999-99-99", None)] == [5.0, 0.0, None, None]
    assert [moment(one) for one in ("0001-01-01T00:00:00", "9999-12-31T23:59:59-23:59")] == [None, None]
    assert link("https://a.example") == "https://a.example"
    assert link("javascript:alert(1)") == link("file:///etc/passwd") == link(None) == ""
    assert texts(["a\nb", "", 3, "half \ud83d of a sign"]) == ("a b", "half ? of a sign")


def test_thousands_of_tags_are_bounded() -> None:
    found = summary(tags=[f"tag{number}" for number in range(5000)], cardData={"language": ["en"] * 5000})
    assert len(found.tags) <= 60
    assert found.languages == ("en",)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from([*FULL, "modelId", "siblings"]), JSON, max_size=8))
@settings(max_examples=80, deadline=None)
def test_no_answer_breaks_it(data: dict[str, Any]) -> None:
    found = summary_of(data)
    assert found is None or found.repo.count("/") == 1
    assert summary_of({**data, "id": "a/b"}) is not None

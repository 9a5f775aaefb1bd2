"""What a search asks for, and which rows it keeps."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.hub.query import EXPAND, in_order, keeps, matches, normalised, parameters
from engine.hub.records import Gate, RepoSummary, SearchQuery, Sort
from tests.fakes.hub_pages import row
from tests.fakes.local_hub import LocalHub

ROW = RepoSummary(
    repo="Maker/Some-Model-8B-GGUF",
    downloads=5,
    likes=3,
    updated=100.0,
    created=50.0,
    licence="apache-2.0",
    languages=("en", "de"),
    architecture="qwen3",
    n_params=8_200_000_000,
)


@pytest.mark.parametrize("sort", list(Sort))
def test_the_hubs_own_client_asks_in_the_same_words(hub: LocalHub, sort: Sort) -> None:
    """huggingface_hub knows the API: what we send is what it would send."""
    from huggingface_hub import HfApi

    hub.pages.rows = [row("maker/one-GGUF")]
    query = SearchQuery(
        text="one", author="maker", sort=sort, smallest=3 * 10**9, largest=9 * 10**9, licence="mit", language="de"
    )
    names = {Sort.TRENDING: "trending_score", Sort.UPDATED: "last_modified", Sort.CREATED: "created_at"}
    list(
        HfApi(endpoint=hub.url).list_models(
            filter=["gguf", "license:mit", "de"],
            author="maker",
            num_parameters="min:3B,max:9B",
            search="one",
            sort=names.get(sort, sort.value),  # type: ignore[arg-type]
            limit=30,
            expand=[*EXPAND],
        )
    )
    ours: dict[str, list[str]] = {}
    for name, value in parameters(normalised(query)):
        ours.setdefault(name, []).append(value)
    assert hub.pages.queries == [ours]


@pytest.mark.parametrize(
    ("smallest", "largest", "told"),
    [
        (None, None, None),
        (500_000_000, None, None),
        (None, 500_000_000, "max:1B"),
        (3_500_000_000, 9_500_000_000, "min:3B,max:10B"),
        (70_000_000_000, None, "min:70B"),
    ],
)
def test_sizes_are_told_in_whole_billions_outwards(smallest: int, largest: int, told: str | None) -> None:
    asked = dict(parameters(SearchQuery(smallest=smallest, largest=largest)))
    assert asked.get("num_parameters") == told


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        (SearchQuery(), True),
        (SearchQuery(architecture="qwen3"), True),
        (SearchQuery(architecture="llama"), False),
        (SearchQuery(smallest=8_000_000_000, largest=9_000_000_000), True),
        (SearchQuery(smallest=8_500_000_000), False),
        (SearchQuery(largest=8_000_000_000), False),
    ],
)
def test_what_the_hub_only_knows_roughly_is_looked_at_here(query: SearchQuery, wanted: bool) -> None:
    assert keeps(query, ROW) is wanted


def test_a_size_that_nobody_knows_leaves_no_row_out() -> None:
    assert keeps(SearchQuery(smallest=10**12), RepoSummary(repo="a/b"))


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        (SearchQuery(text="some model"), True),
        (SearchQuery(text="MAKER"), True),
        (SearchQuery(text="other"), False),
        (SearchQuery(author="maker"), True),
        (SearchQuery(author="make"), False),
        (SearchQuery(licence="mit"), False),
        (SearchQuery(language="de"), True),
        (SearchQuery(language="fr"), False),
        (SearchQuery(gated=True), False),
        (SearchQuery(gated=False), True),
    ],
)
def test_kept_rows_are_searched_as_the_hub_would(query: SearchQuery, wanted: bool) -> None:
    assert matches(query, ROW) is wanted
    if query.gated is not None:
        gated = RepoSummary(repo=ROW.repo, gate=Gate.AUTOMATIC)
        assert matches(query, gated) is not wanted


def test_order_of_kept_rows() -> None:
    rows = [
        RepoSummary(repo="a/a", downloads=1, likes=9, updated=5.0, created=7.0),
        RepoSummary(repo="b/b", downloads=9, likes=1, updated=7.0, created=5.0),
        RepoSummary(repo="c/c"),
    ]
    orders = {sort: [one.repo[0] for one in in_order(sort, rows)] for sort in Sort}
    assert orders == {
        Sort.TRENDING: ["b", "a", "c"],
        Sort.DOWNLOADS: ["b", "a", "c"],
        Sort.LIKES: ["a", "b", "c"],
        Sort.UPDATED: ["b", "a", "c"],
        Sort.CREATED: ["a", "b", "c"],
    }


@given(
    st.builds(
        SearchQuery,
        text=st.text(max_size=300),
        author=st.text(max_size=120),
        smallest=st.none() | st.integers(0, 10**13),
        largest=st.none() | st.integers(0, 10**13),
        architecture=st.text(max_size=20),
    )
)
@settings(max_examples=100, deadline=None)
def test_any_query_has_one_way_to_be_written(query: SearchQuery) -> None:
    once = normalised(query)
    assert normalised(once) == once
    assert all(value.strip() for _, value in parameters(once))

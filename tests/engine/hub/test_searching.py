"""Searching the Hub through its own client, and searching what was kept of it (cases 64, 65)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.hub.finder import ENOUGH, MOST_PAGES, RECENT_S
from engine.hub.hub_client import Limits
from engine.hub.messages import Search
from engine.hub.query import PAGE
from engine.hub.records import SearchQuery, Sort
from tests.engine.hub.conftest import PATIENT, Desk
from tests.fakes.hub_pages import row
from tests.fakes.local_hub import LocalHub, Refusal

QUERY = SearchQuery(text="m")


def fill(hub: LocalHub, count: int = 70, **fields: Any) -> list[str]:
    """``count`` repositories, and their names in the order of downloads."""
    hub.pages.rows = [row(f"maker/m{number}-GGUF", downloads=1000 - number, **fields) for number in range(count)]
    return [one["id"] for one in hub.pages.rows]


# ---- pages


def test_pages_follow_one_another(hub: LocalHub, desk: Desk) -> None:
    names = fill(hub)
    first = desk.search(QUERY)
    second = desk.search(QUERY, first.page.cursor)
    third = desk.search(QUERY, second.page.cursor)
    assert [len(one.page.rows) for one in (first, second, third)] == [PAGE, PAGE, 10]
    assert [one.repo for found in (first, second, third) for one in found.page.rows] == names
    assert not third.page.cursor


def test_a_mirror_that_names_the_original_is_asked_itself(hub: LocalHub, desk: Desk) -> None:
    fill(hub)
    hub.pages.link_host = "https://elsewhere.invalid"
    assert desk.search(QUERY, desk.search(QUERY).page.cursor).page.rows[0].repo == f"maker/m{PAGE}-GGUF"


def test_filters_and_order_are_the_hubs(hub: LocalHub, desk: Desk) -> None:
    hub.pages.rows = [
        row("maker/a-GGUF", likes=1, tags=["gguf", "de", "license:mit"]),
        row("maker/b-GGUF", likes=2, tags=["gguf", "de", "license:mit"], gated="auto"),
        row("other/c-GGUF", likes=3, tags=["gguf", "de", "license:mit"]),
        row("maker/d-GGUF", likes=4, tags=["gguf", "en", "license:mit"]),
        row("maker/e-safetensors", likes=5, tags=["de", "license:mit"]),
    ]
    query = SearchQuery(author="maker", licence="mit", language="de", sort=Sort.LIKES)
    assert [one.repo for one in desk.search(query).page.rows] == ["maker/b-GGUF", "maker/a-GGUF"]
    only = msgspec.structs.replace(query, gated=False)
    assert [one.repo for one in desk.search(only).page.rows] == ["maker/a-GGUF"]


def test_sizes_are_looked_at_exactly(hub: LocalHub, desk: Desk) -> None:
    hub.pages.rows = [
        row(f"maker/{total}-GGUF", gguf={"total": total * 10**8, "architecture": "llama"}) for total in (5, 34, 36, 90)
    ]
    found = desk.search(SearchQuery(smallest=35 * 10**8, largest=89 * 10**8))
    assert [one.repo for one in found.page.rows] == ["maker/36-GGUF"]


@pytest.mark.parametrize("ignored", [set(), {"num_parameters"}])
def test_a_hub_that_does_not_know_the_size_filter_gives_the_same(hub: LocalHub, desk: Desk, ignored: set[str]) -> None:
    hub.pages.rows = [row(f"maker/{total}-GGUF", gguf={"total": total * 10**9}) for total in (1, 4, 8, 70)]
    hub.pages.ignored = ignored
    found = desk.search(SearchQuery(smallest=3 * 10**9, largest=9 * 10**9))
    assert {one.repo for one in found.page.rows} == {"maker/4-GGUF", "maker/8-GGUF"}


def test_a_rare_architecture_is_looked_for_on_further_pages(hub: LocalHub, desk: Desk) -> None:
    names = fill(hub, 450)
    for number in (150, 320, 430):
        hub.pages.rows[number]["gguf"] = {"architecture": "rare"}
    found = desk.search(SearchQuery(architecture="Rare"))
    assert [one.repo for one in found.page.rows] == [names[150], names[320], names[430]]
    assert len(hub.pages.queries) == 5


def test_it_does_not_look_for_ever(hub: LocalHub, desk: Desk) -> None:
    fill(hub, 100 * (MOST_PAGES + 2))
    found = desk.search(SearchQuery(architecture="none"))
    assert (found.page.rows, len(hub.pages.queries)) == ((), MOST_PAGES)
    assert found.page.cursor
    assert ENOUGH < PAGE


def test_odd_rows_leave_the_others(hub: LocalHub, desk: Desk) -> None:
    good = row("maker/m-GGUF", gguf=None, tags=None, gated="manual", lastModified=None, downloads="12")
    hub.pages.rows = [None, 7, "text", [], {}, {"id": "no name"}, {"id": "a\ud83d/b"}, good]
    hub.pages.ignored = {"filter"}
    (found,) = desk.search(SearchQuery()).page.rows
    assert (found.repo, found.downloads, found.updated) == ("maker/m-GGUF", 12, None)


def test_only_what_is_needed_travels(hub: LocalHub, desk: Desk) -> None:
    fill(hub, 1, siblings=[{"rfilename": "x"}] * 100)
    desk.search(QUERY)
    assert "siblings" not in hub.pages.queries[0]["expand"]
    assert hub.requests("GET", "/api/models") != []


# ---- what goes wrong


@pytest.mark.parametrize(
    ("refusal", "code"),
    [
        (Refusal(500), "hub-server"),
        (Refusal(503), "hub-server"),
        (Refusal(401, "", "Invalid credentials in Authorization header"), "hub-bad-token"),
        (Refusal(403), "hub-forbidden"),
        (Refusal(404), "hub-refused"),
        (Refusal(418), "hub-refused"),
        (Refusal(429), "hub-rate-limited"),
    ],
)
def test_each_refusal_has_its_own_words(hub: LocalHub, desk: Desk, refusal: Refusal, code: str) -> None:
    hub.pages.refusal = refusal
    failed = desk.refusal(Search(id=3, query=QUERY))
    assert (failed.id, failed.code) == (3, code)
    assert failed.message


@pytest.mark.parametrize("raw", [b"<html>sign in</html>", b"{}", b"null", b"[1", b"\xff\xfe", b'["' + b"\\" * 9])
def test_what_is_no_answer_of_the_hub(hub: LocalHub, desk: Desk, raw: bytes) -> None:
    hub.pages.raw = raw
    assert desk.refusal(Search(id=1, query=QUERY)).code == "hub-nonsense"


def test_an_answer_without_end_is_not_read_to_the_end(hub: LocalHub, tmp_path: Path) -> None:
    hub.pages.raw = b"[" + b" " * 100_000 + b"]"
    desk = Desk(tmp_path, msgspec.structs.replace(PATIENT, json_bytes=50_000))
    assert desk.refusal(Search(id=1, query=QUERY)).code == "hub-nonsense"


def test_a_stumble_is_asked_once_more(hub: LocalHub, desk: Desk) -> None:
    fill(hub, 3)
    hub.pages.refusal = Refusal(502, times=1)
    assert len(desk.search(QUERY).page.rows) == 3
    assert len(hub.pages.queries) == 2


def test_a_cut_answer_is_asked_once_more(hub: LocalHub, desk: Desk) -> None:
    fill(hub, 3)
    hub.pages.cut_after = 40
    assert desk.refusal(Search(id=1, query=QUERY)).code == "broken-off"
    hub.pages.cut_times = 1
    assert len(desk.search(QUERY).page.rows) == 3
    assert len(hub.pages.queries) == 4


@pytest.mark.parametrize(
    ("headers", "seconds"), [({"Retry-After": "7"}, 7.0), ({"RateLimit": '"api";r=0;t=55'}, 55.0), ({}, None)]
)
def test_too_many_requests_are_not_repeated(
    hub: LocalHub, desk: Desk, headers: dict[str, str], seconds: float | None
) -> None:
    hub.pages.refusal = Refusal(429, headers=headers)
    failed = desk.refusal(Search(id=1, query=QUERY))
    assert (failed.code, failed.retry_after) == ("hub-rate-limited", seconds)
    assert len(hub.pages.queries) == 1


def test_a_server_that_stops_in_the_middle(hub: LocalHub, tmp_path: Path) -> None:
    fill(hub, 3)
    hub.pages.hold_after = 20
    desk = Desk(tmp_path, Limits(stall_s=0.3, whole_s=60, retry_s=0.01))
    assert desk.refusal(Search(id=1, query=QUERY)).code == "stalled"


def test_a_server_that_sends_a_sign_now_and_then(hub: LocalHub, tmp_path: Path) -> None:
    fill(hub, 3)
    hub.pages.hold_after = 20
    desk = Desk(tmp_path, Limits(stall_s=60, whole_s=0.3, retry_s=0.01))
    assert desk.refusal(Search(id=1, query=QUERY)).code == "stalled"


def test_nobody_there(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for address in ("http://127.0.0.1:9", "http://no host", "http://[::1"):
        monkeypatch.setenv("HF_ENDPOINT", address)
        assert desk.refusal(Search(id=1, query=QUERY)).code == "hub-unreachable"


def test_the_token_goes_to_the_hub_and_nowhere_else(hub: LocalHub, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secretsecret")
    with LocalHub() as other:
        fill(other, 2)
        hub.pages.redirect = f"{other.url}/api/models?"
        assert len(desk.search(QUERY).page.rows) == 2
        assert [entry.authorization for entry in hub.log] == [True]
        assert [entry.authorization for entry in other.log] == [False]


def test_a_redirect_without_end_is_nonsense(hub: LocalHub, desk: Desk) -> None:
    hub.pages.redirect = f"{hub.url}/api/models?"
    assert desk.refusal(Search(id=1, query=QUERY)).code == "hub-nonsense"


def test_the_token_is_in_no_answer(hub: LocalHub, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secretsecret")
    for refusal in (Refusal(401, "", "Invalid credentials"), Refusal(500)):
        hub.pages.refusal = refusal
        assert b"hf_secret" not in msgspec.json.encode(desk.refusal(Search(id=1, query=QUERY)))


# ---- what was kept


def test_the_same_search_again_asks_nobody_for_a_while(hub: LocalHub, desk: Desk) -> None:
    names = fill(hub)
    first = desk.search(QUERY)
    desk.now += RECENT_S - 1
    again = desk.search(SearchQuery(text=" m "))
    assert (again.kept, again.page, again.problem) == (True, first.page, None)
    assert len(hub.pages.queries) == 1
    assert not desk.search(QUERY, fresh=True).kept
    desk.now += RECENT_S
    assert desk.search(QUERY).page.rows[0].repo == names[0]
    assert len(hub.pages.queries) == 3


def test_offline_opens_no_socket(hub: LocalHub, desk: Desk) -> None:
    names = fill(hub, 40)
    desk.search(QUERY)
    hub.log.clear()
    desk.now += 30 * 86400
    found = desk.search(QUERY, offline=True)
    assert [one.repo for one in found.page.rows] == names[:PAGE]
    assert (found.kept, found.problem, found.page.cursor) == (True, None, "")
    assert hub.log == []


def test_offline_searches_everything_that_is_known(hub: LocalHub, desk: Desk) -> None:
    hub.pages.rows = [row("maker/apple-GGUF", likes=1), row("maker/pear-GGUF", likes=5), row("maker/apple2-GGUF")]
    desk.search(SearchQuery(author="maker"))
    found = desk.search(SearchQuery(text="apple", sort=Sort.LIKES), offline=True)
    assert {one.repo for one in found.page.rows} == {"maker/apple-GGUF", "maker/apple2-GGUF"}
    assert desk.search(SearchQuery(text="plum"), offline=True).page.rows == ()


def test_without_a_network_kept_rows_are_shown_with_the_reason(
    hub: LocalHub, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = fill(hub, 5)
    desk.search(QUERY)
    desk.now += 86400
    hub.pages.refusal = Refusal(500)
    found = desk.search(QUERY)
    assert [one.repo for one in found.page.rows] == names
    assert found.kept
    assert found.problem is not None
    assert found.problem.code == "hub-server"


def test_offline_by_the_clients_own_switch(hub: LocalHub, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    fill(hub, 5)
    desk.search(QUERY)
    hub.log.clear()
    desk.now += 86400
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    found = desk.search(QUERY)
    assert (len(found.page.rows), found.problem and found.problem.code) == (5, "hub-offline")
    assert desk.refusal(Search(id=1, query=SearchQuery(text="nothing known"))).code == "hub-offline"
    assert hub.log == []

"""Listing repositories: addresses, odd answers, refusals."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import VrambleError
from engine.library.address import parse_repo
from engine.library.hub import list_files
from engine.library.hub_errors import HubError, retry_after
from engine.library.listing import RepoListing, choose, parse_listing
from engine.library.safe_path import safe_relative
from tests.fakes.local_hub import COMMIT, LocalHub, Refusal

REPO = "maker/small-GGUF"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalHub]:
    with LocalHub() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


def refusal(text: str) -> HubError:
    with pytest.raises(HubError) as caught:
        list_files(text)
    return caught.value


# ---- addresses


@pytest.mark.parametrize(
    ("text", "repo", "wanted", "revision"),
    [
        ("a/b", "a/b", None, "main"),
        ("  a/b/ ", "a/b", None, "main"),
        ("hf:a/b/m.gguf", "a/b", "m.gguf", "main"),
        ("a/b:Q4_K_M", "a/b", "Q4_K_M", "main"),
        ("https://hub.example/a/b", "a/b", None, "main"),
        ("https://hub.example/a/b/tree/main", "a/b", None, "main"),
        ("https://hub.example/a/b/blob/main/q4/m%20x.gguf", "a/b", "q4/m x.gguf", "main"),
        ("https://hub.example/a/b/resolve/v1/m.gguf?download=true", "a/b", "m.gguf", "v1"),
        ("http://127.0.0.1:8000/a/b", "a/b", None, "main"),
        ("hub.example/a/b", "a/b", None, "main"),
    ],
)
def test_ways_to_name_a_repository(text: str, repo: str, wanted: str | None, revision: str) -> None:
    ref = parse_repo(text)
    assert (ref.repo, ref.wanted, ref.revision) == (repo, wanted, revision)


@pytest.mark.parametrize(
    "text", ["", "a", "a/", "/b", "a b/c", "../x", "a/..", "https://hub.example/a", "http://[", "a/b/../../c"]
)
def test_what_names_none(text: str) -> None:
    with pytest.raises(VrambleError) as caught:
        parse_repo(text)
    assert caught.value.code in {"repo-name", "unsafe-name"}


@given(st.text(max_size=60))
@settings(max_examples=80, deadline=None)
def test_any_text_is_a_repository_or_a_sentence(text: str) -> None:
    with contextlib.suppress(VrambleError):
        assert parse_repo(text).repo.count("/") == 1


@given(st.text(max_size=40))
@settings(max_examples=120, deadline=None)
def test_any_file_name_stays_in_its_folder(text: str) -> None:
    import os.path

    try:
        safe = safe_relative(text)
    except VrambleError:
        return
    assert os.path.normpath(f"/root/models/{safe}").startswith("/root/models/")
    assert "\0" not in str(safe)


# ---- listings


def test_files_with_sizes_and_checksums(hub: LocalHub) -> None:
    file = hub.add(REPO, "m-Q8_0.gguf", b"8" * 200)
    hub.add(REPO, "m-Q4_K_M.gguf", b"4" * 100)
    hub.add(REPO, "mmproj-m-f16.gguf", b"p" * 50)
    hub.add(REPO, "README.md", b"text")
    listing = list_files(REPO)
    assert (listing.repo, listing.commit, listing.gated) == (REPO, COMMIT, False)
    assert [(f.path, f.quant, f.size, f.companion) for f in listing.files] == [
        ("m-Q4_K_M.gguf", "Q4_K_M", 100, False),
        ("m-Q8_0.gguf", "Q8_0", 200, False),
        ("mmproj-m-f16.gguf", "F16", 50, True),
    ]
    assert listing.files[1].sha256 == hashlib.sha256(file.data).hexdigest()


def test_the_address_of_a_file_points_at_it(hub: LocalHub) -> None:
    hub.add(REPO, "m-Q8_0.gguf", b"8")
    hub.add(REPO, "q4/m.gguf", b"4")
    assert list_files(f"{hub.url}/{REPO}/blob/main/q4/m.gguf").wanted == "q4/m.gguf"
    assert list_files(f"{REPO}:q8_0").wanted == "m-Q8_0.gguf"
    with pytest.raises(VrambleError) as caught:
        list_files(f"{REPO}/none.gguf")
    assert caught.value.code == "hub-no-file"
    assert "m-Q8_0.gguf" in caught.value.next_step


def test_a_renamed_repository_is_followed(hub: LocalHub) -> None:
    hub.add("maker/new-GGUF", "m.gguf", b"4")
    hub.renamed[REPO] = "maker/new-GGUF"
    assert list_files(REPO).repo == "maker/new-GGUF"


def test_a_split_set_is_one_file(hub: LocalHub) -> None:
    for no in (1, 2, 3):
        hub.add(REPO, f"big-Q8_0-{no:05d}-of-00003.gguf", b"x" * 100 * no)
    hub.add(REPO, "half-00001-of-00002.gguf", b"x")
    (file,) = list_files(REPO).files
    assert (file.path, file.quant, file.size, len(file.parts)) == ("big-Q8_0-00001-of-00003.gguf", "Q8_0", 600, 3)


def named(*siblings: Any, **more: Any) -> dict[str, Any]:
    return {"id": REPO, "siblings": list(siblings), **more}


GOOD = {"rfilename": "m.gguf"}
ODD: list[tuple[Any, int]] = [
    (named(GOOD), 1),
    (named({**GOOD, "size": 0}), 1),
    (named({**GOOD, "size": "123"}), 1),
    (named({**GOOD, "size": None, "lfs": None}), 1),
    (named({**GOOD, "lfs": {"size": "x", "sha256": 5}}), 1),
    (named({**GOOD, "size": -5, "lfs": []}), 1),
    (named({**GOOD, "size": True}), 1),
    (named(GOOD, gated="auto", lastModified=None, cardData={"license": ["a"]}), 1),
    (named(*({"rfilename": f"{n}.gguf"} for n in range(5000))), 5000),
    (named("text", None, 5, {"rfilename": None}, {"rfilename": 7}, GOOD), 1),
    (named({"rfilename": "../evil.gguf"}, GOOD), 1),
    (named(), 0),
    ({"id": REPO}, 0),
    ({"siblings": None}, 0),
    ([], 0),
    (None, 0),
    ("text", 0),
]


@pytest.mark.parametrize(("answer", "rows"), ODD)
def test_odd_answers_give_rows_all_the_same(answer: Any, rows: int) -> None:
    listing = parse_listing(REPO, answer)
    assert (len(listing.files), listing.repo) == (rows, REPO)


@pytest.mark.parametrize(
    ("size", "known"), [("123", 123), (0, None), (-1, None), (None, None), (True, None), (7.5, None)]
)
def test_an_unknown_size_is_unknown(size: object, known: int | None) -> None:
    assert parse_listing(REPO, named({**GOOD, "size": size})).files[0].size == known


@pytest.mark.parametrize(
    ("value", "gated"), [(False, False), (None, False), ("auto", True), ("manual", True), (True, True)]
)
def test_gated_is_a_text_or_false(value: object, gated: bool) -> None:
    assert parse_listing(REPO, named(GOOD, gated=value)).gated is gated


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9) | st.just("m.gguf"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["siblings", "rfilename", "size", "lfs", "sha256", "id", "gated"]), inner)
    ),
    max_leaves=12,
)


@given(json_values)
@settings(max_examples=120, deadline=None)
def test_any_json_is_a_listing(answer: object) -> None:
    assert isinstance(parse_listing(REPO, answer), RepoListing)


# ---- choosing


def listing_of(*names: str) -> RepoListing:
    return parse_listing(REPO, named(*({"rfilename": name, "size": 10 + n} for n, name in enumerate(names))))


@pytest.mark.parametrize(
    ("names", "wanted", "chosen", "said"),
    [
        (("only-Q8_0.gguf",), None, "only-Q8_0.gguf", False),
        (("only-Q8_0.gguf", "mmproj-f16.gguf"), None, "only-Q8_0.gguf", False),
        (("m-Q2_K.gguf", "m-Q4_K_M.gguf", "m-Q8_0.gguf"), None, "m-Q4_K_M.gguf", True),
        (("m-Q2_K.gguf", "m-Q8_0.gguf"), None, "m-Q8_0.gguf", True),
        (("m-Q2_K.gguf", "m-Q3_K_S.gguf"), None, "m-Q2_K.gguf", True),
        (("m-Q2_K.gguf", "m-Q8_0.gguf"), "q2_k", "m-Q2_K.gguf", False),
        (("d/m-Q2_K.gguf",), "M-Q2_K.gguf", "d/m-Q2_K.gguf", False),
    ],
)
def test_the_file_to_get(names: tuple[str, ...], wanted: str | None, chosen: str, said: bool) -> None:
    file, why = choose(listing_of(*names), wanted)
    assert (file.path, bool(why)) == (chosen, said)


def test_nothing_to_choose_from() -> None:
    for names, wanted, code in (
        ((), None, "hub-no-gguf"),
        ((), "x", "hub-no-file"),
        (("mmproj.gguf",), None, "hub-no-gguf"),
    ):
        with pytest.raises(VrambleError) as caught:
            choose(listing_of(*names), wanted)
        assert caught.value.code == code


# ---- refusals

ACCESS = [
    (Refusal(401, "GatedRepo"), "hub-gated"),
    (Refusal(403, "GatedRepo"), "hub-not-accepted"),
    (Refusal(401, "RepoNotFound"), "hub-no-repo"),
    (Refusal(404), "hub-no-repo"),
    (Refusal(404, "RevisionNotFound"), "hub-no-revision"),
    (Refusal(401, "", "Invalid credentials in Authorization header"), "hub-bad-token"),
    (Refusal(403, "", "Access to this resource is disabled."), "hub-forbidden"),
    (Refusal(500), "hub-server"),
    (Refusal(429, headers={"Retry-After": "7"}), "hub-rate-limited"),
    (Refusal(418), "hub-refused"),
]


def test_each_refusal_has_its_own_answer(hub: LocalHub) -> None:
    found = []
    for answer, code in ACCESS:
        hub.refusals[REPO] = answer
        found.append(refusal(REPO))
        assert found[-1].code == code
        assert found[-1].next_step
    assert len({error.message for error in found}) == len({code for _, code in ACCESS})


def test_a_gated_repository_links_to_its_page(hub: LocalHub) -> None:
    hub.refusals[REPO] = Refusal(401, "GatedRepo")
    assert f"{hub.url}/{REPO}" in refusal(REPO).next_step


def test_no_answer_and_a_wrong_one(hub: LocalHub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.info[REPO] = {"raw": b"<html>please sign in</html>"}
    assert refusal(REPO).code == "hub-nonsense"
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert refusal(REPO).code == "hub-unreachable"


def test_offline_mode_opens_no_connection(hub: LocalHub, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert refusal(REPO).code == "hub-offline"
    assert hub.log == []


def test_the_token_is_in_no_message(hub: LocalHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secretsecret")
    hub.refusals[REPO] = Refusal(401, "", "Invalid credentials in Authorization header")
    error = refusal(REPO)
    assert hub.log[-1].authorization
    assert "hf_secret" not in f"{error.sentence} {error.detail} {error!r}"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7),
        ({"Retry-After": "999999"}, 3600),
        ({"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0),
        ({"Retry-After": "soon"}, None),
        ({"RateLimit": '"api";r=0;t=55'}, 55),
        ({}, None),
    ],
)
def test_how_long_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds

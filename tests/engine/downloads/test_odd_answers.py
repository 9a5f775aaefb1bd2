"""Answers that no Hub should give: one sentence, at once, and nothing is tried again."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from engine.downloads import whoami
from engine.downloads.main import answer
from engine.downloads.messages import CheckToken, Failed, Waiting
from tests.engine.downloads import conftest
from tests.engine.downloads.conftest import FILE, REPO, content, fetch_request
from tests.engine.downloads.conftest import run_here as run
from tests.fakes.local_hub import LocalHub, Refusal

fail = partial(conftest.fail, run=run)

BAD_PLACES = ("http://127.0.0.1:99999999/x", "http://127.0.0.1:port/x", "http://[::1/x")


@pytest.mark.parametrize("place", BAD_PLACES)
@pytest.mark.parametrize("where", ["refusal", "body_refusal"])
def test_a_redirect_to_what_is_no_address(hub: LocalHub, tmp_path: Path, place: str, where: str) -> None:
    file = hub.add(REPO, FILE, content(1000))
    setattr(file, where, Refusal(302, headers={"Location": place}))
    events = run(fetch_request(tmp_path))
    last = events[-1]
    assert isinstance(last, Failed)
    assert last.code == "hub-no-address", last
    assert not [event for event in events if isinstance(event, Waiting)]


@pytest.mark.parametrize("place", ["ftp://127.0.0.1/x", "file:///etc/passwd", "gopher:x"])
def test_a_redirect_to_another_kind_of_address(hub: LocalHub, tmp_path: Path, place: str) -> None:
    hub.add(REPO, FILE, content(1000), refusal=Refusal(302, headers={"Location": place}))
    assert fail(fetch_request(tmp_path)).code == "hub-nonsense"


@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:99999999", "http://[::1", "http://127.0.0.1:x"])
def test_an_endpoint_that_is_no_address(endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", endpoint)
    failure = fail(fetch_request(tmp_path))
    assert failure.code == "hub-no-address"
    assert "HF_ENDPOINT" in failure.next_step


@pytest.mark.parametrize("size", [-5, 1 << 57, 10**30])
def test_a_size_that_no_file_has(hub: LocalHub, tmp_path: Path, size: int) -> None:
    hub.add(REPO, FILE, content(1000), storage=True, told_size=size)
    events = run(fetch_request(tmp_path))
    assert isinstance(events[-1], Failed)
    assert (events[-1].code, FILE in events[-1].message) == ("hub-odd-size", True)
    assert not [event for event in events if isinstance(event, Waiting)]
    assert len(hub.requests("HEAD")) == 1


def test_an_answer_that_is_no_http(hub: LocalHub, tmp_path: Path) -> None:
    """A length below zero breaks the rules of HTTP as well."""
    hub.add(REPO, FILE, content(1000), told_size=-5)
    events = run(fetch_request(tmp_path))
    assert isinstance(events[-1], Failed)
    assert events[-1].code == "hub-garbled"
    assert not [event for event in events if isinstance(event, Waiting)]


def whose(token: str) -> Failed:
    found = answer(CheckToken(token=token), lambda _event: None)
    assert isinstance(found, Failed)
    return found


def test_an_account_without_end(hub: LocalHub) -> None:
    hub.accounts["hf_x"] = "x" * whoami.MOST
    assert whose("hf_x").code == "hub-nonsense"


def test_an_account_that_is_no_json(hub: LocalHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whoami, "PATH", f"/{REPO}/resolve/main/{FILE}")
    hub.add(REPO, FILE, b"<html>\xff")
    assert whose("hf_x").code == "hub-nonsense"

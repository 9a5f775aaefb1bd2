"""Tokens, mirrors, proxies and offline mode: who is asked, and who is told what."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from engine.downloads.main import answer
from engine.downloads.messages import CheckToken, Event, Failed, FetchHeaders, Listed, ListRepo, TokenChecked
from engine.downloads.token import keep_token
from engine.library.listing import FilePart
from tests.engine.downloads import conftest
from tests.engine.downloads.conftest import FILE, QUICK, REPO, content, fail, fetch_request, finish, run, run_here
from tests.fakes.local_hub import LocalHub
from tests.fakes.local_proxy import LocalProxy

SECRET = "hf_" + "s3cret" * 5
finish_here, fail_here = partial(finish, run=run_here), partial(fail, run=run_here)

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without tokens."""
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_HOME", "HF_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("VRAMBLE_HOME", str(tmp_path / "vramble"))
    return tmp_path


# ---- tokens


def test_a_gated_file_comes_with_the_kept_token_and_no_other_host_hears_of_it(hub: LocalHub, tmp_path: Path) -> None:
    file = hub.add(REPO, FILE, content(), storage=True, needs_token=SECRET)
    refused = fail(fetch_request(tmp_path))
    assert (refused.code, hub.url in refused.next_step) == ("hub-gated", True)
    keep_token(hub.url, SECRET, in_file=True)
    assert finish(fetch_request(tmp_path)).sha256 == file.sha256
    assert [entry.authorization for entry in hub.log if entry.server == "storage"] == [False]
    assert hub.log[-1].server == "storage"


def test_the_terms_are_explained_to_who_has_a_token_that_was_not_let_in(hub: LocalHub, tmp_path: Path) -> None:
    hub.add(REPO, FILE, content(1000), needs_token="another")
    keep_token(hub.url, SECRET, in_file=True)
    refused = fail_here(fetch_request(tmp_path))
    assert (refused.code, f"{hub.url}/{REPO}" in refused.next_step) == ("hub-not-accepted", True)


def test_a_redirect_to_another_port_of_the_same_machine_is_another_host(
    hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", SECRET)
    hub.add(REPO, FILE, content(), storage=True, cut_after=100_000)
    finish_here(fetch_request(tmp_path))
    assert len([entry for entry in hub.log if entry.server == "storage"]) == 3
    assert {(entry.server, entry.authorization) for entry in hub.log if entry.path.endswith(FILE)} == {
        ("hub", True),
        ("storage", False),
    }


def test_headers_and_listings_tell_the_token_to_the_hub_alone(
    hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.fakes.tiny_gguf import small_llama

    monkeypatch.setenv("HF_TOKEN", SECRET)
    hub.add(REPO, FILE, small_llama(), storage=True)
    request = FetchHeaders(folder=bytes(tmp_path), repo=REPO, files=(FilePart(path=FILE),), limits=QUICK)
    assert not isinstance(answer(request, lambda _event: None), Failed)
    assert isinstance(answer(ListRepo(text=REPO), lambda _event: None), Listed)
    assert {entry.authorization for entry in hub.log if entry.server == "storage"} == {False}


def test_the_token_of_the_hub_is_not_told_to_a_mirror(hub: LocalHub, tmp_path: Path, home: Path) -> None:
    (home / "hf").mkdir()
    (home / "hf" / "token").write_text(SECRET)
    keep_token("https://huggingface.co", SECRET, in_file=True)
    hub.add(REPO, FILE, content(1000))
    finish(fetch_request(tmp_path))
    assert {entry.authorization for entry in hub.log} == {False}


def test_the_token_is_in_no_event_and_no_log(
    hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("HF_TOKEN", SECRET)
    caplog.set_level(logging.DEBUG)
    hub.add(REPO, FILE, content(), storage=True, cut_after=100_000)
    events = run_here(fetch_request(tmp_path))
    hub.add(REPO, FILE, content(), needs_token="another")
    (tmp_path / REPO / FILE).unlink()
    events += run_here(fetch_request(tmp_path))
    assert isinstance(events[-1], Failed)
    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert SECRET not in repr(events) + caplog.text
    assert not any(SECRET.encode() in data for data in files)


def check(token: str) -> Event:
    return answer(CheckToken(token=token), lambda _event: None)


def test_whose_token_it_is(hub: LocalHub) -> None:
    hub.accounts[SECRET] = "somebody"
    assert check(f" {SECRET}\n") == TokenChecked(name="somebody")
    wrong = check("hf_wrong")
    assert isinstance(wrong, Failed)
    assert (wrong.code, "hf_wrong" in repr(wrong)) == ("hub-bad-token", False)


def test_a_token_cannot_be_asked_for_without_a_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    failure = check("hf_x")
    assert isinstance(failure, Failed)
    assert failure.code == "hub-unreachable"
    for text in ("bad\ntoken", "tökén"):
        failure = check(text)
        assert isinstance(failure, Failed)


# ---- mirrors and proxies


def test_a_mirror_with_a_path(hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", f"{hub.url}/")
    file = hub.add(REPO, FILE, content(1000))
    assert finish(fetch_request(tmp_path)).sha256 == file.sha256


@pytest.mark.parametrize("connections", [1, 2])
def test_through_a_proxy(hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, connections: int) -> None:
    """Only the proxy can find the Hub."""
    file = hub.add(REPO, FILE, content())
    with LocalProxy({"hub.invalid": hub.url}) as proxy:
        monkeypatch.setenv("HF_ENDPOINT", "http://hub.invalid")
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        assert finish(fetch_request(tmp_path, connections=connections)).sha256 == file.sha256
        assert set(proxy.asked) == {"HEAD hub.invalid", "GET hub.invalid"}


def test_a_proxy_that_is_not_there_is_a_sentence(
    hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://hub.invalid")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert fail(fetch_request(tmp_path)).code == "hub-unreachable"


# ---- offline

SOCKETS = {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.bind"}


class Guard:
    """Remembers what was done with sockets while it is armed. An audit hook cannot be taken away again."""

    def __init__(self) -> None:
        self.armed = False
        self.seen: list[str] = []
        sys.addaudithook(self._hook)

    def _hook(self, event: str, _args: object) -> None:
        if self.armed and event in SOCKETS:
            self.seen.append(event)


GUARD: list[Guard] = []


@pytest.fixture
def guard(hub: LocalHub) -> Iterator[Guard]:
    """After the Hub is there, which has sockets of its own."""
    if not GUARD:
        GUARD.append(Guard())
    one = GUARD[0]
    one.seen.clear()
    one.armed = True
    yield one
    one.armed = False


def test_offline_mode_opens_no_socket(
    guard: Guard, hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    requests = (
        fetch_request(tmp_path),
        ListRepo(text=REPO),
        FetchHeaders(folder=bytes(tmp_path), repo=REPO, files=(FilePart(path=FILE),), limits=conftest.QUICK),
        CheckToken(token=SECRET),
    )
    for request in requests:
        failure = answer(request, lambda _event: None)
        assert isinstance(failure, Failed)
        assert failure.code == "hub-offline"
    assert guard.seen == []
    assert hub.log == []


def test_the_guard_sees_a_request(guard: Guard, hub: LocalHub, tmp_path: Path) -> None:
    hub.add(REPO, FILE, content(1000))
    finish_here(fetch_request(tmp_path))
    assert "socket.connect" in guard.seen


def test_the_child_is_offline_by_its_environment(
    hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    hub.add(REPO, FILE, content(1000))
    assert [event.code for event in run(fetch_request(tmp_path)) if isinstance(event, Failed)] == ["hub-offline"]
    assert hub.log == []

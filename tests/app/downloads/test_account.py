"""Signing in at the Hub: the token goes to the Hub and into the keyring, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import keyring
import pytest
import shiboken6
from keyring.backends import fail
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from app.downloads.account import HubAccount, TokenSource
from app.downloads.network import Network
from app.jobs import ThreadExecutor
from engine.downloads.token import hub_token
from tests.engine.downloads.test_token import Ring
from tests.fakes.local_hub import LocalHub

TOKEN = "hf_" + "x" * 30
Until = Callable[[Callable[[], bool]], None]


@pytest.fixture
def until(qtbot) -> Until:
    return lambda condition: qtbot.waitUntil(condition, timeout=60_000)


@pytest.fixture
def account(qapp: QApplication, hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubAccount]:
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("VRAMBLE_HOME", str(tmp_path / "vramble"))
    hub.accounts[TOKEN] = "somebody"
    owner = QObject()
    one = HubAccount(ThreadExecutor("account"), Network(), owner)
    yield one
    one.shutdown()
    shiboken6.delete(owner)


@pytest.fixture
def ring() -> Iterator[Ring]:
    before = keyring.get_keyring()
    own = Ring()
    keyring.set_keyring(own)
    yield own
    keyring.set_keyring(before)


def test_signed_in_and_out(account: HubAccount, ring: Ring, hub: LocalHub, until: Until) -> None:
    account.look()
    until(lambda: not account.busy)
    assert (account.source, account.name) == (TokenSource.NONE, "")
    account.sign_in(f" {TOKEN} ")
    assert account.busy
    until(lambda: not account.busy)
    assert (account.source, account.name, account.problem) == (TokenSource.KEYRING, "somebody", None)
    assert hub_token(hub.url) == TOKEN
    account.sign_out()
    until(lambda: not account.busy)
    assert (account.source, account.name, ring.kept) == (TokenSource.NONE, "", {})
    assert account.tokens_page == f"{hub.url}/settings/tokens"


def test_a_token_that_the_hub_does_not_know_is_not_kept(account: HubAccount, ring: Ring, until: Until) -> None:
    account.sign_in("hf_wrong")
    until(lambda: not account.busy)
    assert account.problem is not None
    assert (account.problem.code, account.source, ring.kept) == ("hub-bad-token", TokenSource.NONE, {})
    assert "hf_wrong" not in repr(vars(account.problem))


def test_without_a_keyring_a_file_is_the_way_out(
    account: HubAccount, hub: LocalHub, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyring, "get_keyring", fail.Keyring)
    account.sign_in(TOKEN)
    until(lambda: not account.busy)
    problem = account.problem
    assert problem is not None
    assert problem.code == "no-keyring"
    account.sign_in(TOKEN, in_file=True)
    until(lambda: not account.busy)
    assert (account.source, hub_token(hub.url)) == (TokenSource.FILE, TOKEN)


def test_a_mirror_that_is_set_meanwhile_does_not_get_the_token(
    account: HubAccount, ring: Ring, hub: LocalHub, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    account.sign_in(TOKEN)
    monkeypatch.setenv("HF_ENDPOINT", "http://mirror.example")
    until(lambda: not account.busy)
    assert (hub_token(hub.url), hub_token("http://mirror.example")) == (TOKEN, None)
    assert (account.source, account.name) == (TokenSource.NONE, "")


def test_who_changes_his_mind_is_told_nothing(account: HubAccount, ring: Ring, until: Until) -> None:
    account.sign_in(TOKEN)
    account.cancel()
    assert not account.busy
    until(lambda: not account._children)
    assert (account.source, ring.kept) == (TokenSource.NONE, {})

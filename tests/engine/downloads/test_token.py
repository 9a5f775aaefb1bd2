"""Where the token is looked for, kept and forgotten, with a keyring that the test makes."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail, null
from keyring.errors import KeyringLocked, PasswordDeleteError

from engine.downloads import token as tokens
from engine.downloads.token import TokenSource, account_of, forget_token, hub_token, keep_token, token_source
from engine.errors import VrambleError

HUB = "https://huggingface.co"
MIRROR = "https://mirror.example"


class Ring(KeyringBackend):
    """A keyring in memory."""

    priority = 5.0

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}
        self.asked = 0
        self.locked = False

    def get_password(self, service: str, username: str) -> str | None:
        self.asked += 1
        if self.locked:
            raise KeyringLocked("no")
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        if self.locked:
            raise KeyringLocked("no")
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if self.locked:
            raise KeyringLocked("no")
        if self.kept.pop((service, username), None) is None:
            raise PasswordDeleteError("not there")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("VRAMBLE_HOME", str(tmp_path / "vramble"))
    return tmp_path


@pytest.fixture
def ring() -> Iterator[Ring]:
    before = keyring.get_keyring()
    own = Ring()
    keyring.set_keyring(own)
    yield own
    keyring.set_keyring(before)


def test_a_token_is_kept_in_the_keyring_for_its_address(ring: Ring, home: Path) -> None:
    assert token_source(HUB) is TokenSource.NONE
    keep_token(HUB, " hf_abc\n", "somebody")
    assert ring.kept == {("vramble", HUB): "hf_abc"}
    assert (hub_token(HUB), hub_token(f"{HUB}/"), hub_token(MIRROR)) == ("hf_abc", "hf_abc", None)
    assert (token_source(HUB), account_of(HUB), account_of(MIRROR)) == (TokenSource.KEYRING, "somebody", "")
    files = [path.read_text() for path in (home / "vramble").rglob("*") if path.is_file()]
    assert files
    assert not any("hf_abc" in text for text in files)
    forget_token(HUB)
    assert (ring.kept, hub_token(HUB), token_source(HUB)) == ({}, None, TokenSource.NONE)


def test_nobody_asks_a_keyring_that_has_no_token(ring: Ring) -> None:
    assert hub_token(HUB) is None
    forget_token(HUB)
    assert ring.asked == 0


def test_the_environment_goes_first(ring: Ring) -> None:
    keep_token(HUB, "hf_ring")
    assert hub_token(HUB, {"HF_TOKEN": " hf_env "}) == "hf_env"
    assert token_source(HUB, {"HF_TOKEN": "hf_env"}) is TokenSource.ENVIRONMENT
    assert hub_token(HUB, {"HF_TOKEN": " "}) == "hf_ring"


def test_the_file_of_the_hubs_client_is_read_and_never_changed(ring: Ring, home: Path) -> None:
    path = home / "hf" / "token"
    path.parent.mkdir()
    path.write_text("hf_client\n")
    assert (hub_token(HUB), hub_token(MIRROR)) == ("hf_client", None)
    assert token_source(HUB) is TokenSource.HUB_CLIENT
    keep_token(HUB, "hf_ring")
    assert hub_token(HUB) == "hf_ring"
    forget_token(HUB)
    assert path.read_text() == "hf_client\n"
    path.write_bytes(b"\xff\xfe")
    assert hub_token(HUB) is None


@pytest.mark.parametrize("backend", [fail.Keyring(), null.Keyring()])
def test_no_keyring_is_one_sentence_with_a_way_out(
    backend: KeyringBackend, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyring, "get_keyring", lambda: backend)
    with pytest.raises(VrambleError) as caught:
        keep_token(HUB, "hf_abc")
    assert (caught.value.code, caught.value.message.count(".")) == ("no-keyring", 1)
    assert "file" in caught.value.next_step
    assert token_source(HUB) is TokenSource.NONE
    keep_token(HUB, "hf_abc", in_file=True)
    assert (hub_token(HUB), token_source(HUB)) == ("hf_abc", TokenSource.FILE)
    assert stat.S_IMODE(tokens.accounts_file().stat().st_mode) == 0o600
    forget_token(HUB)
    assert hub_token(HUB) is None
    assert "hf_abc" not in tokens.accounts_file().read_text()


def test_a_keyring_that_stays_locked(ring: Ring) -> None:
    keep_token(HUB, "hf_abc")
    ring.locked = True
    assert hub_token(HUB) is None
    for action in (lambda: keep_token(HUB, "hf_new"), lambda: forget_token(HUB)):
        with pytest.raises(VrambleError) as caught:
            action()
        assert "hf_" not in repr(caught.value.args) + caught.value.detail
    ring.locked = False
    assert hub_token(HUB) == "hf_abc"


def test_a_keyring_that_cannot_be_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> KeyringBackend:
        raise RuntimeError("no bus")

    monkeypatch.setattr(keyring, "get_keyring", broken)
    with pytest.raises(VrambleError, match="No keyring answers"):
        keep_token(HUB, "hf_abc")


@pytest.mark.parametrize("text", ["", "  ", "two words", "tökén", "a\x00b", "x" * 2000])
def test_what_is_no_token_is_not_kept(ring: Ring, text: str) -> None:
    with pytest.raises(VrambleError, match="no access token"):
        keep_token(HUB, text)
    assert ring.kept == {}


def test_a_file_that_makes_no_sense_is_no_account(home: Path) -> None:
    path = tokens.accounts_file()
    path.parent.mkdir(parents=True)
    for data in (b"", b"[]", b'{"https://huggingface.co": 5}', b"\xff"):
        path.write_bytes(data)
        assert hub_token(HUB) is None


def test_a_folder_that_cannot_be_written(ring: Ring, home: Path) -> None:
    (home / "vramble").write_text("a file in the way")
    with pytest.raises(VrambleError, match="could not be kept"):
        keep_token(HUB, "hf_abc")

"""The access token for the Hub: found, kept and forgotten. It is never logged, and no error holds it.

Order: ``HF_TOKEN`` of the environment, the one that the user gave Vramble (in the desktop's keyring, or by wish in a
file that only the user can read), the one that the Hub's own client keeps (only read). A kept token belongs to the
address that it was given for: a mirror never gets the Hub's.

A small file without any secret says for which addresses a token is kept, so that the keyring is only asked when it has
one: asking may start a service or show a window.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import msgspec

from engine.errors import VrambleError
from engine.paths import find_paths

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

SERVICE: Final = "vramble"
"""Name in the keyring; the user's name there is the address of the Hub."""

PUBLIC: Final = "https://huggingface.co"


class TokenSource(StrEnum):
    """Where the token comes from."""

    NONE = "none"
    ENVIRONMENT = "environment"
    KEYRING = "keyring"
    FILE = "file"
    HUB_CLIENT = "hub-client"


class Kept(msgspec.Struct, frozen=True):
    """What is kept for one address. ``token`` only where no keyring is; ``name`` of the account, as the Hub told."""

    name: str = ""
    token: str | None = None


def accounts_file() -> Path:
    """Says for which addresses a token is kept."""
    return find_paths().config / "hub.json"


def account_of(endpoint: str) -> str:
    """Name of the account that a kept token belongs to, or empty."""
    kept = _all_kept().get(_address(endpoint))
    return kept.name if kept is not None else ""


def token_source(endpoint: str, environ: Mapping[str, str] = os.environ) -> TokenSource:
    """Where `hub_token` takes the token from; asks no keyring."""
    if _of_environment(environ):
        return TokenSource.ENVIRONMENT
    kept = _all_kept().get(_address(endpoint))
    if kept is not None:
        return TokenSource.KEYRING if kept.token is None else TokenSource.FILE
    return TokenSource.HUB_CLIENT if _of_hub_client(endpoint, environ) else TokenSource.NONE


def hub_token(endpoint: str, environ: Mapping[str, str] = os.environ) -> str | None:
    """The token for the Hub at ``endpoint``, or None. May wait for a keyring: never on the GUI thread."""
    token = _of_environment(environ)
    if token:
        return token
    kept = _all_kept().get(_address(endpoint))
    if kept is not None:
        return kept.token or _of_keyring(endpoint)
    return _of_hub_client(endpoint, environ)


def keep_token(endpoint: str, token: str, name: str = "", *, in_file: bool = False) -> None:
    """Keep ``token`` for the Hub at ``endpoint``. ``in_file``: in a file with mode 0600 in place of the keyring.

    Raises:
        VrambleError: ``bad-token``; ``no-keyring``, with the way out; ``token-not-kept``.
    """
    token = token.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token or len(token) > 1000:
        raise VrambleError("bad-token", "This is no access token.", "Copy it from the Hub's page of access tokens.")
    if not in_file:
        _put_into_keyring(endpoint, token)
    kept = {**_all_kept(), _address(endpoint): Kept(name=name, token=token if in_file else None)}
    _save(kept)


def forget_token(endpoint: str) -> None:
    """Keep the token for ``endpoint`` no more. Those of the environment and of the Hub's client stay.

    Raises:
        VrambleError: ``token-not-kept``: the keyring or the file could not be changed.
    """
    kept = dict(_all_kept())
    gone = kept.pop(_address(endpoint), None)
    if gone is None:
        return
    if gone.token is None:
        _take_out_of_keyring(endpoint)
    _save(kept)


def _of_environment(environ: Mapping[str, str]) -> str | None:
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        token = environ.get(name, "").strip()
        if token:
            return token
    return None


def _of_hub_client(endpoint: str, environ: Mapping[str, str]) -> str | None:
    """Its file does not say for which address the token was given, so only the public Hub gets it."""
    if _address(endpoint) != PUBLIC:
        return None
    home = environ.get("HF_HOME") or Path(environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    path = Path(environ.get("HF_TOKEN_PATH") or Path(home) / "token")
    try:
        return path.expanduser().read_text(encoding="utf-8").strip() or None
    except (OSError, UnicodeDecodeError, RuntimeError):
        return None


def _address(endpoint: str) -> str:
    parts = urlsplit(endpoint)
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _all_kept() -> dict[str, Kept]:
    try:
        return msgspec.json.decode(accounts_file().read_bytes(), type=dict[str, Kept])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}


def _save(kept: Mapping[str, Kept]) -> None:
    path = accounts_file()
    new = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.unlink(missing_ok=True)
        fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(msgspec.json.encode(kept))
        new.replace(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise VrambleError("token-not-kept", f"The token could not be kept: {reason}.", "Check the folder.") from error


# ---- keyring


def _keyring() -> KeyringBackend | None:
    """The desktop's keyring; None where none answers."""
    import keyring
    from keyring.backends import fail

    try:
        backend = keyring.get_keyring()
    except Exception:  # backends raise what they like
        return None
    return None if isinstance(backend, fail.Keyring) or backend.priority <= 0 else backend


def _of_keyring(endpoint: str) -> str | None:
    backend = _keyring()
    if backend is None:
        return None
    try:
        return backend.get_password(SERVICE, _address(endpoint))
    except Exception:  # locked, refused, or gone: then nobody is signed in
        return None


def _put_into_keyring(endpoint: str, token: str) -> None:
    backend = _keyring()
    try:
        if backend is None:
            raise no_keyring()
        backend.set_password(SERVICE, _address(endpoint), token)
        found = backend.get_password(SERVICE, _address(endpoint))
    except VrambleError:
        raise
    except Exception as error:  # backends raise what they like
        raise no_keyring(type(error).__name__) from None
    if found != token:
        raise no_keyring("it gives back something else")


def _take_out_of_keyring(endpoint: str) -> None:
    from keyring.errors import PasswordDeleteError

    backend = _keyring()
    try:
        if backend is not None:
            backend.delete_password(SERVICE, _address(endpoint))
    except PasswordDeleteError:
        return  # it is not there
    except Exception as error:  # backends raise what they like
        message = "The keyring did not give the token out, so it is still there."
        raise VrambleError("token-not-kept", message, "Unlock the keyring.", type(error).__name__) from None


def no_keyring(detail: str = "") -> VrambleError:
    """No keyring answers."""
    return VrambleError(
        "no-keyring",
        "No keyring answers on this desktop, so the token cannot be kept there.",
        "Keep it in a file that only you can read, or set HF_TOKEN.",
        detail,
    )

"""Settings as commands read them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.settings.saved import saved


class NetSettings(msgspec.Struct, frozen=True):
    offline: bool = False
    limit: int | None = 5


def test_what_is_no_regular_file_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.symlink_to("/dev/zero")
    assert saved(path, NetSettings) == NetSettings()


@pytest.mark.parametrize(
    ("text", "record"),
    [
        (b'{"version": 1, "net": {"offline": true, "limit": null}}', NetSettings(offline=True, limit=None)),
        (b'{"version": 99, "net": {"offline": true, "new": 1}}', NetSettings(offline=True)),
        (b'{"net": {"offline": "yes", "limit": 7}}', NetSettings(limit=7)),
        (b'{"net": []}', NetSettings()),
        (b"{}", NetSettings()),
        (b"[1]", NetSettings()),
        (b'{"net": {"offline": true', NetSettings()),
        (b"\xff\0", NetSettings()),
        (b"[" * 100_000, NetSettings()),
        (b"", NetSettings()),
    ],
)
def test_what_fits_is_taken(tmp_path: Path, text: bytes, record: NetSettings) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(text)
    assert saved(path, NetSettings) == record
    assert path.read_bytes() == text
    assert list(tmp_path.iterdir()) == [path]


def test_no_file(tmp_path: Path) -> None:
    assert saved(tmp_path / "settings.json", NetSettings) == NetSettings()
    assert saved(tmp_path, NetSettings) == NetSettings()

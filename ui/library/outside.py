"""What lies outside of the program: the pages of the Hub, folders in the file manager."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from app.downloads.settings import DownloadSettings

HUB = "https://huggingface.co"


def site_of(settings: DownloadSettings, environ: Mapping[str, str] = os.environ) -> str:
    """Where pages are: the mirror of the settings, else of the environment, else the Hub; no slash at the end."""
    return (settings.endpoint.strip() or environ.get("HF_ENDPOINT", "").strip() or HUB).rstrip("/")


def open_folder(folder: Path) -> None:
    """Show ``folder`` in the desktop's file manager."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))


def open_address(address: str) -> None:
    """Show ``address`` in the browser; what is no page of the web is not opened."""
    if address.startswith(("https://", "http://", "mailto:")):
        QDesktopServices.openUrl(QUrl(address))


@dataclass(frozen=True)
class Outside:
    """How things outside are shown; tests have their own.

    Attributes:
        folder: Show a folder.
        visit: Show the page at an address.
        site: Address of the Hub.
    """

    folder: Callable[[Path], None] = open_folder
    visit: Callable[[str], None] = open_address
    site: Callable[[], str] = lambda: HUB

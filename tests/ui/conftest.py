"""What every test of the window's parts uses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from ui.theme import Theme, ThemeMode


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    """The light theme, applied to the application and taken off again."""
    before = (qapp.styleSheet(), qapp.palette(), qapp.font())
    theme = Theme(ThemeMode.LIGHT)
    theme.apply(qapp)
    yield theme
    qapp.setStyleSheet(before[0])
    qapp.setPalette(before[1])
    qapp.setFont(before[2])


@pytest.fixture(autouse=True)
def _titles_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Conversations keep the titles of their first messages: tests find them by these."""
    monkeypatch.setattr("app.chat.titling.ATTEMPTS", 0)

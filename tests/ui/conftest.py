"""What every test of the window's parts uses."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFont, QPalette
from PySide6.QtWidgets import QApplication

from ui.theme import Theme, ThemeMode
from ui.theming.icons import IconFont, font_folder


class Wardrobe:
    """Dresses the application; what it wears already is not put on again, which takes longer than most tests."""

    def __init__(self, app: QApplication) -> None:
        self._app = app
        self._plain = (app.styleSheet(), QPalette(app.palette()), QFont(app.font()))
        self._light: tuple[str, QPalette, QFont] | None = None
        self._font = IconFont(font_folder())

    def light(self) -> Theme:
        """The light theme, put on."""
        theme = Theme(ThemeMode.LIGHT, font=self._font)
        if self._worn() == self._light:
            theme.adopt(self._app)
        else:
            theme.apply(self._app)
        self._light = self._worn()
        return theme

    def plain(self) -> None:
        """As Qt comes."""
        if self._worn() != self._plain:
            sheet, palette, font = self._plain
            self._app.setStyleSheet(sheet)
            self._app.setPalette(palette)
            self._app.setFont(font)

    def _worn(self) -> tuple[str, QPalette, QFont]:
        return self._app.styleSheet(), QPalette(self._app.palette()), QFont(self._app.font())


@pytest.fixture(scope="session")
def wardrobe(qapp: QApplication) -> Wardrobe:
    return Wardrobe(qapp)


@pytest.fixture
def theme(wardrobe: Wardrobe) -> Theme:
    """The light theme, applied to the application."""
    return wardrobe.light()


@pytest.fixture(autouse=True)
def _plain_without_theme(request: pytest.FixtureRequest) -> None:
    """Who asks for no theme finds Qt as it comes."""
    if "theme" not in request.fixturenames and "qapp" in request.fixturenames:
        request.getfixturevalue("wardrobe").plain()


@pytest.fixture(autouse=True)
def _titles_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Conversations keep the titles of their first messages: tests find them by these."""
    monkeypatch.setattr("app.chat.titling.ATTEMPTS", 0)

"""Readable in both schemes, live when the system or the user changes its mind."""

from __future__ import annotations

import itertools
import re
from dataclasses import asdict, fields
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from ui.chat.transcript.paint import LEFT_OUT
from ui.theme import DARK, LIGHT, Theme, ThemeMode, Tokens, contrast, palette, set_role, stylesheet
from ui.theming import icons

SCHEMES = [pytest.param(LIGHT, id="light"), pytest.param(DARK, id="dark")]
SURFACES = ("background", "panel", "surface", "raised")
CODE = ("code_keyword", "code_string", "code_number", "code_comment", "code_function", "code_type")
READABLE = [
    *itertools.product(("text", "muted", "accent", "good", "warn", "bad", "link", *CODE), SURFACES),
    *itertools.product(("text",), ("hover", "pressed", "selection")),
    ("muted", "hover"),
    ("muted", "selection"),
    ("on_accent", "accent"),
    ("on_accent", "accent_hover"),
    ("on_bad", "bad"),
    ("on_bad", "bad_hover"),
]
VISIBLE = [
    *itertools.product(("outline", "focus", "vram", "gtt", "ram"), SURFACES),
    ("disabled", "background"),
    ("disabled", "surface"),
]


@pytest.mark.parametrize("tokens", SCHEMES)
@pytest.mark.parametrize(("front", "back"), READABLE)
def test_text_has_at_least_4_5_to_1(tokens: Tokens, front: str, back: str) -> None:
    assert contrast(getattr(tokens, front), getattr(tokens, back)) >= 4.5


@pytest.mark.parametrize("tokens", SCHEMES)
@pytest.mark.parametrize(("front", "back"), VISIBLE)
def test_marks_have_at_least_3_to_1(tokens: Tokens, front: str, back: str) -> None:
    assert contrast(getattr(tokens, front), getattr(tokens, back)) >= 3.0


def blended(front: str, back: str, opacity: float) -> str:
    """What is seen of ``front`` over ``back``."""
    pairs = zip(bytes.fromhex(front[1:]), bytes.fromhex(back[1:]), strict=True)
    return "#" + bytes(round(a * opacity + b * (1 - opacity)) for a, b in pairs).hex()


@pytest.mark.parametrize("tokens", SCHEMES)
@pytest.mark.parametrize("back", ["background", "raised"])
def test_messages_that_the_model_does_not_read_are_grey_and_readable(tokens: Tokens, back: str) -> None:
    ground = getattr(tokens, back)
    grey = contrast(blended(tokens.text, ground, LEFT_OUT), ground)
    assert 4.5 <= grey < 0.6 * contrast(tokens.text, ground)


def test_contrast_is_the_wcag_ratio() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21.0)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("tokens", SCHEMES)
@pytest.mark.parametrize("scale", [0.8, 1.0, 2.0])
def test_stylesheet_is_complete_and_uses_tokens_only(tokens: Tokens, scale: float) -> None:
    text = stylesheet(tokens, scale)
    assert "$" not in text
    known = {value for value in asdict(tokens).values() if isinstance(value, str)}
    assert set(re.findall(r"#[0-9A-Fa-f]{6}", text)) <= known
    pictures = re.findall(r'url\("([^"]+)"\)', text)
    assert pictures
    assert [p for p in pictures if not Path(p).is_file()] == []


def test_tokens_are_colours() -> None:
    for tokens in (LIGHT, DARK):
        values = [getattr(tokens, f.name) for f in fields(tokens) if f.name != "dark"]
        assert [v for v in values if not re.fullmatch("#[0-9A-F]{6}", v)] == []


def test_palette_follows_tokens() -> None:
    colours = palette(DARK)
    assert colours.color(QPalette.ColorRole.Base).name().upper() == DARK.surface
    assert colours.color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.Text).name().upper() == DARK.disabled


def test_follows_the_system_unless_set(qtbot: QtBot, qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    theme = Theme()
    assert theme.tokens is LIGHT
    monkeypatch.setattr("ui.theme.system_is_dark", lambda: True)
    with qtbot.waitSignal(theme.changed):
        qapp.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert theme.tokens is DARK
    theme.set_mode(ThemeMode.LIGHT)
    qapp.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert theme.tokens is LIGHT


def test_a_choice_dresses_the_program_at_once(qtbot: QtBot, qapp: QApplication) -> None:
    before = (qapp.styleSheet(), qapp.palette(), qapp.font())
    theme = Theme(ThemeMode.LIGHT)
    theme.apply(qapp)
    try:
        with qtbot.waitSignal(theme.changed):
            theme.set_mode(ThemeMode.DARK)
        assert DARK.background in qapp.styleSheet()
        small = qapp.font().pointSizeF()
        theme.set_scale(5)
        assert theme.scale == 2.0
        assert qapp.font().pointSizeF() > small
    finally:
        qapp.setStyleSheet(before[0])
        qapp.setPalette(before[1])
        qapp.setFont(before[2])


def test_unchanged_choices_do_not_signal(qtbot: QtBot) -> None:
    theme = Theme(ThemeMode.LIGHT)
    heard: list[int] = []
    theme.changed.connect(lambda: heard.append(1))
    theme.set_mode(ThemeMode.LIGHT)
    theme.set_scale(1.0)
    assert heard == []


def test_icons_are_tinted_and_fall_back(qtbot: QtBot) -> None:
    theme = Theme(ThemeMode.LIGHT)
    picture = theme.icon("plus", "accent").pixmap(18, 18).toImage()
    middle = picture.pixelColor(picture.width() // 2, picture.height() // 2)
    assert middle.alpha() > 0
    assert abs(middle.red() - int(LIGHT.accent[1:3], 16)) <= 8
    ring = icons.IconFont(None).path("plus")
    assert not ring.isEmpty()
    assert icons.IconFont(icons.font_folder()).path("no-such-icon") == ring


def test_a_broken_icon_font_gives_the_fallback(tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "phosphor-9.ttf").write_bytes(b"no font")
    (tmp_path / "phosphor-charmap-9.json").write_text("{")
    assert "plus" not in icons.IconFont(tmp_path)
    (tmp_path / "phosphor-charmap-9.json").write_text('{"plus": "e000"}')
    assert not icons.IconFont(tmp_path).path("plus").isEmpty()


def test_roles_change_after_show(qtbot: QtBot) -> None:
    button = QPushButton("Go")
    qtbot.addWidget(button)
    button.show()
    set_role(button, "primary")
    assert button.property("role") == "primary"

"""The window: pages, search, keyboard, sizes, names."""

from __future__ import annotations

import itertools

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QLineEdit, QPushButton, QScrollArea, QWidget

from app.settings.records import BackendSettings, EngineSettings
from tests.ui.settings.conftest import FIRST, GONE, SECOND, Settings
from ui.settings.section import Section
from ui.theme import ThemeMode

PAGES = ("general", "conversations", "engine", "devices", "backends", "doctor", "about")


def search(settings: Settings, text: str) -> None:
    field = settings.find("settingsSearch", QLineEdit)
    field.setFocus()
    field.clear()
    settings.qtbot.keyClicks(field, text)


def titles(settings: Settings) -> list[str]:
    """Pages that are offered."""
    return [name for name in PAGES if settings.window._buttons[name].isVisible()]


def test_pages_are_chosen_by_mouse_and_keys(settings: Settings) -> None:
    assert settings.window.page == "general"
    settings.click("settingsPage-devices")
    assert settings.window.page == "devices"
    settings.qtbot.keyClick(settings.window, Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier)
    assert settings.window.page == "engine"
    settings.window.focus()
    focused = QApplication.focusWidget()
    assert focused is settings.window._buttons["engine"]
    settings.qtbot.keyClick(focused, Qt.Key.Key_Down)
    assert settings.window.page == "devices"


def test_escape_ends_a_search_and_then_closes(settings: Settings) -> None:
    settings.qtbot.keyClick(settings.window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    field = settings.find("settingsSearch", QLineEdit)
    assert field.hasFocus()
    settings.qtbot.keyClicks(field, "flash")
    assert titles(settings) == ["engine"]
    settings.qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert field.text() == ""
    assert titles(settings) == list(PAGES)
    assert settings.window.isVisible()
    settings.qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert not settings.window.isVisible()


def test_a_search_finds_what_is_folded_and_forgets_it_again(settings: Settings) -> None:
    search(settings, "micro batch")
    assert settings.window.page == "engine"
    assert settings.shown("engine-n_ubatch")
    assert not settings.shown("engine-n_ctx")
    search(settings, "")
    assert not settings.shown("engine-n_ubatch")
    assert settings.shown("engine-n_ctx")


def test_a_search_without_a_hit_says_so(settings: Settings) -> None:
    search(settings, "zzz")
    assert titles(settings) == []
    assert settings.window._nothing.isVisible()
    texts = [label.text() for label in settings.window._nothing.findChildren(QLabel)]
    assert "Temperature, system prompt and other parameters belong to the conversation: Ctrl+I." in texts
    search(settings, "")
    assert settings.window.page == "general"
    assert not settings.window._nothing.isVisible()


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("dark", "general"),
        ("idle", "engine"),
        (FIRST, "devices"),
        ("mangohud", "backends"),
        ("HIP_VISIBLE", "backends"),
        ("licences", "about"),
    ],
)
def test_everything_is_found(settings: Settings, words: str, page: str) -> None:
    search(settings, words)
    assert page in titles(settings)


def fill(settings: Settings) -> None:
    """Every page with as much on it as there can be."""
    settings.put(EngineSettings, devices=(SECOND, FIRST, GONE), shares=(1.0, 2.0, 1.0), n_ctx=8192)
    settings.put(BackendSettings, off=("ROCm",), environment={"Vulkan": {"GGML_VK_DISABLE_F16": "1"}})
    for name in PAGES:
        settings.window.show_page(name)
        settings.settle()
    for section in settings.window.findChildren(Section):
        if section.fold is not None:
            section.fold.setChecked(True)
    for button in settings.window.findChildren(QPushButton):
        if button.objectName().startswith("variables-"):
            button.setChecked(True)


def problems(settings: Settings, name: str) -> list[str]:
    """Widgets of a page that are cut, or that stand outside it."""
    page = settings.window.page_of(name)
    found = []
    inside = page.widget()
    assert inside is not None
    if inside.width() > page.viewport().width():
        found.append(f"{name} is {inside.width()} wide in {page.viewport().width()}")
    for widget in inside.findChildren(QWidget):
        if not widget.isVisible() or widget.parent() is None or widget.inherits("QAbstractScrollArea"):
            continue
        parent = widget.parentWidget()
        if parent is not None and widget.isEnabled() and isinstance(widget, QLabel | QPushButton):
            if not parent.rect().adjusted(-1, -1, 1, 1).contains(widget.geometry()):
                found.append(f"{name}: {widget.metaObject().className()} {widget.property('text')!r} stands out")
            needed = widget.heightForWidth(widget.width()) if widget.hasHeightForWidth() else 0
            if needed > widget.height():
                found.append(f"{name}: {widget.property('text')!r} is cut")
    return found


@pytest.mark.parametrize(
    ("scale", "size"),
    [
        (1.0, (980, 680)),
        pytest.param(0.8, (720, 480), marks=pytest.mark.slow),
        pytest.param(1.0, (720, 480), marks=pytest.mark.slow),
        pytest.param(1.5, (980, 680), marks=pytest.mark.slow),
        pytest.param(2.0, (720, 480), marks=pytest.mark.slow),
    ],
)
def test_nothing_is_cut_at_any_text_size(settings: Settings, scale: float, size: tuple[int, int]) -> None:
    fill(settings)
    settings.theme.set_scale(scale)
    settings.window.resize(*size)
    for name in PAGES:
        settings.window.show_page(name)
        for _ in range(20):
            settings.qtbot.wait(5)
        assert problems(settings, name) == []


def test_everything_that_takes_the_focus_has_a_name(settings: Settings) -> None:
    fill(settings)
    nameless = []
    for name in PAGES:
        settings.window.show_page(name)
        for widget in settings.window.page_of(name).findChildren(QWidget):
            if widget.isVisible() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus and not widget.focusProxy():
                inner = isinstance(widget, QLineEdit) and isinstance(widget.parent(), QComboBox)
                inner = inner or widget.objectName() == "qt_spinbox_lineedit"
                if not inner and not (widget.accessibleName() or widget.property("text")):
                    nameless.append(f"{name}: {widget.metaObject().className()} {widget.objectName()}")
    assert not nameless


def test_tab_visits_every_control_and_shows_it(settings: Settings) -> None:
    fill(settings)
    page = settings.window.page_of("engine")
    settings.window.show_page("engine")
    settings.window.focus()
    seen = set()
    for _ in range(60):
        QTest.keyClick(QApplication.focusWidget() or settings.window, Qt.Key.Key_Tab)
        focused = QApplication.focusWidget()
        assert focused is not None
        if page.isAncestorOf(focused):
            seen.add(focused.objectName())
            corner = focused.mapTo(page.viewport(), focused.rect().center())
            assert page.viewport().rect().contains(corner), f"{focused.objectName()} is out of sight"
    wanted = {"engine-n_ctx", "engine-kv", "engine-flash_attention", "engine-mmap", "worker-self_test"}
    assert wanted <= seen


def test_colours_change_live(settings: Settings) -> None:
    fill(settings)
    before = settings.window.grab().toImage().pixelColor(5, 300)
    settings.theme.set_mode(ThemeMode.DARK)
    after = settings.window.grab().toImage().pixelColor(5, 300)
    assert before.lightness() > 200
    assert after.lightness() < 60


def test_pages_scroll_up_and_down_only(settings: Settings) -> None:
    fill(settings)
    for page, other in itertools.pairwise(settings.window.findChildren(QScrollArea)):
        assert page.horizontalScrollBar().maximum() == other.horizontalScrollBar().maximum() == 0

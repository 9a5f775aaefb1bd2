"""Nothing is cut, nothing overlaps, every target is large enough, at every text size."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLabel, QScrollArea, QSlider, QSpinBox, QWidget
from pytestqt.qtbot import QtBot

from engine.memory.fit.records import Suggestion
from engine.protocol.types import KvType, LoadOptions, LoraAdapter, RopeScaling
from tests.ui.load.conftest import OpenDialog, Source, model_facts
from tests.ui.load.test_dialog import SECOND
from tests.ui.shell.standins import PROCESSOR, RADEON
from ui.load.suggestions import Suggestions
from ui.theme import TARGET_SIZE, Theme, ThemeMode
from ui.widgets.elided_label import ElidedLabel

FULL = LoadOptions(
    n_ctx=65536,
    devices=("0000:03:00.0", "0000:0a:00.0"),
    shares=(1.0, 3.0),
    kv_type_k=KvType.Q8_0,
    rope_scaling=RopeScaling.YARN,
    lora=(LoraAdapter(path="/adapters/a name that is far too long for its place.gguf", scale=-12.345),),
)
SIZES = [(1060, 740, 1.0), (1280, 764, 1.4), (1280, 764, 1.5), (900, 600, 0.85)]
KINDS = QAbstractButton | QLabel | QComboBox | QSpinBox | QSlider


def visible(dialog: QWidget, kind: type[QWidget]) -> list[QWidget]:
    return [w for w in dialog.findChildren(kind) if w.isVisible()]


def text_of(widget: QWidget) -> str:
    return widget.text() if isinstance(widget, QAbstractButton | QLabel) else ""


def cut(dialog: QWidget) -> list[str]:
    found = []
    for widget in [*visible(dialog, QAbstractButton), *visible(dialog, QLabel)]:
        if isinstance(widget, ElidedLabel) or not text_of(widget):
            continue
        wrapped = isinstance(widget, QLabel) and widget.wordWrap()
        wide = 0 if wrapped else widget.sizeHint().width()
        high = widget.heightForWidth(widget.width()) if wrapped else widget.sizeHint().height()
        if widget.width() < wide or widget.height() < high:
            found.append(f"{widget.objectName()} {text_of(widget)!r} {widget.size().toTuple()} {wide, high}")
    return found


def overlaps(parent: QWidget) -> list[str]:
    children = [c for c in parent.children() if isinstance(c, QWidget) and c.isVisible() and not c.isWindow()]
    return [
        f"{one.objectName()} over {other.objectName()} in {parent.objectName()}"
        for at, one in enumerate(children)
        for other in children[at + 1 :]
        if one.geometry().intersects(other.geometry())
    ]


@pytest.mark.parametrize(("width", "height", "scale"), SIZES)
def test_nothing_is_cut_or_overlaps(
    open_dialog: OpenDialog, source: Source, qtbot: QtBot, theme: Theme, width: int, height: int, scale: float
) -> None:
    theme.set_scale(scale)
    source.devices = (RADEON, SECOND, PROCESSOR)
    source.known = model_facts(n_experts=128)
    opened = open_dialog(FULL)
    opened.dialog.footer.recommended.click()
    opened.draft.take(FULL)
    opened.dialog.resize(width, height)
    qtbot.wait(30)
    assert (opened.dialog.width(), opened.dialog.height()) == (width, height)
    assert cut(opened.dialog) == []
    areas = [area.viewport() for area in opened.dialog.findChildren(QScrollArea)]
    for area in opened.dialog.findChildren(QScrollArea):
        inside = area.widget()
        assert inside is not None
        assert inside.width() <= area.viewport().width(), "it would have to be scrolled sideways"
    parents = [w for w in visible(opened.dialog, QWidget) if w not in areas and not isinstance(w, KINDS)]
    assert [text for parent in parents for text in overlaps(parent)] == []
    small = [
        (w.objectName(), w.size().toTuple())
        for kind in (QAbstractButton, QComboBox, QSpinBox, QSlider)
        for w in visible(opened.dialog, kind)
        if w.height() < TARGET_SIZE - 2
    ]
    assert small == []


@pytest.mark.parametrize(("width", "height", "scale"), SIZES)
def test_long_suggestions_go_on_in_another_line(
    open_dialog: OpenDialog, source: Source, qtbot: QtBot, theme: Theme, width: int, height: int, scale: float
) -> None:
    theme.set_scale(scale)
    source.known = model_facts(n_experts=128)
    opened = open_dialog(n_ctx=16_777_216)
    opened.dialog.resize(width, height)
    for timer in opened.dialog.findChildren(QTimer):
        timer.stop()  # it makes suggestions of its own when it has settled
    suggestions = opened.dialog.findChild(Suggestions)
    assert suggestions is not None
    plan = opened.draft.forecast()
    assert plan is not None
    plan = msgspec.structs.replace(
        plan, options=msgspec.structs.replace(plan.options, n_ctx=1_685_504, kv_type_k=KvType.Q8_0)
    )
    suggestions.show_all(
        (Suggestion(kind="together", text="t", plan=plan), Suggestion(kind="batch", text="b", plan=plan))
    )
    long, short = suggestions.buttons
    long.set_full_text(" ".join([long.full_text()] * 3))
    viewport = next(a.viewport() for a in opened.dialog.findChildren(QScrollArea) if a.isAncestorOf(suggestions))
    qtbot.waitUntil(lambda: "\n" in long.text() and cut(suggestions) == [] and suggestions.width() <= viewport.width())
    assert "\n" not in short.text()
    assert long.text().replace("\n", " ") == long.full_text()


@pytest.mark.parametrize("mode", [ThemeMode.LIGHT, ThemeMode.DARK])
def test_it_can_be_painted_and_follows_the_theme(
    open_dialog: OpenDialog, theme: Theme, qtbot: QtBot, mode: ThemeMode
) -> None:
    opened = open_dialog(FULL)
    theme.set_mode(mode)
    theme.set_scale(1.15)
    qtbot.wait(20)
    picture = opened.dialog.grab().toImage()
    light = picture.pixelColor(picture.width() - 30, picture.height() - 120).lightnessF()
    assert (light > 0.8) is (mode is ThemeMode.LIGHT)
    slider = opened.find("n_ctxSlider", QSlider)
    opened.dialog.footer.load_button.setFocus()
    without = slider.grab().toImage()
    slider.setFocus(Qt.FocusReason.TabFocusReason)
    assert slider.grab().toImage() != without


def test_large_text_puts_what_it_takes_above_the_choices(open_dialog: OpenDialog, qtbot: QtBot, theme: Theme) -> None:
    """Load and Cancel stay on the screen, which is 800 pixels wide here."""
    theme.set_scale(2.0)
    dialog = open_dialog(FULL).dialog
    width = dialog.screen().availableSize().width()
    dialog.resize(width, 700)
    qtbot.waitUntil(lambda: dialog.width() <= width + dialog.footer.minimumSizeHint().width())
    footer = dialog.footer
    for widget in footer.stops:
        assert widget.mapTo(footer, widget.rect().bottomRight()).x() <= footer.width()
    assert footer.recommended.y() < footer.cancel.y()
    assert len(dialog.findChildren(QScrollArea)) == 1

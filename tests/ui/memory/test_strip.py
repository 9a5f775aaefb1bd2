"""The strip as a widget: painting, reading aloud, keyboard."""

from __future__ import annotations

from typing import Any, cast

import pytest
from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QFontMetricsF, QImage
from pytestqt.qtbot import QtBot

from engine.memory.records import GpuMemory, MemorySnapshot, Pool, RamMemory
from engine.protocol.types import DeviceKind, ModelInfo
from tests.fakes.sysroot import machines
from tests.ui.memory.conftest import CARD, GIB, desktop, model_on
from ui.memory.paint import colour_of
from ui.memory.shares import Region
from ui.memory.strip import MemoryStrip
from ui.theme import DARK, LIGHT, Theme, ThemeMode, Tokens, contrast

DECK = model_on("0000:04:00.0", DeviceKind.IGPU)


class Memory(QObject):
    sampled = Signal(object)
    failed = Signal()

    def __init__(self, snapshot: MemorySnapshot | None = None) -> None:
        super().__init__()
        self.snapshot = snapshot


class Worker(QObject):
    model_changed = Signal(object)
    speed_changed = Signal(object)

    def __init__(self, model: ModelInfo | None = None) -> None:
        super().__init__()
        self.model = model


class Stage:
    """A shown strip and the services behind it."""

    def __init__(self, qtbot: QtBot, theme: Theme, snapshot: MemorySnapshot | None, model: ModelInfo | None) -> None:
        self.memory, self.worker, self.theme = Memory(snapshot), Worker(model), theme
        self.strip = MemoryStrip(cast("Any", self.memory), cast("Any", self.worker), theme)
        qtbot.addWidget(self.strip)
        self.strip.resize(1280, self.strip.height())
        self.strip.show()

    def texts(self) -> list[str]:
        return [item.text for item in self.strip.placed() if item.bar is None]


@pytest.fixture
def deck(qtbot: QtBot, theme: Theme, recorded: dict[str, MemorySnapshot]) -> Stage:
    return Stage(qtbot, theme, recorded["steam_deck"], DECK)


def colours(image: QImage) -> set[str]:
    return {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(0, image.height(), 3)}


@pytest.mark.parametrize("mode", [ThemeMode.LIGHT, ThemeMode.DARK])
@pytest.mark.parametrize("scale", [1.0, 1.4])
@pytest.mark.parametrize("width", [1024, 1280])
def test_every_machine_is_painted_and_nothing_is_cut(
    qtbot: QtBot, theme: Theme, recorded: dict[str, MemorySnapshot], mode: ThemeMode, scale: float, width: int
) -> None:
    theme.set_mode(mode)
    theme.set_scale(scale)
    for name in machines():
        stage = Stage(qtbot, theme, recorded[name], None)
        strip = stage.strip
        assert strip.height() >= 40
        strip.resize(width, strip.height())
        metrics = QFontMetricsF(strip.font())
        last = strip.placed()[-1]
        assert last.x + last.width <= width - 24 + 0.01
        assert all(metrics.horizontalAdvance(item.text) <= item.width for item in strip.placed() if item.bar is None)
        found = colours(strip.grab().toImage())
        assert theme.tokens.background.lower() in found
        assert theme.tokens.ram.lower() in found
        if recorded[name].gpus:
            assert theme.tokens.vram.lower() in found


def test_the_most_important_figures_stay_at_the_narrowest(deck: Stage) -> None:
    deck.strip.resize(560, deck.strip.height())
    assert deck.texts() == ["VRAM 0.9/1.0", "GTT 3.2/8.0", "RAM 8.6/14.5"]


def test_nothing_is_said_before_the_first_sample(
    qtbot: QtBot, theme: Theme, recorded: dict[str, MemorySnapshot]
) -> None:
    stage = Stage(qtbot, theme, None, None)
    assert stage.texts() == []
    stage.memory.sampled.emit(recorded["no_gpu"])
    assert stage.texts() == ["No GPU memory data", "RAM 1.7 / 7.8 GiB"]


def test_a_failed_sample_leaves_no_old_figures(deck: Stage) -> None:
    deck.memory.failed.emit()
    assert deck.texts() == ["No memory data"]


def test_it_follows_samples_model_and_speed(deck: Stage, recorded: dict[str, MemorySnapshot]) -> None:
    deck.worker.speed_changed.emit(11.2)
    assert deck.texts()[-1] == "11.2 tok/s"
    deck.worker.speed_changed.emit(None)
    deck.worker.model_changed.emit(None)
    assert "Model 2.3 GiB" not in deck.texts()
    deck.memory.sampled.emit(recorded["rx7900xtx"])
    assert deck.texts()[0] == "VRAM 9.6 / 24.0 GiB"


def test_bars_do_not_jump_while_figures_change(qtbot: QtBot, theme: Theme) -> None:
    stage = Stage(qtbot, theme, desktop(vram=Pool(24 * GIB, 9 * GIB)), None)
    before = [(item.x, item.width) for item in stage.strip.placed()]
    stage.memory.sampled.emit(desktop(vram=Pool(24 * GIB, 12 * GIB), gtt=Pool(16 * GIB, 11 * GIB)))
    assert [(item.x, item.width) for item in stage.strip.placed()] == before


def test_the_theme_changes_colours_and_size(deck: Stage) -> None:
    assert deck.strip.height() == 40
    deck.theme.set_scale(1.4)
    assert deck.strip.height() == 56
    deck.theme.set_mode(ThemeMode.DARK)
    found = colours(deck.strip.grab().toImage())
    assert deck.theme.tokens.gtt.lower() in found
    assert deck.theme.tokens.dark


@pytest.mark.parametrize("tokens", [LIGHT, DARK])
def test_words_in_the_bars_are_readable(tokens: Tokens) -> None:
    for region in Region:
        assert contrast(tokens.on_accent, colour_of(region, tokens).name()) >= 4.5
    assert contrast(tokens.text, tokens.raised) >= 4.5
    assert contrast(tokens.muted, tokens.raised) >= 4.5


# --- for screen readers ------------------------------------------------------------------------------


def test_it_is_a_button_with_a_name_and_the_figures_as_text(deck: Stage) -> None:
    spoken = QAccessible.queryAccessibleInterface(deck.strip)
    assert spoken.role() == QAccessible.Role.Button
    assert spoken.text(QAccessible.Text.Name) == "Memory"
    assert "GTT, part of the RAM: 3.2 of 8.0 GiB" in spoken.text(QAccessible.Text.Description)


def test_the_spoken_text_changes_at_most_every_five_seconds(deck: Stage, recorded: dict[str, MemorySnapshot]) -> None:
    said = deck.strip.accessibleDescription()
    (timer,) = deck.strip.findChildren(QTimer, options=Qt.FindChildOption.FindDirectChildrenOnly)
    assert timer.isActive()
    assert timer.interval() == 5000
    for _ in range(3):
        deck.memory.sampled.emit(recorded["no_gpu"])
    assert deck.strip.accessibleDescription() == said
    timer.timeout.emit()
    assert deck.strip.accessibleDescription().startswith("No GPU memory data.")


def test_the_tooltip_has_every_line_and_no_markup_from_names(qtbot: QtBot, theme: Theme) -> None:
    gpu = GpuMemory(pci=CARD, name="<b>card</b>", kind=DeviceKind.GPU, vram=Pool(GIB, 0))
    stage = Stage(qtbot, theme, MemorySnapshot(gpus=(gpu,), ram=RamMemory(), taken=0.0), None)
    assert "&lt;b&gt;card&lt;/b&gt;." in stage.strip.toolTip()
    assert "VRAM: 0.0 of 1.0 GiB." in stage.strip.toolTip()


# --- opening -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space])
def test_keys_ask_for_the_page(qtbot: QtBot, deck: Stage, key: Qt.Key) -> None:
    deck.strip.setFocus()
    with qtbot.waitSignal(deck.strip.clicked):
        qtbot.keyClick(deck.strip, key)


def test_a_click_asks_for_the_page_and_the_tooltip_says_so(qtbot: QtBot, deck: Stage) -> None:
    with qtbot.waitSignal(deck.strip.clicked):
        qtbot.mouseClick(deck.strip, Qt.MouseButton.LeftButton)
    assert "memory page (Ctrl+Shift+M)" in deck.strip.toolTip()
    assert "memory page" not in deck.strip.accessibleDescription()

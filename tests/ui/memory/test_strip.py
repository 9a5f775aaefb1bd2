"""The strip as a widget: painting, reading aloud, keyboard, the table behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

import pytest
from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QFontMetricsF, QImage
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication, QTableView
from pytestqt.qtbot import QtBot

from engine.memory.records import GpuMemory, MemorySnapshot, Pool, RamMemory
from engine.protocol.types import DeviceKind, ModelInfo
from tests.fakes.sysroot import machines
from tests.ui.memory.conftest import CARD, GIB, WORKER, desktop, model_on
from ui.memory.content import view
from ui.memory.details import MemoryDetails, heading, notes
from ui.memory.legend import Legend, marks
from ui.memory.paint import colour_of
from ui.memory.shares import Bar, BarKind, Owner, Region, Segment, bars, chosen_gpu, share_of_model
from ui.memory.strip import MemoryStrip
from ui.memory.table import PoolRow, PoolTableModel, rows
from ui.memory.words import gib
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

    def details(self) -> MemoryDetails | None:
        found = [child for child in self.strip.findChildren(MemoryDetails) if child.isVisible()]
        return found[0] if found else None


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    theme = Theme(ThemeMode.LIGHT)
    theme.apply(qapp)
    yield theme
    qapp.setStyleSheet("")


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
def test_keys_open_the_table_and_escape_closes_it(qtbot: QtBot, deck: Stage, key: Qt.Key) -> None:
    deck.strip.setFocus()
    qtbot.keyClick(deck.strip, key)
    details = deck.details()
    assert details is not None
    qtbot.keyClick(details, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: deck.details() is None)


def test_a_click_opens_the_table_which_follows_the_figures(
    qtbot: QtBot, deck: Stage, recorded: dict[str, MemorySnapshot]
) -> None:
    qtbot.mouseClick(deck.strip, Qt.MouseButton.LeftButton)
    details = deck.details()
    assert details is not None
    table = details.findChild(QTableView)
    assert table is not None
    names = ["VRAM", "GTT", "RAM", "Model file, can be dropped", "Swap"]
    assert [table.model().index(row, 0).data() for row in range(5)] == names
    assert table.model().index(1, 4).data() == "2.2 GiB"
    deck.worker.model_changed.emit(None)
    deck.memory.sampled.emit(recorded["rx7900xtx"])
    assert [table.model().index(0, column).data() for column in range(4)] == ["VRAM", "9.6 GiB", "24.0 GiB", "14.4 GiB"]
    assert details.accessibleName() == "AMD Radeon RX 7900 XTX"
    details.close()
    qtbot.waitUntil(lambda: deck.details() is None)
    qtbot.mouseClick(deck.strip, Qt.MouseButton.LeftButton)
    assert deck.details() is not None


# --- rows and notes -------------------------------------------------------------------------------------


def test_rows_of_several_cards_begin_with_the_chosen_one(recorded: dict[str, MemorySnapshot]) -> None:
    model = model_on("0000:64:00.0", DeviceKind.IGPU)
    names = [row.name for row in rows(recorded["laptop_sleeping_dgpu"], model)]
    assert names == ["VRAM, 780M", "GTT, 780M", "VRAM, RX 7600S", "GTT, RX 7600S", "RAM", "Swap"]


GIB_FIGURE = re.compile(r"<?[0-9]+\.[0-9]")


@pytest.mark.parametrize("machine", ["rx7900xtx", "steam_deck", "no_gpu"])
def test_hover_table_and_bars_say_the_same(recorded: dict[str, MemorySnapshot], machine: str) -> None:
    snapshot = recorded[machine]
    pci = snapshot.gpus[0].pci if snapshot.gpus else None
    model = model_on(pci, DeviceKind.GPU if snapshot.gpus else DeviceKind.CPU)
    gpu = chosen_gpu(snapshot, model)
    share = share_of_model(snapshot, model, gpu)
    table = rows(snapshot, model)
    told = {figure for row in table for cell in row.cells() for figure in GIB_FIGURE.findall(cell)}
    told |= set(GIB_FIGURE.findall(notes(gpu, WORKER, None, share)))
    hover = [line for line in view(snapshot, model, None).lines if "GiB" in line]
    assert {figure for line in hover for figure in GIB_FIGURE.findall(line)} <= told
    drawn = {(s.region, s.owner): s.size for bar in bars(gpu, snapshot.ram, share) for s in bar.segments}
    cells = {row.name: row for row in table}
    assert cells["RAM"].model == gib(drawn[Region.RAM, Owner.MODEL])
    assert cells["Model file, can be dropped"].used == gib(drawn[Region.RAM, Owner.MAPPED])
    assert set(marks(bars(gpu, snapshot.ram, share))) == set(drawn)


def test_the_legend_is_a_text_too_and_follows_the_bars(qtbot: QtBot, theme: Theme) -> None:
    legend = Legend(theme)
    qtbot.addWidget(legend)
    parts = (Segment(Region.RAM, Owner.MODEL, 1), Segment(Region.RAM, Owner.MAPPED, 2))
    legend.show_bars((Bar(BarKind.RAM, 3, parts),))
    assert legend.accessibleName() == "RAM model, RAM model file"
    assert not legend.isHidden()
    legend.show_bars(())
    assert legend.isHidden()


def test_rows_say_unknown() -> None:
    assert rows(desktop(vram=Pool(24 * GIB, None)), None)[0] == PoolRow("VRAM", "unknown", "24.0 GiB", "unknown", "")
    assert rows(None, None) == ()


def test_headings(recorded: dict[str, MemorySnapshot]) -> None:
    assert heading(recorded["laptop_sleeping_dgpu"], None) == "AMD Radeon RX 7600S (asleep)"
    assert heading(recorded["no_gpu"], None) == "Memory"
    assert heading(None, None) == "Memory"


def test_notes_name_the_other_programs_but_not_the_worker(recorded: dict[str, MemorySnapshot]) -> None:
    text = notes(recorded["steam_deck"].gpus[0], 4242, 11.2)
    assert text.splitlines() == [
        "Room for a model: 4.5 GiB.",
        "Load 37 %, 56 °C, 3 W, 11.2 tok/s",
        "",
        "Other programs on this card (VRAM, GTT in GiB):",
        "vkcube-wayland  0.5, <0.1",
        "kwin_wayland  <0.1, <0.1",
    ]
    assert notes(None, None, None) == "No GPU memory data."


def test_the_model_passes_the_model_tester(qtbot: QtBot, recorded: dict[str, MemorySnapshot]) -> None:
    model = PoolTableModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    changed: list[tuple[int, int]] = []
    model.dataChanged.connect(lambda first, *_: changed.append((first.row(), first.column())))
    for name in machines():
        model.set_rows(rows(recorded[name], None))
        assert model.rowCount() == len(rows(recorded[name], None))
    model.set_rows(rows(desktop(), None))
    changed.clear()
    model.set_rows(rows(desktop(vram=Pool(24 * GIB, 11 * GIB)), None))
    assert changed == [(0, 1), (0, 3)]
    assert tester.model() is model

"""The page as widgets: painting, hover, keyboard, reading aloud, table, text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import msgspec
import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible, QFontMetrics, QGuiApplication, QImage
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication, QCheckBox, QComboBox, QLabel, QStyle, QWidget
from pytestqt.qtbot import QtBot

from engine.memory.records import GoneGpu, MemorySnapshot, Pool
from tests.fakes.sysroot import machines
from tests.ui.memory.conftest import GIB, desktop
from tests.ui.memory.stage import Memory, Store, Worker, loaded, window_on, with_model
from tests.ui.sizes import settle
from ui.memory.bar_paint import place, spans
from ui.memory.bar_view import BarView
from ui.memory.block_view import BlockView
from ui.memory.blocks import PageBar, blocks
from ui.memory.figures import figure_rows
from ui.memory.figures_table import FigureModel, FiguresTable
from ui.memory.legend_view import Entry, LegendView
from ui.memory.owners import Part, PartOwner
from ui.memory.page_settings import MemoryPageSettings
from ui.memory.patterns import PATTERNS, Patterns
from ui.memory.plot import HistoryPlot
from ui.memory.shares import Region
from ui.memory.window import MemoryWindow
from ui.theme import DARK, LIGHT, Theme, ThemeMode, Tokens


class Paints(QObject):
    """Counts how often a widget is painted."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.times = 0
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.times += event.type() is QEvent.Type.Paint
        return False


class Page:
    """An open page on a recorded machine with a model and ten minutes of history."""

    def __init__(self, qtbot: QtBot, theme: Theme, snapshot: MemorySnapshot | None, *, model: bool = True) -> None:
        gpu = snapshot.gpus[0] if snapshot is not None and snapshot.gpus else None
        self.model = loaded(gpu, 2 * GIB) if model else None
        if snapshot is not None:
            snapshot = with_model(snapshot, self.model)
        made = window_on(theme, snapshot, self.model, history=True)
        self.window: MemoryWindow = made[0]
        self.memory: Memory = made[1]
        self.worker: Worker = made[2]
        self.store: Store = made[3]
        qtbot.addWidget(self.window)
        self.window.resize(1280, 764)
        self.window.show()
        qtbot.waitExposed(self.window)

    def blocks(self) -> list[BlockView]:
        QApplication.processEvents()
        return [view for view in self.window.findChildren(BlockView) if view.isVisible()]

    def bar(self) -> BarView:
        return self.blocks()[0].bar

    def plot(self) -> HistoryPlot:
        return cast("HistoryPlot", self.window.findChild(HistoryPlot))

    def told(self) -> str:
        label = self.window.findChild(QLabel, "memoryReadout")
        assert isinstance(label, QLabel)
        return label.text()

    def button(self, name: str) -> QWidget:
        found = self.window.findChild(QWidget, name)
        assert isinstance(found, QWidget)
        return found


@pytest.fixture(scope="module")
def theme(qapp: QApplication) -> Iterator[Theme]:
    """One for all tests here: dressing the application takes longer than most of them."""
    before = (qapp.styleSheet(), qapp.palette(), qapp.font())
    theme = Theme(ThemeMode.LIGHT)
    theme.apply(qapp)
    yield theme
    qapp.setStyleSheet(before[0])
    qapp.setPalette(before[1])
    qapp.setFont(before[2])


@pytest.fixture
def desk(qtbot: QtBot, theme: Theme, recorded: dict[str, MemorySnapshot]) -> Page:
    return Page(qtbot, theme, recorded["rx7900xtx"])


# --- painting -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("mode", "scale"), [(ThemeMode.LIGHT, 1.0), (ThemeMode.DARK, 1.5)])
def test_every_machine_is_shown_and_nothing_overlaps_or_is_cut(
    qtbot: QtBot, theme: Theme, recorded: dict[str, MemorySnapshot], mode: ThemeMode, scale: float
) -> None:
    theme.set_mode(mode)
    theme.set_scale(scale)
    for name in machines():
        page = Page(qtbot, theme, recorded[name])
        settle(qtbot, page.window)
        picture = page.window.grab().toImage()
        assert picture.size().width() == 1280
        for block in page.blocks():
            legend = block.legend
            boxes = [box for _, box in legend.placed(legend.width())]
            assert all(box.right() <= legend.width() + 0.5 for box in boxes)
            assert not any(one.intersects(two) for one in boxes for two in boxes if one is not two)
            assert not boxes or boxes[-1].bottom() <= legend.height() + 1
            assert block.bar.height() >= theme.px(34)
            for label in block.findChildren(QLabel):
                assert label.height() >= label.heightForWidth(label.width()) or not label.isVisible()
        tops = [block.mapTo(page.window, QPoint(0, 0)).y() for block in page.blocks()]
        ends = [top + block.height() for top, block in zip(tops, page.blocks(), strict=True)]
        assert all(end <= top for end, top in zip(ends, tops[1:], strict=False))
        page.window.close()
    theme.set_mode(ThemeMode.LIGHT)
    theme.set_scale(1.0)


@pytest.mark.parametrize("tokens", [LIGHT, DARK])
@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0])
def test_owners_differ_by_pattern_and_not_only_by_colour(qapp: QApplication, tokens: Tokens, ratio: float) -> None:
    patterns = Patterns(tokens, ratio)
    pictures = {}
    for owner in PATTERNS:
        brush = patterns.brush(Region.GTT, owner)
        grey = brush.textureImage().convertToFormat(QImage.Format.Format_Grayscale8)
        pictures[owner] = bytes(grey.constBits()) if not grey.isNull() else b""
    alike = {PartOwner.WEIGHTS, PartOwner.MODEL, PartOwner.SYSTEM}  # the last one is what the rest is elsewhere
    others = [picture for owner, picture in pictures.items() if owner not in alike]
    assert len(set(others)) == len(others)
    assert b"" not in others


def test_parts_fill_the_bar_and_small_ones_can_be_seen() -> None:
    parts = (Part(Region.VRAM, PartOwner.WEIGHTS, 1), Part(Region.VRAM, PartOwner.FREE, 10**9))
    placed = place(PageBar(10**9 + 1, parts), 500)
    assert placed[0].width == pytest.approx(2)
    assert placed[-1].x + placed[-1].width == pytest.approx(500)
    assert place(PageBar(0, ()), 500) == ()


def test_kinds_below_the_bar(recorded: dict[str, MemorySnapshot]) -> None:
    (block,) = blocks(recorded["steam_deck"], None)
    assert block.bar is not None
    kinds = [(span.region, span.available) for span in spans(place(block.bar, 1000))]
    assert kinds == [(Region.VRAM, False), (Region.GTT, False), (Region.RAM, False), (Region.RAM, True)]


def test_one_scale_and_each_its_own(desk: Page, qtbot: QtBot) -> None:
    card, host = (view.bar for view in desk.blocks())
    ratio = card.placed()[-1].x + card.placed()[-1].width, host.placed()[-1].x + host.placed()[-1].width
    assert ratio[0] / ratio[1] == pytest.approx(24 / 31.2, abs=0.01)
    qtbot.mouseClick(desk.button("memoryOneScale"), Qt.MouseButton.LeftButton)
    last = card.placed()[-1]
    assert last.x + last.width == pytest.approx(card.width())
    assert desk.store.get(MemoryPageSettings).one_scale is False


def test_one_bar_needs_no_choice_of_scales(qtbot: QtBot, theme: Theme, recorded: dict[str, MemorySnapshot]) -> None:
    page = Page(qtbot, theme, recorded["steam_deck"])
    assert not page.button("memoryOneScale").isVisible()


# --- following ------------------------------------------------------------------------------------------


def test_it_follows_samples_and_keeps_its_widgets(desk: Page, recorded: dict[str, MemorySnapshot]) -> None:
    before = desk.blocks()
    changed = msgspec.structs.replace(recorded["rx7900xtx"], taken=601.0)
    gpu = msgspec.structs.replace(changed.gpus[0], vram=Pool(24 * GIB, 20 * GIB))
    desk.memory.push(msgspec.structs.replace(changed, gpus=(gpu,)))
    assert desk.blocks() == before
    assert "20.0 of 24.0 GiB in use" in before[0].text()


def test_a_card_goes_and_comes_back(desk: Page, recorded: dict[str, MemorySnapshot]) -> None:
    snapshot = recorded["rx7900xtx"]
    gone = GoneGpu(snapshot.gpus[0].pci, snapshot.gpus[0].name)
    desk.memory.push(msgspec.structs.replace(snapshot, gpus=(), gone=(gone,), taken=601.0))
    assert "RX 7900 XTX is gone" in desk.blocks()[0].text()
    desk.memory.push(msgspec.structs.replace(snapshot, taken=602.0))
    assert "in use" in desk.blocks()[0].text()


def test_a_failed_sample_leaves_no_old_figures(desk: Page) -> None:
    desk.memory.snapshot = None
    desk.memory.failed.emit()
    assert desk.blocks() == []
    assert not desk.plot().isVisible()


def test_nothing_is_done_while_nobody_looks(desk: Page, recorded: dict[str, MemorySnapshot]) -> None:
    text = desk.blocks()[0].text()
    view = desk.blocks()[0]
    desk.window.close()
    desk.memory.push(msgspec.structs.replace(recorded["no_gpu"], taken=601.0))
    assert view.text() == text
    desk.window.show()
    assert "System memory" in desk.blocks()[0].text()


def test_before_the_first_sample(qtbot: QtBot, theme: Theme, recorded: dict[str, MemorySnapshot]) -> None:
    page = Page(qtbot, theme, None)
    assert page.blocks() == []
    page.memory.push(recorded["no_gpu"])
    assert len(page.blocks()) == 1


def test_it_names_the_model(desk: Page) -> None:
    texts = [label.text() for label in desk.window.findChildren(QLabel)]
    assert "Qwen3 8B Q4_K_M" in texts
    desk.worker.model = None
    desk.worker.model_changed.emit(None)
    assert "No model is loaded" in [label.text() for label in desk.window.findChildren(QLabel)]


# --- pointing -------------------------------------------------------------------------------------------


def test_the_arrow_keys_walk_along_the_parts(desk: Page, qtbot: QtBot) -> None:
    bar = desk.bar()
    desk.window.focus()
    assert bar.hasFocus()
    qtbot.keyClick(bar, Qt.Key.Key_Right)
    assert desk.told().startswith(
        "VRAM: Weights of the loaded model, by the engine's figures. 1.6 GiB, 6.5 % of 24.0 GiB"
    )
    assert bar.accessibleDescription() == desk.told()
    qtbot.keyClick(bar, Qt.Key.Key_Right)
    assert desk.told().startswith("VRAM: KV cache")
    qtbot.keyClick(bar, Qt.Key.Key_Left)
    qtbot.keyClick(bar, Qt.Key.Key_Left)
    assert desk.told().startswith("VRAM: Weights")
    qtbot.keyClick(bar, Qt.Key.Key_End)
    assert desk.told().startswith("VRAM: Free. 14.4 GiB")
    qtbot.keyClick(bar, Qt.Key.Key_Home)
    assert desk.told().startswith("VRAM: Weights")


def test_the_chosen_part_stays_chosen_while_figures_change(
    desk: Page, qtbot: QtBot, recorded: dict[str, MemorySnapshot]
) -> None:
    desk.window.focus()
    qtbot.keyClick(desk.bar(), Qt.Key.Key_End)
    snapshot = recorded["rx7900xtx"]
    gpu = msgspec.structs.replace(snapshot.gpus[0], vram=Pool(24 * GIB, 20 * GIB))
    desk.memory.push(msgspec.structs.replace(snapshot, gpus=(gpu,), taken=601.0))
    assert desk.told() == "VRAM: Free. 4.0 GiB, 16.7 % of 24.0 GiB."


def test_the_pointer_tells_and_leaving_stops_it(desk: Page, qtbot: QtBot) -> None:
    bar = desk.bar()
    spot = bar.placed()[0]
    qtbot.mouseMove(bar, QPoint(int(spot.x + spot.width / 2), 10))
    qtbot.waitUntil(lambda: desk.told().startswith("VRAM: Weights"))
    last = bar.placed()[-1]
    qtbot.mouseMove(bar, QPoint(int(last.x + last.width) + 40, 10))
    qtbot.waitUntil(lambda: desk.told().startswith("Point at"))


def test_the_keyboard_goes_along_time(desk: Page, qtbot: QtBot) -> None:
    plot = desk.plot()
    plot.setFocus()
    qtbot.keyClick(plot, Qt.Key.Key_Left)
    assert desk.told().startswith("now: ")
    for _ in range(5):
        qtbot.keyClick(plot, Qt.Key.Key_Left)
    assert desk.told().startswith("5 s ago: 9.6 GiB of 24.0 GiB in use; weights 1.6")
    assert "Qwen3 8B answers, begun 14 s ago" in desk.told()
    assert plot.accessibleDescription() == desk.told()
    qtbot.keyClick(plot, Qt.Key.Key_PageUp)
    assert desk.told().startswith("35 s ago: ")
    qtbot.keyClick(plot, Qt.Key.Key_Home)
    assert desk.told().startswith("9 min 59 s ago: ")
    qtbot.keyClick(plot, Qt.Key.Key_Down)
    assert "Qwen3 8B was loaded, 8 min 39 s ago" in desk.told()
    qtbot.keyClick(plot, Qt.Key.Key_Down)
    assert "answered for 25 s" in desk.told()
    qtbot.keyClick(plot, Qt.Key.Key_Up)
    assert "was loaded" in desk.told()


def test_a_gap_says_that_nothing_was_measured_and_events_have_tooltips(desk: Page, qtbot: QtBot) -> None:
    plot = desk.plot()
    frame = plot.frame()
    y = int(frame.area.center().y())
    qtbot.mouseMove(plot, QPoint(int(frame.x(160.0)), y))
    qtbot.waitUntil(lambda: "nothing was measured" in desk.told())
    assert plot.toolTip() == ""
    qtbot.mouseMove(plot, QPoint(int(frame.x(80.0)), y))
    qtbot.waitUntil(lambda: plot.toolTip() == "Qwen3 8B was loaded, 8 min 39 s ago")
    qtbot.mouseMove(plot, QPoint(int(frame.x(260.0)), y))
    qtbot.waitUntil(lambda: plot.toolTip().startswith("Qwen3 8B answered for 70 s"))


def test_a_gap_is_painted_as_one(desk: Page) -> None:
    plot = desk.plot()
    frame, picture = plot.frame(), plot.grab().toImage()
    ratio = picture.devicePixelRatio()

    def at(moment: float, share: float) -> str:
        y = frame.area.bottom() - frame.area.height() * share
        return picture.pixelColor(QPointF(frame.x(moment) * ratio, y * ratio).toPoint()).name()

    assert at(160.0, 0.03) == LIGHT.raised.lower()
    assert at(500.0, 0.03) == LIGHT.vram.lower()
    assert at(500.0, 0.72) == LIGHT.surface.lower()


def test_lines_are_chosen_and_remembered(desk: Page, qtbot: QtBot) -> None:
    box = desk.button("memoryLine-temperature")
    assert isinstance(box, QCheckBox)
    assert not box.isChecked()
    width = desk.plot().frame().area.width()
    box.click()
    assert desk.store.get(MemoryPageSettings).lines == ("busy", "temperature", "power")
    assert desk.plot().frame().area.width() < width


def test_another_memory_can_be_plotted(desk: Page, qtbot: QtBot) -> None:
    choice = desk.button("memoryHistorySubject")
    assert isinstance(choice, QComboBox)
    assert [choice.itemText(row) for row in range(choice.count())] == [
        "AMD Radeon RX 7900 XTX, VRAM",
        "System memory (RAM)",
    ]
    choice.setCurrentIndex(1)
    plot = desk.plot()
    plot.setFocus()
    qtbot.keyClick(plot, Qt.Key.Key_End)
    assert "GTT 0.4" in desk.told()
    desk.memory.push(msgspec.structs.replace(cast("MemorySnapshot", desk.memory.snapshot), taken=601.0))
    assert choice.currentIndex() == 1


# --- for screen readers -----------------------------------------------------------------------------------


def test_bars_and_plot_have_names_and_descriptions(desk: Page) -> None:
    spoken = QAccessible.queryAccessibleInterface(desk.bar())
    assert spoken.text(QAccessible.Text.Name) == "AMD Radeon RX 7900 XTX"
    assert "weights 1.6" in spoken.text(QAccessible.Text.Description)
    plot = QAccessible.queryAccessibleInterface(desk.plot())
    assert plot.text(QAccessible.Text.Name) == "Memory of the last ten minutes"
    assert "now: 9.6 GiB of 24.0 GiB in use" in plot.text(QAccessible.Text.Description)


def test_a_sleeping_card_is_said_to_sleep(qtbot: QtBot, theme: Theme, recorded: dict[str, MemorySnapshot]) -> None:
    page = Page(qtbot, theme, recorded["laptop_sleeping_dgpu"], model=False)
    sleeping = page.blocks()[1]
    assert sleeping.bar.accessibleDescription() == "asleep"
    assert sleeping.bar.placed() == ()
    assert not sleeping.legend.isVisible()


def test_everything_is_reached_by_tab(desk: Page, qtbot: QtBot) -> None:
    desk.window.focus()
    names = []
    for _ in range(12):
        widget = QApplication.focusWidget()
        names.append(type(widget).__name__)
        qtbot.keyClick(widget, Qt.Key.Key_Tab)
    assert names[:2] == ["BarView", "BarView"]
    assert {"HistoryPlot", "QCheckBox", "QComboBox", "TextButton"} <= set(names)


# --- table, text, window ---------------------------------------------------------------------------------


def test_the_table_shows_the_same_and_follows(desk: Page, qtbot: QtBot, recorded: dict[str, MemorySnapshot]) -> None:
    qtbot.mouseClick(desk.button("memoryTableButton"), Qt.MouseButton.LeftButton)
    table = desk.window.findChild(FiguresTable)
    assert isinstance(table, FiguresTable)
    assert table.isVisible()
    rows = [row.cells() for row in table.figures.rows]
    assert ("VRAM", "weights", "1.6 GiB", "6.5 %") in rows
    desk.memory.push(msgspec.structs.replace(recorded["no_gpu"], taken=601.0))
    assert [row.where for row in table.figures.rows if row.heading] == [
        "System memory (RAM)",
        "Last 10 minutes: System memory (RAM)",
    ]
    qtbot.mouseClick(desk.button("memoryTableButton"), Qt.MouseButton.LeftButton)
    assert desk.bar().isVisible()


def test_the_table_model_passes_the_model_tester(qapp: QApplication, recorded: dict[str, MemorySnapshot]) -> None:
    model = FigureModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    changed: list[tuple[int, int]] = []
    model.dataChanged.connect(lambda first, *_: changed.append((first.row(), first.column())))
    for name in machines():
        rows = figure_rows(blocks(recorded[name], None), {})
        model.set_rows(rows)
        assert model.rowCount() == len(rows)
    model.set_rows(figure_rows(blocks(desktop(), None), {}))
    changed.clear()
    model.set_rows(figure_rows(blocks(desktop(vram=Pool(24 * GIB, 11 * GIB)), None), {}))
    assert changed == [(1, 2), (1, 3), (2, 2), (2, 3), (3, 1)]
    assert tester.model() is model


def test_copy_as_text(desk: Page, qtbot: QtBot) -> None:
    qtbot.mouseClick(desk.button("memoryCopy"), Qt.MouseButton.LeftButton)
    text = QGuiApplication.clipboard().text()
    assert text == desk.window.text()
    assert "AMD Radeon RX 7900 XTX" in text
    assert "  VRAM: weights: 1.6 GiB, 6.5 %" in text
    assert "clipboard" in desk.told()


def test_escape_closes_and_the_place_is_remembered(desk: Page, qtbot: QtBot) -> None:
    looked: list[bool] = []
    desk.window.looked_at.connect(looked.append)
    qtbot.keyClick(desk.window, Qt.Key.Key_Escape)
    assert not desk.window.isVisible()
    assert looked == [False]
    assert desk.store.get(MemoryPageSettings).geometry


def test_an_unchanged_sample_paints_no_bar(desk: Page, qtbot: QtBot) -> None:
    bar = desk.bar()
    settle(qtbot, desk.window)
    painted = Paints(bar)
    same = cast("MemorySnapshot", desk.memory.snapshot)
    desk.memory.push(msgspec.structs.replace(same, taken=same.taken + 1))
    QApplication.processEvents()
    assert painted.times == 0
    gpu = msgspec.structs.replace(same.gpus[0], vram=Pool(24 * GIB, 20 * GIB))
    desk.memory.push(msgspec.structs.replace(same, gpus=(gpu,), taken=same.taken + 2))
    qtbot.waitUntil(lambda: painted.times == 1)


def test_the_plot_is_painted_every_other_second_unless_somebody_points(desk: Page, qtbot: QtBot) -> None:
    plot = desk.plot()
    settle(qtbot, desk.window)
    same = cast("MemorySnapshot", desk.memory.snapshot)
    desk.memory.push(msgspec.structs.replace(same, taken=700.0))
    QApplication.processEvents()
    painted = Paints(plot)
    desk.memory.push(msgspec.structs.replace(same, taken=701.0))
    QApplication.processEvents()
    assert painted.times == 0
    desk.memory.push(msgspec.structs.replace(same, taken=702.0))
    qtbot.waitUntil(lambda: painted.times == 1)
    plot.setFocus()
    qtbot.keyClick(plot, Qt.Key.Key_End)
    QApplication.processEvents()
    before = painted.times
    desk.memory.push(msgspec.structs.replace(same, taken=703.0))
    qtbot.waitUntil(lambda: painted.times > before)


def test_the_legend_reserves_room_so_that_nothing_jumps(qtbot: QtBot, theme: Theme) -> None:
    legend = LegendView(theme)
    qtbot.addWidget(legend)
    small = tuple(Entry(Region.RAM, owner, owner.value, "1.0 GiB") for owner in (PartOwner.REST, PartOwner.FREE))
    large = tuple(replace(entry, size="100.0 GiB") for entry in small)
    legend.show_entries(small)
    before = [box for _, box in legend.placed(600)]
    legend.show_entries(large)
    assert [box for _, box in legend.placed(600)] == before
    assert legend.accessibleName() == "rest 100.0 GiB, free 100.0 GiB"


def test_no_text_of_the_table_is_cut(desk: Page, qtbot: QtBot) -> None:
    """Titles and sentences have the room of columns in which there is no figure."""
    qtbot.mouseClick(desk.button("memoryTableButton"), Qt.MouseButton.LeftButton)
    table = desk.window.findChild(FiguresTable)
    assert isinstance(table, FiguresTable)
    margin = 2 * table.style().pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, None, table)
    cut = []
    for number, row in enumerate(table.figures.rows):
        for column, text in enumerate(row.cells()):
            index = table.model().index(number, column)
            metrics = QFontMetrics(index.data(Qt.ItemDataRole.FontRole) or table.font())
            if text and metrics.horizontalAdvance(text) + margin > table.visualRect(index).width():
                cut.append(text)
    assert any(row.wide for row in table.figures.rows)
    assert cut == []

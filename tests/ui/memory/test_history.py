"""The plot: what is stacked, where nothing is drawn, what a moment says."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec
import pytest
from PySide6.QtCore import QRectF

from app.memory.history import GpuPoint, History, Marker, MarkerKind, Point, point_of
from engine.memory.records import MemorySnapshot
from engine.protocol.types import DeviceKind
from tests.fakes.sysroot import machines
from tests.ui.memory.conftest import CARD, GIB, desktop
from tests.ui.memory.stage import Memory, fill, loaded, with_model
from ui.memory.blocks import BlockKind
from ui.memory.curves import Curves, Runs
from ui.memory.plot_paint import Frame, gaps, scale_top, ticks
from ui.memory.series import nearest, subjects, values
from ui.memory.time_words import ago, event, line, minute_rows


def point(at: float, **values: Any) -> Point:
    card = {"vram": 10 * GIB, "gtt": GIB, "busy_percent": 50, "power_w": 100.0, "temperature_c": 60.0, **values}
    return Point(at=at, ram=12 * GIB, gpus=(GpuPoint(pci=CARD, **card),))


CARD_SUBJECT, HOST_SUBJECT = subjects(desktop())
(APU_SUBJECT,) = subjects(desktop(kind=DeviceKind.IGPU))


def test_what_can_be_plotted() -> None:
    assert [subject.title for subject in subjects(desktop())] == ["AMD Radeon RX 7900 XTX, VRAM", "System memory (RAM)"]
    assert APU_SUBJECT.kind is BlockKind.SHARED
    assert APU_SUBJECT.total == 56 * GIB


def test_layers_of_a_card() -> None:
    sizes = values(point(0, weights=4 * GIB, kv=GIB, compute=GIB, ours_vram=7 * GIB, others_vram=2 * GIB), CARD_SUBJECT)
    assert sizes == (4 * GIB, GIB, GIB, 0, 0, GIB, 2 * GIB, GIB)
    more = values(point(0, weights=4 * GIB, image=GIB, draft=GIB, ours_vram=7 * GIB), CARD_SUBJECT)
    assert more == (4 * GIB, 0, 0, GIB, GIB, GIB, 0, 3 * GIB)
    # less is held than the engine says (pushed out): not divided
    spilled = values(point(0, weights=4 * GIB, kv=GIB, ours_vram=2 * GIB), CARD_SUBJECT)
    assert spilled == (0, 0, 0, 0, 0, 2 * GIB, 0, 8 * GIB)


def test_layers_of_an_apu_and_of_the_ram() -> None:
    whole = point(0, vram=2 * GIB, gtt=5 * GIB, weights=4 * GIB, ours=5 * GIB, others=GIB)
    sizes = values(whole, APU_SUBJECT)
    assert sizes == (4 * GIB, 0, 0, 0, 0, GIB, GIB, GIB, 7 * GIB)
    host = values(msgspec.structs.replace(whole, worker_ram=GIB), HOST_SUBJECT)
    assert host == (GIB, 5 * GIB, 6 * GIB)


@pytest.mark.parametrize("name", machines())
def test_layers_of_every_machine_add_up(recorded: dict[str, MemorySnapshot], name: str) -> None:
    snapshot = recorded[name]
    moment = point_of(snapshot)
    for subject in subjects(snapshot):
        gpu = snapshot.gpu(subject.key)
        sizes = values(moment, subject)
        if gpu is not None and gpu.asleep:
            assert sizes is None
            continue
        assert sizes is not None
        ram, vram = snapshot.ram.used or 0, (gpu.vram.used or 0) if gpu is not None else 0
        used = {BlockKind.CARD: vram, BlockKind.SHARED: vram + ram, BlockKind.HOST: ram}[subject.kind]
        assert sum(sizes) == used
        assert min(sizes) >= 0
        assert len(sizes) == len(subject.layers)


@pytest.mark.parametrize("unknown", [{"vram": None}, {"asleep": True}])
def test_unknown_is_a_gap_and_not_nothing(unknown: dict[str, Any]) -> None:
    assert values(point(0, **unknown), CARD_SUBJECT) is None
    assert values(Point(at=0.0), CARD_SUBJECT) is None
    assert values(point(0, gtt=None), APU_SUBJECT) is None


# --- polygons ------------------------------------------------------------------------------------------


def test_a_pause_and_an_unknown_figure_break_the_curve() -> None:
    curves = Curves(CARD_SUBJECT, CARD)
    curves.follow([point(0), point(1), point(2, vram=None), point(3), point(4), point(60), point(61)])
    assert [run[0].size() for run in curves.stack.runs] == [2, 2, 2]
    assert [run[0].size() for run in curves.lines["busy"].runs] == [5, 2]


def test_a_minimised_window_samples_each_ten_seconds_without_gaps() -> None:
    runs = Runs(1)
    for at in (0.0, 10.0, 20.2):
        runs.add(at, (1.0,))
    assert len(runs.runs) == 1


def test_curves_grow_by_what_is_new_and_forget_what_is_old() -> None:
    history = History(kept_s=10)
    curves = Curves(CARD_SUBJECT, CARD)
    for second in range(30):
        history.add(msgspec.structs.replace(desktop(), taken=float(second)))
        assert curves.follow(history.points)
    assert not curves.follow(history.points)
    (run,) = curves.stack.runs
    assert (run[0].first().x(), run[0].last().x(), run[0].size()) == (19.0, 29.0, 11)
    assert run[-1].last().y() == 10 * GIB
    assert [layer.name for layer in CARD_SUBJECT.layers if layer in curves.seen] == ["not told apart"]


def test_old_runs_go() -> None:
    runs = Runs(1)
    for at in (0.0, 1.0, 50.0):
        runs.add(at, (1.0,))
    runs.forget(20.0)
    assert [run[0].first().x() for run in runs.runs] == [50.0]
    runs.forget(90.0)
    assert runs.runs == []
    runs.add(91.0, (1.0,))
    assert len(runs.runs) == 1


def test_gaps_are_found_where_nothing_was_measured() -> None:
    curves = Curves(CARD_SUBJECT, CARD)
    curves.follow([point(300), point(310), point(500), point(510), point(600)])
    frame = Frame(QRectF(0, 0, 600, 100), QRectF(0, 0, 600, 18), now=600.0)
    assert [(box.left(), box.right()) for box in gaps(frame, curves.stack)] == [(0, 300), (310, 500), (510, 600)]


# --- scales ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("total", "expected"),
    [(24, [0, 8, 16, 24]), (16, [0, 4, 8, 12, 16]), (31.2, [0, 8, 16, 24, 31.2]), (1, [0, 0.25, 0.5, 0.75, 1])],
)  # fmt: skip
def test_ticks_are_round(total: float, expected: list[float]) -> None:
    assert [size / GIB for size in ticks(round(total * GIB))] == pytest.approx(expected, abs=0.01)


def test_every_line_has_its_own_scale() -> None:
    assert scale_top("busy", 40, None) == 100
    assert scale_top("temperature", 84, None) == 100
    assert scale_top("temperature", 104, None) == 150
    assert scale_top("power", 12, 15) == 15
    assert scale_top("power", 18, 15) == 20
    assert scale_top("power", 211, None) == 250


# --- words ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.3, "now"), (5, "5 s ago"), (60, "1 min ago"), (133, "2 min 13 s ago")]
)
def test_ago(seconds: float, text: str) -> None:
    assert ago(seconds) == text


def test_a_moment_in_words() -> None:
    moment = point(100, weights=4 * GIB, ours_vram=4 * GIB)
    markers = [
        Marker(at=90, until=110, kind=MarkerKind.ANSWER, text="Qwen"),
        Marker(at=99, kind=MarkerKind.LOAD, text="Qwen"),
    ]
    told = line(CARD_SUBJECT, moment, 100, 133, markers)
    assert told == (
        "33 s ago: 10.0 GiB of 24.0 GiB in use; weights 4.0, not told apart 6.0; 50 % busy, 60 °C, 100 W. "
        "Qwen answered for 20 s, 43 s ago. Qwen was loaded, 34 s ago."
    )
    assert line(CARD_SUBJECT, None, 100, 100, ()) == "now: nothing was measured."
    assert "the card was asleep" in line(CARD_SUBJECT, point(100, asleep=True), 100, 100, ())
    assert "not known" in line(CARD_SUBJECT, point(100, vram=None), 100, 100, ())


def test_events_in_words() -> None:
    assert event(Marker(at=0, kind=MarkerKind.UNLOAD), 5) == "the model was unloaded, 5 s ago"
    assert event(Marker(at=0, kind=MarkerKind.ANSWER, text="Qwen"), 5) == "Qwen answers, begun 5 s ago"


def test_the_nearest_sample() -> None:
    points = [point(0), point(10)]
    assert nearest(points, 4, 6) is points[0]
    assert nearest(points, 30, 6) is None
    assert nearest([], 0, 6) is None


def test_the_made_up_history_has_what_it_promises(recorded: dict[str, MemorySnapshot]) -> None:
    snapshot = recorded["rx7900xtx"]
    model = loaded(snapshot.gpus[0], 5 * GIB)
    memory = Memory()
    fill(memory, with_model(snapshot, model), model)
    times = [moment.at for moment in memory.history.points]
    assert max(after - before for before, after in pairwise(times)) == 61
    assert {marker.kind for marker in memory.history.markers} == {MarkerKind.LOAD, MarkerKind.ANSWER}


def test_the_history_as_rows_of_a_table(recorded: dict[str, MemorySnapshot]) -> None:
    snapshot = recorded["rx7900xtx"]
    model = loaded(snapshot.gpus[0], 5 * GIB)
    memory = Memory()
    fill(memory, with_model(snapshot, model), model)
    subject = subjects(snapshot)[0]
    rows = minute_rows(subject, memory.history.points, memory.history.markers, None)
    assert [row.when for row in rows][:3] == ["now", "1 min ago", "2 min ago"]
    by_time = {row.when: row for row in rows}
    assert by_time["now"].used == "9.6 GiB"
    assert by_time["7 min ago"].used == ""
    assert by_time["7 min ago"].what == "nothing was measured"
    assert any("Qwen3 8B was loaded" in text for row in rows for text in row.events)
    assert minute_rows(subject, (), (), None) == ()

"""Ten minutes of points and markers."""

from __future__ import annotations

from app.memory.history import KEPT_S, MOST_POINTS, GpuPoint, History, Marker, MarkerKind, Point, point_of
from engine.memory.records import (
    GpuMemory,
    MemorySnapshot,
    ModelShare,
    Pool,
    ProcessMemory,
    RamMemory,
    WorkerGpu,
    WorkerMemory,
)

CARD = "0000:03:00.0"


def sample(at: float, *gpus: GpuMemory, worker: WorkerMemory | None = None) -> MemorySnapshot:
    ram = RamMemory(total=100, available=40, swap_total=10, swap_free=7)
    model = (ModelShare(pci=CARD, weights=50, kv=6, compute=3, output=1),)
    return MemorySnapshot(gpus=gpus, ram=ram, worker=worker, model=model, taken=at)


def test_a_point_holds_what_the_plot_draws() -> None:
    gpu = GpuMemory(
        pci=CARD,
        name="card",
        vram=Pool(200, 90),
        gtt=Pool(100, 20),
        busy_percent=7,
        power_w=30.0,
        temperature_c=50.0,
        processes=(
            ProcessMemory(pid=1, name="a", vram=60, gtt=5, ours=True),
            ProcessMemory(pid=2, name="b", vram=2, gtt=None, ours=True),
            ProcessMemory(pid=3, name="c", vram=8, gtt=4),
        ),
    )
    worker = WorkerMemory(pid=1, ram=11)
    assert point_of(sample(5.0, gpu, worker=worker)) == Point(
        at=5.0,
        gpus=(
            GpuPoint(
                pci=CARD, vram=90, gtt=20, weights=50, kv=6, compute=4, ours=67, others=12, ours_vram=62, others_vram=8,
                busy_percent=7, power_w=30.0, temperature_c=50.0,
            ),
        ),
        ram=60,
        swap=3,
        worker_ram=11,
    )  # fmt: skip


def test_unknown_stays_unknown_and_the_workers_share_stands_in_for_ours() -> None:
    gpu = GpuMemory(pci=CARD, name="card")
    worker = WorkerMemory(pid=1, gpus=(WorkerGpu(pci=CARD, vram=9, gtt=None),))
    point = point_of(sample(1.0, gpu, worker=worker)).gpu(CARD)
    assert point is not None
    assert (point.vram, point.gtt, point.ours, point.others) == (None, None, 9, None)
    nobody = point_of(sample(1.0, gpu)).gpu(CARD)
    assert nobody is not None
    assert nobody.ours is None
    assert point_of(sample(1.0)).gpu(CARD) is None


def test_ten_minutes_are_kept() -> None:
    history = History()
    history.mark(Marker(at=0.5, kind=MarkerKind.LOAD, text="old"))
    history.mark(Marker(at=300.0, kind=MarkerKind.UNLOAD, text="new"))
    for second in range(900):
        history.add(sample(float(second)))
    points = history.points
    assert (points[0].at, points[-1].at, len(points)) == (899 - KEPT_S, 899.0, 601)
    assert [marker.text for marker in history.markers] == ["new"]


def test_a_pause_is_a_gap() -> None:
    history = History()
    for at in (0.0, 1.0, 400.0, 1500.0):
        history.add(sample(at))
    assert [point.at for point in history.points] == [1500.0]
    history.add(sample(1800.0))
    assert [point.at for point in history.points] == [1500.0, 1800.0]


def test_quick_samples_are_bounded() -> None:
    history = History()
    for number in range(MOST_POINTS + 50):
        history.add(sample(number / 100))
    assert len(history.points) == MOST_POINTS


def test_an_answer_has_a_begin_and_an_end() -> None:
    history = History()
    history.end_answer(1.0)
    history.begin_answer(10.0, "model")
    history.mark(Marker(at=12.0, kind=MarkerKind.UNLOAD))
    history.end_answer(15.0)
    history.end_answer(16.0)
    history.begin_answer(20.0)
    history.begin_answer(30.0)
    assert [(marker.kind, marker.at, marker.until) for marker in history.markers] == [
        (MarkerKind.ANSWER, 10.0, 15.0),
        (MarkerKind.UNLOAD, 12.0, None),
        (MarkerKind.ANSWER, 20.0, 30.0),
        (MarkerKind.ANSWER, 30.0, None),
    ]


def test_an_answer_that_still_runs_is_kept_however_long() -> None:
    history = History()
    history.begin_answer(0.0)
    for second in range(0, 2000, 10):
        history.add(sample(float(second)))
    (answer,) = history.markers
    assert answer.until is None
    history.end_answer(2000.0)
    history.add(sample(2601.0))
    assert not history.markers

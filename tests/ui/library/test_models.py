"""The two table models and the words."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QAbstractItemModel, QSortFilterProxyModel, Qt
from PySide6.QtTest import QAbstractItemModelTester

from app.downloads.service import DownloadJob, JobState
from engine.downloads.messages import Failed
from engine.library.listing import parse_listing
from engine.library.records import InstalledModel, Role
from engine.library.states import FileState
from ui.library import files_model, installed_model, words
from ui.library.files_model import FilesTable
from ui.library.installed_model import InstalledTable
from ui.theme import Theme

MODELS = Path("/models")


def model(name: str, **changes: object) -> InstalledModel:
    base = InstalledModel(
        path=MODELS / "a/b" / f"{name}.gguf",
        name=name,
        label=f"{name} Q4_K_M",
        quant="Q4_K_M",
        size_bytes=5_030_000_000,
        folder=MODELS / "a/b",
        can_chat=True,
        role=Role.CHAT,
        context_length=40960,
    )
    return msgspec.structs.replace(base, **changes)


def watch(table: QAbstractItemModel) -> QAbstractItemModelTester:
    return QAbstractItemModelTester(table, QAbstractItemModelTester.FailureReportingMode.Fatal)


def texts(table: QAbstractItemModel, row: int) -> list[str]:
    return [table.index(row, column).data() for column in range(table.columnCount())]


def test_installed_rows(theme: Theme) -> None:
    table = InstalledTable(theme)
    tester = watch(table)
    table.set_rows((model("A"), model("B", quant="", context_length=None, folder=Path("/else"))), MODELS)
    assert texts(table, 0) == ["A", "Q4_K_M", "5.03 GB", "40k", "Ready", "a/b", "Unknown"]
    assert texts(table, 1) == ["B", "–", "5.03 GB", "–", "Ready", "/else", "Unknown"]
    table.set_loaded(str(MODELS / "a/b/A.gguf"))
    assert table.index(0, installed_model.Column.STATUS).data() == "Loaded"
    assert table.is_loaded(model("A"))
    table.set_rows((model("A", state=FileState.DAMAGED, problem="It is <b>broken</b>."),), MODELS)
    table.set_loaded(None)
    status = table.index(0, installed_model.Column.STATUS)
    assert status.data() == "Damaged"
    assert "&lt;b&gt;" in status.data(Qt.ItemDataRole.ToolTipRole)
    assert status.data(Qt.ItemDataRole.ForegroundRole).name().upper() == theme.tokens.bad
    table.set_rows((), MODELS)
    assert table.rowCount() == 0
    del tester


def test_a_changed_row_is_told_without_a_reset(theme: Theme, qtbot) -> None:
    table = InstalledTable(theme)
    tester = watch(table)
    table.set_rows((model("A"),), MODELS)
    with qtbot.waitSignal(table.dataChanged), qtbot.assertNotEmitted(table.modelReset):
        table.set_rows((model("A", size_bytes=7),), MODELS)
    assert table.index(0, installed_model.Column.SIZE).data() == "7 bytes"
    del tester


def test_files_rows(theme: Theme) -> None:
    table = FilesTable(theme)
    tester = watch(table)
    names = ("m-Q4_K_M.gguf", "mmproj.gguf", "s-Q8_0-00001-of-00002.gguf", "s-Q8_0-00002-of-00002.gguf")
    siblings = [{"rfilename": name, "size": 10**9 if "K" in name else None} for name in names]
    table.set_rows(parse_listing("a/b", {"siblings": siblings}).files)
    table.set_status({"m-Q4_K_M.gguf": "Installed"})
    rows = {texts(table, row)[files_model.Column.FILE]: texts(table, row) for row in range(table.rowCount())}
    assert rows["m-Q4_K_M.gguf"] == [
        "Q4_K_M", "1.00 GB", "Good, the usual choice", "m-Q4_K_M.gguf", "Installed", "Unknown",
    ]  # fmt: skip
    assert rows["mmproj.gguf"][1:3] == ["unknown", "For another model"]
    assert rows["s-Q8_0-00001-of-00002.gguf (2 parts)"][:2] == ["Q8_0", "unknown"]
    del tester


@pytest.mark.parametrize("table", [InstalledTable, FilesTable])
def test_headers(theme: Theme, table: type[InstalledTable | FilesTable]) -> None:
    made = table(theme)
    titles = [made.headerData(column, Qt.Orientation.Horizontal) for column in range(made.columnCount())]
    assert all(titles)
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "a few seconds left"),
        (34, "30 s left"),
        (59.9, "50 s left"),
        (61, "1 min left"),
        (3540, "59 min left"),
        (5460, "1 h 31 min left"),
        (9e6, "more than a day left"),
    ],
)
def test_time_left(seconds: float, text: str) -> None:
    assert words.time_left(seconds) == text


@pytest.mark.parametrize(("value", "text"), [(46_123_000, "46.1 MB/s"), (123_400_000, "123 MB/s"), (0, "0.0 MB/s")])
def test_speed(value: float, text: str) -> None:
    assert words.speed(value) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(None, ""), (8_190_000_000, "8.2B"), (135_000_000, "135M"), (27_424, "27K"), (900, "900"), (405 * 10**9, "405B")],
)
def test_parameters(count: int | None, text: str) -> None:
    assert words.parameters(count) == text


def job(state: JobState, **more: object) -> DownloadJob:
    base = DownloadJob(id=1, repo="a/b", file="m.gguf", target=Path("/m/m.gguf"), n_files=1, state=state)
    return msgspec.structs.replace(base, **more)


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (job(JobState.QUEUED), "waiting for its turn"),
        (
            job(JobState.LOADING, done=10**9, total=4 * 10**9, speed=5e7, seconds_left=60.0),
            "1.00 GB of 4.00 GB · 50.0 MB/s · 1 min left",
        ),
        (job(JobState.LOADING, done=10**9), "1.00 GB"),
        (job(JobState.WAITING, note="No data came.", retry_in=7.2), "No data came. Trying again in 7 s."),
        (
            job(JobState.FAILED, done=10, total=20, error=Failed(code="x", message="y")),
            "10 bytes of 20 bytes · stopped",
        ),
        (job(JobState.DONE, done=20, total=20, verified=True), "20 bytes · checksum right"),
        (job(JobState.DONE, done=20, total=20, verified=False), "20 bytes · no checksum to compare with"),
    ],
)
def test_lines(shown: DownloadJob, text: str) -> None:
    assert words.job_line(shown) == text


def test_sums() -> None:
    one = job(JobState.LOADING, done=10**9, total=4 * 10**9, speed=3e7)
    assert words.overall(()) == ""
    assert words.overall((job(JobState.DONE),)) == ""
    assert words.overall((one, job(JobState.QUEUED, total=10**9))) == "2 downloads · 30.0 MB/s · 2 min left"


def test_sorting_by_size_counts_in_bytes(theme: Theme) -> None:
    table, proxy = InstalledTable(theme), QSortFilterProxyModel()
    proxy.setSourceModel(table)
    proxy.setSortRole(installed_model.SORT_ROLE)
    sizes = {"small": 90, "huge": 70 * 10**9, "large": 5 * 10**9, "middle": 3 * 10**9}
    table.set_rows(tuple(model(name, size_bytes=size) for name, size in sizes.items()), MODELS)
    proxy.sort(installed_model.Column.SIZE)
    assert [proxy.index(row, 0).data() for row in range(4)] == ["small", "middle", "large", "huge"]

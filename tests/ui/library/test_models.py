"""The models of the lists and tables, and the words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from PySide6.QtCore import QAbstractItemModel, Qt
from PySide6.QtTest import QAbstractItemModelTester

from app.downloads.records import JobState
from app.fit.badges import Badge
from app.folders.look import FolderEntry
from engine.downloads.messages import Failed
from engine.hub.quality import Quality
from engine.hub.records import Gate
from engine.library.listing import FilePart
from engine.library.records import Role
from engine.library.roots import RootKind, RootState
from engine.library.states import FileState
from engine.memory.fit.records import Verdict
from tests.ui.library.fakes import (
    CARD_ROOT,
    CATALOGUE,
    DAY,
    GB,
    OLLAMA,
    OWN,
    ROOTS,
    file_of,
    installed,
    job,
    page,
    plan,
    root_info,
    summary,
)
from ui.library import words
from ui.library.discover import words as found_words
from ui.library.discover.entries import Where, entries_of, entries_of_catalogue, size_of, status_of
from ui.library.discover.files_model import FilesModel
from ui.library.discover.found import FoundModel, Heading
from ui.library.fit_words import look_of
from ui.library.keep import roots_words
from ui.library.keep import words as keep_words
from ui.library.keep.columns import Column
from ui.library.keep.models_table import ModelsTable
from ui.library.keep.roots_list import ROW_ROLE, RootsModel
from ui.library.outside import HUB, site_of
from ui.picker.model import SIZE_ROLE, EntriesModel
from ui.theme import Theme


def watch(table: QAbstractItemModel) -> QAbstractItemModelTester:
    return QAbstractItemModelTester(table, QAbstractItemModelTester.FailureReportingMode.Fatal)


def texts(table: QAbstractItemModel, row: int) -> list[str]:
    return [table.index(row, column).data() for column in range(table.columnCount())]


def names(table: QAbstractItemModel) -> list[str]:
    return [table.index(row, 0).data() for row in range(table.rowCount())]


# ---- models that are here


def test_installed_rows(theme: Theme) -> None:
    table = ModelsTable(theme)
    tester = watch(table)
    known = installed("Qwen3-8B", "Q8_0", 8.7)
    bare = installed("Bare", "", 1, OLLAMA, context_length=None, n_params=None, licence="", last_used=None)
    table.set_rows((known, bare), {OWN.id: "Own folder"})
    first, second = texts(table, 0), texts(table, 1)
    assert first[:7] == ["Qwen3-8B", "Q8_0", "8.70 GB", "Unknown", "40k", "2 days ago", "Ready"]
    assert first[7:] == ["13.9B", "qwen3", "Apache-2.0", "Own folder"]
    assert second[1:7] == ["–", "1.00 GB", "Unknown", "–", "never", "Ready"]
    assert second[7:] == ["–", "qwen3", "–", str(bare.folder)]
    table.set_loaded(str(known.path))
    assert table.index(0, Column.STATUS).data() == "Loaded"
    assert table.is_loaded(known)
    table.set_rows((msgspec.structs.replace(known, label="Other"), bare), {})
    table.set_updates(frozenset({bare.path}))
    assert table.index(1, Column.STATUS).data() == "Newer one"
    broken = msgspec.structs.replace(known, state=FileState.DAMAGED, can_chat=False, problem="It is <b>broken</b>.")
    table.set_loaded(None)
    table.set_rows((broken,), {})
    status = table.index(0, Column.STATUS)
    assert status.data() == "Damaged"
    assert "&lt;b&gt;" in status.data(Qt.ItemDataRole.ToolTipRole)
    assert tester is not None


def test_installed_rows_sort_by_size_not_by_text(theme: Theme) -> None:
    table = ModelsTable(theme)
    tester = watch(table)
    table.set_rows(tuple(installed(name, "Q8_0", gb) for name, gb in (("a", 9), ("b", 10), ("c", 0.1))), {})
    table.sort(Column.SIZE)
    assert names(table) == ["c", "a", "b"]
    table.sort(Column.SIZE, Qt.SortOrder.DescendingOrder)
    assert names(table) == ["b", "a", "c"]
    assert tester is not None


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "Ready"),
        ({"verified": False}, "Damaged"),
        ({"state": FileState.ABSENT}, "Not inserted"),
        ({"state": FileState.MISSING_PART}, "Part missing"),
        ({"duplicate_of": Path("/x")}, "Duplicate"),
        ({"duplicate_of": Path("/x"), "same_file": True}, "Ready"),
        ({"role": Role.EMBEDDING, "can_chat": False}, "Embedding"),
    ],
)
def test_the_status_of_a_model(changes: dict[str, Any], text: str) -> None:
    assert keep_words.status(installed("A", "Q8_0", 1, **changes), loaded=False).text == text


def test_facts_name_the_source(theme: Theme) -> None:
    other = installed("A", "Q8_0", 1, OLLAMA, last_used=None, verified=True)
    assert "from Ollama" in keep_words.facts(other, None, "")
    assert "checksum right" in keep_words.facts(other, None, "")
    own = keep_words.facts(installed("A", "Q8_0", 1), ROOTS[0], "Own folder")
    assert "maker/A-GGUF in Own folder" in own


# ---- folders


def test_roots(theme: Theme) -> None:
    model = RootsModel()
    tester = watch(model)
    model.set_roots(ROOTS)
    assert [model.index(row, 0).data() for row in range(model.rowCount())] == [
        "All models",
        "Own folder",
        "Ollama",
        "SD",
    ]
    model.set_roots((msgspec.structs.replace(ROOTS[0], models=9), *ROOTS[1:]))
    assert "14 models" in model.lines(None)[0].replace("12", "14")
    model.set_roots((root_info(OWN, "models", models=1, files=1, n_bytes=0),))
    assert model.lines(None) == ("1 model · linked", "")
    assert "take no room here" in roots_words.tooltip(model.index(1, 0).data(ROW_ROLE))
    model.set_roots(())
    assert model.lines(None) == ("No models", "")
    assert tester is not None


def test_only_own_folders_take_files() -> None:
    card = root_info(CARD_ROOT, "SD")
    assert [one.root.kind for one in roots_words.places_to_put((card, *ROOTS))] == [RootKind.OWN, RootKind.CARD]
    full = root_info(CARD_ROOT, "SD", writable=False)
    assert [one.root.kind for one in roots_words.places_to_put((full, *ROOTS))] == [RootKind.OWN]


def test_an_own_folder_without_anything_is_no_alarm() -> None:
    fresh = root_info(OWN, "models", state=RootState.MISSING, models=0, files=0)
    assert (roots_words.state(fresh), roots_words.icon(fresh)) == ("Empty", "house-simple")
    gone = root_info(OWN, "models", state=RootState.MISSING)
    assert (roots_words.state(gone), roots_words.icon(gone)) == ("Not there now", "warning")


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"state": RootState.NOT_INSERTED}, "Not inserted"),
        ({"state": RootState.MISSING}, "Not there now"),
        ({"state": RootState.UNREADABLE}, "Cannot be read"),
        ({"models": 0, "files": 0}, "No models"),
        ({"models": 1}, "1 model · 21.0 GB"),
        ({"models": 1, "files": 1, "n_bytes": 0}, "1 model · linked"),
    ],
)
def test_the_state_of_a_folder(changes: dict[str, object], text: str) -> None:
    assert roots_words.state(root_info(CARD_ROOT, "SD", **changes)) == text


# ---- what was found


def test_found_rows_are_appended_when_they_only_grow(theme: Theme) -> None:
    model = FoundModel()
    tester = watch(model)
    resets: list[bool] = []
    model.modelReset.connect(lambda: resets.append(True))
    one, two = summary("a/One"), summary("b/Two")
    model.set_rows([one])
    model.set_rows([one, two])
    model.set_rows([one, two])
    assert (len(resets), model.rowCount()) == (1, 2)
    model.set_rows([Heading("Good models"), CATALOGUE[0]])
    assert len(resets) == 2
    assert not model.index(0, 0).flags() & Qt.ItemFlag.ItemIsSelectable
    assert model.row_of(CATALOGUE[0].repo) == 1
    spoken = model.index(1, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "Qwen3 4B, chat · 4.0B · 2.50 GB · Apache-2.0, for the Steam Deck"
    assert tester is not None


def test_entries_pair_what_belongs_together() -> None:
    found = entries_of(page("a/Qwen-GGUF", sees=True))
    assert [entry.name for entry in found][-2:] == ["BF16", "mmproj-Qwen-F16.gguf"]
    usual = next(entry for entry in found if entry.usual)
    assert size_of(usual, projector=True, draft=False) == int(5.86 * GB)
    assert size_of(usual, projector=False, draft=True) == 5 * GB
    listing, [only] = entries_of_catalogue(CATALOGUE[0])
    assert (listing.repo, only.quality, only.usual) == (CATALOGUE[0].repo, Quality.GOOD, True)


def test_where_a_file_is() -> None:
    file = file_of("Qwen3-8B-Q8_0.gguf", 8.7, sha256="a" * 64)
    repo = "maker/Qwen3-8B-GGUF"
    here = installed("Qwen3-8B", "Q8_0", 8.7)
    assert status_of(repo, file, (), ()).where is Where.NEW
    assert status_of(repo, file, (), (here,)).where is Where.HERE
    assert status_of("other/repo", file, (), (here,)).where is Where.NEW
    twin = msgspec.structs.replace(here, repo=None, hashes=("a" * 64,))
    assert status_of("other/repo", file, (), (twin,)).where is Where.HERE
    loading = job(4, repo, file.path, JobState.LOADING, done=GB, total=4 * GB)
    found = status_of(repo, file, (loading,), (here,))
    assert (found.where, found.percent, found.job) == (Where.COMING, 25, 4)
    failed = msgspec.structs.replace(loading, state=JobState.FAILED)
    assert status_of(repo, file, (failed,), ()).where is Where.STOPPED
    assert status_of(repo, file, (msgspec.structs.replace(loading, state=JobState.DONE),), ()).where is Where.NEW


def test_file_rows(theme: Theme) -> None:
    table = FilesModel(theme)
    tester = watch(table)
    entries = entries_of(page("a/Qwen-GGUF", sees=True))
    assert table.set_rows(entries)
    assert not table.set_rows(entries)
    table.set_fit(lambda _entry: Badge(plan(Verdict.PARTLY, "Some.", 9.4)))
    table.refit()
    assert texts(table, 2)[:4] == ["Q4_K_M", "5.00 GB", "Partly, 21/37 · 9.4 tok/s", "Good"]
    assert texts(table, 7)[:4] == ["mmproj-Qwen-F16.gguf", "860 MB", None, "For pictures"]
    assert "Qwen-Q4_K_M.gguf" in table.index(2, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert tester is not None


def test_picker_rows(theme: Theme) -> None:
    model = EntriesModel(theme)
    tester = watch(model)
    entries = (FolderEntry(Path("/a/b"), True), FolderEntry(Path("/a/x.gguf"), False, GB))
    model.show(entries, only_folders=False)
    assert [(model.index(row, 0).data(), model.index(row, 0).data(SIZE_ROLE)) for row in range(2)] == [
        ("b", ""),
        ("x.gguf", "1.00 GB"),
    ]
    assert model.place_of(Path("/a/x.gguf")) == 1
    model.show(entries, only_folders=True)
    assert model.rowCount() == 1
    assert tester is not None


# ---- words


@pytest.mark.parametrize(
    ("number", "text"), [(None, ""), (0, "0"), (950, "950"), (1000, "1k"), (12_345, "12k"), (1_204_000, "1.2M")]
)
def test_counts(number: int | None, text: str) -> None:
    assert found_words.count(number) == text


@pytest.mark.parametrize(
    ("days", "text"),
    [
        (0, "today"), (1, "yesterday"), (5, "5 days ago"), (14, "2 weeks ago"), (45, "6 weeks ago"),
        (100, "3 months ago"), (800, "2 years ago"),
    ],
)  # fmt: skip
def test_ages(days: int, text: str) -> None:
    assert found_words.age(1e9 - days * DAY, 1e9) == text
    assert found_words.age(None) == ""


@pytest.mark.parametrize(
    ("name", "text"),
    [("apache-2.0", "Apache-2.0"), ("llama3.1", "Llama 3.1"), ("cc-by-nc-4.0", "CC-BY-NC-4.0"), ("my-own", "my-own")],
)
def test_licences(name: str, text: str) -> None:
    assert found_words.licence(name) == text


def test_a_mixture_of_experts_says_how_many_weights_work() -> None:
    assert found_words.parameters(30_500_000_000, 3_300_000_000) == "30.5B, 3.3B active"
    assert found_words.gate(Gate.BY_HAND) == "On request"


def test_the_place_of_pages() -> None:
    from app.downloads.settings import DownloadSettings

    assert site_of(DownloadSettings(), {}) == HUB
    assert site_of(DownloadSettings(), {"HF_ENDPOINT": "http://127.0.0.1:9/"}) == "http://127.0.0.1:9"
    assert (
        site_of(DownloadSettings(endpoint="https://mirror.example/"), {"HF_ENDPOINT": "x"}) == "https://mirror.example"
    )


def test_time_left_is_rough() -> None:
    assert words.time_left(4) == "a few seconds left"
    assert words.time_left(47) == "40 s left"
    assert words.time_left(600) == "10 min left"
    assert words.time_left(7300) == "2 h 02 min left"
    assert words.time_left(10**6) == "more than a day left"


@pytest.mark.parametrize(
    ("state", "changes", "text"),
    [
        (JobState.LOADING, {"done": GB, "total": 4 * GB, "speed": 2.5e6}, "1.00 GB of 4.00 GB · 2.5 MB/s"),
        (JobState.QUEUED, {"total": GB}, "0 bytes of 1.00 GB · waiting for its turn"),
        (JobState.CHECKING, {"repair": True, "total": GB}, "0 bytes of 1.00 GB · looking for wrong bytes"),
        (JobState.WAITING, {"note": "No answer.", "retry_in": 7.4}, "No answer. Trying again in 7 s."),
        (JobState.WAITING, {"note": "Too many.", "retry_in": 130.0}, "Too many. Trying again in 3 min."),
        (JobState.PAUSED, {"done": GB}, "1.00 GB · paused"),
        (JobState.FAILED, {"error": Failed(code="x", message="m", next_step="")}, "stopped"),
        (JobState.DONE, {"total": GB, "done": GB, "verified": False}, "1.00 GB · no checksum to compare with"),
        (
            JobState.DONE,
            {"total": GB, "done": GB, "verified": True, "repair": True},
            "1.00 GB · mended, checksum right",
        ),
    ],
)
def test_the_line_of_a_download(state: JobState, changes: dict[str, object], text: str) -> None:
    assert words.job_line(job(1, "a/b", "c.gguf", state, **changes)) == text


def test_the_badge_of_a_part() -> None:
    assert look_of(Badge(plan(Verdict.NO, "Too large."))).text == "No"
    assert FilePart(path="x").size is None

"""Badges of models that are here and of files on a Hub."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.downloads.remote_headers import RemoteHeaders
from app.fit.badges import FitBadges, family_of
from app.jobs import SerialRunner, ThreadExecutor
from app.load.service import LoadService
from app.notices import Notices
from app.settings.store import SettingsStore
from engine.downloads.messages import Limits
from engine.library.listing import FilePart, RepoFile, RepoListing
from engine.memory.fit import fit_devices, read_model
from engine.memory.fit.records import FitModel, Verdict
from engine.memory.fit.remote import scaled_to
from engine.protocol.types import DeviceInfo
from tests.app.chat.cranked import Cranked
from tests.fakes import sparse_gguf as sparse
from tests.fakes.local_hub import LocalHub
from tests.fakes.sparse_gguf import Sizes
from tests.ui.shell.standins import PROCESSOR, RADEON

QUICK = Limits(connect_s=5, stall_s=20, retries=0, first_wait_s=0.02, report_s=0)
REPO = "maker/small-GGUF"
SHAPE = Sizes(layers=4, width=256, heads=4, kv_heads=2, ff=512, vocabulary=300)
QUANTS = {"Q8_0": "Q8_0", "Q4_0": "Q4_0", "F16": "F16"}


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalHub]:
    with LocalHub() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


class Place:
    def __init__(self, folder: Path, owner: QObject, qtbot: QtBot) -> None:
        self.folder, self.qtbot = folder, qtbot
        self.devices: Sequence[DeviceInfo] = (RADEON, PROCESSOR)
        self.headers = Cranked()
        store = SettingsStore(folder / "settings.json", SerialRunner(Cranked(), owner), Notices())
        self.load = LoadService(
            store, self.headers, lambda: self.devices, lambda: fit_devices(self.devices), lambda: (), owner
        )
        self.remote = RemoteHeaders(folder / "kept", ThreadExecutor("headers"), owner, QUICK)
        self.badges = FitBadges(self.load, self.remote, owner)

    def until(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(condition, timeout=30_000)


@pytest.fixture
def place(tmp_path: Path, qtbot: QtBot) -> Iterator[Place]:
    owner = QObject()
    made = Place(tmp_path, owner, qtbot)
    yield made
    made.remote.shutdown()
    shiboken6.delete(owner)


def offer(hub: LocalHub, folder: Path) -> RepoListing:
    """A repository with one model in three quants."""
    files = []
    for label, kind in QUANTS.items():
        path = sparse.llama(SHAPE, kind).write(folder / f"small-{label}.gguf")
        hub.add(REPO, path.name, path.read_bytes())
        size = path.stat().st_size
        part = FilePart(path=path.name, size=size)
        files.append(RepoFile(path=path.name, quant=label, size=size, sha256=None, parts=(part,)))
    return RepoListing(repo=REPO, files=tuple(files))


def model_at(path: Path) -> FitModel:
    found = read_model(path)
    assert isinstance(found, FitModel)
    return found


def test_one_header_says_what_all_quants_need(place: Place, hub: LocalHub, tmp_path: Path) -> None:
    listing = offer(hub, tmp_path)
    chosen = listing.files[0]
    place.badges.look_at_files(listing, listing.files, chosen)
    place.until(lambda: place.remote.is_settled(listing, chosen))
    assert place.badges.of_file(listing, chosen).plan == place.load.forecast_of(model_at(tmp_path / chosen.path))
    for file in listing.files[1:]:
        badge = place.badges.of_file(listing, file)
        real = place.load.forecast_of(model_at(tmp_path / file.path))
        assert badge.akin
        assert badge.plan is not None
        assert real is not None
        assert badge.plan.verdict is Verdict.FITS
        assert badge.plan.everything == pytest.approx(real.everything, rel=0.03)
    place.badges.look_at_files(listing, listing.files, chosen)
    assert not any(place.remote.is_settled(listing, file) for file in listing.files[1:]), "one header is enough"


def test_what_was_read_is_kept(place: Place, hub: LocalHub, tmp_path: Path) -> None:
    listing = offer(hub, tmp_path)
    place.badges.look_at_files(listing, listing.files, listing.files[0])
    place.until(lambda: place.remote.is_settled(listing, listing.files[0]))
    hub.close()
    again = RemoteHeaders(place.folder / "kept", ThreadExecutor("headers"), None, QUICK)
    again.ask(listing, listing.files[0])
    place.until(lambda: again.is_settled(listing, listing.files[0]))
    assert again.model(listing, listing.files[0]) == place.remote.model(listing, listing.files[0])
    again.shutdown()
    assert [file.suffix for file in (place.folder / "kept").iterdir()] == [".json"], "no header stays behind"


def test_without_a_network_it_is_unknown_and_tried_again(place: Place, hub: LocalHub, tmp_path: Path) -> None:
    listing = offer(hub, tmp_path)
    hub.close()
    place.badges.look_at_files(listing, listing.files, listing.files[0])
    place.until(lambda: place.remote.is_settled(listing, listing.files[0]))
    assert place.badges.of_file(listing, listing.files[0]).plan is None
    assert place.badges.suggestions_for_file(listing, listing.files[0]) == ()
    place.badges.leave_files()
    assert not place.remote.is_settled(listing, listing.files[0])


def test_a_file_on_the_disk(place: Place, tmp_path: Path) -> None:
    path = sparse.llama(SHAPE).write(tmp_path / "a.gguf")
    assert place.badges.of_installed(path).plan is None
    place.badges.look_at([path])
    place.headers.drain()
    plan = place.badges.of_installed(path).plan
    assert plan is not None
    assert plan.verdict is Verdict.FITS
    place.devices = ()
    assert place.badges.of_installed(path).plan is None, "no engine, no figures"


def test_families() -> None:
    def file(path: str, quant: str) -> RepoFile:
        return RepoFile(path=path, quant=quant, size=1, sha256=None, parts=())

    same = {family_of(file("Qwen3-8B-Q4_K_M.gguf", "Q4_K_M")), family_of(file("Qwen3-8B-Q8_0.gguf", "Q8_0"))}
    same.add(family_of(file("BF16/Qwen3-8B-BF16-00001-of-00002.gguf", "BF16")))
    assert len(same) == 1
    assert family_of(file("Qwen3-4B-Q8_0.gguf", "Q8_0")) not in same


def test_scaling_keeps_the_cache(tmp_path: Path) -> None:
    half, whole = (sparse.llama(SHAPE, kind).write(tmp_path / f"{kind}.gguf") for kind in ("Q8_0", "F16"))
    found = scaled_to(model_at(whole), whole.stat().st_size, half.stat().st_size)
    assert found.weights == pytest.approx(model_at(half).weights, rel=0.02)
    assert found.caches == model_at(half).caches

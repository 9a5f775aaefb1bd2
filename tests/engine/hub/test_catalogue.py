"""The catalogue: facts that can be checked without the network, and what it recommends."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from engine.hub.catalogue import MOST, READABLE, Room, catalogue_file, need, read_catalogue, recommended, speed
from engine.hub.quality import bits_of
from engine.hub.records import CatalogueModel, Purpose
from engine.hub.room import room_of
from engine.library.address import parse_repo
from engine.library.listing import FileKind
from engine.library.safe_path import safe_relative
from engine.memory.fit.records import FitDevice
from engine.memory.sizes import GIB
from engine.protocol.types import DeviceInfo, DeviceKind

MODELS = read_catalogue(catalogue_file())


def test_it_holds_enough_of_every_size() -> None:
    assert len(MODELS) >= 20
    assert MODELS[0].n_params <= 200_000_000
    assert MODELS[-1].n_params >= 70_000_000_000
    assert sum(model.deck for model in MODELS) >= 5
    assert {purpose for model in MODELS for purpose in model.purposes} == set(Purpose)
    assert [model.size for model in MODELS] == sorted(model.size for model in MODELS)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_every_entry_is_whole_and_agrees_with_itself(model: CatalogueModel) -> None:
    assert parse_repo(model.repo).repo == model.repo
    assert re.fullmatch(r"[0-9a-f]{40}", model.revision)
    assert re.fullmatch(r"[0-9a-f]{64}", model.sha256)
    assert str(safe_relative(model.file)) == model.file
    (file,) = model.listing.files
    assert file.kind is FileKind.MODEL
    assert file.quant
    # a size belongs to a quantisation: embeddings and small models are above their type, never much below
    bits = 8 * model.size / model.n_params
    assert (bits_of(file.quant) or bits) * 0.85 < bits < (bits_of(file.quant) or bits) * 1.5
    assert model.active is None or model.active < model.n_params
    assert model.why.endswith(".")
    assert "\n" not in model.why
    assert 0.3 < need(model) / (model.memory_gib * GIB) < 1
    assert not model.deck or need(model) < 6.5 * GIB
    assert not model.projector or model.projector.endswith(".gguf")


def test_nothing_is_there_twice() -> None:
    for field in ("name", "sha256", "file", "rank"):
        counted = Counter(getattr(model, field) for model in MODELS)
        assert counted.most_common(1)[0][1] == 1, field


def test_a_pinned_file_is_downloaded_from_its_revision() -> None:
    listing = MODELS[3].listing
    assert (listing.repo, listing.revision, listing.commit) == (MODELS[3].repo, MODELS[3].revision, MODELS[3].revision)
    assert (listing.files[0].sha256, listing.files[0].parts[0].sha256) == (MODELS[3].sha256,) * 2


def test_a_checksum_without_a_revision_is_not_relied_on() -> None:
    loose = msgspec.structs.replace(MODELS[3], revision="main")
    assert (loose.listing.revision, loose.listing.commit, loose.listing.files[0].sha256) == ("main", None, None)


@pytest.mark.parametrize("gib", [1, 2, 4, 6, 8, 10, 12, 16, 24, 32, 48, 96])
def test_what_is_recommended_fits_and_is_the_best_that_does(gib: int) -> None:
    room = Room(size=gib * GIB)
    found = recommended(MODELS, room)
    assert 1 <= len(found) <= MOST
    assert all(need(model) <= room.size for model in found)
    fitting = [model for model in MODELS if need(model) <= room.size]
    assert found[0] == max(fitting, key=lambda model: model.rank)
    assert [model.rank for model in found] == sorted((model.rank for model in found), reverse=True)
    assert len(set(found)) == len(found)


def test_more_room_never_recommends_a_weaker_first_model() -> None:
    best = [recommended(MODELS, Room(size=size * GIB))[0].rank for size in range(1, 64)]
    assert best == sorted(best)


def test_slow_memory_recommends_what_can_be_read_along() -> None:
    room = Room(size=60 * GIB, bandwidth=60e9)
    found = recommended(MODELS, room)
    assert all((speed(model, room) or 0) >= READABLE for model in found)
    assert any(model.active is not None for model in found)
    slow = Room(size=60 * GIB, bandwidth=1e8)
    assert recommended(MODELS, slow)


def test_no_room_no_recommendation() -> None:
    assert recommended(MODELS, Room(size=GIB // 4)) == ()


def test_a_damaged_catalogue_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "catalogue.json"
    path.write_text('[{"name": "x"}]')
    with pytest.raises(msgspec.DecodeError):
        read_catalogue(path)


def device(kind: DeviceKind, gib: float | None, bandwidth: float | None = None) -> FitDevice:
    info = DeviceInfo(
        id=kind.value,
        backend="x",
        name=kind.value,
        pci=None,
        kind=kind,
        memory_total=None,
        memory_free=None,
        usable=True,
    )
    return FitDevice(info=info, room=None if gib is None else int(gib * GIB), bandwidth=bandwidth)


@pytest.mark.parametrize(
    ("devices", "gib"),
    [
        ((), None),
        ((device(DeviceKind.GPU, None),), None),
        ((device(DeviceKind.CPU, 20.0),), 20.0),
        ((device(DeviceKind.SOFTWARE, 20.0),), None),
        ((device(DeviceKind.IGPU, 9.0), device(DeviceKind.CPU, 9.0)), 9.0),
        ((device(DeviceKind.GPU, 7.0), device(DeviceKind.GPU, 15.0), device(DeviceKind.CPU, 30.0)), 15.0),
        ((device(DeviceKind.GPU, 0.5), device(DeviceKind.CPU, 30.0)), 30.0),
        ((device(DeviceKind.GPU, 7.0), device(DeviceKind.IGPU, 20.0)), 7.0),
    ],
)
def test_room_of_a_machine(devices: tuple[FitDevice, ...], gib: float | None) -> None:
    found = room_of(devices)
    assert (None if found is None else found.size / GIB) == gib

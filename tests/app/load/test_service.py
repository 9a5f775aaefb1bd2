"""Which options a load gets, and what drafts know."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from app.jobs import SerialRunner
from app.library.service import InstalledModel
from app.load.service import LoadService
from app.load.settings import LoadSettings, SeenDevice
from app.notices import Notices
from app.settings.records import EngineSettings
from app.settings.store import SettingsStore
from engine.loading.profile import Suit
from engine.memory.fit.devices import fit_devices
from engine.memory.fit.records import FitDevice, Verdict
from engine.protocol.types import DeviceInfo, DeviceKind, FlashAttention, KvType, LoraAdapter
from tests.app.chat.cranked import Cranked
from tests.fakes.options import window_options
from tests.fakes.tiny_gguf import tiny_llama
from tests.fakes.tiny_variants import moe_llama

GIB = 1 << 30
CPU = DeviceInfo(
    id="CPU", backend="CPU", name="CPU", pci=None, kind=DeviceKind.CPU, memory_total=16 * GIB,
    memory_free=12 * GIB, usable=True,
)  # fmt: skip
APU = msgspec.structs.replace(
    CPU, id="Vulkan0", backend="Vulkan", name="APU", pci="0000:04:00.0", kind=DeviceKind.IGPU, memory_free=11 * GIB
)
CARD = msgspec.structs.replace(APU, name="Card", pci="0000:03:00.0", kind=DeviceKind.GPU, memory_total=24 * GIB)
PROFILE = window_options(n_ubatch=128, mmap=False)


class World:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.devices: Sequence[DeviceInfo] = ()
        self.models: tuple[InstalledModel, ...] = ()
        self.saves, self.headers = Cranked(), Cranked()
        self.start()

    def start(self) -> None:
        self.saves.drain()
        self.store = SettingsStore(self.folder / "settings.json", SerialRunner(self.saves), Notices())
        self.service = LoadService(self.store, self.headers, lambda: self.devices, self.machine, lambda: self.models)

    def machine(self) -> tuple[FitDevice, ...]:
        return fit_devices(self.devices)

    def install(self, name: str, data: bytes, **changes: Any) -> Path:
        path = self.folder / name
        path.write_bytes(data)
        values = {"path": path, "name": name, "label": name, "size_bytes": len(data), "folder": self.folder}
        self.models = (*self.models, InstalledModel(**{**values, "can_chat": True, **changes}))
        self.service.take_models()
        return path

    def tell(self, *devices: DeviceInfo) -> None:
        self.devices = devices
        self.service.take_devices()


@pytest.fixture
def world(tmp_path: Path, qtbot: QtBot) -> World:
    return World(tmp_path)


def test_a_card_of_its_own_changes_nothing_unasked(world: World) -> None:
    path = world.install("a.gguf", tiny_llama())
    world.tell(CARD, APU, CPU)
    assert world.service.options_for(path) == window_options()
    assert world.service.suits_of(path, window_options()) == ()
    assert not world.headers.waiting


def test_integrated_graphics_get_their_profile(world: World) -> None:
    path = world.install("a.gguf", tiny_llama())
    world.tell(APU, CPU)
    options = world.service.options_for(path)
    assert options == PROFILE
    assert world.service.suits_of(path, options) == (Suit.SMALL_STEPS, Suit.NO_MMAP)
    assert world.service.suits_of(path, window_options()) == ()


def test_what_was_remembered_goes_before_the_profile(world: World) -> None:
    path = world.install("a.gguf", tiny_llama())
    world.tell(APU, CPU)
    world.service.remembered.remember(path, window_options())
    assert world.service.options_for(path) == window_options()
    assert world.service.suits_of(path, window_options()) == ()


def test_what_the_user_set_for_all_goes_before_the_profile(world: World) -> None:
    path = world.install("a.gguf", tiny_llama())
    world.tell(APU, CPU)
    world.store.put(EngineSettings(n_ubatch=64, mmap=True, n_ctx=2048))
    assert world.service.options_for(path) == window_options(n_ubatch=64, mmap=True, n_ctx=2048)
    world.store.put(EngineSettings(device="cpu"))
    assert world.service.options_for(path) == window_options(device="cpu")


def test_a_tight_apu_gets_a_smaller_cache_where_the_heads_allow_it(world: World) -> None:
    even = world.install("even.gguf", moe_llama(), size_bytes=10 * GIB)
    world.tell(APU, CPU)
    assert world.service.options_for(even) == PROFILE, "the heads are not known before the header was read"
    world.headers.drain()
    quantised = msgspec.structs.replace(PROFILE, kv_type_k=KvType.Q8_0, kv_type_v=KvType.Q8_0)
    assert world.service.options_for(even) == quantised
    odd = world.install("odd.gguf", tiny_llama(), size_bytes=10 * GIB)
    world.headers.drain()
    assert world.service.facts(odd).heads_known
    assert world.service.options_for(odd) == PROFILE
    world.store.put(EngineSettings(flash_attention=FlashAttention.OFF))
    assert world.service.options_for(even).kv_type_v is KvType.F16


def test_before_the_worker_speaks_the_last_device_counts(world: World) -> None:
    path = world.install("a.gguf", tiny_llama())
    world.tell(APU, CPU)
    world.devices = ()
    world.start()
    assert world.store.get(LoadSettings).seen.kind is DeviceKind.IGPU
    assert world.service.options_for(path) == PROFILE
    world.store.put(EngineSettings(n_gpu_layers=0))
    assert world.service.options_for(path) == window_options(n_gpu_layers=0)
    world.store.put(EngineSettings())
    world.tell(CARD, CPU)
    assert world.service.options_for(path) == window_options()
    assert world.store.get(LoadSettings).seen == SeenDevice(kind=DeviceKind.GPU)


def test_the_file_is_not_written_for_a_little_more_room(world: World) -> None:
    world.tell(APU, CPU)
    world.saves.drain()
    kept = world.store.get(LoadSettings).seen
    assert kept.room is not None
    world.tell(msgspec.structs.replace(APU, memory_free=kept.room - GIB), CPU)
    assert not world.saves.waiting
    assert world.store.get(LoadSettings).seen == kept
    world.tell(msgspec.structs.replace(APU, memory_free=4 * GIB), CPU)
    assert world.store.get(LoadSettings).seen.room == 4 * GIB


def test_a_draft_learns_of_header_and_devices(world: World) -> None:
    path = world.install("a.gguf", tiny_llama(), n_layers=2, context_length=64)
    draft = world.service.draft(path)
    heard: list[int] = []
    draft.changed.connect(lambda: heard.append(1))
    assert (draft.facts.n_layers, draft.facts.fit, draft.forecast()) == (2, None, None)
    world.headers.drain()
    assert draft.facts.fit is not None
    assert draft.facts.architecture == "llama"
    assert draft.forecast() is None
    world.tell(CPU)
    plan = draft.forecast()
    assert plan is not None
    assert plan.verdict is Verdict.FITS
    assert draft.on_cpu
    assert heard


def test_a_header_is_read_once(world: World) -> None:
    path = world.install("a.gguf", tiny_llama())
    world.service.draft(path)
    world.service.draft(path)
    assert len(world.headers.waiting) == 1
    world.headers.drain()
    world.service.draft(path)
    assert not world.headers.waiting


def test_a_file_that_cannot_be_read_is_no_trouble(world: World) -> None:
    path = world.install("a.gguf", b"GGUF, but no")
    draft = world.service.draft(path)
    world.tell(APU, CPU)
    world.headers.drain()
    assert draft.facts.fit is None
    assert draft.forecast() is None
    assert world.service.options_for(path) == PROFILE


def test_a_draft_begins_with_what_was_asked_or_suits(world: World) -> None:
    path = world.install("a.gguf", tiny_llama())
    world.tell(APU, CPU)
    suited = world.service.draft(path)
    assert suited.options == PROFILE
    assert [change for change in (suited.recommended,) if change is not None]
    asked = world.service.draft(path, window_options(n_ctx=77))
    assert asked.options.n_ctx == 77
    assert asked.recommended is None
    suited.change(n_ctx=512)
    assert suited.recommended is None
    assert world.service.draft(Path("/gone/model.gguf")).name == "model"


def test_the_last_model_is_not_loaded_where_it_would_not_fit(world: World) -> None:
    """The next message says so; options that were remembered for it are taken at their word."""
    path = world.install("a.gguf", tiny_llama())
    small = msgspec.structs.replace(CPU, memory_total=1 << 20, memory_free=1 << 20)
    world.tell(small)
    options = window_options()
    assert world.service.refusal(path, options) is None, "nothing is known yet"
    world.service.expect(str(path))
    world.headers.drain()
    refused = world.service.refusal(path, options)
    assert refused is not None
    assert refused.code == "does-not-fit"
    assert "GiB" in refused.message
    world.service.remembered.remember(path, window_options(n_ctx=512))
    assert world.service.refusal(path, window_options(n_ctx=512)) is None
    world.service.remembered.forget(path)
    world.tell(CPU)
    assert world.service.refusal(path, options) is None


def test_adapters_count(world: World) -> None:
    path = world.install("a.gguf", tiny_llama())
    adapter = world.folder / "lora.gguf"
    adapter.write_bytes(bytes(100_000))
    world.tell(CPU)
    world.service.read_header(path)
    world.headers.drain()
    plain = world.service.forecast(path, window_options())
    with_adapter = window_options(lora=(LoraAdapter(path=str(adapter)), LoraAdapter(path="/gone.gguf")))
    world.service.forecast(path, with_adapter)
    world.headers.drain()
    found = world.service.forecast(path, with_adapter)
    assert plain is not None
    assert found is not None
    assert found.total - plain.total == pytest.approx(100_000, abs=2)

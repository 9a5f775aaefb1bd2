"""Options of single models: kept, found again, harmless when they are old or odd."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from pytestqt.qtbot import QtBot

from app.jobs import SerialRunner
from app.load.remembered import MOST_MODELS, RememberedOptions
from app.load.settings import LoadSettings
from app.notices import Notices
from app.settings.records import EngineSettings
from app.settings.store import SettingsStore
from engine.protocol.types import FlashAttention, KvType, LoadOptions, LoraAdapter
from tests.app.chat.cranked import Cranked
from tests.app.load.strategies import load_options
from tests.fakes.options import window_options

MODEL = Path("/models/owner/repo/Qwen3-8B-Q4_K_M.gguf")
MOVED = Path("/other/place/Qwen3-8B-Q4_K_M.gguf")
OTHER = Path("/models/owner/repo/Other.gguf")


class World:
    """A settings file and the sizes of the installed models."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.executor = Cranked()
        self.sizes: dict[Path, int] = {MODEL: 5000, OTHER: 700}
        self.open()

    def open(self) -> None:
        """As at the start of the program."""
        self.executor.drain()
        self.store = SettingsStore(self.path, SerialRunner(self.executor), Notices())
        self.remembered = RememberedOptions(self.store, self.sizes.get)

    def on_disk(self) -> Any:
        self.executor.drain()
        return json.loads(self.path.read_bytes())


@pytest.fixture
def world(tmp_path: Path, qtbot: QtBot) -> World:
    return World(tmp_path / "settings.json")


def test_nothing_remembered_is_the_settings_for_all(world: World) -> None:
    world.store.put(EngineSettings(n_ctx=2048))
    assert world.remembered.find(MODEL) is None
    assert world.remembered.options_for(MODEL) == window_options(n_ctx=2048)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(options=load_options())
def test_any_options_come_back_after_a_restart(world: World, options: LoadOptions) -> None:
    world.remembered.remember(MODEL, options)
    world.open()
    assert world.remembered.options_for(MODEL) == options
    assert world.remembered.find(OTHER) is None


def test_what_was_left_alone_follows_the_settings(world: World) -> None:
    world.remembered.remember(MODEL, window_options(n_ctx=8192))
    world.store.put(EngineSettings(n_threads=3))
    assert world.remembered.options_for(MODEL) == window_options(n_ctx=8192, n_threads=3)


def test_what_belongs_together_is_kept_together(world: World) -> None:
    world.remembered.remember(MODEL, window_options(kv_type_k=KvType.Q8_0, kv_type_v=KvType.Q8_0, device="cpu"))
    off = EngineSettings(flash_attention=FlashAttention.OFF, devices=("a", "b"), shares=(1.0, 2.0))
    world.store.put(off)
    found = world.remembered.options_for(MODEL)
    assert (found.kv_type_v, found.flash_attention) == (KvType.Q8_0, FlashAttention.AUTO)
    assert (found.device, found.devices, found.shares) == ("cpu", (), ())


def test_the_defaults_can_be_chosen_too(world: World) -> None:
    world.remembered.remember(MODEL, window_options())
    assert world.remembered.find(MODEL) == window_options()
    world.remembered.forget(MODEL)
    assert world.remembered.find(MODEL) is None


def test_a_moved_file_is_found_by_name_and_size(world: World) -> None:
    world.remembered.remember(MODEL, window_options(n_ctx=1024))
    world.sizes = {MOVED: 5000}
    world.open()
    assert world.remembered.options_for(MOVED).n_ctx == 1024
    world.sizes[MOVED] = 5001
    assert world.remembered.find(MOVED) is None
    assert world.remembered.find(Path("/other/Qwen3-8B-Q4_K_M.gguf")) is None


def test_a_moved_file_is_not_guessed_at(world: World) -> None:
    twin = Path("/models/other/repo") / MODEL.name
    world.sizes.update({twin: 5000, MOVED: 5000})
    world.remembered.remember(MODEL, window_options(n_ctx=1024))
    world.remembered.remember(twin, window_options(n_ctx=2048))
    assert world.remembered.find(MOVED) is None
    world.remembered.remember(twin, window_options(n_ctx=1024))
    assert world.remembered.options_for(MOVED).n_ctx == 1024


def test_forgetting_a_moved_file_forgets_what_it_was_found_by(world: World) -> None:
    world.remembered.remember(MODEL, window_options(n_ctx=1024))
    world.sizes[MOVED] = 5000
    world.remembered.forget(MOVED)
    assert world.remembered.find(MOVED) is None
    assert world.remembered.find(MODEL) is None


@pytest.mark.parametrize(
    "models",
    [
        5,
        {str(MODEL): 7},
        {str(MODEL): {"options": []}},
        {str(MODEL): {"options": {"n_ctx": "many", "kv_type_k": "q9", "later_field": 1, "lora": [{}]}}},
        {str(MODEL): {"options": {"n_ctx": -5}}},
        {str(MODEL): {"size": "x", "options": None}, "": None},
    ],
)
def test_odd_entries_do_no_harm(world: World, models: object) -> None:
    world.path.write_text(json.dumps({"version": 1, "load": {"models": models}}))
    world.open()
    assert world.remembered.options_for(MODEL) == window_options()
    assert world.remembered.options_for(MOVED) == window_options()
    world.remembered.remember(MODEL, window_options(n_ctx=512))
    world.open()
    assert world.remembered.options_for(MODEL).n_ctx == 512


def test_a_good_field_beside_a_bad_one_is_kept(world: World) -> None:
    entry = {str(MODEL): {"options": {"n_ctx": 512, "n_batch": "x"}}}
    world.path.write_text(json.dumps({"version": 1, "load": {"models": entry}}))
    world.open()
    assert world.remembered.options_for(MODEL) == window_options(n_ctx=512)


def test_names_of_wrong_bytes_can_be_saved(world: World) -> None:
    odd = Path("/models/b\udcffd.gguf")
    world.remembered.remember(odd, window_options(lora=(LoraAdapter(path="/a\udcff.gguf"),)))
    assert len(world.on_disk()["load"]["models"]) == 1
    world.open()
    assert len(world.remembered.options_for(odd).lora) == 1


def test_the_oldest_are_forgotten(world: World) -> None:
    for number in range(MOST_MODELS + 2):
        world.remembered.remember(Path(f"/models/{number}.gguf"), window_options(n_ctx=512 + number))
    world.remembered.remember(Path("/models/5.gguf"), window_options(n_ctx=99))
    assert len(world.store.get(LoadSettings).models) == MOST_MODELS
    assert world.remembered.find(Path("/models/1.gguf")) is None
    assert world.remembered.options_for(Path("/models/5.gguf")).n_ctx == 99


def test_the_file_holds_only_what_differs(world: World) -> None:
    world.remembered.remember(MODEL, msgspec.structs.replace(window_options(), n_ctx=512, n_cpu_moe=3))
    assert world.on_disk()["load"]["models"] == {str(MODEL): {"size": 5000, "options": {"n_ctx": 512, "n_cpu_moe": 3}}}

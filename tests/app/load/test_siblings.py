"""Another quant of a model that is here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from app.load.siblings import siblings
from engine.library.records import InstalledModel
from engine.memory.fit.records import Verdict
from engine.protocol.types import LoadOptions
from tests.app.load.test_service import CARD, CPU, World
from tests.fakes.sparse_gguf import Sizes, llama

GIB = 1 << 30


def model(name: str, quant: str, size: int, **more: Any) -> InstalledModel:
    path = Path(f"/models/{name}-{quant}.gguf")
    values = {"path": path, "label": name, "folder": path.parent, "can_chat": True, **more}
    return InstalledModel(name=name, quant=quant, size_bytes=size, **values)


BIG, MIDDLE, LITTLE = (model("Qwen3-8B", quant, n) for quant, n in (("Q8_0", 8), ("Q6_K", 6), ("Q4_K_M", 4)))
ELSE = model("Gemma", "Q4_0", 3)
NO_CHAT = model("Qwen3-8B", "Q2_K", 2, can_chat=False)


def test_smaller_files_of_the_same_model_the_largest_first() -> None:
    all_models = (LITTLE, ELSE, BIG, NO_CHAT, MIDDLE)
    assert siblings(all_models, BIG.path) == (MIDDLE, LITTLE)
    assert siblings(all_models, LITTLE.path) == ()
    assert siblings(all_models, Path("/elsewhere.gguf")) == ()


@pytest.fixture
def world(tmp_path: Path, qtbot: QtBot) -> World:
    return World(tmp_path)


def test_the_largest_that_fits_once_its_header_is_known(world: World) -> None:
    sizes = Sizes(layers=24, width=4096, heads=32, kv_heads=8, head=128, ff=14336, vocabulary=32000)
    for quant in ("Q4_K", "Q8_0", "F16"):
        path = llama(sizes, quant).write(world.folder / f"Big-{quant}.gguf")
        world.models = (*world.models, model("Big", quant, path.stat().st_size, path=path))
    large = world.models[-1].path
    card = msgspec.structs.replace(CARD, memory_total=9 * GIB, memory_free=9 * GIB)
    world.tell(card, CPU)
    world.service.read_header(large)
    assert world.service.other_quant(large, LoadOptions()) is None, "no header was read yet"
    world.headers.drain()
    plan = world.service.forecast(large, LoadOptions())
    assert plan is not None
    assert plan.verdict is Verdict.PARTLY
    found = world.service.other_quant(large, LoadOptions())
    assert found is not None
    assert found.quant == "Q8_0"

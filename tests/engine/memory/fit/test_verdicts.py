"""Verdicts on recorded machines, reasoned by hand.

Needs at 4096 tokens, in GiB: small 0.1; 8B in Q4_K 4.2 of weights (0.3 are embeddings, which stay in RAM), 0.5 of KV
cache, 0.2 of buffers: 4.7 on a card; 30B mixture of experts 16.0 + 0.4 + 0.3: 16.5; 70B 37 + 1.25 + 0.3: 38. Rooms,
after the reserves (1 GiB of a card's own memory, 1.5 GiB of RAM or an eighth of it):

    machine                  card    RAM   of an APU's room the carve-out
    steam_deck                4.5    4.4   0.1   a game runs beside it
    steam_deck_flatpak       10.4    7.0   3.4
    rx7900xtx                13.4   18.5         another program holds 9 GiB
    rx7900xtx_without_rebar  21.8   52.9
    raphael_rx7800xt         13.2   23.6         the integrated GPU is not what a model goes to
    strix_halo               70.2   53.1  39.1
    strix_halo_raised       108.3  117.1   0.4
    laptop_sleeping_dgpu      7.0   47.1
    no_gpu                           5.0
    cards/steam_deck_oled     0.1    0.0         a game takes nearly all
    cards/phoenix            31.9   46.5   2.8
    cards/strix_point        11.7   18.5
    cards/strix_halo_96     120.1   24.5  95.6
    cards/rx9070xt            0.0   16.5         another program fills it
    cards/rx6900xt           14.4   23.5
    cards/rx580               3.0    9.5
    cards/vega56              7.0   10.5
    cards/two_equal_cards    11.0   98.5         the other one: 14.0
    cards/old_kernel          6.0    7.5
    cards/intel_nvidia_amd    5.0   18.5
    cards/rocm_worker         5.1   38.5         a ROCm program holds the rest

On an APU both memories are the same: what exceeds the carve-out has to fit into the RAM, together with what the
processor needs. A card and the RAM add up, so a model can be divided: partly.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.memory.fit import FitDevice, FitModel, fit_devices, predict, suggest
from engine.memory.fit.header import read_model
from engine.memory.fit.records import Verdict
from engine.memory.sampler import MemorySampler
from engine.memory.sizes import GIB
from engine.protocol.types import DeviceKind, LoadOptions
from tests.engine.memory.fit.conftest import info
from tests.fakes import sparse_gguf as sparse
from tests.fakes.sparse_gguf import Sizes
from tests.fakes.sysroot import build_sysroot, cards, machines

FITS, TIGHT, PARTLY, NO = Verdict.FITS, Verdict.TIGHT, Verdict.PARTLY, Verdict.NO
SHAPES = {
    "small": sparse.llama(Sizes(kv_heads=2), "Q8_0"),
    "8B": sparse.llama(Sizes(32, 4096, 32, 8, 128, 14336, 128256), "Q4_K"),
    "30B": sparse.moe(Sizes(48, 2048, 32, 4, 128, 768, 151936), "Q4_K", experts=128, used=8),
    "70B": sparse.llama(Sizes(80, 8192, 64, 8, 128, 28672, 128256), "Q4_K"),
}
WANTED = {
    "steam_deck": {"small": FITS, "8B": NO, "30B": NO, "70B": NO},
    "steam_deck_flatpak": {"small": FITS, "8B": FITS, "30B": NO, "70B": NO},
    "rx7900xtx": {"small": FITS, "8B": FITS, "30B": PARTLY, "70B": NO},
    "rx7900xtx_without_rebar": {"small": FITS, "8B": FITS, "30B": FITS, "70B": PARTLY},
    "raphael_rx7800xt": {"small": FITS, "8B": FITS, "30B": PARTLY, "70B": NO},
    "strix_halo": {"small": FITS, "8B": FITS, "30B": FITS, "70B": FITS},
    "strix_halo_raised": {"small": FITS, "8B": FITS, "30B": FITS, "70B": FITS},
    "laptop_sleeping_dgpu": {"small": FITS, "8B": FITS, "30B": PARTLY, "70B": PARTLY},
    "no_gpu": {"small": FITS, "8B": FITS, "30B": NO, "70B": NO},
    "cards/steam_deck_oled": {"small": NO, "8B": NO, "30B": NO, "70B": NO},
    "cards/phoenix": {"small": FITS, "8B": FITS, "30B": FITS, "70B": PARTLY},
    "cards/strix_point": {"small": FITS, "8B": FITS, "30B": PARTLY, "70B": NO},
    "cards/strix_halo_96": {"small": FITS, "8B": FITS, "30B": FITS, "70B": FITS},
    "cards/rx9070xt": {"small": PARTLY, "8B": PARTLY, "30B": PARTLY, "70B": NO},
    "cards/rx6900xt": {"small": FITS, "8B": FITS, "30B": PARTLY, "70B": NO},
    "cards/rx580": {"small": FITS, "8B": PARTLY, "30B": NO, "70B": NO},
    "cards/vega56": {"small": FITS, "8B": FITS, "30B": PARTLY, "70B": NO},
    "cards/two_equal_cards": {"small": FITS, "8B": FITS, "30B": PARTLY, "70B": PARTLY},
    "cards/old_kernel": {"small": FITS, "8B": FITS, "30B": NO, "70B": NO},
    "cards/intel_nvidia_amd": {"small": FITS, "8B": FITS, "30B": PARTLY, "70B": NO},
    "cards/rocm_worker": {"small": FITS, "8B": FITS, "30B": PARTLY, "70B": PARTLY},
}
LONG = {
    "steam_deck": NO,  # 9 GiB
    "steam_deck_flatpak": FITS,  # 9 less the carve-out are 5.6 of 7 GiB of RAM
    "rx7900xtx": FITS,
    "raphael_rx7800xt": FITS,
    "strix_halo": FITS,
    "laptop_sleeping_dgpu": PARTLY,  # 8.4 of 7 GiB
    "no_gpu": NO,
}
"""8B with 32768 tokens: 4 GiB of KV cache."""


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, FitModel]:
    folder = tmp_path_factory.mktemp("models")
    found = {name: read_model(shape.write(folder / f"{name}.gguf")) for name, shape in SHAPES.items()}
    assert all(isinstance(model, FitModel) for model in found.values())
    return {name: model for name, model in found.items() if isinstance(model, FitModel)}


def machine(name: str, folder: Path) -> Sequence[FitDevice]:
    """What a backend would name on this machine: each card that the kernel knows, and the processor."""
    seen = MemorySampler(build_sysroot(name, folder), clock=lambda: 0.0).sample(whole=True)
    cards = [
        info(f"Vulkan{n}", gpu.kind or DeviceKind.GPU, 256 * GIB, gpu.name, gpu.pci) for n, gpu in enumerate(seen.gpus)
    ]
    return fit_devices([*cards, info("CPU", DeviceKind.CPU, seen.ram.total)], seen)


def test_every_recorded_machine_is_judged() -> None:
    assert set(WANTED) == {*machines(), *cards()}


@pytest.mark.parametrize("name", sorted(WANTED))
def test_verdicts(name: str, models: dict[str, FitModel], tmp_path: Path) -> None:
    devices = machine(name, tmp_path)
    plans = {model: predict(models[model], LoadOptions(n_ctx=4096), devices) for model in SHAPES}
    wrong = {
        model: f"{plan.verdict}, not {WANTED[name][model]}: {plan.reason}"
        for model, plan in plans.items()
        if plan.verdict is not WANTED[name][model]
    }
    assert not wrong


@pytest.mark.parametrize("name", sorted(LONG))
def test_a_long_context(name: str, models: dict[str, FitModel], tmp_path: Path) -> None:
    plan = predict(models["8B"], LoadOptions(n_ctx=32768), machine(name, tmp_path))
    assert plan.verdict is LONG[name], plan.reason


@pytest.mark.parametrize("name", sorted(WANTED))
def test_what_is_proposed_fits(name: str, models: dict[str, FitModel], tmp_path: Path) -> None:
    devices = machine(name, tmp_path)
    for model in models.values():
        asked = LoadOptions(n_ctx=4096)
        plan = predict(model, asked, devices)
        offers = [one.plan.options for one in suggest(model, asked, devices)]
        for options in [*offers, *([] if plan.proposal is None else [plan.proposal])]:
            assert predict(model, options, devices).verdict in (FITS, TIGHT)

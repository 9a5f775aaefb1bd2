"""What the strip says, from records: a table of cases."""

from __future__ import annotations

import msgspec
import pytest

from engine.memory.records import GoneGpu, GpuMemory, MemorySnapshot, ModelShare, Pool, RamMemory, ReportedGpu
from engine.protocol.types import DeviceKind, ModelInfo
from tests.ui.memory.conftest import CARD, GIB, desktop, model_on
from ui.memory.content import view
from ui.memory.shares import BarKind, Owner, Region
from ui.memory.words import gib, number, short_name

DECK = model_on("0000:04:00.0", DeviceKind.IGPU)


def texts(snapshot: MemorySnapshot | None, model: ModelInfo | None = None, speed: float | None = None) -> list[str]:
    """Labels as they are with much room; a bar is its kind in brackets."""
    items = view(snapshot, model, speed).items
    return [f"[{item.bar.kind}]" if item.bar is not None else item.forms[0].text for item in items]


@pytest.mark.parametrize(
    ("machine", "model", "wanted"),
    [
        (
            "rx7900xtx",
            model_on(CARD),
            "VRAM 9.6 / 24.0 GiB|[vram]|GTT 0.4|RAM 11.2 / 31.2 GiB|[ram]|Model 6.8 GiB|63 °C|211 W|41.2 tok/s",
        ),
        (
            "steam_deck",
            DECK,
            "[whole]|VRAM 0.9 / 1.0 GiB|GTT 3.2 / 8.0 GiB|RAM 8.6 / 14.5 GiB|Model 2.3 GiB|56 °C|3 W|41.2 tok/s",
        ),
        (
            "laptop_sleeping_dgpu",
            None,
            "RX 7600S is asleep|VRAM <0.1 / 8.0 GiB|[vram]|GTT <0.1|RAM 9.9 / 58.6 GiB|[ram]|41.2 tok/s",
        ),
        (
            "laptop_sleeping_dgpu",
            model_on("0000:64:00.0", DeviceKind.IGPU),
            "780M|[whole]|VRAM 1.2 / 4.0 GiB|GTT 0.2 / 29.3 GiB|RAM 9.9 / 58.6 GiB|45 °C|3 W|41.2 tok/s",
        ),
        ("no_gpu", None, "No GPU memory data|RAM 1.7 / 7.8 GiB|[ram]|41.2 tok/s"),
        (
            "no_gpu",
            model_on(None, DeviceKind.CPU),
            "No GPU memory data|RAM 1.7 / 7.8 GiB|[ram]|Model 0.3 GiB|File 0.2 GiB|41.2 tok/s",
        ),
    ],
)
def test_labels(recorded: dict[str, MemorySnapshot], machine: str, model: ModelInfo | None, wanted: str) -> None:
    assert texts(recorded[machine], model, 41.2) == wanted.split("|")


def test_before_the_first_and_after_a_failed_sample() -> None:
    assert texts(None) == ["No memory data"]


@pytest.mark.parametrize(
    ("snapshot", "wanted"),
    [
        (desktop(vram=Pool(), gtt=Pool()), ["No GPU memory data", "RAM 12.0 / 32.0 GiB", "[ram]"]),
        (
            desktop(vram=Pool(24 * GIB, None)),
            ["VRAM unknown / 24.0 GiB", "[vram]", "GTT 1.0", "RAM 12.0 / 32.0 GiB", "[ram]"],
        ),
        (
            desktop(vram=Pool(None, 3 * GIB)),
            ["VRAM 3.0 GiB", "GTT 1.0", "RAM 12.0 / 32.0 GiB", "[ram]"],
        ),
        (
            desktop(ram=RamMemory()),
            ["VRAM 10.0 / 24.0 GiB", "[vram]", "GTT 1.0", "RAM unknown"],
        ),
    ],
)
def test_unknown_is_a_word_and_never_0(snapshot: MemorySnapshot, wanted: list[str]) -> None:
    assert texts(snapshot) == wanted


def test_a_card_that_went_away_is_named() -> None:
    snapshot = MemorySnapshot(gpus=(), ram=RamMemory(), gone=(GoneGpu(CARD, "AMD Radeon RX 6600"),), taken=0.0)
    assert texts(snapshot, model_on(CARD))[0] == "RX 6600 is gone"


def test_one_of_several_cards_is_named() -> None:
    cards = tuple(
        GpuMemory(pci=pci, name=name, kind=DeviceKind.GPU, vram=Pool(8 * GIB, GIB))
        for pci, name in ((CARD, "AMD Radeon RX 6600"), ("0000:09:00.0", "AMD Radeon VII"))
    )
    snapshot = MemorySnapshot(gpus=cards, ram=RamMemory(), taken=0.0)
    assert texts(snapshot, model_on("0000:09:00.0"))[0] == "VII"


@pytest.mark.parametrize("speed", [None, 0.0, -1.0])
def test_no_speed_is_no_label(speed: float | None) -> None:
    assert not [text for text in texts(desktop(), None, speed) if "tok/s" in text]


@pytest.mark.parametrize(
    ("machine", "model", "region"),
    [
        ("steam_deck", DECK, Region.GTT),
        ("rx7900xtx", model_on(CARD), Region.VRAM),
        ("no_gpu", model_on(None, DeviceKind.CPU), Region.RAM),
    ],
)
def test_the_models_mark_is_that_of_its_memory(
    recorded: dict[str, MemorySnapshot], machine: str, model: ModelInfo, region: Region
) -> None:
    items = view(recorded[machine], model, None).items
    assert [item.key for item in items if item.key and item.key[1] is Owner.MODEL] == [(region, Owner.MODEL)]


def test_each_kind_of_memory_has_its_mark(recorded: dict[str, MemorySnapshot]) -> None:
    keys = {item.key for item in view(recorded["steam_deck"], None, None).items}
    assert keys >= {(region, Owner.OTHER) for region in Region}


def test_lines_for_reading_carry_every_figure(recorded: dict[str, MemorySnapshot]) -> None:
    text = "\n".join(view(recorded["steam_deck"], DECK, 11.2).lines)
    assert text.splitlines() == [
        "AMD Custom GPU 0405.",
        "VRAM, set aside from the RAM: 0.9 of 1.0 GiB, of it model 0.1 GiB.",
        "GTT, part of the RAM: 3.2 of 8.0 GiB, of it model 2.2 GiB.",
        "Room for a model: 4.5 GiB.",
        "RAM: 8.6 of 14.5 GiB, of it model 0.3 GiB.",
        "Model file in memory, can be dropped: 0.1 GiB.",
        "Swap: 0.2 of 8.2 GiB.",
        "Load 37 %, 56 °C, 3 W.",
        "Last answer: 11.2 tokens per second.",
    ]


def test_lines_of_a_sleeping_card(recorded: dict[str, MemorySnapshot]) -> None:
    lines = view(recorded["laptop_sleeping_dgpu"], None, None).lines
    assert lines[0] == "AMD Radeon RX 7600S, asleep."


def test_lines_without_a_card(recorded: dict[str, MemorySnapshot]) -> None:
    assert view(recorded["no_gpu"], None, None).lines[0] == "No GPU memory data."


@pytest.mark.parametrize(
    ("size", "text"),
    [(None, "unknown"), (0, "0.0 GiB"), (1, "<0.1 GiB"), (GIB // 20, "0.0 GiB"), (3 * GIB // 2, "1.5 GiB")],
)
def test_gib(size: int | None, text: str) -> None:
    assert gib(size) == text
    assert number(size) == text.removesuffix(" GiB")


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("AMD Radeon RX 7900 XTX", "RX 7900 XTX"),
        ("AMD Radeon 780M Graphics", "780M"),
        ("AMD GPU 1002:ABCD", "GPU 1002:ABCD"),
        ("AMD Radeon Graphics", "Graphics"),
    ],
)
def test_short_name(name: str, short: str) -> None:
    assert short_name(name) == short


def test_kinds_of_bars(recorded: dict[str, MemorySnapshot]) -> None:
    def kinds(machine: str) -> list[BarKind]:
        return [item.bar.kind for item in view(recorded[machine], None, None).items if item.bar is not None]

    assert kinds("strix_halo") == [BarKind.WHOLE]
    assert kinds("raphael_rx7800xt") == [BarKind.VRAM, BarKind.RAM]


def test_what_was_loaded_with_the_model_is_read_out() -> None:
    shares = (ModelShare(pci=CARD, weights=GIB, image=GIB // 2, draft=GIB), ModelShare(pci=None, image=GIB // 2))
    lines = view(msgspec.structs.replace(desktop(), model=shares), None, None).lines
    assert "Image encoder of the model: 1.0 GiB." in lines
    assert "Draft model: 1.0 GiB." in lines
    assert not [line for line in view(desktop(), None, None).lines if "encoder" in line]


NVIDIA = ReportedGpu(
    id="Vulkan0", name="NVIDIA GeForce RTX 4070", backend="Vulkan", pci="0000:01:00.0", kind=DeviceKind.GPU,
    total=12 * GIB, free=10 * GIB,
)  # fmt: skip


def test_a_card_that_only_the_engine_knows_is_told_by_its_word() -> None:
    plain = MemorySnapshot(gpus=(), ram=RamMemory(total=32 * GIB, available=20 * GIB), reported=(NVIDIA,), taken=0.0)
    assert texts(plain)[0] == "NVIDIA GeForce RTX 4070 2.0 of 12.0 GiB, by the engine"
    loaded = msgspec.structs.replace(plain, model=(ModelShare(pci="0000:01:00.0", weights=5 * GIB),))
    assert "7.0 of 12.0 GiB" in texts(loaded, model_on("0000:01:00.0"))[0]
    lines = view(loaded, model_on("0000:01:00.0"), None).lines
    assert lines[0] == "NVIDIA GeForce RTX 4070: 7.0 of 12.0 GiB, as the engine reports (Vulkan)."
    unknown = msgspec.structs.replace(plain, reported=(msgspec.structs.replace(NVIDIA, free=None),))
    assert "unknown of 12.0 GiB" in texts(unknown)[0]
    nothing = msgspec.structs.replace(plain, reported=(msgspec.structs.replace(NVIDIA, total=None, free=None),))
    assert texts(nothing)[0] == "No GPU memory data"

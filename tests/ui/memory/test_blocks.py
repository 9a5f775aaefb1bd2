"""The blocks of the page: one for each card, RAM once, and honest words where nothing is known."""

from __future__ import annotations

import re

import msgspec
import pytest

from engine.memory.records import (
    GoneGpu,
    MemorySnapshot,
    ModelShare,
    Pool,
    RamMemory,
    ReportedGpu,
    WorkerGpu,
)
from engine.protocol.types import DeviceKind
from tests.fakes.sysroot import machines
from tests.ui.memory.conftest import CARD, GIB, desktop, model_on
from tests.ui.memory.test_owners import SHARE, sizes, with_share
from ui.memory.blocks import Block, BlockKind, State, blocks
from ui.memory.figures import FigureRow, as_text, figure_rows
from ui.memory.owners import Part, PartOwner
from ui.memory.page_words import card_names, owner_name, part_line
from ui.memory.shares import Region


def kinds(found: tuple[Block, ...]) -> list[BlockKind]:
    return [block.kind for block in found]


def test_a_card_of_its_own_and_the_ram(recorded: dict[str, MemorySnapshot]) -> None:
    card, host = blocks(recorded["rx7900xtx"], None)
    assert (card.kind, card.title) == (BlockKind.CARD, "AMD Radeon RX 7900 XTX")
    assert card.facts[0] == "9.6 of 24.0 GiB in use"
    assert card.bar is not None
    assert {part.region for part in card.bar.parts} == {Region.VRAM}
    assert host.kind is BlockKind.HOST
    assert host.bar is not None
    assert {part.region for part in host.bar.parts} == {Region.GTT, Region.RAM}


def test_an_apu_is_one_bar_of_all_memory(recorded: dict[str, MemorySnapshot]) -> None:
    (block,) = blocks(recorded["steam_deck"], None)
    assert block.kind is BlockKind.SHARED
    assert block.facts[0] == "9.4 of 15.5 GiB in use"
    assert block.bar is not None
    order = list(dict.fromkeys(part.region for part in block.bar.parts))
    assert order == [Region.VRAM, Region.GTT, Region.RAM]
    assert sum(part.size for part in block.bar.parts) == block.bar.total
    assert "Graphics and system share this memory." in block.notes
    assert "Room for a model: 4.5 GiB." in block.notes


def test_with_a_card_beside_an_apu_the_ram_is_told_once(recorded: dict[str, MemorySnapshot]) -> None:
    snapshot = recorded["raphael_rx7800xt"]
    card, apu = blocks(snapshot, None)
    assert (card.kind, apu.kind) == (BlockKind.CARD, BlockKind.SHARED)
    assert apu.bar is not None
    owners = {part.card for part in apu.bar.parts if part.region is Region.GTT}
    assert owners == {"0000:03:00.0", "0000:0f:00.0"}
    of_model = blocks(snapshot, model_on("0000:0f:00.0", DeviceKind.IGPU))
    assert [block.title for block in of_model] == [apu.title, card.title]


def test_a_sleeping_card_says_so_and_shows_no_figures_of_use(recorded: dict[str, MemorySnapshot]) -> None:
    awake, asleep = blocks(recorded["laptop_sleeping_dgpu"], None)
    assert awake.kind is BlockKind.SHARED
    assert asleep.facts == ("8.0 GiB, asleep",)
    assert asleep.bar is not None
    assert (asleep.bar.state, asleep.bar.parts) == (State.ASLEEP, ())
    assert "0.0" not in " ".join((*asleep.facts, *asleep.notes))


def test_no_card(recorded: dict[str, MemorySnapshot]) -> None:
    (host,) = blocks(recorded["no_gpu"], None)
    assert host.notes == ("No graphics card tells about its memory here.",)


def test_no_sample() -> None:
    assert blocks(None, None) == ()


def test_a_card_that_is_gone_is_said_to_be_gone(recorded: dict[str, MemorySnapshot]) -> None:
    snapshot = msgspec.structs.replace(recorded["no_gpu"], gone=(GoneGpu(CARD, "AMD Radeon RX 7600S"),))
    found = blocks(snapshot, None)
    assert kinds(found) == [BlockKind.GONE, BlockKind.HOST]
    assert (found[0].title, found[0].bar) == ("RX 7600S is gone", None)
    assert found[1].notes == ()


def test_cards_of_others_are_labelled_as_the_engine_reports() -> None:
    gpu = ReportedGpu(
        id="CUDA0", name="GeForce RTX 4070", backend="CUDA", kind=DeviceKind.GPU, total=12 * GIB, free=11 * GIB
    )
    share = ModelShare(pci="CUDA0", weights=4 * GIB, kv=GIB)
    snapshot = MemorySnapshot(gpus=(), ram=RamMemory(), reported=(gpu,), model=(share,), taken=0.0)
    block, host = blocks(snapshot, None)
    assert block.kind is BlockKind.REPORTED
    assert block.bar is not None
    assert sizes(block.bar.parts) == {PartOwner.WEIGHTS: 4, PartOwner.KV: 1, PartOwner.REST: 1, PartOwner.FREE: 6}
    assert block.facts == ("6.0 of 12.0 GiB in use",)
    assert "As the engine reports (CUDA)" in block.notes[0]
    assert (host.bar, host.facts) == (None, ("size unknown",))
    silent = msgspec.structs.replace(snapshot, reported=(msgspec.structs.replace(gpu, free=None),))
    unknown = blocks(silent, None)[0]
    assert unknown.bar is not None
    assert (unknown.bar.state, unknown.facts) == (State.UNKNOWN, ("12.0 GiB, use unknown",))


def test_one_more_program_is_not_several() -> None:
    names = [owner_name(Part(Region.RAM, PartOwner.PROGRAMS, 1, name=count)) for count in ("1", "2")]
    assert names == ["1 more program", "2 more programs"]


def test_two_equal_cards_are_told_apart() -> None:
    one = desktop().gpus[0]
    snapshot = msgspec.structs.replace(desktop(), gpus=(one, msgspec.structs.replace(one, pci="0000:0a:00.0")))
    titles = [block.title for block in blocks(snapshot, None)]
    assert titles == ["AMD Radeon RX 7900 XTX (03:00.0)", "AMD Radeon RX 7900 XTX (0a:00.0)", "System memory (RAM)"]


def test_inside_of_a_flatpak_it_says_that_others_cannot_be_seen(recorded: dict[str, MemorySnapshot]) -> None:
    snapshot = msgspec.structs.replace(recorded["steam_deck_flatpak"], sandboxed=True)
    assert any("Flatpak" in note for note in blocks(snapshot, None)[0].notes)
    outside = msgspec.structs.replace(snapshot, sandboxed=False)
    assert not any("Flatpak" in note for note in blocks(outside, None)[0].notes)


def test_a_model_that_cannot_be_placed_is_told_in_words() -> None:
    held = WorkerGpu(pci=CARD, vram=3 * GIB, gtt=GIB)
    snapshot = with_share(desktop(held=held, kind=DeviceKind.IGPU), SHARE)
    notes = " ".join(blocks(snapshot, None)[0].notes)
    assert "weights 4.0, KV cache 1.0, compute buffers 1.0 GiB" in notes


def test_an_unknown_use_is_a_word() -> None:
    card = blocks(desktop(vram=Pool(24 * GIB, None)), None)[0]
    assert card.facts[0] == "24.0 GiB, use unknown"
    assert card.bar is not None
    assert card.bar.state is State.UNKNOWN


def test_a_small_window_into_the_vram_is_told(recorded: dict[str, MemorySnapshot]) -> None:
    notes = " ".join(blocks(recorded["rx7900xtx_without_rebar"], None)[0].notes)
    assert "reaches 0.2 GiB of the VRAM directly" in notes


# --- table and text ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", machines())
def test_the_table_and_the_text_say_what_the_bars_say(recorded: dict[str, MemorySnapshot], name: str) -> None:
    snapshot = recorded[name]
    found, cards = blocks(snapshot, None), card_names(snapshot)
    rows = figure_rows(found, cards)
    assert [row.where for row in rows if row.heading] == [block.title for block in found]
    text = as_text(rows)
    for block in found:
        assert block.title in text
        for part in block.bar.parts if block.bar is not None else ():
            size = f"{part.size / GIB:.1f} GiB" if part.size >= GIB // 20 else "<0.1 GiB"
            assert size in part_line(part, block.bar.total if block.bar else 0, cards)
            assert size in text
        for words in (*block.facts, *block.notes):
            assert words in text
    assert not re.search(r"\d GB|\bMiB\b|None|-\d", text)


def test_text_for_the_clipboard() -> None:
    rows = [FigureRow("A card", "", "24.0 GiB", heading=True), FigureRow("VRAM", "weights", "4.0 GiB", "16.7 %")]
    rows += [FigureRow("", "63 °C"), FigureRow("RAM", "", "", heading=True)]
    assert as_text(rows) == "A card\n  VRAM: weights: 4.0 GiB, 16.7 %\n  63 °C\n\nRAM\n"
    assert as_text(()) == ""

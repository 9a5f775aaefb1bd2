"""Medians, shares, rooflines, bandwidths, verdicts: figures that are computed from others."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.bench.bandwidth import BY_KERNEL, BY_MEASURING, BY_TABLE, Bandwidth, bandwidths
from engine.bench.judge import judge
from engine.bench.records import Roofline, spread
from engine.bench.roofline import roofline
from engine.memory.fit.records import Piece
from engine.memory.tree import Tree
from engine.protocol.bench import BenchTest
from engine.protocol.types import DeviceKind, KvType, LoadOptions
from tests.engine.benchmark.making import CPU, DECODE, GPU, PP, TG, device, fit_model, outcome, report, variant
from tests.fakes.sysroot import build_sysroot

MB = 1_000_000
CACHE = 2 * 1024 * 2 * 256
"""Of the made model for up to 256 tokens: keys and values of 512 numbers, two layers, two bytes."""


@given(st.lists(st.floats(0.1, 1e6), min_size=1))
def test_a_spread_holds_its_values(values: list[float]) -> None:
    found = spread(values)
    assert found is not None
    assert found.low <= found.median <= found.high
    assert {found.low, found.high} <= set(values)


def test_a_spread_of_nothing() -> None:
    assert spread([None, None]) is None
    assert spread([None, 2.0, 4.0]) == spread([2.0, 4.0])


def test_rates_power_and_share() -> None:
    result = outcome(DECODE, 40.0, 50.0, 42.0, power=100.0, roofline=Roofline(n_bytes=1, tps=84.0))
    assert result.decode is not None
    assert (result.decode.median, result.decode.low, result.decode.high) == pytest.approx((42, 40, 50))
    assert result.tokens_per_joule == pytest.approx(0.42)
    assert result.share == pytest.approx(0.5)
    assert outcome(PP, 10.0).decode is None
    assert outcome(TG, 10.0).tokens_per_joule is None


def test_names_are_those_of_llama_bench() -> None:
    assert PP.name == "pp512"
    assert BenchTest(generated=128, depth=4096).name == "tg128 @ d4096"
    assert DECODE.name == "pp1+tg512"


GPU_SPEED = {GPU.id: Bandwidth(100e9, BY_TABLE), CPU.id: Bandwidth(10e9, BY_MEASURING)}


def test_all_weights_but_the_embeddings_and_the_cache_are_read() -> None:
    found = roofline(fit_model(), LoadOptions(), (GPU, CPU), GPU_SPEED, TG)
    assert found is not None
    assert found.n_bytes == 250 * MB + CACHE
    assert found.tps == pytest.approx(100e9 / found.n_bytes)
    assert (found.bandwidth, found.source) == (100e9, BY_TABLE)


def test_the_cache_grows_with_the_depth_and_shrinks_with_its_format() -> None:
    deep = BenchTest(generated=128, depth=4096)
    full = roofline(fit_model(), LoadOptions(n_ctx=512), (GPU, CPU), GPU_SPEED, deep)
    small = roofline(
        fit_model(), LoadOptions(kv_type_k=KvType.Q8_0, kv_type_v=KvType.Q8_0), (GPU, CPU), GPU_SPEED, deep
    )
    assert full is not None
    assert small is not None
    assert full.n_bytes == 250 * MB + 17 * CACHE
    assert small.n_bytes == 250 * MB + 17 * CACHE * 34 // 64


def test_of_experts_only_those_in_use() -> None:
    pieces = tuple(Piece(i, 100 * MB, expert=True) for i in range(2))
    model = fit_model(pieces=pieces, n_experts=8, n_experts_used=2)
    found = roofline(model, LoadOptions(), (GPU, CPU), GPU_SPEED, TG)
    assert found is not None
    assert found.n_bytes == 50 * MB + CACHE


def test_what_lies_in_ram_is_read_from_there() -> None:
    found = roofline(fit_model(), LoadOptions(n_gpu_layers=1), (GPU, CPU), GPU_SPEED, TG)
    assert found is not None
    seconds = 50 * MB / 100e9 + (200 * MB + CACHE) / 10e9
    assert found.tps == pytest.approx(1 / seconds, rel=1e-3)


def test_an_unknown_bandwidth_is_no_guess() -> None:
    found = roofline(fit_model(), LoadOptions(), (GPU, CPU), {}, TG)
    assert found is not None
    assert (found.tps, found.bandwidth) == (None, None)
    assert found.n_bytes > 0
    assert roofline(fit_model(), LoadOptions(), (GPU, CPU), GPU_SPEED, PP) is None


def bank(folder: Path, gfx: int, width: int, clock: int, *, cores: int = 0) -> Tree:
    """A machine with one card at 0000:03:00.0."""
    node = folder / "sys/class/kfd/kfd/topology/nodes/1"
    (node / "mem_banks/0").mkdir(parents=True)
    (node / "properties").write_text(
        f"cpu_cores_count {cores}\nsimd_count 96\ngfx_target_version {gfx}\nlocation_id 768\ndomain 0\n"
    )
    (node / "mem_banks/0/properties").write_text(f"heap_type 1\nwidth {width}\nmem_clk_max {clock}\n")
    return Tree(folder)


@pytest.mark.parametrize(
    ("gfx", "width", "clock", "cores", "expected"),
    [
        (110000, 384, 1249, 0, 959e9),
        (120001, 256, 1258, 0, 644e9),
        (90006, 4096, 1000, 0, 1024e9),
        (110003, 128, 800, 16, 102.4e9),
    ],
)
def test_the_kernel_knows_clock_and_width(
    tmp_path: Path, gfx: int, width: int, clock: int, cores: int, expected: float
) -> None:
    found = bandwidths((GPU,), bank(tmp_path, gfx, width, clock, cores=cores), None)
    assert found[GPU.id].speed == pytest.approx(expected, rel=2e-3)
    assert found[GPU.id].source == BY_KERNEL


@pytest.mark.parametrize(("gfx", "width", "clock"), [(110000, 384, 0), (110000, 0, 1249), (80003, 256, 2000)])
def test_else_the_table_by_name(tmp_path: Path, gfx: int, width: int, clock: int) -> None:
    assert bandwidths((GPU,), bank(tmp_path, gfx, width, clock), None)[GPU.id] == Bandwidth(960e9, BY_TABLE)


def test_a_deck_reports_no_clock_and_is_in_the_table(tmp_path: Path) -> None:
    deck = device(name="AMD Custom GPU 0405 (RADV VANGOGH)", pci="0000:04:00.0", kind=DeviceKind.IGPU)
    tree = Tree(build_sysroot("steam_deck", tmp_path))
    assert bandwidths((deck,), tree, None)[deck.id] == Bandwidth(88e9, BY_TABLE)


def test_the_processor_is_measured_and_an_unknown_card_stays_unknown(tmp_path: Path) -> None:
    card = device(name="Some card", pci="0000:09:00.0")
    software = device("Vulkan1", DeviceKind.SOFTWARE, name="llvmpipe")
    found = bandwidths((card, software, CPU), Tree(tmp_path), 30e9)
    assert found == {software.id: Bandwidth(30e9, BY_MEASURING), CPU.id: Bandwidth(30e9, BY_MEASURING)}
    assert bandwidths((CPU,), Tree(tmp_path), None) == {}


def test_the_winner_is_faster_in_each_run() -> None:
    found = judge(report(variant("A", outcome(DECODE, 40, 41, 42)), variant("B", outcome(DECODE, 50, 51, 52))))
    assert found is not None
    assert (found.winner.label, found.second.label, found.clear) == ("B", "A", True)
    assert found.factor == pytest.approx(51 / 41, rel=1e-3)


def test_runs_that_overlap_decide_nothing() -> None:
    found = judge(report(variant("A", outcome(DECODE, 40, 45, 52)), variant("B", outcome(DECODE, 50, 51, 52))))
    assert found is not None
    assert not found.clear


def test_reading_and_generating_count_together() -> None:
    fast_reader = variant("A", outcome(PP, 100.0), outcome(TG, 50.0))
    fast_writer = variant("B", outcome(PP, 50.0), outcome(TG, 60.0))
    found = judge(report(fast_reader, fast_writer))
    assert found is not None
    assert found.winner.label == "A", "512 tokens at 1000 and 128 at 50 take less than at 500 and at 60"


def test_one_that_dropped_out_wins_nothing() -> None:
    good = variant("A", outcome(DECODE, 1.0))
    assert judge(report(good, variant("B", outcome(DECODE, 90.0), error="It crashed."))) is None
    assert judge(report(good)) is None

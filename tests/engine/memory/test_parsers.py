"""Parsers of kernel text: tables of what was seen, and whatever else could stand there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.memory import fdinfo, kfd, names, values
from engine.memory.bandwidth import bandwidth_of, kernel_bandwidth
from engine.memory.battery import Cell, together
from engine.memory.holders import Chip, completed, parent
from engine.memory.host import parse_meminfo, parse_stall, parse_zram
from engine.memory.records import Battery, Pool, Stall, WorkerGpu, Zram
from engine.protocol.types import DeviceKind

GIB, MIB = 1 << 30, 1 << 20
PCI = "0000:03:00.0"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("0: 400Mhz \n1: 600Mhz \n2: 687Mhz *\n3: 687Mhz *\n", 687),
        ("0: 400Mhz \n1: 800Mhz \n2: 1000Mhz \n", None),
        ("S: 19Mhz *\n0: 615Mhz\n1: 800Mhz\n", 19),
        ("0: 500Mhz\n1: 31Mhz *\n2: 2219Mhz\n", 31),
        ("0: 96MHz *\n", 96), ("0: 0Mhz *\n", None),
        ("0: 2.5GT/s, x1 310Mhz \n1: 16.0GT/s, x16 619Mhz *\n", None),
        ("\n", None), ("", None), (None, None), ("nonsense *", None), ("0: 99999999Mhz *", None),
    ],
)  # fmt: skip
def test_clock_of_the_marked_row(text: str | None, wanted: int | None) -> None:
    assert values.dpm_clock(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"), [("0\n", 0), ("896\n", 896), ("-1", None), ("4294967295", None), ("", None), (None, None)]
)
def test_fan(text: str | None, wanted: int | None) -> None:
    assert values.rpm(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"), [("798080000\n", 798), ("26000000", 26), ("0", None), ("-5", None), ("99999999999999", None)]
)
def test_megahertz(text: str, wanted: int | None) -> None:
    assert values.megahertz(text) == wanted


PSI = "some avg10={} avg60=0.31 avg300=0.08 total=1204411\nfull avg10={} avg60=0.12 avg300=0.02 total=801223\n"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (PSI.format("14.52", "6.11"), Stall(some=14.52, full=6.11)),
        (PSI.format("0.00", "100.00"), Stall(some=0.0, full=100.0)),
        (PSI.format("655.35", "6.11"), Stall(some=None, full=6.11)),
        (PSI.format("nan", "-1"), None),
        ("some avg10=2.00 avg60=1 avg300=1 total=3\n", Stall(some=2.0)),
        ("some avg60=1.00", None), ("", None), (None, None),
    ],
)  # fmt: skip
def test_pressure(text: str | None, wanted: Stall | None) -> None:
    assert parse_stall(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (" 2908749824 771751936 812646400 0 812646400 1024 0 12001 12001\n", Zram(stored=2908749824, taken=812646400)),
        ("4096 74 12288", Zram(stored=4096, taken=12288)),
        ("18446744073709551615 1 4096", Zram(stored=None, taken=4096)),
        ("0 0 0 0 0 0 0 0 0", None), ("4096 74", None), ("a b c", None), ("", None), (None, None),
    ],
)  # fmt: skip
def test_zram(text: str | None, wanted: Zram | None) -> None:
    assert parse_zram(text) == wanted


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        ([], None),
        ([Cell(percent=41, status="Discharging", watts=17.8)], Battery(percent=41, discharging=True, watts=17.8)),
        (
            [Cell(percent=80, status="Full"), Cell(percent=20, status="Discharging")],
            Battery(percent=50, discharging=True),
        ),
        ([Cell(percent=80, energy_full=30), Cell(percent=20, energy_full=10)], Battery(percent=65)),
        ([Cell(status="Unknown")], Battery()),
        ([Cell(percent=None, status="Not charging"), Cell(percent=7)], Battery(percent=7, discharging=False)),
    ],
)
def test_batteries(cells: list[Cell], wanted: Battery | None) -> None:
    assert together(cells) == wanted


@pytest.mark.parametrize(
    ("width", "clock", "gfx", "shared", "gb"),
    [
        (384, 1249, "gfx1100", False, 959.2),
        (256, 1258, "gfx1201", False, 644.1),
        (256, 1000, "gfx1030", False, 512.0),
        (256, 2000, "gfx803", False, 256.0),
        (2048, 945, "gfx900", False, 483.8),
        (4096, 1000, "gfx906", False, 1024.0),
        (256, 875, "gfx1010", False, 448.0),
        (128, 800, "gfx1103", True, 102.4),
        (128, 1000, "gfx1150", True, 128.0),
        (128, 1, "gfx1150", True, None),
        (16384, 20000, "gfx1100", False, None),
    ],
)
def test_bandwidth_by_the_kernels_figures(width: int, clock: int, gfx: str, shared: bool, gb: float | None) -> None:
    found = kernel_bandwidth(width, clock, gfx, shared=shared)
    assert (None if found is None else round(found / 1e9, 1)) == gb


def test_bandwidth_by_name_agrees_with_the_formula() -> None:
    assert bandwidth_of("AMD Radeon RX 7900 XTX") == pytest.approx(959.2e9, rel=0.01)
    assert bandwidth_of("AMD Radeon RX 6900 XT") == 512e9
    assert bandwidth_of("AMD Radeon RX 7900 series") is None


@pytest.mark.parametrize(
    ("stat", "wanted"),
    [
        ("4242 (python3) S 4200 4242 4242 0", 4200),
        ("7 (a) b) (c) R 3 7 7 0", 3),
        ("9 (evil\n) S 1 1) S 12 9 9", 12),
        ("1 (systemd) S 0 1 1", 0),
        ("", None), (None, None), ("4242 python3 S 42", None), ("5 (x) S -1 5", None), ("5 (x) S", None),
    ],
)  # fmt: skip
def test_parent(stat: str | None, wanted: int | None) -> None:
    assert parent(stat) == wanted


@pytest.mark.parametrize(
    ("kind", "used", "told", "counted", "vram", "gtt"),
    [
        (DeviceKind.GPU, 16 * GIB, WorkerGpu(pci=PCI, vram=MIB, gtt=GIB), 8 * GIB, 8 * GIB, GIB),
        (DeviceKind.GPU, 16 * GIB, WorkerGpu(pci=PCI, vram=9 * GIB, gtt=0), 8 * GIB, 9 * GIB, 0),
        (DeviceKind.GPU, 16 * GIB, None, 8 * GIB, 8 * GIB, None),
        (DeviceKind.IGPU, GIB // 2, WorkerGpu(pci=PCI, vram=MIB, gtt=8 * GIB), 8 * GIB, MIB, 8 * GIB),
        (DeviceKind.IGPU, GIB // 2, WorkerGpu(pci=PCI, vram=0, gtt=0), 8 * GIB, GIB // 2, 8 * GIB - GIB // 2),
        (DeviceKind.IGPU, None, None, 8 * GIB, 8 * GIB, 0),
        (None, None, None, GIB, GIB, None),
    ],
)
def test_the_kfds_count_completes_the_drm_files(
    kind: DeviceKind | None, used: int | None, told: WorkerGpu | None, counted: int, vram: int, gtt: int | None
) -> None:
    cards = {PCI: Chip(kind, Pool(64 * GIB, used))} if kind else {}
    (gpu,) = completed((told,) if told else (), {PCI: counted}, cards)
    assert (gpu.vram, gpu.gtt) == (vram, gtt)


_SIZES = st.one_of(st.none(), st.integers(0, 64 * GIB))


@settings(deadline=None)
@given(_SIZES, _SIZES, st.integers(1, 64 * GIB), st.sampled_from(DeviceKind), _SIZES)
def test_completing_never_takes_away_and_never_counts_twice(
    vram: int | None, gtt: int | None, counted: int, kind: DeviceKind, used: int | None
) -> None:
    (gpu,) = completed((WorkerGpu(pci=PCI, vram=vram, gtt=gtt),), {PCI: counted}, {PCI: Chip(kind, Pool(None, used))})
    before, after = (vram or 0) + (gtt or 0), (gpu.vram or 0) + (gpu.gtt or 0)
    assert after >= before
    assert after >= counted
    assert after <= before + counted
    if kind is DeviceKind.IGPU:
        assert after == max(before, counted)


def test_what_engines_did_is_no_news_of_memory() -> None:
    head = b"drm-pdev:\t0000:03:00.0\ndrm-client-id:\t7\ndrm-memory-vram:\t5 KiB\n"
    assert fdinfo.memory_part(head + b"drm-engine-gfx:\t1 ns\n") == fdinfo.memory_part(
        head + b"drm-engine-gfx:\t2 ns\n"
    )
    behind = b"drm-engine-gfx:\t1 ns\n" + head
    assert fdinfo.memory_part(behind) == behind
    assert fdinfo.memory_part(b"gfx0:\t3%\n" + head) == b"gfx0:\t3%\n" + head


_ROWS = st.sampled_from(
    [
        b"drm-pdev:\t0000:03:00.0", b"drm-client-id:\t7", b"drm-engine-gfx:\t1 ns", b"drm-memory-vram:\t5 KiB",
        b"drm-resident-gtt: \t6 MiB", b"amd-evicted-vram:\t1 KiB", b"vram mem:\t3 kB", b"pasid:\t4", b"\xff\0",
    ]
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(_ROWS))
def test_the_part_that_tells_of_memory_tells_the_same(rows: list[bytes]) -> None:
    data = b"\n".join(rows)
    whole = fdinfo.parse(data.decode("utf-8", "replace"))
    part = fdinfo.parse(fdinfo.memory_part(data).decode("utf-8", "replace"))
    assert part == whole


PARSERS: list[Callable[[str], Any]] = [
    values.whole, values.byte_count, values.percent, values.celsius, values.watts, values.rpm, values.megahertz,
    values.dpm_clock, values.hex_id, values.pci_address, values.size, values.colon_pairs, values.equal_pairs,
    values.word_numbers, parse_meminfo, parse_stall, parse_zram, fdinfo.parse, parent, values.printable,
    lambda text: kfd.node(values.word_numbers(text)), lambda text: kfd.bank(values.word_numbers(text)),
]  # fmt: skip
_WORDS = [
    "0", "1", "-1", "42", "655", "65535", "18446744073709551615", "4294967295", "N/A", "nan", "inf", "1e9", "0x1002",
    "some", "full", "avg10=", "avg10=7.5", "MemTotal:", "MemAvailable:", "kB", "KiB", "MiB", "0:", "S:", "400Mhz", "*",
    "simd_count", "simd_per_cu", "location_id", "domain", "gfx_target_version", "width", "mem_clk_max", "(", ")",
    "drm-pdev:", "0000:03:00.0", "drm-client-id:", "\n", "\t", " ", "\0", "\r", "٤٢", "\x85", "\u2028",
]  # fmt: skip
_LIKELY = st.lists(st.sampled_from(_WORDS), max_size=24).map(" ".join)


@pytest.mark.parametrize("parse", PARSERS)
@settings(deadline=None, max_examples=60)
@given(text=st.one_of(_LIKELY, st.text(max_size=60)))
def test_any_text_is_a_value_or_unknown(parse: Callable[[str], Any], text: str) -> None:
    for value in numbers(parse(text)):
        assert value >= 0 or parse is values.whole
        assert value == value, "no NaN"


def numbers(value: Any) -> list[float]:
    """All numbers in a record, tuple or dict."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return []
    if isinstance(value, (int, float)):
        return [value]
    parts = msgspec.to_builtins(value) if isinstance(value, msgspec.Struct) else value
    return [one for part in (parts.values() if isinstance(parts, dict) else parts) for one in numbers(part)]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.text(max_size=30), max_size=6))
def test_a_table_of_names_is_read_or_refused(lines: list[str]) -> None:
    try:
        names.parse(lines)
    except ValueError:
        return

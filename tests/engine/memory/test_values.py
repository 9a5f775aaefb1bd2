from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.memory import values
from engine.memory.host import parse_meminfo
from engine.memory.kfd import gfx_name, node

KIB, GIB = 1 << 10, 1 << 30
LIMIT = values.BYTES_LIMIT


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (None, None), ("65535", None), ("655", None), ("-1", None), ("N/A", None), ("", None), ("42\n\0", 42),
        ("42\n", 42), ("0\n", 0), ("100\n", 100), ("101\n", None), ("4 2", None), ("0x10", None), ("٤٢", None),
        ("1e2", None),
    ],
)  # fmt: skip
def test_percent(text: str | None, wanted: int | None) -> None:
    assert values.percent(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("17163091968\n", 17163091968), ("0\n", 0), ("18446744073709551615\n", None), (str(LIMIT), None), ("-4096", None)],
)
def test_byte_count(text: str, wanted: int | None) -> None:
    assert values.byte_count(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"), [("56000\n", 56.0), ("-273150\n", None), ("0\n", None), ("655350\n", None), ("n/a", None)]
)
def test_celsius(text: str, wanted: float | None) -> None:
    assert values.celsius(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("211000000\n", 211.0), ("3218000\n", 3.218), ("0\n", None), ("211000000000\n", None), ("-1\n", None)],
)
def test_watts_are_between_none_and_a_kilowatt(text: str, wanted: float | None) -> None:
    assert values.watts(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("0x744c\n", 0x744C), ("744C", 0x744C), ("0xzz", None), ("", None), ("-0x1", None), (None, None)],
)
def test_hex_id(text: str | None, wanted: int | None) -> None:
    assert values.hex_id(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("0000:03:00.0", "0000:03:00.0"), ("0000:C1:00.0\n", "0000:c1:00.0"), ("10000:e1:00.0", "10000:e1:00.0"),
        ("03:00.0", None), ("0000:03:00.8", None), ("card0", None), ("", None),
    ],
)  # fmt: skip
def test_pci_address(text: str, wanted: str | None) -> None:
    assert values.pci_address(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("0", 0), ("34880 KiB", 34880 * KIB), ("22 MiB", 22 << 20), ("24 GiB", 24 * GIB),
        ("15188720 kB", 15188720 * KIB),
        ("12", 12), (" 1 KiB ", KIB), ("1 ns", None), ("-1 KiB", None), ("KiB", None), ("", None), ("1.5 GiB", None),
        ("18446744073709551615", None), ("9007199254740993 GiB", None),
    ],
)  # fmt: skip
def test_size(text: str, wanted: int | None) -> None:
    assert values.size(text) == wanted


@settings(deadline=None)
@given(st.text() | st.none())
def test_no_text_breaks_a_parser(text: str | None) -> None:
    for parser in (values.whole, values.hex_id, values.pci_address, values.stripped):
        parser(text)
    assert values.percent(text) in (None, *range(101))
    count = values.byte_count(text)
    assert count is None or 0 <= count < LIMIT
    warmth = values.celsius(text)
    assert warmth is None or 0 < warmth < 150
    power = values.watts(text)
    assert power is None or 0 < power < 1000
    assert all(number >= 0 for number in values.word_numbers(text).values())
    values.colon_pairs(text)
    values.equal_pairs(text)


@settings(deadline=None)
@given(st.text())
def test_a_size_is_plausible_or_unknown(text: str) -> None:
    found = values.size(text)
    assert found is None or 0 <= found < LIMIT


@settings(deadline=None)
@given(st.integers(0, LIMIT - 1))
def test_bytes_come_back(number: int) -> None:
    assert values.byte_count(f"{number}\n") == number
    assert values.size(str(number)) == number


@settings(deadline=None)
@given(st.binary())
def test_meminfo_from_any_bytes(data: bytes) -> None:
    ram = parse_meminfo(data.decode("utf-8", "replace"))
    for value in (ram.total, ram.available, ram.swap_total, ram.swap_free, ram.used):
        assert value is None or 0 <= value < LIMIT


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["MemTotal", "MemAvailable", "MemFree", "SwapTotal", "SwapFree", "Cached"]),
        st.integers(0, 1 << 45),
    )
)
def test_meminfo_keeps_the_order_of_things(figures: dict[str, int]) -> None:
    ram = parse_meminfo("".join(f"{key}:   {value} kB\n" for key, value in figures.items()))
    if ram.total is not None and ram.available is not None:
        assert ram.available <= ram.total
    if ram.swap_total is not None and ram.swap_free is not None:
        assert ram.swap_free <= ram.swap_total


def test_meminfo_of_an_old_kernel_does_not_guess() -> None:
    ram = parse_meminfo("MemTotal: 1024 kB\nMemFree: 512 kB\nCached: 100 kB\n")
    assert (ram.total, ram.available, ram.used, ram.swap_total) == (1024 * KIB, None, None, None)


@pytest.mark.parametrize(
    ("version", "name"),
    [
        (100303, "gfx1033"), (110003, "gfx1103"), (110500, "gfx1150"), (110501, "gfx1151"), (90010, "gfx90a"),
        (90012, "gfx90c"), (80003, "gfx803"), (120001, "gfx1201"), (0, None), (4294967295, None), (91099, None),
    ],
)  # fmt: skip
def test_gfx_name(version: int, name: str | None) -> None:
    assert gfx_name(version) == name


@settings(deadline=None)
@given(st.integers(0, 1 << 40))
def test_gfx_name_of_any_number(version: int) -> None:
    name = gfx_name(version)
    assert name is None or name.startswith("gfx")


def test_a_node_is_found_by_its_place_on_the_bus() -> None:
    found = node({"simd_count": 16, "location_id": 49408, "domain": 1, "gfx_target_version": 110500})
    assert found is not None
    assert found[0] == "0001:c1:00.0"
    assert (found[1].gfx, found[1].with_cpu) == ("gfx1150", False)
    assert node({"simd_count": 0, "location_id": 0}) is None
    assert node({"simd_count": 16}) is None


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["simd_count", "location_id", "domain", "cpu_cores_count", "gfx_target_version"]),
        st.integers(0, 1 << 64),
    )
)
def test_any_node(properties: dict[str, int]) -> None:
    node(properties)

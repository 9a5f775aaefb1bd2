"""The map of a file, against a model that knows each byte."""

from __future__ import annotations

import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.downloads.blocks import BLOCK, ENTRY, HEADER, Blocks, decode, of_sums

MIB = 1 << 20


def filled(size: int, *spans: tuple[int, int]) -> tuple[Blocks, bytes]:
    data = random.Random(size).randbytes(size)
    blocks = Blocks(size)
    for start, end in spans:
        blocks.add(start, memoryview(data)[start:end])
    return blocks, data


def test_what_is_missing_of_a_file_with_holes() -> None:
    size = 4 * MIB + 100
    blocks, data = filled(size, (0, MIB // 2), (MIB, 2 * MIB + 7), (4 * MIB, size))
    assert blocks.missing() == [(MIB // 2, MIB), (2 * MIB + 7, 4 * MIB)]
    assert (blocks.full_blocks, blocks.front, blocks.is_whole) == (0, MIB // 2, False)
    assert blocks.done == MIB // 2 + MIB + 7 + 100
    assert blocks.crc(0) == zlib.crc32(data[: MIB // 2])
    assert blocks.crc(1) == zlib.crc32(data[MIB : 2 * MIB])
    assert blocks.crc(4) == zlib.crc32(data[4 * MIB :])


def test_the_front_moves_back_to_a_block_that_is_taken_out() -> None:
    blocks, _ = filled(3 * MIB, (0, 3 * MIB))
    assert (blocks.full_blocks, blocks.is_whole) == (3, True)
    blocks.reset(1)
    assert (blocks.full_blocks, blocks.done, blocks.missing()) == (1, 2 * MIB, [(MIB, 2 * MIB)])


def test_bytes_of_earlier_versions_have_no_checksum_until_they_are_read() -> None:
    blocks = Blocks(2 * MIB)
    blocks.claim_old(MIB + 5)
    assert blocks.missing() == [(MIB + 5, 2 * MIB)]
    assert (blocks.crc(0), blocks.crc(1)) == (None, None)
    blocks.add(MIB + 5, memoryview(bytes(MIB - 5)))
    assert (blocks.is_whole, blocks.sums()) == (True, b"")
    blocks.learn(0, 7)
    blocks.learn(1, 8)
    assert blocks.sums() == b"\7\0\0\0\10\0\0\0"


def test_a_file_whose_size_is_not_known_grows() -> None:
    blocks = Blocks(None)
    blocks.add(0, memoryview(bytes(MIB + 3)))
    assert (blocks.front, blocks.is_whole, len(blocks)) == (MIB + 3, False, 2)
    blocks.end_at(MIB + 3)
    assert (blocks.full_blocks, blocks.is_whole) == (2, True)


@given(
    size=st.integers(1, 6 * MIB),
    fills=st.lists(st.tuples(st.integers(0, 5), st.integers(1, 3 * MIB)), max_size=12),
)
def test_as_a_model_that_knows_each_byte(size: int, fills: list[tuple[int, int]]) -> None:
    blocks, have = Blocks(size), bytearray(size)
    for index, count in fills:
        if index >= len(blocks) or blocks.is_full(index):
            continue
        start = index * MIB + blocks.fill(index)
        end = min(start + count, size)
        for later in range(index + 1, len(blocks)):  # a block is filled from its beginning, by one writer
            if blocks.fill(later):
                end = min(end, later * MIB)
        blocks.add(start, memoryview(bytes(end - start)))
        have[start:end] = b"\1" * (end - start)
    assert blocks.done == have.count(1)
    missing = bytearray(b"\1" * size)
    for start, end in blocks.missing():
        missing[start:end] = bytes(end - start)
    assert missing == have
    assert blocks.front == (size if 0 not in have else have.index(0))
    again = decode(blocks.encode(), size)
    assert again is not None
    assert (again.done, again.missing(), again.encode()) == (blocks.done, blocks.missing(), blocks.encode())


@given(data=st.binary(max_size=300), size=st.one_of(st.none(), st.integers(0, 20 * MIB)))
def test_any_bytes_are_a_map_or_none(data: bytes, size: int | None) -> None:
    for text in (data, Blocks(size).header() + data):
        blocks = decode(text, size)
        if blocks is not None:
            assert 0 <= blocks.done <= blocks.size
            assert all(0 <= blocks.fill(index) <= BLOCK for index in range(len(blocks)))


def test_a_map_that_ends_early_knows_less() -> None:
    blocks, _ = filled(3 * MIB, (0, 3 * MIB))
    cut = decode(blocks.encode()[: HEADER.size + ENTRY.size + 3], 3 * MIB)
    assert cut is not None
    assert cut.missing() == [(MIB, 3 * MIB)]
    assert decode(blocks.encode(), 3 * MIB - 1) is None
    assert decode(b"", 3 * MIB) is None


@pytest.mark.parametrize("size", [1, MIB, MIB + 1, 3 * MIB])
def test_checksums_that_are_kept_with_a_finished_file(size: int) -> None:
    blocks, data = filled(size, (0, size))
    again = of_sums(blocks.sums(), size)
    assert again is not None
    assert again.is_whole
    assert again.crc(0) == zlib.crc32(data[:MIB])
    assert of_sums(blocks.sums(), size + MIB) is None
    assert of_sums(b"", size) is None

"""Which devices can share the rows of a matrix. Stands in for libggml: no backend that can is at hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from engine.backends.ggml import Ggml

SYCL, VULKAN = 1, 2
DEVICES = {SYCL: [11, 12, 13], VULKAN: [21, 22]}


class Library:
    """The functions that are asked; SYCL has the one that makes split buffers."""

    def __getattr__(self, name: str) -> Any:
        def function(*arguments: Any) -> Any:
            return getattr(self, f"_{name.removeprefix('ggml_backend_')}")(*arguments)

        function.__dict__.update(restype=None, argtypes=None)
        setattr(self, name, function)
        return function

    def _dev_backend_reg(self, device: int) -> int:
        return device // 10

    def _reg_dev_count(self, registry: int) -> int:
        return len(DEVICES[registry])

    def _reg_dev_get(self, registry: int, index: int) -> int:
        return DEVICES[registry][index]

    def _reg_get_proc_address(self, registry: int, name: bytes) -> int | None:
        return 99 if registry == SYCL and name == b"ggml_backend_split_buffer_type" else None


@pytest.mark.parametrize(
    ("handles", "expected"),
    [
        ((11, 12), True),
        ((11, 12, 13), True),
        ((12, 11), False),
        ((11, 13), False),
        ((12, 13), False),
        ((11, 12, 13, 11), False),
        ((21, 22), False),
        ((11, 22), False),
        ((), False),
    ],
)
def test_the_first_devices_of_a_backend_that_can(handles: Sequence[int], expected: bool) -> None:
    assert Ggml(Library()).splits_rows(handles) is expected  # type: ignore[arg-type]

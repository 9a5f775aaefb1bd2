from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.memory import fdinfo
from engine.memory.fdinfo import DrmUse

KIB, MIB = 1 << 10, 1 << 20
HEAD = "drm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\ndrm-client-id:\t12\n"


@pytest.mark.parametrize(
    ("rows", "vram", "gtt"),
    [
        ("drm-memory-vram:\t1024 KiB\ndrm-memory-gtt: \t2048 KiB\n", MIB, 2 * MIB),
        ("drm-memory-vram:\t1 MiB\ndrm-memory-gtt:\t0\n", MIB, 0),
        ("drm-resident-vram:\t8 MiB\ndrm-memory-vram:\t8192 KiB\n", 8 * MIB, None),
        ("drm-resident-vram:\t8 parsecs\ndrm-memory-vram:\t8192 KiB\n", 8 * MIB, None),
        ("drm-memory-vram:\t2208 KiB\ndrm-memory-gtt: \t34286572 KiB\n", 2208 * KIB, 34286572 * KIB),
        ("drm-total-vram:\t9 MiB\n", None, None),
        ("", None, None),
    ],
)
def test_memory_of_a_client(rows: str, vram: int | None, gtt: int | None) -> None:
    use = fdinfo.parse(HEAD + rows)
    assert use is not None
    assert (use.pci, use.client) == ("0000:03:00.0", "12")
    assert (use.vram, use.gtt) == (vram, gtt)


def test_keys_of_linux_5_14() -> None:
    text = "pdev:\t0000:04:00.0\npasid:\t32769\nvram mem:\t262144 kB\ngtt mem:\t20480 kB\ncpu mem:\t0 kB\n"
    assert fdinfo.parse(text) == DrmUse(pci="0000:04:00.0", client="pasid 32769", vram=256 * MIB, gtt=20 * MIB)


def test_evicted_bytes() -> None:
    use = fdinfo.parse(HEAD + "amd-evicted-vram:\t4096 KiB\n")
    assert use is not None
    assert use.evicted == 4 * MIB


@pytest.mark.parametrize(
    "text",
    [None, "", "pos:\t0\nflags:\t02\n", "drm-driver:\tamdgpu\n", "drm-pdev:\tsomewhere\ndrm-client-id:\t1\n", "\0\xff"],
)
def test_what_is_no_client(text: str | None) -> None:
    assert fdinfo.parse(text) is None


@settings(deadline=None)
@given(st.text())
def test_any_text(text: str) -> None:
    fdinfo.parse(text)


KEYS = [
    "drm-driver", "drm-pdev", "pdev", "pasid", "drm-client-id", "drm-resident-vram", "drm-memory-vram", "vram mem",
    "drm-resident-gtt", "drm-memory-gtt", "gtt mem", "amd-evicted-vram",
]  # fmt: skip
VALUES = st.sampled_from(
    ["0", "12 KiB", "7 MiB", "-1", "18446744073709551615", "x", "", "0000:03:00.0", "amdgpu", "99 GiB"]
)


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(KEYS), VALUES)))
def test_any_mixture_of_keys(rows: list[tuple[str, str]]) -> None:
    use = fdinfo.parse("".join(f"{key}:\t{value}\n" for key, value in rows))
    if use is not None:
        assert use.pci == "0000:03:00.0"
        assert all(value is None or 0 <= value <= 99 << 30 for value in (use.vram, use.gtt, use.evicted))

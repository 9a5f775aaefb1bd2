"""When a single sample shows that memory is short."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.memory.pressure import (
    KILLER_ACTS,
    Cause,
    Level,
    rank,
    relieved,
    reserve,
    signs,
)
from engine.memory.records import (
    RamMemory,
    Stall,
)

GIB, MIB = 1 << 30, 1 << 20


def ram(
    available: float | None, swap: float | None = 8.0, some: float | None = None, full: float = 0.0, total: float = 16.0
) -> RamMemory:
    """Sizes in GiB, stalls in percent."""
    return RamMemory(
        total=int(total * GIB),
        available=None if available is None else int(available * GIB),
        swap_total=8 * GIB,
        swap_free=None if swap is None else int(swap * GIB),
        stall=None if some is None else Stall(some=some, full=full),
    )


@pytest.mark.parametrize(
    ("memory", "evicted", "level", "causes"),
    [
        (ram(4.0), 0, Level.CALM, ()),
        (ram(1.01), 0, Level.CALM, ()),
        (ram(0.99), 0, Level.SHORT, (Cause.RAM,)),
        (ram(0.3, swap=8.0), 0, Level.SHORT, (Cause.RAM,)),
        (ram(0.5, swap=0.5), 0, Level.CRITICAL, (Cause.RAM,)),
        (ram(0.5, swap=0.0), 0, Level.CRITICAL, (Cause.RAM,)),
        (ram(0.5, swap=None), 0, Level.CRITICAL, (Cause.RAM,)),
        (ram(4.0, swap=0.0), 0, Level.CALM, ()),
        (ram(1.5, some=25.0), 0, Level.SHORT, (Cause.STALL,)),
        (ram(1.5, some=12.0, full=11.0), 0, Level.SHORT, (Cause.STALL,)),
        (ram(9.0, some=90.0, full=80.0), 0, Level.CALM, ()),
        (ram(None, some=90.0), 0, Level.SHORT, (Cause.STALL,)),
        (ram(0.9, some=70.0, full=45.0), 0, Level.CRITICAL, (Cause.RAM, Cause.STALL)),
        (ram(None), 0, Level.CALM, ()),
        (RamMemory(), 0, Level.CALM, ()),
        (ram(9.0), 200 * MIB, Level.CALM, ()),
        (ram(9.0), 300 * MIB, Level.CALM, ()),
        (ram(9.0), 600 * MIB, Level.SHORT, (Cause.EVICTED,)),
        (ram(0.9), 600 * MIB, Level.SHORT, (Cause.RAM, Cause.EVICTED)),
    ],
)
def test_signs_of_one_sample(memory: RamMemory, evicted: int, level: Level, causes: tuple[Cause, ...]) -> None:
    assert signs(memory, evicted, 8 * GIB) == (level, causes)


def test_it_warns_before_earlyoom_of_steamos_acts() -> None:
    acts = ram(KILLER_ACTS / GIB, swap=KILLER_ACTS / GIB)
    assert signs(acts, 0, 0)[0] is Level.CRITICAL
    assert signs(ram(0.58, swap=0.58), 0, 0)[0] is Level.CRITICAL, "with a margin"
    assert reserve(acts) > KILLER_ACTS


@pytest.mark.parametrize(("total", "kept"), [(16.0, GIB), (64.0, GIB), (4.0, GIB // 2)])
def test_the_last_gib_is_kept_and_less_on_small_machines(total: float, kept: int) -> None:
    assert reserve(ram(1.0, total=total)) == kept


_SIZES = st.one_of(st.none(), st.integers(0, 64 * GIB))
_SHARES = st.one_of(st.none(), st.floats(0, 100))
_RAMS = st.builds(
    RamMemory,
    total=_SIZES,
    available=_SIZES,
    swap_free=_SIZES,
    stall=st.one_of(st.none(), st.builds(Stall, some=_SHARES, full=_SHARES)),
)


@settings(deadline=None)
@given(_RAMS, st.integers(0, 64 * GIB))
def test_what_is_short_is_never_relieved_at_the_same_time(memory: RamMemory, evicted: int) -> None:
    level, causes = signs(memory, evicted, 0)
    assert (level is Level.CALM) == (not causes)
    if level is not Level.CALM:
        assert not relieved(memory, evicted)


@settings(deadline=None)
@given(_RAMS, st.integers(0, GIB), st.integers(0, GIB))
def test_less_memory_is_never_a_lower_level(memory: RamMemory, less: int, swap: int) -> None:
    worse = msgspec.structs.replace(
        memory,
        available=None if memory.available is None else max(0, memory.available - less),
        swap_free=None if memory.swap_free is None else max(0, memory.swap_free - swap),
    )
    assert rank(signs(worse, 0, 0)[0]) >= rank(signs(memory, 0, 0)[0])

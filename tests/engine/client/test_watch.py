"""Time limits on a clock that may jump."""

from __future__ import annotations

from engine.client.watch import Watch


def test_counts_down_while_looked_at() -> None:
    watch: Watch[str] = Watch()
    watch.start("a", 1.0, now=10.0)
    assert watch.expired(10.9) is None
    assert watch.expired(11.1) == "a"


def test_starting_again_does_not_prolong() -> None:
    watch: Watch[str] = Watch()
    watch.start("a", 1.0, now=0.0)
    watch.start("a", 1.0, now=0.9)
    assert watch.expired(1.0) == "a"


def test_a_gap_counts_as_one_look() -> None:
    watch: Watch[str] = Watch()
    watch.start("a", 5.0, now=0.0)
    assert watch.expired(3600.0) is None
    assert watch.expired(7200.0) is None
    assert watch.expired(10_000.0) is None
    assert watch.expired(20_000.0) is None
    assert watch.expired(30_000.0) == "a"


def test_a_clock_that_goes_back_takes_nothing_away() -> None:
    watch: Watch[str] = Watch()
    watch.start("a", 1.0, now=100.0)
    assert watch.expired(50.0) is None
    assert watch.expired(50.9) is None
    assert watch.expired(51.0) == "a"


def test_time_before_the_start_is_not_charged() -> None:
    watch: Watch[str] = Watch()
    watch.start("a", 9.0, now=0.0)
    watch.start("b", 0.5, now=0.9)
    assert watch.expired(1.0) is None
    watch.clear("b")
    assert watch
    watch.clear_all()
    assert not watch
    assert watch.expired(9999.0) is None

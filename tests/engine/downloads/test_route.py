"""Another network: what hangs on the old one is given up at once, and nothing is waited for."""

from __future__ import annotations

import socket
import threading
from functools import partial
from pathlib import Path

import msgspec
import pytest

from engine.downloads import route
from engine.downloads.fetch import Fetcher
from engine.downloads.messages import Event, Limits, Progress, Waiting
from engine.downloads.route import RouteWatch, own_addresses
from tests.engine.downloads.conftest import FILE, QUICK, REPO, content, fetch_request
from tests.fakes.local_hub import LocalHub, Refusal


def test_only_other_addresses_are_told_and_none_at_all_is_not() -> None:
    told: list[tuple[str, ...]] = []
    now: list[tuple[str, ...]] = [("10.0.0.5",)]
    watch = RouteWatch(lambda: told.append(now[-1]), lambda: now[-1])

    def look(*addresses: str) -> None:
        now.append(addresses)
        watch.look()

    look("10.0.0.5")
    look("10.0.0.5")
    look()
    assert told == []
    look("10.0.0.5")
    look("192.168.1.7")
    look("192.168.1.7")
    look("192.168.1.7", "fd00::7")
    assert told == [("10.0.0.5",), ("192.168.1.7",), ("192.168.1.7", "fd00::7")]


def test_it_looks_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(route, "LOOK_S", 0.01)
    found = threading.Event()
    addresses = iter([("a",), ("a",), ("b",)])
    watch = RouteWatch(found.set, lambda: next(addresses, ("b",)))
    with watch.watching():
        assert found.wait(60)
    assert not [thread for thread in threading.enumerate() if thread.name == "route"]


def test_addresses_are_those_of_this_machine() -> None:
    for address in own_addresses():
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))


def moving(fetcher: Fetcher) -> None:
    """This computer has another address from now on."""
    for addresses in (("one",), ("another",)):
        fetcher._route._addresses = partial(tuple, addresses)
        fetcher._route.look()


def test_a_connection_that_hangs_is_made_anew(hub: LocalHub, tmp_path: Path) -> None:
    """Its server is silent for ever: without the watch it would be waited for."""
    file = hub.add(REPO, FILE, content(180_000), pause_after=100_000)
    fetchers: list[Fetcher] = []
    moved: list[Event] = []

    def report(event: Event) -> None:
        if isinstance(event, Progress) and event.done >= 100_000 and event.stage == "loading" and not moved:
            moved.append(event)
            moving(fetchers[0])

    limits = msgspec.structs.replace(QUICK, stall_s=600)
    fetchers.append(Fetcher(fetch_request(tmp_path, limits=limits), report))
    assert fetchers[0].run().sha256 == file.sha256
    assert len(hub.requests("GET", FILE)) == 2
    assert hub.sent[FILE] == file.size


def test_a_wait_ends(hub: LocalHub, tmp_path: Path) -> None:
    file = hub.add(REPO, FILE, content(1000), refusal=Refusal(503, times=1))
    fetchers: list[Fetcher] = []

    def report(event: Event) -> None:
        if isinstance(event, Waiting):
            moving(fetchers[0])

    limits = Limits(first_wait_s=3600, longest_wait_s=3600, reserve=1)
    fetchers.append(Fetcher(fetch_request(tmp_path, limits=limits), report))
    assert fetchers[0].run().sha256 == file.sha256

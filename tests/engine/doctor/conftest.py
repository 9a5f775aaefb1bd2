"""Facts of the recorded machines, with an engine that answers as it would there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from engine.doctor.answer import EngineAnswer
from engine.doctor.diagnosis import EXAMINATIONS, diagnose
from engine.doctor.facts import Facts, History, Install
from engine.doctor.host import RecordedHost
from engine.doctor.reading import read_facts
from engine.doctor.records import Diagnosis, Finding, Skipped
from engine.protocol.frames import Hello
from engine.protocol.types import BackendInfo, DeviceInfo, DeviceKind
from tests.fakes.sysroot import build_sysroot

GIB = 1 << 30
BACKENDS = ("CPU", "Vulkan", "RPC")
INSTALL = Install(python=(3, 12, 3), pyside="6.11.3", vulkan=True, history=History(conversations=3, messages=40))
LLVMPIPE = "llvmpipe (LLVM 19.1.7, 256 bits)"


def backend(name: str, error: str | None = None) -> BackendInfo:
    return BackendInfo(name=name, path=f"/b/libggml-{name.lower()}.so", loaded=error is None, error=error)


def device(name: str, pci: str | None, kind: DeviceKind = DeviceKind.GPU) -> DeviceInfo:
    return DeviceInfo(
        id="Vulkan0",
        backend="Vulkan",
        name=name,
        pci=pci,
        kind=kind,
        memory_total=None,
        memory_free=None,
        usable=kind is not DeviceKind.SOFTWARE,
        reason="A software driver." if kind is DeviceKind.SOFTWARE else None,
    )


def hello(devices: tuple[DeviceInfo, ...] = (), backends: tuple[BackendInfo, ...] | None = None) -> EngineAnswer:
    """The answer of an engine that works."""
    loaded = tuple(backend(name) for name in BACKENDS) if backends is None else backends
    return EngineAnswer(Hello(protocol=1, pid=1, engine="llama-cpp-python 0", backends=loaded, devices=devices))


def seen_by_vulkan(facts: Facts) -> EngineAnswer:
    """Every card that may be opened is shown; where there is none, the software driver."""
    shown = tuple(
        device(card.name, card.pci, card.kind or DeviceKind.GPU)
        for card in facts.usable_cards
        if card.render is None or (card.render_node is not None and card.render_node.usable)
    )
    return hello(shown or (device(LLVMPIPE, None, DeviceKind.SOFTWARE),))


def free_space(root: Path) -> Install:
    return msgspec.structs.replace(INSTALL, models_free=RecordedHost(root).free_bytes(Path("models")))


@pytest.fixture
def machine(tmp_path: Path) -> Callable[[str], Path]:
    """Expands a recorded machine into a folder of this test."""
    return lambda name: build_sysroot(name, tmp_path / name)


@pytest.fixture
def facts_of(machine: Callable[[str], Path]) -> Callable[..., Facts]:
    """``facts_of(name, field=value, ...)``: facts of a recorded machine, some replaced."""

    def read(name: str, /, **changes: object) -> Facts:
        root = machine(name)
        facts = read_facts(root, RecordedHost(root), free_space(root), environ={})
        if "engine" not in changes:
            changes["engine"] = seen_by_vulkan(facts)
        return msgspec.structs.replace(facts, **changes)

    return read


def verdicts(diagnosis: Diagnosis) -> dict[str, str]:
    """Check -> status, ``-`` for one that was left out."""
    found = {check.id: check.status.value for check in diagnosis.checks}
    return found | {left.id: "-" for left in diagnosis.left_out}


def judged(facts: Facts, check: str) -> Finding:
    """The finding of one check."""
    finding = found(facts, check)
    assert isinstance(finding, Finding)
    return finding


def left_out(facts: Facts, check: str) -> str:
    """Why a check has no verdict."""
    finding = found(facts, check)
    assert isinstance(finding, Skipped)
    return finding.reason


def found(facts: Facts, check: str) -> Finding | Skipped:
    (entry,) = (entry for entry in EXAMINATIONS if entry.id == check)
    return entry.judge(facts)


def status(facts: Facts, check: str) -> str:
    """The verdict of one check."""
    return judged(facts, check).status.value


def with_card(facts: Facts, **changes: object) -> Facts:
    """``facts`` with every card changed."""
    return msgspec.structs.replace(facts, cards=tuple(msgspec.structs.replace(c, **changes) for c in facts.cards))


def line(finding: Finding) -> str:
    """The line to copy."""
    assert finding.fix is not None
    return finding.fix.line


__all__ = [
    "GIB", "INSTALL", "LLVMPIPE", "backend", "device", "diagnose", "hello", "judged", "left_out", "line", "status",
    "verdicts", "with_card",
]  # fmt: skip

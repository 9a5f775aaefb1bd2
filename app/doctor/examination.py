"""The diagnosis of this machine, for the command and for the window."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from app.doctor.watched import Step, StoppedError, WatchedHost
from app.paths import find_paths
from engine.doctor.answer import EngineAnswer
from engine.doctor.checks.history import look_at
from engine.doctor.diagnosis import diagnose
from engine.doctor.host import host_of
from engine.doctor.reading import read_facts, read_install
from engine.doctor.records import Diagnosis
from engine.memory.tree import sysroot


def _unwatched(_step: Step) -> None:
    """Nobody looks."""


def examine(
    environ: Mapping[str, str], answer: EngineAnswer | None, watch: Callable[[Step], None] = _unwatched
) -> Diagnosis:
    """The diagnosis of this machine, or of the recorded one that ``VRAMBLE_SYSROOT`` names.

    Starts tools and may take seconds: not for the GUI thread.

    Args:
        environ: The environment of the program, judged too.
        answer: What the engine said, for example ``EngineAnswer(worker.hello)``. None: nobody asked; then nothing
            is started that could wake a sleeping card.
        watch: Called with each step before it; what it raises ends the diagnosis.
    """
    root = sysroot(environ)
    host = WatchedHost(host_of(root, environ), watch)
    paths = find_paths(dict(environ))
    install = read_install(Path(sys.prefix), host.free_bytes(paths.models))

    def stopped() -> bool:
        try:
            watch(Step.SYSTEM)
        except StoppedError:
            return True
        return False

    history = look_at(paths.database, patient=watch is _unwatched, stopped=stopped)
    install = msgspec.structs.replace(install, history=history)
    watch(Step.SYSTEM)
    facts = read_facts(root, host, install, engine=answer, environ=environ, may_wake=answer is not None)
    watch(Step.VERDICT)
    return diagnose(facts)

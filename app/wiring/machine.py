"""What examines and measures the machine, and what the desktop is asked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TypedDict

from app.bench.archive import Archive
from app.bench.place import history_file
from app.bench.service import BenchService
from app.desktop.service import Desktop
from app.doctor.service import DoctorService
from app.formulas.service import FormulaService
from app.jobs import ThreadExecutor
from app.pad.keyboard import SteamKeyboard
from app.pad.service import PadService
from app.settings.look import DiskLook
from app.settings.records import BackendSettings
from app.settings.variables import without_ignored
from app.wiring.forecasts import Forecasts
from app.wiring.ground import Ground
from app.worker.service import WorkerService
from engine.memory.tree import sysroot


class Examiners(TypedDict):
    """What measures and examines the machine."""

    bench: BenchService
    doctor: DoctorService


class Helpers(TypedDict):
    """Services that work on a thread of their own and know nothing of the others."""

    desktop: Desktop
    formulas: FormulaService
    look: DiskLook
    pad: PadService
    keyboard: SteamKeyboard


def make_examiners(ground: Ground, worker: WorkerService, forecasts: Forecasts) -> Examiners:
    """What measures and examines the machine."""
    return {"bench": make_bench(ground, worker, forecasts), "doctor": make_doctor(ground, worker)}


def make_bench(ground: Ground, worker: WorkerService, forecasts: Forecasts) -> BenchService:
    """Benchmarks, in a process of their own."""
    archive = Archive(history_file(ground.paths), ThreadExecutor("bench"), ground.lifetime)
    return BenchService(
        worker, ground.process(), archive, forecasts.load, forecasts.machine, sysroot(), ground.lifetime
    )


def make_doctor(ground: Ground, worker: WorkerService) -> DoctorService:
    """The examination of the machine; variables that the user knows of are no finding."""

    def judged() -> Mapping[str, str]:
        return without_ignored(ground.settings.get(BackendSettings), os.environ)

    return DoctorService(worker, ThreadExecutor("doctor"), judged, ground.lifetime)


def make_helpers(ground: Ground) -> Helpers:
    """Files and folders shown by the desktop, formulas drawn, room on the disk, pads and the on-screen keyboard."""
    return {
        "desktop": Desktop(ThreadExecutor("desktop"), ground.lifetime),
        "formulas": FormulaService(ThreadExecutor("formulas"), ground.lifetime),
        "look": DiskLook(ThreadExecutor("look"), ground.lifetime),
        "pad": PadService(os.environ, ground.lifetime),
        "keyboard": SteamKeyboard(os.environ, ground.notices, ground.lifetime),
    }

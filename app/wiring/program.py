"""The whole program: every service, in the order in which they need each other."""

from __future__ import annotations

from app.paths import Paths
from app.services import Services
from app.wiring.chat import make_talk
from app.wiring.engine import make_care, make_engine, make_upkeep
from app.wiring.forecasts import Forecasts
from app.wiring.ground import make_restored_ground
from app.wiring.hub import make_hub
from app.wiring.machine import make_examiners, make_helpers
from app.wiring.models import make_models


def build(paths: Paths, *, alone: bool = True) -> Services:
    """All services for the folders in ``paths``; reads the settings file, starts no process.

    ``alone``: no other process has these folders. Beside one that hangs, a restore waits for the next start.
    """
    ground = make_restored_ground(paths, alone=alone)
    models = make_models(ground)
    library, engine = models["library"], make_engine(ground, models["library"])
    worker, memory = engine["worker"], engine["memory"]
    forecasts = Forecasts(ground, worker, memory, library)
    sleep, upkeep = make_upkeep(ground, worker, memory)
    hub = make_hub(ground, forecasts.machine)
    library.ask_through(hub.look_up)
    talk = make_talk(ground, worker, library, forecasts.load)
    return Services(
        **ground.shared(),
        **models,
        **engine,
        **talk,
        **make_care(ground, worker, memory, forecasts.load),
        **forecasts.shown(ground, models["remote"]),
        **make_examiners(ground, worker, forecasts),
        **make_helpers(ground),
        hub=hub,
        sleep=sleep,
        upkeep=upkeep,
    )

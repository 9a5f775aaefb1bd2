"""The frames. Requests go to the worker, events come back.

Each `Load`, `Unload`, `Generate`, `ListDevices`, `SelfTest`, `DryRun`, `Bench` and `SaveCaches` carries an id and gets
exactly one terminal event with the same id: its own success event (`Loaded`, `Unloaded`, `Finished`, `Devices`,
`SelfTested`, `DryRan`, `Benched`, `CachesSaved`) or `Failed` (a cancelled load ends in `Failed` with code
``cancelled``; a cancelled answer ends in `Finished` with reason ``cancelled``, because its text and figures are kept).
`Cancel` is no request: it has no id of its own and no answer but the terminal event of its target, and it is ignored
when the target has already ended.
"""

from __future__ import annotations

from engine.protocol.events import (
    TERMINAL_TYPES,
    Benched,
    CachesSaved,
    Delta,
    Devices,
    DryRan,
    Failed,
    Finished,
    FromWorker,
    Hello,
    Loaded,
    Progress,
    SelfTested,
    Terminal,
    Unloaded,
)
from engine.protocol.requests import (
    Bench,
    Cancel,
    DryRun,
    Forget,
    Generate,
    ListDevices,
    Load,
    Request,
    SaveCaches,
    SelfTest,
    ToWorker,
    Unload,
)

__all__ = [
    "PROTOCOL_VERSION",
    "TERMINAL_TYPES",
    "Bench",
    "Benched",
    "CachesSaved",
    "Cancel",
    "Delta",
    "Devices",
    "DryRan",
    "DryRun",
    "Failed",
    "Finished",
    "Forget",
    "FromWorker",
    "Generate",
    "Hello",
    "ListDevices",
    "Load",
    "Loaded",
    "Progress",
    "Request",
    "SaveCaches",
    "SelfTest",
    "SelfTested",
    "Terminal",
    "ToWorker",
    "Unload",
    "Unloaded",
]

PROTOCOL_VERSION = 1

"""Settings of the worker's upkeep."""

from __future__ import annotations

from typing import Annotated

import msgspec

MAX_IDLE_MINUTES = 7 * 24 * 60
MAX_TIMEOUT_S = 24 * 60 * 60
MAX_CACHE_MIB = 1 << 20


class WorkerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How long the worker may be idle or silent.

    Attributes:
        idle_unload_minutes: Minutes without a message after which the model is unloaded; 0: never.
        load_timeout_s: Seconds without any progress of a load after which it is told; five times as long ends it.
            0: never; less than ten seconds count as ten.
        answer_timeout_s: The same for an answer. A prompt that is known to be read slowly gets more.
        cache_memory_mib: RAM for the KV caches of conversations that are not in the context, in MiB; 0: none are kept.
        cache_disk_mib: The same on the disk, so that conversations go on sooner after a restart; 0: nothing is written.
        self_test: Test each model once on each backend and driver after its first load.
    """

    idle_unload_minutes: Annotated[int, msgspec.Meta(ge=0, le=MAX_IDLE_MINUTES)] = 30
    load_timeout_s: Annotated[int, msgspec.Meta(ge=0, le=MAX_TIMEOUT_S)] = 60
    answer_timeout_s: Annotated[int, msgspec.Meta(ge=0, le=MAX_TIMEOUT_S)] = 60
    cache_memory_mib: Annotated[int, msgspec.Meta(ge=0, le=MAX_CACHE_MIB)] = 1024
    cache_disk_mib: Annotated[int, msgspec.Meta(ge=0, le=MAX_CACHE_MIB)] = 4096
    self_test: bool = True

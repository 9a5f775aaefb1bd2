"""How many CPU threads computing takes."""

from __future__ import annotations

import os
from pathlib import Path

CPU_FOLDER = Path("/sys/devices/system/cpu")


def physical_cores(folder: Path = CPU_FOLDER, cpus: set[int] | None = None) -> int:
    """Physical cores among the CPUs that this process may use; at least 1.

    Two threads on one core are no faster than one in matrix work. Where the topology cannot be read each CPU counts.
    """
    allowed = os.sched_getaffinity(0) if cpus is None else cpus
    return max(1, len({_core(folder, cpu) for cpu in allowed}))


def _core(folder: Path, cpu: int) -> str:
    topology = folder / f"cpu{cpu}" / "topology"
    try:
        return "/".join(
            (topology / name).read_text(encoding="ascii").strip() for name in ("physical_package_id", "core_id")
        )
    except (OSError, UnicodeDecodeError):
        return f"cpu{cpu}"

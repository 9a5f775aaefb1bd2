"""What one memory sample costs the processor, on a generated machine with many processes.

    python -m tests.bench.sampler_cost [--processes 300] [--holders 12] [--samples 300] [--own-proc]

The tree is a recorded card below ``/dev/shm`` with processes beside it: each has some open files, and the holders of
GPU memory some DRM clients among them. ``--own-proc`` starts sleeping processes instead and reads the true ``/proc`` of
this machine: listing that costs the kernel more than listing a folder, but nobody there holds GPU memory.
The figures are processor time of the sampling thread, milliseconds a sample: of the first one, of those in which the
processes are got to know, and of the steady ones after them. On a busy machine the same work takes more of it.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from engine.memory.sampler import MemorySampler
from tests.bench.figures import machine_line, spread, table
from tests.fakes.sysroot import build_sysroot

MACHINE, PCI, WORKER = "rx7900xtx", "0000:03:00.0", 4242
OPEN_FILES, CLIENTS = 60, 3
LEARNING = 40
"""So many samples at the begin are not steady yet."""

FDINFO = """pos:\t0
flags:\t02100002
mnt_id:\t41
ino:\t650
drm-driver:\tamdgpu
drm-client-id:\t{client}
drm-pdev:\t{pci}
pasid:\t{client}
{regions}drm-memory-vram:\t310488 KiB
drm-memory-gtt: \t34880 KiB
drm-memory-cpu: \t0 KiB
amd-evicted-vram:\t0 KiB
amd-requested-vram:\t310488 KiB
amd-requested-gtt:\t34880 KiB
drm-engine-gfx:\t10781351614 ns
drm-engine-compute:\t99508474 ns
"""
REGIONS = ("cpu", "gtt", "vram", "gds", "gws", "oa", "doorbell")


class Cost(msgspec.Struct, frozen=True):
    """Milliseconds of processor time. ``known_after``: samples until every holder was found; None: never."""

    first: float
    learning: float
    least: float
    mean: float
    p50: float
    p95: float
    max: float
    holders: int
    known_after: int | None


def fdinfo(client: int) -> str:
    """What a DRM file tells, with as many lines as on a new kernel."""
    kinds = ("total", "shared", "resident", "purgeable")
    rows = (f"drm-{kind}-{region}:\t310488 KiB\n" for region in REGIONS for kind in kinds)
    return FDINFO.format(client=client, pci=PCI, regions="".join(rows))


def add_processes(root: Path, processes: int, holders: int) -> None:
    """Processes below ``proc``, of which the first ``holders`` have the graphics card open."""
    for number in range(processes):
        folder = root / f"proc/{10_000 + number}"
        (folder / "fd").mkdir(parents=True)
        (folder / "fdinfo").mkdir()
        (folder / "comm").write_text(f"program{number}\n")
        (folder / "status").write_text(f"Name:\tprogram{number}\nPPid:\t1\nRssAnon:\t4096 kB\n")
        (folder / "stat").write_text(f"{10_000 + number} (program{number}) S 1 1 1 0 -1 0\n")
        (folder / "statm").write_text(f"{90_000 + number} {9_000 + 7 * number} {3_000 + number} 2 0 40 0\n")
        (folder / "exe").symlink_to(f"/usr/bin/program{number}")
        clients = CLIENTS if number < holders else 0
        for fd in range(OPEN_FILES):
            drm = fd >= OPEN_FILES - clients
            (folder / f"fd/{fd}").symlink_to("/dev/dri/renderD128" if drm else f"socket:[{fd}]")
            if drm:
                (folder / f"fdinfo/{fd}").write_text(fdinfo(number * CLIENTS + fd))


def measure(root: Path, samples: int, worker: int | None, pace_s: float = 0.0) -> Cost:
    """Take samples below ``root`` and clock them; ``pace_s`` is the pause between two."""
    sampler = MemorySampler(root)
    times, held = [], []
    for _ in range(LEARNING + samples):
        begin = time.thread_time()
        snapshot = sampler.sample(worker)
        times.append((time.thread_time() - begin) * 1000)
        held.append(sum(len(gpu.processes) for gpu in snapshot.gpus))
        if pace_s:
            time.sleep(pace_s)
    steady = spread(times[LEARNING:])
    if steady is None:
        raise ValueError("no samples")
    learning = sum(times[1:LEARNING]) / (LEARNING - 1)
    mean = sum(times[LEARNING:]) / samples
    known = held.index(held[-1]) + 1 if held[-1] else None
    return Cost(times[0], learning, min(times[LEARNING:]), mean, steady.p50, steady.p95, steady.max, held[-1], known)


@contextmanager
def sleepers(count: int) -> Iterator[None]:
    """So many processes that do nothing."""
    started = [subprocess.Popen([shutil.which("sleep") or "sleep", "3600"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.wait()


def main(arguments: Sequence[str]) -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="processor time of one memory sample")
    parser.add_argument("--processes", type=int, default=300)
    parser.add_argument("--holders", type=int, default=12)
    parser.add_argument("--samples", type=int, default=300)
    parser.add_argument("--pace", type=float, default=0.0, help="seconds between two samples, as in the window: 1")
    parser.add_argument("--own-proc", action="store_true", help="the true /proc of this machine")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        root = build_sysroot(MACHINE, Path(folder))
        if options.own_proc:
            shutil.rmtree(root / "proc")
            (root / "proc").symlink_to("/proc")
            with sleepers(options.processes):
                cost = measure(root, options.samples, None, options.pace)
        else:
            add_processes(root, options.processes, options.holders)
            cost = measure(root, options.samples, WORKER, options.pace)
    names = ("first", "learning", "least", "mean", "p50", "p95", "max")
    rows = [("", *names), ("ms CPU", *(f"{getattr(cost, name):.2f}" for name in names))]
    print(table(rows))
    print(f"{cost.holders} holders of GPU memory, all known after {cost.known_after} samples; {machine_line()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

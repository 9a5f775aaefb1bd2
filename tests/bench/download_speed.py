"""Throughput, processor time and memory of the download child against curl, on the same file from the same local Hub.

The Hub is a process of its own that sends by sendfile; source and target lie in RAM, so that neither is the limit. Runs
alternate, because other work on the machine comes and goes. The child hashes what it writes; curl does not, so its
time with a sha256sum after it is told too. Time and processor time are those of the transfer: from the first
connection on, without the start of the program. Use, in the checkout:

    .venv/bin/python -m tests.bench.download_speed [--size 1000] [--runs 9] [--folder /dev/shm] [--limit MB/s]
        [--tls] [--exclusive] [--json FILE]
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
import psutil

from engine.downloads.launch import command, environment
from engine.downloads.messages import TERMINAL, Fetch, Fetched, decode_event, encode
from engine.library.listing import FilePart
from tests.bench.alone import EXCLUSIVE, alone
from tests.bench.fast_hub import fast_hub
from tests.bench.figures import machine, machine_line, percentile, table, write_json
from tests.fakes.certificate import make_certificate

REPO, FILE = "maker/speed-GGUF", "speed-Q4_0.gguf"
CONNECTIONS = (1, 4)


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One transfer: seconds (and with a check of the sha256), processor seconds, largest resident set in bytes."""

    seconds: float
    checked: float
    cpu: float
    rss: int


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """What all runs have in common: address of the Hub, bytes of the file, bytes per second, words before a command,
    certificate of the Hub."""

    url: str
    size: int
    limit: float | None
    before: tuple[str, ...] = ()
    certificate: Path | None = None


def curl(setting: Setting, folder: Path, connections: int) -> Run:
    """By as many processes as connections, each with its part of the file."""
    size, limit = setting.size, setting.limit
    address = f"{setting.url}/{REPO}/resolve/main/{FILE}"
    begun, before = time.monotonic(), os.times()
    children = []
    for number in range(connections):
        first, last = size * number // connections, size * (number + 1) // connections - 1
        line = [*setting.before, "curl", "-sS", "-o", str(folder / f"part-{number}"), address]
        line += ["-r", f"{first}-{last}"] if connections > 1 else []
        line += ["--cacert", str(setting.certificate)] if setting.certificate else []
        line += ["--limit-rate", f"{limit / connections:.0f}"] if limit else []
        children.append(subprocess.Popen(line))
    rss = 0
    for child in children:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        assert child.returncode == 0, child.returncode
        rss += usage.ru_maxrss * 1024
    after, ended = os.times(), time.monotonic()
    with subprocess.Popen([*setting.before, "cat", *sorted(folder.iterdir())], stdout=subprocess.PIPE) as whole:
        subprocess.run([*setting.before, "sha256sum"], stdin=whole.stdout, stdout=subprocess.DEVNULL, check=True)
    checked = time.monotonic() - begun
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Run(seconds=ended - begun, checked=checked, cpu=cpu, rss=rss)


def vramble(setting: Setting, folder: Path, connections: int) -> Run:
    """The download child as the window starts it."""
    request = Fetch(
        models=os.fsencode(folder),
        repo=REPO,
        files=(FilePart(path=FILE, size=setting.size),),
        connections=connections,
        limit_bytes_s=int(setting.limit) if setting.limit else None,
    )
    env = {**environment(), "HF_ENDPOINT": setting.url}
    if setting.certificate:
        env["SSL_CERT_FILE"] = str(setting.certificate)
    child = subprocess.Popen([*setting.before, *command()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(encode(request))
    child.stdin.flush()
    begun = ended = started = 0.0
    for line in child.stdout:
        event = decode_event(line)
        if not begun:
            begun, times = time.monotonic(), psutil.Process(child.pid).cpu_times()
            started = times.user + times.system
        if isinstance(event, TERMINAL):
            assert isinstance(event, Fetched), event
            assert event.verified
            ended = time.monotonic()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    cpu = usage.ru_utime + usage.ru_stime - started
    return Run(seconds=ended - begun, checked=ended - begun, cpu=cpu, rss=usage.ru_maxrss * 1024)


def median(values: list[float]) -> float:
    """The middle one."""
    return percentile(values, 0.5)


def measure(size: int, runs: int, place: Path, setting: Setting, *, tls: bool) -> list[list[object]]:
    """Rows of the table."""
    rows: list[list[object]] = [["", "MB/s", "best", "share of curl", "of curl + sha256sum", "CPU s/GB", "RSS MiB"]]
    with tempfile.TemporaryDirectory(dir=place) as folder:
        source = Path(folder) / "source"
        with source.open("wb") as file:
            for _ in range(size // (1 << 20)):
                file.write(os.urandom(1 << 20))
        certificate = make_certificate(Path(folder) / "certificate.pem") if tls else None
        with fast_hub(source, setting.before, certificate) as url:
            setting = msgspec.structs.replace(setting, url=url, size=source.stat().st_size, certificate=certificate)
            for connections in CONNECTIONS:
                rows += rows_of(alternate(setting, Path(folder), connections, runs), setting.size, connections)
    return rows


def alternate(setting: Setting, folder: Path, connections: int, runs: int) -> dict[str, list[Run]]:
    """Runs of both in turn."""
    found: dict[str, list[Run]] = {"curl": [], "vramble": []}
    for _ in range(runs):
        for name, fetch in (("curl", curl), ("vramble", vramble)):
            target = folder / "target"
            target.mkdir()
            found[name].append(fetch(setting, target, connections))
            shutil.rmtree(target)
    return found


def rows_of(found: dict[str, list[Run]], size: int, connections: int) -> list[list[object]]:
    """One row for each program. The share is the median of the shares of neighbouring runs."""
    pairs = list(zip(found["curl"], found["vramble"], strict=True))
    shares = [theirs.seconds / ours.seconds for theirs, ours in pairs]
    checked = [theirs.checked / ours.checked for theirs, ours in pairs]
    rows: list[list[object]] = []
    for name, runs in found.items():
        seconds = [run.seconds for run in runs]
        own = name == "vramble"
        rows.append(
            [
                f"{name}, {connections} connections",
                round(size / 1e6 / median(seconds)),
                round(size / 1e6 / min(seconds)),
                f"{median(shares):.2f}" if own else None,
                f"{median(checked):.2f}" if own else None,
                f"{median([run.cpu for run in runs]) / (size / 1e9):.2f}",
                round(median([float(run.rss) for run in runs]) / (1 << 20)),
            ]
        )
    return rows


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Throughput of a download against curl.")
    parser.add_argument("--size", type=int, default=1000, help="MB (default: 1000)")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--folder", type=Path, default=Path("/dev/shm"), help="where source and target lie")
    parser.add_argument("--limit", type=float, help="MB/s that both are held to, as a line would")
    parser.add_argument("--tls", action="store_true", help="over TLS, as from the real Hub")
    parser.add_argument("--exclusive", action="store_true", help="real-time priority: the machine has other work")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    limit = arguments.limit * 1e6 if arguments.limit else None
    before = EXCLUSIVE if arguments.exclusive else ()
    with alone(arguments.exclusive):
        setting = Setting(url="", size=0, limit=limit, before=before)
        rows = measure(arguments.size * 1_000_000, arguments.runs, arguments.folder, setting, tls=arguments.tls)
    print(table(rows))
    print(machine_line())
    if arguments.json:
        write_json(arguments.json, {"rows": rows, "machine": machine()})
    return 0


if __name__ == "__main__":
    sys.exit(main())

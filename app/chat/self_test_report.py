"""``vramble chat MODEL --self-test``: whether the device computes what the CPU computes."""

from __future__ import annotations

import os

import msgspec

from app.paths import Paths
from app.settings.variables import OFF_ENV
from app.worker.self_test_words import on_cpu, report, warning
from engine.client.agreement import Finding, Outcome, compare, look_at
from engine.client.blocking import BlockingWorker
from engine.client.calls import self_test
from engine.client.command import worker_command
from engine.errors import VrambleError
from engine.protocol.frames import Hello
from engine.protocol.probe import Reference
from engine.protocol.types import LoadOptions, ModelInfo


def run_self_test(
    worker: BlockingWorker, hello: Hello, paths: Paths, info: ModelInfo, options: LoadOptions, as_json: bool
) -> int:
    """Test the loaded model and print what was found. Waits for the CPU however long it takes; Ctrl+C ends it.

    Raises:
        VrambleError: The test could not be made; ``wrong-results`` when it failed and no JSON was wanted.
    """
    tested = self_test(worker)
    finding, seconds = look_at(tested.probe), 0.0
    if finding.outcome is Outcome.OK and not on_cpu(info):
        reference = Reference(path=info.path, options=options, probe=tested.probe)
        with _without_gpus(hello, paths) as cpu:
            cpu.start()
            answer = self_test(cpu, reference)
        finding, seconds = compare(tested.probe, answer.probe), answer.seconds
    _print(info, finding, tested.seconds, seconds, as_json)
    return 1 if finding.failed else 0


def _without_gpus(hello: Hello, paths: Paths) -> BlockingWorker:
    others = ",".join(backend.name for backend in hello.backends if backend.name != "CPU")
    return BlockingWorker(worker_command(paths.backends, {**os.environ, OFF_ENV: others}))


def _print(info: ModelInfo, finding: Finding, device_seconds: float, cpu_seconds: float, as_json: bool) -> None:
    if as_json:
        document = {
            "outcome": finding.outcome,
            "detail": finding.detail,
            "device": info.device.name,
            "device_seconds": device_seconds,
            "cpu_seconds": cpu_seconds,
        }
        print(msgspec.json.format(msgspec.json.encode(document), indent=2).decode())
        return
    print(report(finding.outcome, info, finding.detail))
    print(f"Seconds: device {device_seconds:.2f}, CPU {cpu_seconds:.2f}")
    if finding.failed:
        raise VrambleError("wrong-results", warning(finding.outcome, info, has_button=False))

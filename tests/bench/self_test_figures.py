"""What a self-test costs: on the device, and for the CPU that is asked whether it agrees.

python -m tests.bench.self_test_figures MODEL [--device NAME] [--kv TYPE]
"""

from __future__ import annotations

import argparse
import resource
import sys
from pathlib import Path
from typing import Any

import msgspec

from engine.client.agreement import compare, look_at
from engine.client.calls import self_test
from engine.protocol.probe import Reference
from engine.protocol.types import KvType, LoadOptions
from tests.bench.timed_worker import TimedWorker


def measure(model: Path, options: LoadOptions, *, software: bool = False) -> dict[str, Any]:
    """Load ``model`` on a device, test it, let the CPU compute the same. Seconds; memory in bytes."""
    with TimedWorker(software=software) as worker:
        worker.start()
        loaded = worker.loaded(model, options)
        device = self_test(worker)
    reference = Reference(path=str(model), options=options, probe=device.probe)
    with TimedWorker() as worker:
        worker.start()
        cpu = self_test(worker, reference)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    seen, finding = look_at(device.probe), compare(device.probe, cpu.probe)
    return {
        "device": loaded.model.device.name,
        "model_bytes": loaded.model.size_bytes,
        "load_seconds": loaded.seconds,
        "device_seconds": device.seconds,
        "cpu_seconds": cpu.seconds,
        "tokens": len(device.probe.tokens),
        "places": len(device.probe.positions),
        "seen": seen.outcome,
        "compared": finding.outcome,
        "detail": finding.detail.splitlines(),
        "peak_resident_bytes": peak,
    }


def main() -> int:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--device", help="PCI address or id; default: what a load takes by itself")
    parser.add_argument("--kv", type=KvType, choices=list(KvType), default=KvType.F16)
    parser.add_argument("--layers", type=int, default=-1, help="layers on the GPU")
    arguments = parser.parse_args()
    options = LoadOptions(
        n_ctx=512,
        device=arguments.device,
        n_gpu_layers=arguments.layers,
        kv_type_k=arguments.kv,
        kv_type_v=arguments.kv,
    )
    figures = measure(arguments.model, options, software=arguments.device is not None)
    print(msgspec.json.format(msgspec.json.encode(figures), indent=2).decode())
    return 0


if __name__ == "__main__":
    sys.exit(main())

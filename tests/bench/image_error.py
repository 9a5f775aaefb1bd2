"""How wrong the forecast for an image encoder is: against what libmtmd allocates in real loads of the worker.

    .venv/bin/python -m tests.bench.image_error [--device cpu]

Towers of several shapes with the projector of Idefics3 are made and loaded beside a small model; the forecast from the
header alone is compared with what the load reports. ``--device Vulkan0`` needs ``VRAMBLE_ALLOW_SOFTWARE_GPU=1`` on a
software driver.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from engine.client.blocking import BlockingWorker
from engine.client.calls import load_model
from engine.client.command import worker_command
from engine.memory.fit.image import Encoder, read_encoder
from engine.protocol.types import LoadOptions
from tests.bench.figures import machine_line, table
from tests.fakes.tiny_gguf import SMALL, small_llama
from tests.fakes.tiny_mmproj import Tower, mmproj

MIB = 1 << 20
TOWERS = (
    Tower(),
    Tower(width=512, heads=8, ff=512, layers=3, image=512, patch=16, merge=4),
    Tower(width=768, heads=12, ff=3072, layers=4, image=512, patch=16, merge=4),
    Tower(width=1024, heads=16, ff=4096, layers=3, image=336, patch=14, merge=2),
    Tower(width=1152, heads=16, ff=4304, layers=3, image=364, patch=14, merge=2),
    Tower(width=1152, heads=16, ff=4304, layers=3, image=896, patch=14, merge=4),
    Tower(width=1280, heads=16, ff=3420, layers=3, image=644, patch=14, merge=2),
)


def row(worker: BlockingWorker, model: Path, folder: Path, tower: Tower, device: str) -> tuple[str, ...]:
    """One tower: its shape, forecast and load in MiB, and the error of the sum."""
    path = folder / "encoder.gguf"
    path.write_bytes(mmproj(SMALL.embd, tower))
    encoder = read_encoder(path)
    assert isinstance(encoder, Encoder)
    options = LoadOptions(n_ctx=256, device=device, mmproj=str(path))
    told = load_model(worker, model, options, lambda _: None).model.memory
    real = sum(use.image for use in told)
    host = encoder.host if any(use.device != "CPU" and use.image for use in told) else 0
    forecast = encoder.size + host
    shape = f"{tower.width} x {tower.layers}, {tower.image} px / {tower.patch}"
    return shape, f"{forecast / MIB:.2f}", f"{real / MIB:.2f}", f"{100 * (forecast / real - 1):+.2f} %"


def main(arguments: Sequence[str]) -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="forecast of image encoders against real loads")
    parser.add_argument("--device", default="cpu")
    device = parser.parse_args(arguments).device
    with tempfile.TemporaryDirectory() as name, BlockingWorker(worker_command()) as worker:
        folder = Path(name)
        model = folder / "small.gguf"
        model.write_bytes(small_llama())
        worker.start()
        rows = [row(worker, model, folder, tower, device) for tower in TOWERS]
    print(table([("tower", "forecast MiB", "load MiB", "error"), *rows]))
    print(f"{device}; {machine_line()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

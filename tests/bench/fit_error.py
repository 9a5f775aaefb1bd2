"""How wrong the forecast of memory is: against what llama.cpp allocates in real loads of the worker.

Each model is loaded at each context and KV type on each device; the sum of weights, KV cache, compute and output
buffers that llama.cpp reports is compared with the forecast from the header alone (formula) and after a dry run.
Files are read, not mapped: with a mapping llama.cpp reports a span of the file instead of what it needs. Models of many
sizes and kinds are made as sparse files, so nothing but memory is needed. Use, in the checkout:

    .venv/bin/python -m tests.bench.fit_error [--device cpu] [--gemma FILE] [--only NAME] [--kv f16] [--big]

On llvmpipe a KV cache in q4_0 with heads of 256 (Gemma) keeps the shader compiler busy for many minutes.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.client.blocking import BlockingWorker
from engine.client.calls import dry_run, load_model
from engine.client.command import worker_command
from engine.errors import VrambleError
from engine.library.gguf import HeaderProblem
from engine.memory.fit import FitDevice, FitModel, FitPlan, fit_devices, measured_by, predict, read_model
from engine.protocol.frames import Unload
from engine.protocol.types import DeviceInfo, DeviceKind, KvType, LoadOptions, MemoryUse
from tests.bench.driver_memory import driver_memory
from tests.engine.worker.driver import starter_model
from tests.fakes import sparse_gguf as sparse
from tests.fakes.sparse_gguf import Model, Sizes

CONTEXTS = (2048, 8192, 32768)
MIB = 1 << 20
MOST = 6 << 30
"""Loads that would take more are left out."""

BROKEN_ON_SOFTWARE = {"moe", "mla", "a3b"}
"""Mixtures of experts: llvmpipe of Mesa 22.3 corrupts the heap when it computes them."""

SMALL: dict[str, Model] = {
    "mha": sparse.llama(),
    "gqa": sparse.llama(Sizes(kv_heads=2)),
    "tied": sparse.llama(Sizes(kv_heads=2), tied=True),
    "q8_0": sparse.llama(Sizes(kv_heads=2), "Q8_0"),
    "repacked": sparse.llama(Sizes(layers=8, width=1024, heads=16, kv_heads=2, ff=3072, vocabulary=32000), "Q4_0"),
    "tied_q4_k": sparse.llama(
        Sizes(layers=8, width=1024, heads=16, kv_heads=2, ff=3072, vocabulary=32000), "Q4_K", tied=True
    ),
    "swa": sparse.gemma3(),
    "moe": sparse.moe(),
    "mla": sparse.deepseek2(),
}
BIG: dict[str, Model] = {
    "7b": sparse.llama(
        Sizes(layers=32, width=4096, heads=32, kv_heads=32, head=128, ff=11008, vocabulary=32000), "Q4_0"
    ),
    "8b": sparse.llama(
        Sizes(layers=32, width=4096, heads=32, kv_heads=8, head=128, ff=14336, vocabulary=128256), "Q4_K"
    ),
    "a3b": sparse.moe(
        Sizes(layers=48, width=2048, heads=32, kv_heads=4, head=128, ff=768, vocabulary=151936),
        "Q4_K",
        experts=128,
        used=8,
    ),
}
"""Shapes of real models, for GPUs with the room."""


@dataclass(frozen=True)
class Case:
    """One load: the figures in bytes, by device id."""

    model: str
    device: str
    options: LoadOptions
    formula: FitPlan
    exact: FitPlan | None
    real: Sequence[MemoryUse]
    by_driver: int | None = None
    """What the GPU's driver says that the load took there; None where it does not say."""

    @property
    def allocated(self) -> int:
        return sum(use.weights + use.kv + use.compute + use.output for use in self.real)

    def error(self, plan: FitPlan) -> float:
        """Of the total, as a part of it."""
        return plan.everything / self.allocated - 1


def model_files(folder: Path, gemma: Path | None, *, big: bool) -> Iterator[tuple[str, Path]]:
    """The models: made, the starter, and Gemma where it is."""
    for name, model in (BIG if big else SMALL).items():
        yield name, model.write(folder / f"{name}.gguf")
    if big:
        return
    yield "split", SMALL["gqa"].write_split(folder, "split", 3)
    yield "starter", starter_model()
    if gemma is not None:
        yield "gemma-270m", gemma


def cases(
    worker: BlockingWorker, devices: Sequence[FitDevice], wanted: str, name: str, path: Path, kv_types: Sequence[KvType]
) -> Iterator[Case]:
    """Load ``path`` at each context and KV type."""
    device = next((d.info for d in devices if wanted == d.info.id and d.info.kind is not DeviceKind.CPU), None)
    model = read_model(path)
    assert not isinstance(model, HeaderProblem), model
    for n_ctx, kv_type in itertools.product(CONTEXTS, kv_types):
        options = LoadOptions(n_ctx=n_ctx, kv_type_k=kv_type, kv_type_v=kv_type, device=wanted, mmap=False)
        formula = predict(model, options, devices)
        if formula.everything > MOST and not _has_room(formula):
            print(f"left out: {name} at {n_ctx} {kv_type}, {formula.everything / MIB:.0f} MiB", file=sys.stderr)
            continue
        exact = _dry_run(model, options, devices, worker, path)
        _unload(worker)
        before = driver_memory(device, worker.pid).device if device else None
        loaded = load_model(worker, path, options, lambda _: None).model
        after = driver_memory(device, worker.pid).device if device else None
        taken = None if before is None or after is None else after - before
        yield Case(name, wanted, options, formula, exact, loaded.memory, taken)


def _unload(worker: BlockingWorker) -> None:
    for _ in worker.request(Unload(id=worker.next_id())):
        pass


def _has_room(plan: FitPlan) -> bool:
    return all(use.kind is DeviceKind.GPU and use.total < (use.room or 0) for use in plan.deciding)


def _dry_run(
    model: FitModel, options: LoadOptions, devices: Sequence[FitDevice], worker: BlockingWorker, path: Path
) -> FitPlan | None:
    try:
        ran = dry_run(worker, path, options)
    except VrambleError as error:
        print(f"no dry run of {path.name}: {error.message}", file=sys.stderr)
        return None
    return predict(model, options, devices, measured_by(model, options, devices, ran))


def line(case: Case) -> str:
    """One row: errors of the total, then forecast/real by device in MiB."""
    real = {use.device: use for use in case.real}
    places = []
    for use in case.formula.uses:
        there = real.get(use.device, MemoryUse(device=use.device))
        pairs = [(use.weights, there.weights), (use.kv, there.kv), (use.compute, there.compute)]
        figures = " ".join(f"{wanted / MIB:.1f}/{got / MIB:.1f}" for wanted, got in pairs)
        places.append(f"{use.device} {figures}")
    exact = "" if case.exact is None else f"{case.error(case.exact):+8.2%}"
    head = f"{case.model:11}{case.options.n_ctx:6} {case.options.kv_type_k:5}{case.error(case.formula):+8.2%} {exact:8}"
    driver = "" if case.by_driver is None else f" | driver {case.by_driver / MIB:.0f}"
    return f"{head}  {' | '.join(places)}{driver}"


def summary(found: Sequence[Case]) -> str:
    """Maximum and median of the errors' size."""
    formula = [abs(case.error(case.formula)) for case in found]
    exact = [abs(case.error(case.exact)) for case in found if case.exact is not None]
    rows = [("formula", formula), ("dry run", exact)]
    return "\n".join(
        f"{name}: max {max(errors):.2%}, median {statistics.median(errors):.2%} of {len(errors)} loads"
        for name, errors in rows
        if errors
    )


def run(arguments: argparse.Namespace) -> list[Case]:
    """All loads; each device has a worker of its own."""
    found: list[Case] = []
    environ = {**os.environ, "VRAMBLE_ALLOW_SOFTWARE_GPU": "1", "OMP_WAIT_POLICY": "passive"}
    with tempfile.TemporaryDirectory() as folder:
        files = list(model_files(Path(folder), arguments.gemma, big=arguments.big))
        for wanted in arguments.device:
            with BlockingWorker(worker_command(environ=environ)) as worker:
                infos = worker.start().devices
                print(f"{wanted}: {_name(infos, wanted)}   (MiB: weights, KV cache, compute; forecast/real)")
                for name, path in files:
                    if (arguments.only and name not in arguments.only) or _breaks(infos, wanted, name):
                        continue
                    for case in cases(worker, fit_devices(infos), wanted, name, path, arguments.kv):
                        found.append(case)
                        print(line(case), flush=True)
    return found


def _name(infos: Sequence[DeviceInfo], wanted: str) -> str:
    return next((info.name for info in infos if wanted in (info.id, info.id.lower())), "not there")


def _breaks(infos: Sequence[DeviceInfo], wanted: str, name: str) -> bool:
    software = any(info.id == wanted and info.kind is DeviceKind.SOFTWARE for info in infos)
    if software and name in BROKEN_ON_SOFTWARE:
        print(f"left out: {name} on a software driver", file=sys.stderr)
        return True
    return False


def main() -> None:
    """Parse, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", action="append", help="as in `vramble devices` (default: cpu and Vulkan0)")
    parser.add_argument("--gemma", type=Path, help="gemma-3-270m-q4_k_m.gguf, put together from its part packages")
    parser.add_argument("--kv", action="append", type=KvType, help="only this KV type; may be repeated")
    parser.add_argument("--only", action="append", help="only this model; may be repeated")
    parser.add_argument("--big", action="store_true", help="shapes of real 7B to 30B models, for GPUs with the room")
    arguments = parser.parse_args()
    arguments.device = arguments.device or ["cpu", "Vulkan0"]
    arguments.kv = arguments.kv or list(KvType)
    if arguments.gemma is None and not arguments.big:
        print("left out: Gemma 3 270M, no --gemma FILE", file=sys.stderr)
    print(summary(run(arguments)))


if __name__ == "__main__":
    main()

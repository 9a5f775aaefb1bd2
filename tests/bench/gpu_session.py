"""Everything that wants a real GPU, in one command of a few minutes: for a machine that is rented for it.

It needs neither network nor display: this checkout, Python, and msgspec, numpy, jinja2, markupsafe, psutil,
platformdirs and llama_cpp (bindings and libraries). Models are made on the spot (`tests.bench.big_gguf`).

    python -m tests.bench.gpu_session [--out FOLDER] [--llama-bench PROGRAM] [--shape 7B --shape 163M]

For each shape: loading on the GPU, memory by the driver's own figure before, during and after, an answer of 64 tokens,
the self-test, speed (against llama-bench where it is given), cancels at random moments, kill and restart. Each part is
guarded: one that fails is a line in ``results.json``, and the rest goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from engine.errors import VrambleError
from engine.protocol.frames import Loaded
from engine.protocol.types import DeviceInfo, DeviceKind, FinishReason, FlashAttention
from tests.bench import restart_ready, self_test_figures
from tests.bench.big_gguf import SHAPES, BigShape, numbered_words, write_model
from tests.bench.cancel_latency import CancelBench, Latency, Subject, show
from tests.bench.driver_memory import MIB, DriverMemory, driver_memory
from tests.bench.figures import machine, machine_line
from tests.bench.report import Report, summary
from tests.bench.timed_worker import ALLOW_SOFTWARE, TimedWorker, options_for, usable_devices

SHORT = 8
ANSWER, DECODE, PREFILL = 64, 128, 512
"""Tokens."""

SPEED_RUNS = 5
WARM_UP_SECONDS = 2.0
MEMORY_BACK_SECONDS = 10.0
MEMORY_BACK_MIB = 64
"""What other programs may take or give meanwhile."""


def is_software(device: DeviceInfo) -> bool:
    """Whether the GPU is llvmpipe or its like."""
    return device.kind is DeviceKind.SOFTWARE


def subject_of(device: DeviceInfo, model: Path) -> Subject:
    """A model on the GPU with a context of 4096 tokens, and prompts that nearly fill it."""
    return Subject(device, model, options_for(device, 4096), numbered_words(200), most=18)


class OneShape:
    """The parts for one shape of model."""

    def __init__(self, report: Report, device: DeviceInfo, shape: BigShape, folder: Path) -> None:
        self._report = report
        self._shape = shape
        self._device = device
        self._model = folder / f"random-{shape.name}.gguf"
        self._subject = subject_of(device, self._model)

    def run(self, llama_bench: Path | None, cancels: int, seconds: float, restarts: int) -> None:
        """All parts. The model file is removed at the end."""
        part, name = self._report.part, self._shape.name
        if part(f"{name} file", self._write) is None:
            return
        part(f"{name} load, answer, unload", self._load_answer_unload)
        part(f"{name} self-test", self._self_test)
        ours = part(f"{name} speed", self._speed)
        if llama_bench is not None:
            theirs = part(f"{name} llama-bench", lambda: self._llama_bench(llama_bench))
            if ours and theirs:
                part(f"{name} ratio", lambda: {key: ours[key] / theirs[key] for key in theirs})
        part(f"{name} restart", lambda: restart_ready.measure(self._subject, restarts))
        self._cancels(cancels, seconds)
        self._model.unlink(missing_ok=True)

    def _write(self) -> dict[str, Any]:
        return {"bytes": write_model(self._model, self._shape), "parameters": self._shape.parameters}

    def _worker(self) -> TimedWorker:
        return TimedWorker(software=is_software(self._device))

    def _load_answer_unload(self) -> dict[str, Any]:
        """The memory story: before, loaded, after an answer, after the worker's end."""
        before = driver_memory(self._device, None)
        with self._worker() as worker:
            worker.start()
            free = self._free(worker)
            loaded = worker.loaded(self._model, self._subject.options)
            assert loaded.model.device.id == self._device.id, loaded.model.device_reason
            during, taken = driver_memory(self._device, worker.pid), _less(free, self._free(worker))
            _, finished = worker.finished(numbered_words(SHORT), ANSWER)
            assert finished.stats.generated_tokens > 0
        ended = time.monotonic()
        after, seconds = self._memory_back(before, ended)
        return {
            "load_seconds": loaded.seconds,
            "gpu_layers": loaded.model.gpu_layers,
            "flash_attention": loaded.model.flash_attention,
            "model_says_bytes": _total(loaded),
            "ggml_says_bytes": taken,
            "driver_says_bytes": _less(during.device, before.device),
            "driver": {"before": before, "loaded": during, "after": after},
            "left_bytes": _less(after.device, before.device),
            "memory_back_seconds": seconds,
            "answer": msgspec.to_builtins(finished),
        }

    def _self_test(self) -> dict[str, Any]:
        """Whether the CPU agrees with the GPU, and what asking it costs."""
        return self_test_figures.measure(self._model, self._subject.options, software=is_software(self._device))

    def _free(self, worker: TimedWorker) -> int | None:
        return next((d.memory_free for d in worker.devices().devices if d.id == self._device.id), None)

    def _memory_back(self, before: DriverMemory, since: float) -> tuple[DriverMemory, float | None]:
        """Memory after the worker's end, and how long it took to be back; None: it is not, or nobody knows."""
        while True:
            now = driver_memory(self._device, None)
            left = _less(now.device, before.device)
            if left is not None and left <= MEMORY_BACK_MIB * MIB:
                return now, time.monotonic() - since
            if left is None or time.monotonic() - since > MEMORY_BACK_SECONDS:
                return now, None
            time.sleep(0.05)

    def _speed(self) -> dict[str, float]:
        """Median tokens per second, after a warm-up: clocks of an idle GPU rise within a second or two.

        Answers and prompts apart, as llama-bench runs them: after an answer the first prompt is read more slowly.
        """
        prefill = []
        with self._worker() as worker:
            worker.start()
            worker.loaded(self._model, self._subject.options)
            warm = time.monotonic() + WARM_UP_SECONDS
            while time.monotonic() < warm:
                self._whole_answer(worker, 1)
            decode = [self._whole_answer(worker, run) for run in range(SPEED_RUNS + 1)]
            for run in range(SPEED_RUNS + 1):
                _, short = worker.finished(numbered_words(PREFILL - 2, first=run * 7 + 1), 1)
                assert short.stats.prompt_tokens - short.stats.cached_tokens >= PREFILL - SHORT, short.stats
                prefill.append(short.stats.prefill_tps)
        return {"prefill_tps": statistics.median(prefill[1:]), "decode_tps": statistics.median(decode[1:])}

    @staticmethod
    def _whole_answer(worker: TimedWorker, seed: int) -> float:
        for attempt in range(10):
            _, end = worker.finished(numbered_words(SHORT), DECODE, seed + 100 * attempt)
            if end.reason is FinishReason.LENGTH:
                return end.stats.decode_tps
        raise RuntimeError("the model ends its answers early")

    def _llama_bench(self, program: Path) -> dict[str, float]:
        options = self._subject.options
        flash = int(options.flash_attention is not FlashAttention.OFF)
        command = [program, "-m", self._model, "-p", PREFILL, "-n", DECODE, "-r", SPEED_RUNS, "-ngl", 99]
        command += ["-b", options.n_batch, "-ub", options.n_ubatch, "-fa", flash, "-dev", self._device.id, "-o", "json"]
        env = {**os.environ, **({"GGML_VK_VISIBLE_DEVICES": "0"} if is_software(self._device) else {})}
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=env, timeout=180)
        if done.returncode:
            raise RuntimeError(f"llama-bench ended with {done.returncode}: {done.stderr[-2000:]}")
        tests = json.loads(done.stdout)
        return {("decode_tps" if test["n_gen"] else "prefill_tps"): float(test["avg_ts"]) for test in tests}

    def _cancels(self, count: int, seconds: float) -> None:
        name = self._shape.name
        phases: tuple[Callable[[CancelBench], Latency], ...] = (
            lambda bench: bench.load(count),
            lambda bench: bench.prompt(count),
            lambda bench: bench.generation(count),
        )
        for label, phase in zip(("load", "prompt", "generation"), phases, strict=True):

            def work(phase: Callable[[CancelBench], Latency] = phase) -> Latency:
                bench = CancelBench(self._subject, seconds=seconds)
                try:
                    return phase(bench)
                finally:
                    bench.close()

            if (result := self._report.part(f"{name} cancel in {label}", work)) is not None:
                print(show([result]), flush=True)


def _less(value: int | None, other: int | None) -> int | None:
    return None if value is None or other is None else value - other


def _total(loaded: Loaded) -> int:
    device = loaded.model.device.id
    return sum(u.weights + u.kv + u.compute + u.output for u in loaded.model.memory if u.device == device)


def choose_device(named: str | None) -> DeviceInfo:
    """The GPU that the session is about: ``named``, else the first one through Vulkan, else the first one.

    Raises:
        VrambleError: ``no-device``.
    """
    found = usable_devices(named, software=bool(os.environ.get(ALLOW_SOFTWARE)))
    gpus = [device for device in found if device.kind is not DeviceKind.CPU]
    if not gpus:
        raise VrambleError("no-device", f"No GPU is usable; found {[device.name for device in found]}.")
    return min(gpus, key=lambda device: device.backend != "Vulkan")


def main() -> int:
    """Run everything that the options say. Exit code 1: a part failed."""
    options = arguments()
    report = Report(options.out / "results.json", {"machine": machine(), "begun": time.strftime("%Y-%m-%d %H:%M:%S")})
    print(machine_line(), flush=True)
    device = report.part("device", lambda: choose_device(options.device))
    if device is None:
        return 1
    print(f"   {device.id}: {device.name}, {device.pci}", flush=True)
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        for name in options.shape or ["7B", "163M"]:
            shape = OneShape(report, device, SHAPES[name], Path(folder))
            shape.run(options.llama_bench, options.cancels, options.seconds, options.restarts)
    return summary(report)


def arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(), help="folder for results.json")
    parser.add_argument("--work", type=Path, help="folder for the models (default: a temporary one)")
    parser.add_argument("--shape", action="append", choices=sorted(SHAPES), help="default: 7B and 163M")
    parser.add_argument("--device", help="id, PCI address or kind")
    parser.add_argument("--llama-bench", type=Path, help="program to compare with")
    parser.add_argument("--cancels", type=int, default=30, help="in each phase")
    parser.add_argument("--seconds", type=float, default=40.0, help="longest time for one phase of cancels")
    parser.add_argument("--restarts", type=int, default=3)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

"""Reports and models made for tests."""

from __future__ import annotations

from typing import Any

from engine.bench.records import Outcome, Place, Protocol, Race, Report, Subject, VariantResult
from engine.memory.fit import FitModel
from engine.memory.fit.records import INPUT, LayerCache, Piece
from engine.protocol.bench import BenchSample, BenchTest
from engine.protocol.types import DeviceInfo, DeviceKind, LoadOptions

GIB = 1 << 30
PP, TG = BenchTest(prompt=512), BenchTest(generated=128)
DECODE = BenchTest(prompt=1, generated=512, greedy=True, warm_up=64)


def device(id_: str = "Vulkan0", kind: DeviceKind = DeviceKind.GPU, **changes: Any) -> DeviceInfo:
    values: dict[str, Any] = {
        "id": id_,
        "backend": "CPU" if kind is DeviceKind.CPU else "Vulkan",
        "name": "AMD Radeon RX 7900 XTX (RADV NAVI31)" if kind is DeviceKind.GPU else "Processor",
        "pci": "0000:03:00.0" if kind is DeviceKind.GPU else None,
        "kind": kind,
        "memory_total": 24 * GIB,
        "memory_free": 22 * GIB,
        "usable": True,
    }
    return DeviceInfo(**{**values, **changes})


CPU = device("CPU", DeviceKind.CPU)
GPU = device()


def fit_model(**changes: Any) -> FitModel:
    """Two layers of 100 MB with a cache of 4 kB a token, an output of 50 MB, embeddings of 80 MB."""
    values: dict[str, Any] = {
        "n_layers": 2,
        "context_length": 32768,
        "n_vocab": 1000,
        "width": 64,
        "pieces": (Piece(INPUT, 80_000_000), *(Piece(i, 100_000_000) for i in range(2)), Piece(2, 50_000_000)),
        "caches": (LayerCache(keys=512, values=512),) * 2,
    }
    return FitModel(**{**values, **changes})


def sample(test: BenchTest, tps: float, power: float | None = None) -> BenchSample:
    """A run at ``tps``; a prompt is read ten times as fast."""
    return BenchSample(
        prompt_s=test.prompt / tps / 10 if test.prompt else None,
        generated_s=test.generated / tps if test.generated else None,
        power_w=power,
    )


def outcome(test: BenchTest, *speeds: float, **changes: Any) -> Outcome:
    power = changes.pop("power", None)
    return Outcome(test=test, samples=tuple(sample(test, speed, power) for speed in speeds), **changes)


def variant(label: str, *tests: Outcome, **changes: Any) -> VariantResult:
    values: dict[str, Any] = {
        "options": LoadOptions(),
        "place": Place(name=GPU.name, backend="Vulkan", kind=GPU.kind, pci=GPU.pci, driver="libvulkan_radeon.so"),
        "flash_attention": True,
        "gpu_layers": 3,
    }
    return VariantResult(label=label, tests=tests, **{**values, **changes})


def report(*variants: VariantResult, **changes: Any) -> Report:
    values: dict[str, Any] = {
        "taken": 1_790_000_000.0,
        "model": Subject(path="/m/Llama-2-7B-Q4_0.gguf", name="Llama 2 7B", quant="Q4_0", size_bytes=3_825_807_360),
        "protocol": Protocol.DECODE512,
        "race": Race.NONE if len(variants) < 2 else Race.DEVICES,
        "runs": 3,
        "engine": "llama-cpp-python 0.3.36",
        "build": "0.5.0",
    }
    return Report(variants=variants, **{**values, **changes})

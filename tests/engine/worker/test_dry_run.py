"""Dry runs of the real worker: exact without weights, no trouble for what is loaded. And the forecast beside them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.library.gguf import HeaderProblem
from engine.memory.fit import FitModel, fit_devices, measured_by, predict, read_model
from engine.protocol.frames import DryRan, DryRun, Failed
from engine.protocol.types import KvType, LoadOptions, LoraAdapter, MemoryUse
from tests.engine.worker.driver import Worker, user
from tests.fakes import sparse_gguf, sparse_variants
from tests.fakes.sparse_gguf import Model, Sizes

ALLOWED = {"VRAMBLE_ALLOW_SOFTWARE_GPU": "1"}
LITTLE = Sizes(layers=3, width=256, heads=4, kv_heads=2, head=64, ff=768, vocabulary=600)
HUGE = Sizes(layers=80, width=8192, heads=64, kv_heads=8, head=128, ff=28672, vocabulary=600)


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    with Worker(log=tmp_path_factory.mktemp("dry") / "worker.log", env=ALLOWED) as made:
        yield made


def ask(worker: Worker, path: Path, **options: object) -> DryRan | Failed:
    request = DryRun(id=worker.new_id(), path=str(path), options=LoadOptions(**options))  # type: ignore[arg-type]
    worker.send(request)
    answer = worker.until_terminal(request.id)[1]
    assert isinstance(answer, DryRan | Failed)
    return answer


def ran(worker: Worker, path: Path, **options: object) -> DryRan:
    answer = ask(worker, path, **options)
    assert isinstance(answer, DryRan), answer
    return answer


def model_at(path: Path) -> FitModel:
    found = read_model(path)
    assert not isinstance(found, HeaderProblem), found
    return found


def total(memory: tuple[MemoryUse, ...]) -> int:
    return sum(use.weights + use.kv + use.compute + use.output for use in memory)


CASES: dict[str, tuple[Model, dict[str, Any]]] = {
    "gqa on the CPU": (sparse_gguf.llama(LITTLE), {"device": "cpu"}),
    "quantised, tied, on the CPU": (
        sparse_gguf.llama(LITTLE, "Q4_K", tied=True),
        {"device": "cpu", "kv_type_k": KvType.Q8_0, "kv_type_v": KvType.Q8_0},
    ),
    "windows": (
        sparse_gguf.gemma3(Sizes(layers=7, width=256, heads=2, kv_heads=1, head=128, ff=768)),
        {"device": "cpu"},
    ),
    "experts": (sparse_gguf.moe(LITTLE._replace(ff=256)), {"device": "cpu"}),
    "latent attention": (sparse_gguf.deepseek2(LITTLE._replace(layers=27)), {"device": "cpu"}),
    "gqa on Vulkan": (sparse_gguf.llama(LITTLE), {"device": "Vulkan0"}),
    "tied, half of it on Vulkan": (sparse_gguf.llama(LITTLE, tied=True), {"device": "Vulkan0", "n_gpu_layers": 2}),
}


@pytest.mark.parametrize("name", CASES)
def test_forecast_and_dry_run_against_a_load(worker: Worker, tmp_path: Path, name: str) -> None:
    source, changes = CASES[name]
    path = source.write(tmp_path / "model.gguf")
    options = LoadOptions(n_ctx=4096, n_threads=1, mmap=False, **changes)
    model, devices = model_at(path), fit_devices(worker.hello.devices)
    formula = predict(model, options, devices)
    answer = ran(worker, path, **changes, n_ctx=4096, mmap=False)
    exact = predict(model, options, devices, measured_by(model, options, devices, answer))
    info = worker.loaded(path, n_ctx=4096, n_threads=1, mmap=False, **changes).model
    real = total(info.memory)
    assert exact.exact
    assert exact.everything == pytest.approx(real, rel=0.002)
    assert formula.everything == pytest.approx(real, rel=0.03, abs=2 << 20)
    assert {use.device for use in exact.uses} == {use.device for use in info.memory}
    for use in info.memory:
        forecast = next(item for item in exact.uses if item.device == use.device)
        assert forecast.weights == pytest.approx(use.weights, rel=0.002, abs=20_000)
        assert forecast.kv == pytest.approx(use.kv, abs=20_000)
        assert forecast.compute == use.compute
    assert answer.flash_attention is info.flash_attention
    assert answer.gpu_layers == info.gpu_layers == exact.gpu_layers


OTHERS = {
    "gemma2": sparse_variants.gemma2(LITTLE._replace(layers=5)),
    "gpt-oss": sparse_variants.gpt_oss(LITTLE._replace(layers=4)),
    "mamba2": sparse_variants.mamba2(LITTLE),
    "lfm2": sparse_variants.lfm2(LITTLE._replace(layers=7)),
}


@pytest.mark.parametrize("kv_type", KvType)
@pytest.mark.parametrize("arch", OTHERS)
def test_caches_of_other_architectures(worker: Worker, tmp_path: Path, arch: str, kv_type: KvType) -> None:
    path = OTHERS[arch].write(tmp_path / "model.gguf")
    options: dict[str, Any] = {"device": "cpu", "n_ctx": 5000, "kv_type_k": kv_type, "kv_type_v": kv_type}
    answer = ran(worker, path, **options)
    plan = predict(model_at(path), LoadOptions(**options), fit_devices(worker.hello.devices))
    assert plan.uses[0].kv == pytest.approx(answer.caches, abs=30_000)
    assert answer.caches > 100_000


def test_no_weights_are_needed(worker: Worker, tmp_path: Path) -> None:
    """A model of 70B is simulated on any machine: only its header is there."""
    path = sparse_gguf.llama(HUGE, "Q4_K").write(tmp_path / "huge.gguf")
    assert path.stat().st_blocks * 512 < 1_000_000
    answer = ran(worker, path, device="cpu", n_ctx=131072)
    assert answer.caches == 80 * 131072 * 2048 * 2
    assert sum(use.compute for use in answer.memory) > 200e6


def test_the_loaded_model_stays(worker: Worker, tmp_path: Path, models: Path) -> None:
    loaded = worker.loaded(models / "tiny.gguf", device="cpu", n_threads=1, n_ctx=256).model
    ran(worker, sparse_gguf.llama(LITTLE).write(tmp_path / "other.gguf"), device="cpu")
    text, end = worker.finished(user("ab"), max_tokens=4)
    assert end.stats.generated_tokens == 4
    assert loaded.memory, text


def test_what_a_load_would_refuse(worker: Worker, tmp_path: Path) -> None:
    path = sparse_gguf.llama(LITTLE).write(tmp_path / "model.gguf")
    codes = {
        ask(worker, tmp_path / "missing.gguf").code,  # type: ignore[union-attr]
        ask(worker, path, n_batch=0).code,  # type: ignore[union-attr]
    }
    assert codes == {"missing-file", "bad-load-options"}
    odd = Model({**sparse_gguf.llama(LITTLE).kvs, "general.architecture": (8, "mystery")}, [])
    answer = ask(worker, odd.write(tmp_path / "odd.gguf"))
    assert isinstance(answer, Failed)
    assert answer.code == "unknown-architecture"


def test_adapters_are_left_out(worker: Worker, tmp_path: Path) -> None:
    """They take next to nothing, and their files need not be there."""
    path = sparse_gguf.llama(LITTLE).write(tmp_path / "model.gguf")
    assert ran(worker, path, device="cpu", lora=(LoraAdapter(path="/nowhere.gguf"),)).memory

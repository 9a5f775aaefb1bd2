"""The arithmetic of the benches, and the models they make."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.library.gguf import ModelHeader, read_file
from engine.protocol.types import DeviceInfo, DeviceKind
from tests.bench.big_gguf import SHAPES, numbered_words, tensor_bytes, tensor_shapes, vocabulary, write_model
from tests.bench.driver_memory import MIB, driver_memory, nvidia_process, nvidia_used
from tests.bench.figures import percentile, spread, table
from tests.bench.report import Report
from tests.engine.worker.conftest import StartWorker, start_worker
from tests.engine.worker.driver import user

__all__ = ["start_worker"]


@pytest.mark.parametrize(
    ("share", "value"), [(0.5, 50.0), (0.95, 95.0), (0.951, 96.0), (1.0, 100.0), (0.0, 1.0), (0.001, 1.0)]
)
def test_percentiles_are_values_that_occurred(share: float, value: float) -> None:
    assert percentile([float(number) for number in range(100, 0, -1)], share) == value


def test_few_values() -> None:
    assert percentile([3.0], 0.95) == 3.0
    assert spread([]) is None
    found = spread([2.0, 1.0, 9.0])
    assert found is not None
    assert (found.count, found.p50, found.p95, found.max) == (3, 2.0, 9.0, 9.0)
    with pytest.raises(ValueError, match="no values"):
        percentile([], 0.5)


def test_a_table_is_aligned() -> None:
    assert table([["name", "ms"], ["a", 1.25], ["long one", None]]) == "name       ms\na         1.2\nlong one    -"


def gpu(pci: str | None) -> DeviceInfo:
    return DeviceInfo(
        id="Vulkan0",
        backend="Vulkan",
        name="x",
        pci=pci,
        kind=DeviceKind.GPU,
        memory_total=None,
        memory_free=None,
        usable=True,
    )


TWO = "00000000:03:00.0, 1234\n00000000:0B:00.0, 77\n"


@pytest.mark.parametrize(
    ("output", "pci", "used"),
    [
        (TWO, "0000:0b:00.0", 77 * MIB),
        (TWO, "0000:03:00.0", 1234 * MIB),
        (TWO, None, None),
        ("00000000:03:00.0, 5\n", None, 5 * MIB),
        ("00000000:03:00.0, [N/A]\n", "0000:03:00.0", None),
        ("", "0000:03:00.0", None),
    ],
)
def test_what_the_driver_says(output: str, pci: str | None, used: int | None) -> None:
    assert nvidia_used(output, pci) == used


def test_a_process_in_the_drivers_list() -> None:
    assert nvidia_process("12, 3866\n13, [N/A]\n", 12) == 3866 * MIB
    assert nvidia_process("12, 3866\n13, [N/A]\n", 13) is None
    assert nvidia_process("", 12) is None


def test_an_amd_card_counts_both_pools(tmp_path: Path) -> None:
    card = tmp_path / "0000:03:00.0"
    card.mkdir()
    (card / "mem_info_vram_used").write_text("3000\n")
    (card / "mem_info_gtt_used").write_text("200\n")
    found = driver_memory(gpu("0000:03:00.0"), None, tmp_path)
    assert (found.source, found.device) == ("amdgpu sysfs", 3200)


def test_a_part_that_fails_is_written_down_and_the_next_one_runs(tmp_path: Path) -> None:
    report = Report(tmp_path / "results.json")
    assert report.part("bad", lambda: 1 // 0) is None
    assert report.part("good", lambda: {"value": 2}) == {"value": 2}
    text = report.path.read_text()
    assert "ZeroDivisionError" in text
    assert '"value": 2' in text


def test_sizes_of_the_shapes() -> None:
    assert round(SHAPES["7B"].parameters / 1e9, 2) == 6.74
    assert round(SHAPES["163M"].parameters / 1e6) == 162
    size = sum(tensor_bytes(dims) for _, dims in tensor_shapes(SHAPES["7B"]))
    assert 3.7e9 < size < 3.9e9
    texts, kinds = vocabulary(512)
    assert len(texts) == len(set(texts)) == len(kinds) == 512


def test_a_made_model_loads_and_answers(start_worker: StartWorker, tmp_path: Path) -> None:
    path = tmp_path / "tiny.gguf"
    assert write_model(path, SHAPES["tiny"]) == path.stat().st_size
    header = read_file(path)
    assert isinstance(header, ModelHeader), header
    assert (header.quant, header.n_params, header.warnings) == ("Q4_0", SHAPES["tiny"].parameters, ())
    worker = start_worker()
    worker.loaded(path, n_ctx=256, n_threads=1, device="cpu")
    _, end = worker.finished(user(numbered_words(100)), max_tokens=8)
    assert 100 < end.stats.prompt_tokens <= 102, "one token for each word"
    assert end.stats.generated_tokens > 0

"""Load options in the real worker, on the CPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.protocol.frames import Failed
from engine.protocol.types import FlashAttention, KvType, LoraAdapter, MemoryUse, RopeScaling
from tests.engine.worker.conftest import StartWorker
from tests.engine.worker.driver import Worker, starter_model, user
from tests.fakes.tiny_gguf import F32, SMALL, STR, TINY, U32, small_llama
from tests.fakes.tiny_variants import RANK, lora_adapter

CPU: dict[str, Any] = {"n_ctx": 256, "n_threads": 1, "device": "cpu"}
MIB = 1 << 20
ROUNDING = 0.006 * MIB
"""llama.cpp's log gives hundredths of a MiB."""

BITS = {KvType.F16: 16.0, KvType.Q8_0: 8.5, KvType.Q4_0: 4.5}


def memory_of(worker: Worker, path: Path, **options: Any) -> MemoryUse:
    (memory,) = worker.loaded(path, **{**CPU, **options}).model.memory
    return memory


def said(worker: Worker, path: Path, **options: Any) -> str:
    """What a model answers when it is loaded so."""
    worker.loaded(path, **{**CPU, **options})
    return worker.finished(user("ab ba"), max_tokens=12)[0]


def refused(worker: Worker, path: Path, **options: Any) -> Failed:
    answer = worker.load(path, **{**CPU, **options})
    assert isinstance(answer, Failed), answer
    assert "\n" not in answer.message
    assert answer.next_step
    return answer


@pytest.fixture
def small(models: Path) -> Path:
    return models / "small.gguf"


@pytest.mark.parametrize("keys", KvType)
@pytest.mark.parametrize("values", KvType)
def test_the_kv_cache_takes_what_its_formats_take(worker: Worker, small: Path, keys: KvType, values: KvType) -> None:
    cells = 256 * SMALL.layers * SMALL.embd
    memory = memory_of(worker, small, kv_type_k=keys, kv_type_v=values)
    assert memory.kv == pytest.approx(cells * (BITS[keys] + BITS[values]) / 8, abs=ROUNDING)


def test_a_quantised_cache_writes_the_same_beginning(worker: Worker) -> None:
    """Eight-bit values change logits a little: the starter model's first words stay, later ones may not."""
    answers = {}
    for kind in (KvType.F16, KvType.Q8_0):
        info = worker.loaded(starter_model(), **{**CPU, "n_ctx": 512}, kv_type_k=kind, kv_type_v=kind).model
        text, end = worker.finished(user("What is the capital of France?"), max_tokens=12)
        answers[kind] = text
        assert end.stats.generated_tokens > 0
        assert (info.flash_attention, info.warnings) == (True, ())
    words = [text.split()[:3] for text in answers.values()]
    assert words[0] == words[1]
    assert len(words[0]) == 3


@pytest.mark.parametrize(
    ("flash", "taken"), [(FlashAttention.OFF, False), (FlashAttention.ON, True), (FlashAttention.AUTO, True)]
)
def test_flash_attention_as_asked_for(worker: Worker, small: Path, flash: FlashAttention, taken: bool) -> None:
    assert worker.loaded(small, **CPU, flash_attention=flash).model.flash_attention is taken


def test_quantised_keys_alone_need_no_flash_attention(worker: Worker, small: Path) -> None:
    info = worker.loaded(small, **CPU, kv_type_k=KvType.Q8_0, flash_attention=FlashAttention.OFF).model
    assert info.flash_attention is False
    assert worker.finished(user("ab"), max_tokens=3)[1].stats.generated_tokens > 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kv_type_v": KvType.Q8_0, "flash_attention": FlashAttention.OFF}, "need flash attention"),
        ({"n_batch": 0}, "The batch has to be from 1"),
        ({"n_ubatch": -512}, "The micro-batch has to be from 1"),
        ({"n_ctx": -1}, "The context length has to be"),
        ({"n_ctx": 1 << 32}, "The context length has to be"),
        ({"n_gpu_layers": -2}, "The number of GPU layers has to be"),
        ({"n_threads": 100_000}, "The number of threads has to be"),
        ({"n_cpu_moe": -1}, "experts on the CPU has to be"),
        ({"rope_freq_scale": -1.0}, "The RoPE frequency scale has to be"),
        ({"yarn_ext_factor": 2.0}, "extrapolation factor has to be"),
        ({"devices": ("a", "b"), "shares": (1.0,)}, "1 shares for 2 devices"),
        ({"devices": ("a",), "shares": (0.0,)}, "Shares have to be"),
        ({"lora": (LoraAdapter(path="x", scale=1e9),)}, "scale of a LoRA adapter"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_what_cannot_be_meant_is_a_sentence(worker: Worker, small: Path, options: dict[str, Any], words: str) -> None:
    error = refused(worker, small, **options)
    assert error.code == "bad-load-options"
    assert words in error.message
    worker.loaded(small, **CPU)


@pytest.mark.parametrize("which", ["kv_type_k", "kv_type_v"])
@pytest.mark.parametrize("flash", FlashAttention)
def test_heads_that_are_no_whole_blocks(worker: Worker, tiny: Path, which: str, flash: FlashAttention) -> None:
    error = refused(worker, tiny, **{which: KvType.Q4_0}, flash_attention=flash)
    assert error.code == "bad-load-options"
    assert "8 values" in error.message or (flash is FlashAttention.OFF and "flash attention" in error.message)


def test_a_micro_batch_above_the_batch_is_bounded_by_it(worker: Worker, small: Path) -> None:
    compute = [memory_of(worker, small, n_batch=32, n_ubatch=ubatch).compute for ubatch in (32, 4096)]
    assert compute[0] == compute[1]
    assert worker.finished(user("ab " * 40), max_tokens=3)[1].stats.prompt_tokens > 64


def test_a_smaller_micro_batch_takes_less_memory(worker: Worker, small: Path) -> None:
    compute = [memory_of(worker, small, n_ubatch=ubatch).compute for ubatch in (16, 256)]
    assert compute[0] < compute[1] / 4
    assert worker.finished(user("ab " * 40), max_tokens=3)[1].stats.prompt_tokens > 64


def test_yarn_reaches_farther_without_a_warning(worker: Worker, small: Path) -> None:
    for options in ({"rope_scaling": RopeScaling.YARN}, {"rope_scaling": RopeScaling.LINEAR}):
        info = worker.loaded(small, **{**CPU, "n_ctx": 4000}, **options).model
        assert (info.n_ctx, info.n_ctx_train) == (4096, SMALL.context)
        assert not any("longer than" in warning for warning in info.warnings)
        assert worker.finished(user("ab"), max_tokens=3)[1].stats.generated_tokens > 0
    info = worker.loaded(small, **{**CPU, "n_ctx": 4000}, rope_scaling=RopeScaling.YARN, rope_freq_scale=0.5).model
    assert any("longer than the 2048" in warning for warning in info.warnings)


def test_rope_numbers_reach_the_model(worker: Worker, small: Path) -> None:
    plain = said(worker, small)
    assert said(worker, small, rope_freq_base=10_000.0) == plain
    assert said(worker, small, rope_freq_base=500_000.0) != plain
    assert said(worker, small, rope_freq_scale=1.0) == plain
    assert said(worker, small, rope_freq_scale=0.25) != plain


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lora") / "style.gguf"
    path.write_bytes(lora_adapter(SMALL))
    return path


def test_an_adapter_with_its_scale(worker: Worker, small: Path, adapter: Path) -> None:
    plain = said(worker, small)
    scaled = {scale: said(worker, small, lora=(LoraAdapter(path=str(adapter), scale=scale),)) for scale in (0, 1, -1)}
    assert scaled[0] == plain
    assert len({plain, scaled[1], scaled[-1]}) == 3
    assert said(worker, small) == plain, "an adapter is gone with the model it was laid over"


def test_an_adapter_counts_as_weights(worker: Worker, small: Path, adapter: Path) -> None:
    plain = memory_of(worker, small).weights
    with_adapter = memory_of(worker, small, lora=(LoraAdapter(path=str(adapter)),)).weights
    assert with_adapter - plain == pytest.approx(SMALL.layers * 2 * 2 * SMALL.embd * RANK * 4, abs=2 * ROUNDING)


def test_two_adapters_together(worker: Worker, small: Path, adapter: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.gguf"
    other.write_bytes(lora_adapter(SMALL, 8))
    both = tuple(LoraAdapter(path=str(path)) for path in (adapter, other))
    texts = {said(worker, small, lora=lora) for lora in ((), both, both[:1], both[1:])}
    assert len(texts) == 4


ODD_ADAPTERS = {
    "lora-mismatch": lora_adapter(TINY),
    "lora-damaged": b"GGUF" + bytes(3),
    "not-a-lora": small_llama(),
    "not-a-lora, control vector": lora_adapter(SMALL, **{"adapter.type": (STR, "control_vector")}),
    "not-a-lora, type is a number": lora_adapter(SMALL, **{"adapter.type": (U32, 1)}),
    "not-a-lora, alpha is a word": lora_adapter(SMALL, **{"adapter.lora.alpha": (STR, "8")}),
    "lora-mismatch, architecture": lora_adapter(SMALL, **{"general.architecture": (STR, "qwen2")}),
    "lora-mismatch, no architecture": lora_adapter(SMALL, **{"general.architecture": None}),
    "lora-damaged, cut": lora_adapter(SMALL)[:-3000],
}


@pytest.mark.parametrize("case", ODD_ADAPTERS)
def test_adapters_that_do_not_fit(worker: Worker, small: Path, tmp_path: Path, case: str) -> None:
    path = tmp_path / "odd.gguf"
    path.write_bytes(ODD_ADAPTERS[case])
    error = refused(worker, small, lora=(LoraAdapter(path=str(path)),))
    assert error.code == case.split(",")[0]
    assert "odd.gguf" in error.message
    worker.loaded(small, **CPU)


def test_an_adapter_that_is_not_there(worker: Worker, small: Path, tmp_path: Path) -> None:
    error = refused(worker, small, lora=(LoraAdapter(path=str(tmp_path / "gone.gguf")),))
    assert (error.code, error.detail) == ("lora-missing", str(tmp_path / "gone.gguf"))


def test_an_adapter_without_alpha(worker: Worker, small: Path, tmp_path: Path) -> None:
    path = tmp_path / "plain.gguf"
    path.write_bytes(lora_adapter(SMALL, **{"adapter.lora.alpha": None}))
    assert said(worker, small, lora=(LoraAdapter(path=str(path)),)) != said(worker, small)


def test_several_devices_that_are_gone(worker: Worker, small: Path) -> None:
    info = worker.loaded(small, n_ctx=256, n_threads=1, devices=("0000:fe:00.0", "0000:ff:00.0"), shares=(3.0, 1.0))
    assert info.model.device.name in info.model.warnings[2]
    assert [warning.split()[2] for warning in info.model.warnings[:2]] == ["0000:fe:00.0", "0000:ff:00.0"]
    assert info.model.device_reason


def test_a_scaled_file_says_how_far_it_was_made_to_reach(start_worker: StartWorker, tmp_path: Path) -> None:
    """YaRN in the file: 1024 tokens stretched to 4096, and stretched on from 1024 when more is asked for."""
    path = tmp_path / "stretched.gguf"
    path.write_bytes(
        small_llama(
            **{
                "llama.context_length": (U32, 4096),
                "llama.rope.scaling.type": (STR, "yarn"),
                "llama.rope.scaling.factor": (F32, 4.0),
                "llama.rope.scaling.original_context_length": (U32, 1024),
            }
        )
    )
    worker = start_worker()
    plain = worker.loaded(path, **{**CPU, "n_ctx": 8192}).model
    assert any("longer than the 4096" in warning for warning in plain.warnings)
    info = worker.loaded(path, **{**CPU, "n_ctx": 8192}, rope_scaling=RopeScaling.YARN).model
    assert not any("longer than" in warning for warning in info.warnings)
    assert "freq_scale            = 0.125" in worker.log_text()

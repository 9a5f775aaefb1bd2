"""The parts of the self-test without an engine: slow devices, logits, what the reference keeps of the options."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.errors import VrambleError
from engine.library.gguf.metadata import Metadata
from engine.loading.rope import TrainedContext
from engine.protocol.probe import Probe
from engine.protocol.types import DeviceKind, FlashAttention, KvType, LoadOptions, RopeScaling
from engine.worker import self_test
from engine.worker.cancel import CancelFlag
from engine.worker.logits import position
from engine.worker.reference import short_options
from engine.worker.self_test import BUDGET_SECONDS, CHOSEN, FIRST_SLICE, FOLLOWED, PROMPT_TOKENS, SelfTester


class SlowDevice:
    """A stand-in for a loaded model on a device that needs ``seconds`` for each token."""

    def __init__(self, seconds: float, n_ctx: int = 4096) -> None:
        self.now, self._seconds = 0.0, seconds
        self.slices: list[int] = []
        self.loaded = SimpleNamespace(
            llama=SimpleNamespace(api=self),
            model=None,
            context=None,
            vocabulary=SimpleNamespace(adds_bos=True, bos=1, size=32, tokenize=lambda _text, special: list(range(200))),
            cache=SimpleNamespace(clear=lambda: None, tokens=[]),
            info=SimpleNamespace(n_ctx=n_ctx, device=SimpleNamespace(kind=DeviceKind.GPU)),
            n_batch=512,
        )
        self._logits = (np.arange(32, dtype=np.float32) / 8).ctypes

    LLAMA_VOCAB_TYPE_NONE = 0
    vocabulary_type = 2

    def llama_vocab_type(self, _vocab: object) -> int:
        return self.vocabulary_type

    def llama_model_get_vocab(self, _model: object) -> object:
        return None

    def llama_get_logits_ith(self, _context: object, _index: int) -> Any:
        return self._logits.data_as(ctypes.POINTER(ctypes.c_float))

    def decode(self, _loaded: object, _tokens: object, count: int) -> None:
        self.slices.append(count)
        self.now += self._seconds * count

    def probe(self, monkeypatch: pytest.MonkeyPatch) -> Probe:
        monkeypatch.setattr(self_test, "decode", self.decode)
        return SelfTester(self.loaded, CancelFlag(), lambda: self.now).run()  # type: ignore[arg-type]


def test_a_fast_device_reads_the_whole_text_in_two_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    device = SlowDevice(0.0001)
    probe = device.probe(monkeypatch)
    assert device.slices == [FIRST_SLICE, PROMPT_TOKENS - FIRST_SLICE] + [1] * (FOLLOWED + CHOSEN - 1)
    assert len(probe.positions) == FOLLOWED + CHOSEN


@pytest.mark.parametrize("seconds", [0.02, 0.1, 1.0])
def test_a_slow_device_is_not_kept_long(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    device = SlowDevice(seconds)
    probe = device.probe(monkeypatch)
    least = seconds * (FIRST_SLICE + 4)
    assert device.now <= least + BUDGET_SECONDS + 2 * seconds
    assert len(probe.positions) >= 5
    assert sum(device.slices) == len(probe.tokens)


def test_no_vocabulary_and_no_room_are_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    device = SlowDevice(0.001)
    device.vocabulary_type = device.LLAMA_VOCAB_TYPE_NONE
    assert device.probe(monkeypatch).skipped == self_test.NO_VOCABULARY
    assert SlowDevice(0.001, n_ctx=8).probe(monkeypatch).skipped == self_test.SHORT_CONTEXT


def test_a_cancelled_test_ends_as_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    device, cancel = SlowDevice(0.001), CancelFlag()
    cancel.set()
    monkeypatch.setattr(self_test, "decode", device.decode)
    with pytest.raises(VrambleError) as caught:
        SelfTester(device.loaded, cancel, lambda: 0.0).run()  # type: ignore[arg-type]
    assert caught.value.code == "cancelled"
    assert device.slices == []


def test_forbidden_tokens_are_numbers_and_infinity_is_none() -> None:
    logits = np.array([1.0, -np.inf, 3.0, 2.0], np.float32)
    found = position(logits, 5, asked=[1, 99])
    assert [candidate.token for candidate in found.best] == [2, 3, 0]
    assert sum(np.exp([candidate.logprob for candidate in found.best])) == pytest.approx(1.0)
    for bad in (np.nan, np.inf):
        assert not position(np.array([1.0, bad, 0.0], np.float32), 5).finite
    assert not position(np.full(4, -np.inf, np.float32), 5).finite


def test_large_logits_do_not_overflow() -> None:
    found = position(np.array([3e38, -3e38, 0.0], np.float32), 1)
    assert found.finite
    assert found.best[0].logprob == pytest.approx(0.0)


def test_the_reference_keeps_what_decides_the_numbers() -> None:
    trained = TrainedContext(n_ctx=4096, original=4096)
    options = LoadOptions(
        n_ctx=16384, device="0000:03:00.0", n_gpu_layers=20, rope_scaling=RopeScaling.LINEAR, kv_type_v=KvType.Q8_0
    )
    short = short_options(options, trained, Metadata(), 31)
    assert (short.n_ctx, short.n_gpu_layers, short.device) == (256, 0, "cpu")
    assert short.rope_freq_scale == 0.25, "the factor that the long context needed"
    assert (short.kv_type_v, short.flash_attention) == (KvType.Q8_0, FlashAttention.ON)


@pytest.mark.parametrize(("n_ctx", "expected"), [(4096, 256), (8192, 4352), (0, 4352)])
def test_long_rope_keeps_the_same_factors(n_ctx: int, expected: int) -> None:
    metadata = Metadata(values={"general.architecture": "phi3", "phi3.rope.scaling.type": "longrope"})
    trained = TrainedContext(n_ctx=131072, original=4096)
    assert short_options(LoadOptions(n_ctx=n_ctx), trained, metadata, 31).n_ctx == expected

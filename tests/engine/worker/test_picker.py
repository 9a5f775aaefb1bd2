"""The token picked from few candidates is the one that llama.cpp picks from the whole vocabulary."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import VrambleError
from engine.protocol.types import Sampling
from engine.worker.native import import_bindings
from engine.worker.picker import TOKEN_DATA, Picker
from engine.worker.sampler import Sampler

N_VOCAB = 3000
SAMPLINGS = (
    Sampling(seed=1),
    Sampling(seed=2, temperature=1.5, top_k=5, top_p=1.0, min_p=0.0),
    Sampling(seed=3, top_k=1),
    Sampling(seed=4, repeat_penalty=1.3, repeat_last_n=32),
    Sampling(seed=5, repeat_penalty=0.8),
    Sampling(seed=6, top_k=0),
    Sampling(seed=7, top_k=100_000),
    Sampling(seed=8, typical_p=0.7),
    Sampling(seed=9, xtc_probability=0.7, xtc_threshold=0.05),
    Sampling(seed=10, top_n_sigma=1.5),
    Sampling(seed=11, dynatemp_range=0.5, dynatemp_exponent=1.3),
    Sampling(seed=12, frequency_penalty=0.3, presence_penalty=0.2),
    Sampling(seed=13, frequency_penalty=-0.5),
    Sampling(seed=14, mirostat=1),
    Sampling(seed=15, mirostat=2, mirostat_tau=2.0),
    Sampling(temperature=0.0, mirostat=2),
    Sampling(temperature=0.0),
    Sampling(temperature=0.0, repeat_penalty=1.2),
)


class Api:
    """The real bindings, but for the logits, which a test makes, and for the sampling of a whole context."""

    def __init__(self) -> None:
        self._real = import_bindings()
        self.logits = np.zeros(N_VOCAB, np.float32)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def llama_get_logits_ith(self, _context: object, _index: int) -> Any:
        return self.logits.ctypes.data_as(ctypes.POINTER(ctypes.c_float))

    def llama_sampler_sample(self, chain: object, _context: object, _index: int) -> int:
        """As llama.cpp does it: every token of the vocabulary goes through the chain."""
        rows = np.zeros(N_VOCAB, TOKEN_DATA)
        rows["id"], rows["logit"] = np.arange(N_VOCAB), self.logits
        array = self._real.llama_token_data_array()
        array.data = ctypes.cast(rows.ctypes.data, self._real.llama_token_data_p)
        array.size, array.selected, array.sorted = N_VOCAB, -1, False
        self._real.llama_sampler_apply(chain, ctypes.byref(array))
        token = int(array.data[array.selected].id)
        self._real.llama_sampler_accept(chain, token)
        return token


def chain(api: Api, sampling: Sampling) -> Sampler:
    return Sampler(SimpleNamespace(api=api), sampling, n_vocab=N_VOCAB, n_ctx=512)  # type: ignore[arg-type]


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), spread=st.sampled_from([0.01, 1.0, 4.0, 30.0]), cold=st.booleans())
def test_as_from_the_whole_vocabulary(sampling: Sampling, seed: int, spread: float, cold: bool) -> None:
    api, random = Api(), np.random.default_rng(seed)
    few, all_of_them = chain(api, sampling), chain(api, sampling)
    picker = Picker(SimpleNamespace(api=api), None, few, N_VOCAB, cold=cold)  # type: ignore[arg-type]
    picked, expected = [], []
    for _ in range(25):
        api.logits = random.normal(0, spread, N_VOCAB).astype(np.float32)
        expected.append(api.llama_sampler_sample(all_of_them.chain, None, -1))
        picked.append(picker.pick())
    few.close()
    all_of_them.close()
    assert picked == expected


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("sampling", [Sampling(), Sampling(temperature=0), Sampling(top_k=0)], ids=str)
@pytest.mark.parametrize("cold", [False, True])
def test_no_numbers_are_an_error_in_words(value: float, sampling: Sampling, cold: bool) -> None:
    api = Api()
    api.logits = np.full(N_VOCAB, value, np.float32)
    sampler = chain(api, sampling)
    picker = Picker(SimpleNamespace(api=api), None, sampler, N_VOCAB, cold=cold)  # type: ignore[arg-type]
    with pytest.raises(VrambleError, match="no valid numbers"):
        picker.pick()
    sampler.close()

"""The typed keywords name what the records hold, and nothing else."""

from __future__ import annotations

from typing import get_type_hints

import msgspec
import pytest

from engine.api.keywords import AnswerKeywords, LoadKeywords, SamplingKeywords, changed
from engine.api.request import generate_request
from engine.protocol.frames import Generate
from engine.protocol.types import KvType, LoadOptions, LogitBias, Sampling


@pytest.mark.parametrize(("keywords", "record"), [(LoadKeywords, LoadOptions), (SamplingKeywords, Sampling)])
def test_every_field_with_its_type(keywords: type, record: type) -> None:
    assert get_type_hints(keywords) == get_type_hints(record)


def test_what_is_said_of_an_answer() -> None:
    own = set(get_type_hints(AnswerKeywords)) - set(get_type_hints(SamplingKeywords))
    assert own <= set(Generate.__struct_fields__)
    assert set(Generate.__struct_fields__) - own == {"id", "messages", "sampling", "temporary"}


def test_values_are_converted() -> None:
    options = changed(LoadOptions(), {"kv_type_k": "q8_0", "shares": [1, 2], "rope_freq_base": 10})
    assert (options.kv_type_k, options.shares, options.rope_freq_base) == (KvType.Q8_0, (1.0, 2.0), 10.0)
    sampling = changed(Sampling(), {"logit_bias": (LogitBias(3, 1.5),)})
    assert sampling.logit_bias == (LogitBias(3, 1.5),)
    assert changed(sampling, {}) == sampling


def test_a_request_is_what_was_asked() -> None:
    request = generate_request(3, "Hi", Sampling(top_k=5), {"temperature": 0, "stop": ["a", "b"], "max_tokens": 9})
    expected = Generate(
        id=3,
        messages=request.messages,
        sampling=msgspec.structs.replace(Sampling(top_k=5), temperature=0.0),
        max_tokens=9,
        stop=("a", "b"),
    )
    assert request == expected

"""Names of the tensors that stay in RAM."""

from __future__ import annotations

import re

import pytest

from engine.worker.experts import experts_pattern, overrides

NAMES = [
    f"blk.{layer}.{part}.weight"
    for layer in (0, 1, 2, 10, 11, 12)
    for part in ("ffn_gate_exps", "ffn_up_exps", "ffn_down_exps", "ffn_gate_up_exps", "ffn_up_chexps")
]
OTHERS = ["blk.0.ffn_gate_inp.weight", "blk.0.ffn_up.weight", "blk.0.ffn_up_shexp.weight", "token_embd.weight"]


@pytest.mark.parametrize("layers", [1, 2, 3, 11, 12, 13])
@pytest.mark.parametrize("n_layers", [13, None])
def test_the_experts_of_the_first_layers(layers: int, n_layers: int | None) -> None:
    pattern = re.compile(experts_pattern(layers, n_layers))
    assert [name for name in NAMES if pattern.search(name)] == [n for n in NAMES if int(n.split(".")[1]) < layers]
    assert not any(pattern.search(name) for name in OTHERS)


def test_the_list_ends_with_an_empty_entry() -> None:
    assert overrides(0, 3, 77) is None
    first, last = overrides(2, 3, 77)
    assert (first.buffer_type, last.pattern, last.buffer_type) == (77, None, None)

"""How far a context is stretched."""

from __future__ import annotations

from typing import Any

import pytest

from engine.loading.rope import TrainedContext, frequency_scale, reach
from engine.protocol.types import LoadOptions, RopeScaling

PLAIN = TrainedContext(4096, 4096)
STRETCHED = TrainedContext(32768, 8192, 0.25)
"""A file that brings its own YaRN, factor 4."""

LINEAR, YARN, NONE = RopeScaling.LINEAR, RopeScaling.YARN, RopeScaling.NONE


@pytest.mark.parametrize(
    ("trained", "options", "scale", "far"),
    [
        (PLAIN, {}, 0, 4096),
        (PLAIN, {"n_ctx": 16384}, 0, 4096),
        (PLAIN, {"n_ctx": 16384, "rope_scaling": YARN}, 0.25, 16384),
        (PLAIN, {"n_ctx": 16300, "rope_scaling": YARN}, 0.25, 16384),
        (PLAIN, {"n_ctx": 16384, "rope_scaling": LINEAR}, 0.25, 16384),
        (PLAIN, {"n_ctx": 16384, "rope_scaling": YARN, "yarn_orig_ctx": 2048}, 0.125, 16384),
        (PLAIN, {"n_ctx": 16384, "rope_scaling": YARN, "rope_freq_scale": 0.5}, 0.5, 8192),
        (PLAIN, {"n_ctx": 16384, "rope_freq_scale": 0.5}, 0.5, 8192),
        (PLAIN, {"n_ctx": 16384, "rope_scaling": NONE, "rope_freq_scale": 0.5}, 0.5, 4096),
        (PLAIN, {"n_ctx": 2048, "rope_scaling": YARN}, 0, 4096),
        (PLAIN, {"n_ctx": 0, "rope_scaling": YARN}, 0, 4096),
        (STRETCHED, {"n_ctx": 32768}, 0, 32768),
        (STRETCHED, {"n_ctx": 65536, "rope_scaling": YARN}, 0.125, 65536),
        (STRETCHED, {"n_ctx": 65536, "rope_freq_scale": 0.125}, 0.125, 65536),
        (TrainedContext(0, 0), {"n_ctx": 4096, "rope_scaling": YARN}, 0, 0),
    ],
)
def test_scale_and_reach(trained: TrainedContext, options: dict[str, Any], scale: float, far: int) -> None:
    wanted = LoadOptions(**options)
    assert frequency_scale(wanted, trained) == scale
    assert reach(wanted, trained) == far

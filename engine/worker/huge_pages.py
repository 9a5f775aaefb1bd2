"""Whether the weights are read into huge pages instead of being mapped.

For each token the processor walks through all weights, and each of their pages has to be looked up on the way: 25,000
pages of 4 KiB for 100 MB, or 50 of 2 MiB. The kernel has huge pages for memory that asks for them, which the C library
does here (`engine.client.command`), and seldom for mapped files. Four to seven per cent of a token's time on an EPYC
(``python -m tests.bench.weights_in_memory``). Without huge pages memory is the slower of the two.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Final

from engine.client.command import HUGE_PAGES, TUNABLES
from engine.memory.host import read_ram
from engine.memory.tree import Tree, sysroot
from engine.worker.context_memory import weight_bytes
from engine.worker.plan import Plan

SETTING: Final = "sys/kernel/mm/transparent_hugepage/enabled"

SHARE: Final = 4
"""Weights that take more than the fourth part of what is available stay mapped: the kernel can drop mapped pages, and
other programs that use the file have them as well."""


def reads_weights(plan: Plan, tree: Tree | None = None, environ: Mapping[str, str] | None = None) -> bool:
    """Whether reading is the faster way for ``plan``, and cheap. What the user said about mapping is not asked here.

    Args:
        tree: Where ``sys`` and ``proc`` lie.
        environ: Environment that this process was started with.
    """
    if plan.on_gpu:
        return False
    tree = tree or Tree(sysroot())
    if not _gets_huge_pages(tree.text(SETTING) or "", os.environ if environ is None else environ):
        return False
    available = read_ram(tree).available
    return available is not None and SHARE * weight_bytes(plan) <= available


def _gets_huge_pages(setting: str, environ: Mapping[str, str]) -> bool:
    """``setting``: such as ``always [madvise] never``, the one in brackets holds."""
    chosen = re.search(r"\[(\w+)\]", setting)
    asks = f"{HUGE_PAGES}=1" in environ.get(TUNABLES, "").split(":")
    return chosen is not None and (chosen[1] == "always" or (chosen[1] == "madvise" and asks))

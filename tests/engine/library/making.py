"""Model files for the tests of the library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.fakes.tiny_gguf import tiny_llama


def llama(changes: Mapping[str, Any] | None = None, **more: Any) -> bytes:
    """A small llama with metadata of other values: ``{"llama.block_count": (U32, 7)}``, None leaves a key out."""
    values: dict[str, Any] = {**(changes or {}), **more}
    return tiny_llama(**values)

"""Fixtures that the engine's tests have too."""

from __future__ import annotations

from tests.engine.backends.toy_plugins import toys

__all__ = ["toys"]

"""How fast the memory of a device is (`engine.memory.bandwidth`)."""

from engine.memory.bandwidth import bandwidth_of

__all__ = ["bandwidth_of"]

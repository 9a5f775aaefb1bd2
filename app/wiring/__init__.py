"""Builds every service and hands it to who needs it: one module for each feature. The only place that does."""

from app.wiring.program import build

__all__ = ["build"]

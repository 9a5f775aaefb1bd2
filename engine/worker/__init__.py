"""The worker process: llama.cpp with one loaded model, driven by frames on stdin."""

from __future__ import annotations


def main() -> int:
    """Run the worker until stdin ends. For ``python -P -m engine.worker`` and ``vramble --worker``."""
    from engine.worker.process import run

    return run()

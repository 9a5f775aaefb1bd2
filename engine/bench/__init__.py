"""Benchmarks: what is measured, in which order, and what the figures mean. How it is timed: `engine.worker.bench`."""

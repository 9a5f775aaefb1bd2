"""Reader for GGUF headers: pure Python, bounded, reads no tensor data."""

from engine.library.gguf.reader import read_file, read_header
from engine.library.gguf.records import HeaderProblem, ModelHeader, Split

__all__ = ["HeaderProblem", "ModelHeader", "Split", "read_file", "read_header"]

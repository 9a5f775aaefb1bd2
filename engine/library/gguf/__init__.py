"""Reader for GGUF headers: pure Python, bounded, reads no tensor data."""

from engine.library.gguf.reader import Contents, read_contents, read_file, read_file_contents, read_header
from engine.library.gguf.records import HeaderProblem, ModelHeader, Split
from engine.library.gguf.tensors import TensorEntry

__all__ = [
    "Contents",
    "HeaderProblem",
    "ModelHeader",
    "Split",
    "TensorEntry",
    "read_contents",
    "read_file",
    "read_file_contents",
    "read_header",
]

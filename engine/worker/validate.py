"""What can be said about a model file before llama.cpp sees it, and what its log says when it refuses one."""

from __future__ import annotations

import re
from pathlib import Path

from engine.errors import VrambleError
from engine.library.gguf import HeaderProblem, ModelHeader, read_file
from engine.library.names import shard_name, shard_of
from engine.library.states import FileState
from engine.loading.check import CODE as BAD_OPTIONS
from engine.loading.getting_back import way_back
from engine.worker.memory_failure import context_memory_failure, load_memory_failure

OTHER_FILE = "Choose another model file."

_CODES = {
    FileState.NOT_GGUF: ("not-gguf", "Choose a file in GGUF format."),
    FileState.POINTER: ("pointer-file", ""),
    FileState.OLD_FORMAT: ("ggml-format", "Look for the model in GGUF format."),
    FileState.TOO_OLD: ("gguf-version", "Look for a newer file of this model."),
    FileState.TOO_NEW: ("gguf-too-new", "Update Vramble."),
    FileState.BIG_ENDIAN: ("gguf-byte-order", "Look for a file made for this kind of computer."),
    FileState.INCOMPLETE: ("cut-file", ""),
    FileState.UNREADABLE: ("unreadable-file", "Check the permissions of the file."),
}
"""Code and next step; without one the file has to be got again."""

_ARCHITECTURE = re.compile(r"(?:unknown|unsupported) model architecture: '([^']*)'")
_REASON = re.compile(r"error loading model: (.+)")
_BAD_TABLE = re.compile(r"gguf_init_from_reader: (.+)")
_OTHER_OPTIONS = {
    re.compile(r"quantized V cache requires flash_attn"): (
        "This model works without flash attention only, and quantised values in the KV cache need it.",
        "Take f16 for the KV cache of this model.",
    ),
    re.compile(r"[KV] cache type \w+ with block size"): (
        "The heads of this model do not divide into the blocks of a quantised KV cache.",
        "Take f16 for the KV cache of this model.",
    ),
    re.compile(r"does not support different K"): (
        "This model takes one format for keys and values of the KV cache.",
        "Take the same format for both.",
    ),
    re.compile(r"LLAMA_SPLIT_MODE_TENSOR not implemented|SPLIT_MODE_TENSOR requires"): (
        "This model cannot be split by tensors.",
        "Split it by layers.",
    ),
}
"""What llama.cpp says about options that do not suit a model -> sentence and next step."""


def check_file(path: Path) -> ModelHeader:
    """The header of a file that is whole and in a format that the engine reads.

    Raises:
        VrambleError: ``missing-file``, ``not-gguf``, ``gguf-version``, ``cut-file``, ``damaged-file``,
            ``missing-part`` and others, each with its sentence.
    """
    if not path.exists():
        raise VrambleError("missing-file", f"The file {path.name} does not exist.", OTHER_FILE, str(path))
    found = read_file(path)
    if isinstance(found, HeaderProblem):
        code, next_step = _CODES.get(found.state, ("damaged-file", ""))
        raise VrambleError(code, f"{path.name}: {found.message}", next_step or way_back(path), str(path))
    _check_parts(path, found)
    return found


def _check_parts(path: Path, header: ModelHeader) -> None:
    """All parts of a split set have to be there, and it is loaded by its first one."""
    place = shard_of(path.name)
    if header.split is None or header.split.count < 2 or place is None:
        return
    if header.split.no != 0:
        message = f"{path.name} is part {header.split.no + 1} of {header.split.count} of a model."
        raise VrambleError("not-first-part", message, f"Load {shard_name(place, 1)} instead.", str(path))
    gone = [no for no in range(1, place.total + 1) if not path.with_name(shard_name(place, no)).exists()]
    if gone:
        message = f"{path.name}: Part {gone[0]} of {place.total} is missing."
        step = f"Download {shard_name(place, gone[0])} into the same folder."
        raise VrambleError("missing-part", message, step, str(path))


def load_failure(path: Path, log: str, version: str) -> VrambleError:
    """Why llama.cpp gave no model, out of its log."""
    if match := _ARCHITECTURE.search(log):
        named = f"the architecture {match[1]}" if match[1] else "no known architecture"
        message = f"{path.name} is for {named}, which the engine {version} does not know."
        return VrambleError("unknown-architecture", message, "Update Vramble, or choose another model.", log)
    if "key not found in model: general.architecture" in log:
        message = f"{path.name} does not say which architecture it is for."
        return VrambleError("unknown-architecture", message, OTHER_FILE, log)
    if "CLIP cannot be used as main model" in log:
        message = f"{path.name} is an image projector, not a language model."
        return VrambleError("not-a-chat-model", message, OTHER_FILE, log)
    if "not within the file bounds" in log:
        return VrambleError("cut-file", f"{path.name} is incomplete.", way_back(path), log)
    if unsuited := _unsuited_options(log):
        return unsuited
    if short := load_memory_failure(path.name, log):
        return short
    if bad := _BAD_TABLE.search(log):
        message = f"{path.name} is damaged: {bad[1].strip().rstrip('.')}."
        return VrambleError("damaged-file", message, way_back(path), log)
    reasons = _REASON.findall(log)
    reason = f": {reasons[-1].strip().rstrip('.')}" if reasons else ""
    return VrambleError("load-failed", f"{path.name} could not be loaded{reason}.", way_back(path), log)


def context_failure(n_ctx: int, log: str) -> VrambleError:
    """Why llama.cpp gave no context for a model that is loaded."""
    if unsuited := _unsuited_options(log):
        return unsuited
    if short := context_memory_failure(n_ctx, log):
        return short
    message = "The engine could not prepare the model for use."
    return VrambleError("context-failed", message, "Try other load options, or another model.", log)


def _unsuited_options(log: str) -> VrambleError | None:
    for said, (message, next_step) in _OTHER_OPTIONS.items():
        if said.search(log):
            return VrambleError(BAD_OPTIONS, message, next_step, log)
    return None

"""What an image encoder (mmproj file) takes beside the model that it belongs to.

Facts of llama.cpp 0c1e57098, ``tools/mtmd/clip.cpp``: all tensors and the compute buffer lie on one device; the buffer
is reserved at load for one picture of a size that depends on the kind of projector (``load_hparams``), and lasts.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Final

import msgspec

from engine.library.gguf import Contents, HeaderProblem, read_file_contents
from engine.library.gguf.metadata import Metadata
from engine.memory.fit.records import FitModel
from engine.memory.fit.shape import bounded

ARCHITECTURE: Final = "clip"

_F32: Final = 4
_CHANNELS: Final = 3
_ROWS_BESIDE_FF: Final = 3
_ROWS_OF_ATTENTION: Final = 5
"""Streams of embeddings that are alive beside the feed-forward step, and in attention; found by loads of towers of
several shapes on the processor and on Vulkan (`tests/bench/image_error.py`)."""

_MOST_PATCHES: Final = 1 << 16
_MOST_PIXELS: Final = 1 << 14
"""A side: what is more is nonsense in a header."""

_PROJECTION: Final = "mm."


class _Picture(msgspec.Struct, frozen=True):
    """The picture of the reservation: ``tokens``, each of ``merge`` times ``merge`` patches."""

    tokens: int
    merge: int


_PICTURES: Final = {
    "qwen2vl_merger": _Picture(46 * 46, 2),
    "qwen2.5vl_merger": _Picture(46 * 46, 2),
    "qwen2.5o": _Picture(46 * 46, 2),
    "qwen3vl_merger": _Picture(46 * 46, 2),
    "ling3vl": _Picture(46 * 46, 2),
    "mimovl": _Picture(46 * 46, 2),
    "glm4v": _Picture(46 * 46, 2),
    "glm5v": _Picture(46 * 46, 2),
    "dots_ocr": _Picture(46 * 46, 2),
    "pixtral": _Picture(256, 1),
    "lightonocr": _Picture(256, 1),
    "kimivl": _Picture(256, 1),
    "phi4": _Picture(256, 1),
    "lfm2": _Picture(256, 1),
    "gemma4v": _Picture(256, 3),
    "youtuvl": _Picture(256, 2),
    "minimax_m3": _Picture(256, 2),
    "muse-glimmer": _Picture(32 * 32, 2),
}
"""By kind of projector; ``merge`` where the file does not say. All others take the size of picture of the file."""

_MERGE_KEYS: Final = ("clip.vision.projector.scale_factor", "clip.vision.spatial_merge_size")


class Encoder(msgspec.Struct, frozen=True, kw_only=True):
    """An image encoder. Sizes are bytes.

    Attributes:
        path: Its file, as it was asked for.
        weights: All tensors.
        work: Compute buffer on the device that holds them.
        host: What a GPU needs of the RAM beside that: the pixels.
        widths: Sizes of embeddings that it can lead to.
    """

    path: str = ""
    name: str = ""
    weights: int = 0
    work: int = 0
    host: int = 0
    widths: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """Bytes on the device that holds it."""
        return self.weights + self.work

    def suits(self, model: FitModel) -> bool:
        """Whether it can belong to ``model``: what it gives is as wide as the model's embeddings."""
        return model.width > 0 and model.width in self.widths


def read_encoder(path: Path) -> Encoder | HeaderProblem | None:
    """The encoder at ``path``; None when the file is a model of another kind. Reads the header only."""
    found = read_file_contents(path)
    return found if isinstance(found, HeaderProblem) else encoder_of(found, str(path))


def encoder_of(contents: Contents, path: str = "") -> Encoder | None:
    """The encoder whose file has this header; None when it is none."""
    metadata, header = contents.metadata, contents.header
    if header.architecture != ARCHITECTURE and header.kind != "mmproj":
        return None
    ends = {size for tensor in contents.tensors if tensor.name.startswith(_PROJECTION) for size in tensor.dims}
    widths = ends | {bounded(metadata.count("clip.vision.projection_dim"))}
    patches, pixels = _picture(metadata)
    return Encoder(
        path=path,
        name=header.name,
        weights=header.tensor_bytes,
        work=_work(metadata, patches, gated=any(".ffn_gate." in tensor.name for tensor in contents.tensors)),
        host=pixels * _CHANNELS * _F32,
        widths=tuple(sorted(width for width in widths if width > 0)),
    )


def with_encoder(model: FitModel, encoder: Encoder | None) -> FitModel:
    """``model`` loaded together with ``encoder``."""
    if encoder is None:
        return model
    return msgspec.structs.replace(model, image=encoder.size, image_host=encoder.host)


def _picture(metadata: Metadata) -> tuple[int, int]:
    """Patches and pixels of the picture that memory is reserved for; 0 where the file does not say."""
    patch = bounded(metadata.count("clip.vision.patch_size"))
    side = bounded(metadata.count("clip.vision.image_size"))
    kind = metadata.text("clip.projector_type") or metadata.text("clip.vision.projector_type")
    fixed = _PICTURES.get(kind)
    if not patch:
        return 0, 0
    if fixed is not None:
        merge = next((found for key in _MERGE_KEYS if (found := bounded(metadata.count(key)))), fixed.merge)
        side = math.isqrt(fixed.tokens) * merge * patch
    patches = (side // patch) ** 2
    return (patches, side * side) if patches <= _MOST_PATCHES and side <= _MOST_PIXELS else (0, 0)


def _work(metadata: Metadata, patches: int, *, gated: bool) -> int:
    width = bounded(metadata.count("clip.vision.embedding_length"))
    widest = bounded(metadata.count("clip.vision.feed_forward_length")) * (2 if gated else 1)
    row, step = patches * width * _F32, patches * widest * _F32
    return max(step + _ROWS_BESIDE_FF * row, _ROWS_OF_ATTENTION * row)

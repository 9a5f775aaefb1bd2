"""Load options against what one model and one device are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from engine.errors import VrambleError
from engine.library.gguf.metadata import Metadata
from engine.loading.check import CODE
from engine.loading.metadata import file_metadata, key_and_value_sizes
from engine.protocol.types import DeviceKind, KvType, LoadOptions, RopeScaling

KV_BLOCK = 32
"""Values that q8_0 and q4_0 put in one block; a head has to be a whole number of blocks."""

WITH_F16 = "Take f16 for the KV cache of this model."
DOUBLE_MEMORY = "Memory mapping is on: on unified memory the weights may take their place twice."
NO_EXPERTS = "The model has no experts, so none are kept on the CPU."


def entries_needed(path: Path, options: LoadOptions) -> Metadata:
    """The entries of the file, where the options depend on them; else none, because reading them takes time."""
    quantised = KvType.F16 is not options.kv_type_k or KvType.F16 is not options.kv_type_v
    needed = quantised or options.n_cpu_moe > 0 or options.rope_scaling is RopeScaling.YARN
    return file_metadata(path) if needed else Metadata()


def check_heads(options: LoadOptions, metadata: Metadata) -> None:
    """Refuse a quantised KV cache for heads that are no whole number of blocks.

    Raises:
        VrambleError: ``bad-load-options``.
    """
    keys, values = key_and_value_sizes(metadata)
    for kind, sizes in ((options.kv_type_k, keys), (options.kv_type_v, values)):
        odd = sorted(size for size in sizes if size % KV_BLOCK)
        if kind is not KvType.F16 and odd:
            message = f"The heads of this model have {odd[0]} values, and {kind} takes multiples of {KV_BLOCK}."
            raise VrambleError(CODE, message, WITH_F16)


def original_context(metadata: Metadata) -> int | None:
    """The context in tokens that the model had before its own YaRN scaling; None when the file does not say."""
    return metadata.count(f"{metadata.text('general.architecture')}.rope.scaling.original_context_length") or None


def option_warnings(options: LoadOptions, metadata: Metadata, kind: DeviceKind) -> Iterator[str]:
    """Sentences about options that do not do what was hoped for."""
    if options.mmap and kind is DeviceKind.IGPU:
        yield DOUBLE_MEMORY
    experts = metadata.count(f"{metadata.text('general.architecture')}.expert_count")
    if options.n_cpu_moe > 0 and not experts:
        yield NO_EXPERTS

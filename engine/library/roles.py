"""What a model is for, told by its header."""

from __future__ import annotations

from engine.library.gguf import ModelHeader
from engine.library.records import Role

EMBEDDING = frozenset({
    "bert", "modern-bert", "nomic-bert", "nomic-bert-moe", "neo-bert", "jina-bert-v2", "jina-bert-v3",
    "eurobert", "gemma-embedding", "llama-embed", "t5encoder",
})  # fmt: skip

IMAGE = frozenset({
    "flux", "sd1", "sdxl", "sd3", "aura", "hidream", "cosmos", "lumina2", "ltxv", "hyvid", "wan", "qwen_image",
    "pig", "z_image", "chroma",
})  # fmt: skip

SPEECH = frozenset({"wavtokenizer-dec", "whisper"})

COMPANION_KINDS = {
    "mmproj": Role.PROJECTOR,
    "adapter": Role.OTHER,
    "imatrix": Role.OTHER,
}


def role_of(header: ModelHeader) -> tuple[Role, str]:
    """Role, and the sentence that says why the model cannot chat (empty when it can)."""
    arch = header.architecture
    if arch == "clip" or header.kind == "mmproj":
        return Role.PROJECTOR, "This file lets another model see images or hear sound; it cannot chat by itself."
    if header.kind == "adapter":
        return Role.OTHER, "This file is an adapter that changes another model; it cannot chat by itself."
    if header.kind == "imatrix":
        return Role.OTHER, "This file holds statistics for making models smaller; it is no model."
    if arch in EMBEDDING or header.pooling:
        return Role.EMBEDDING, "This is an embedding model: it compares texts and writes none."
    if arch in IMAGE:
        return Role.OTHER, f"This file is for the architecture {arch}, which makes images; it cannot chat."
    if arch in SPEECH:
        return Role.OTHER, f"This file is for the architecture {arch}, which handles sound; it cannot chat."
    if not arch:
        return Role.OTHER, "The file does not say which architecture it is for, so the engine cannot load it."
    return Role.CHAT, ""


def is_companion(header: ModelHeader) -> bool:
    """The file belongs to another model and is no entry of its own."""
    return header.architecture == "clip" or header.kind in COMPANION_KINDS

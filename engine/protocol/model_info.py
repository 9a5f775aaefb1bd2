"""The loaded model and the memory that it holds."""

from __future__ import annotations

import msgspec

from engine.protocol.devices import DeviceInfo


class MemoryUse(msgspec.Struct, frozen=True, kw_only=True):
    """What the loaded model holds on one device, bytes, from llama.cpp's own load report.

    ``image`` is the image encoder with the buffer that it computes in, ``draft`` the draft model with its KV cache and
    buffers.
    """

    device: str
    weights: int = 0
    kv: int = 0
    compute: int = 0
    output: int = 0
    image: int = 0
    draft: int = 0

    @property
    def total(self) -> int:
        """All of it."""
        return self.weights + self.kv + self.compute + self.output + self.image + self.draft


class ModelInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The loaded model.

    ``device`` is where it runs; ``device_reason`` says why when that is the CPU or not the
    preferred one; ``devices`` are all that share it, in order. ``flash_attention`` is what llama.cpp
    took, None when it did not say. ``template_source`` is ``file`` or ``fallback``. ``warnings`` are
    sentences, of which ``device_warnings`` are about devices that were asked for. ``fingerprint`` is equal
    for loads that compute the same numbers on the same device (`engine.worker.fingerprint`); empty when that
    is not known.
    """

    path: str
    name: str
    architecture: str
    quant: str
    n_params: int
    size_bytes: int
    n_ctx: int
    n_ctx_train: int
    n_layers: int
    gpu_layers: int
    device: DeviceInfo
    device_reason: str | None = None
    devices: tuple[DeviceInfo, ...] = ()
    flash_attention: bool | None = None
    memory: tuple[MemoryUse, ...] = ()
    template_source: str = "file"
    warnings: tuple[str, ...] = ()
    device_warnings: tuple[str, ...] = ()
    fingerprint: str = ""

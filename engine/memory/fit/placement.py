"""Which layers lie on which device.

Source: ``load_tensors`` in ``src/llama-model.cpp`` (llama.cpp 0c1e57098): the last layers go to the GPUs, in order and
in proportion to the shares or the free memory; the embeddings always stay with the processor.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from engine.backends.placement import Placement, place
from engine.errors import VrambleError
from engine.memory.fit.records import FitDevice, FitModel
from engine.protocol.types import DeviceKind, LoadOptions, SplitMode


@dataclass(frozen=True)
class Layout:
    """The devices of a load: GPUs in order, then the processor.

    Attributes:
        of_layer: For each block and then the output the number of its device in ``devices``.
        gpu_layers: How many of these are on GPUs.
        parts: Share of each GPU where tensors themselves are divided (rows, tensors); empty otherwise.
        whole: Everything is computed by all GPUs together (split by tensors).
    """

    devices: tuple[FitDevice, ...]
    of_layer: tuple[int, ...]
    gpu_layers: int
    parts: tuple[float, ...] = ()
    whole: bool = False

    @property
    def cpu(self) -> int:
        """Number of the processor in ``devices``."""
        return len(self.devices) - 1


def lay_out(model: FitModel, options: LoadOptions, devices: Sequence[FitDevice]) -> Layout:
    """Where the worker would put a model.

    Raises:
        VrambleError: ``no-cpu-backend`` when ``devices`` holds no processor.
    """
    placement = place([device.info for device in devices], (), options, lambda _devices: False)
    known = {device.info.id: device for device in devices}
    cpu = next((device for device in devices if device.info.kind is DeviceKind.CPU), None)
    if cpu is None:
        raise VrambleError("no-cpu-backend", "There is no processor among the devices.")
    gpus = tuple(known[info.id] for info in placement.devices if info.kind is not DeviceKind.CPU)
    n_slots = model.max_layers
    asked = n_slots if options.n_gpu_layers < 0 else min(options.n_gpu_layers, n_slots)
    if not gpus or not asked:
        return Layout((cpu,), (0,) * n_slots, 0)
    shares = _shares(placement, gpus)
    bounds = [end / sum(shares) for end in accumulate(shares)]
    first = n_slots - asked
    of_layer = tuple(
        len(gpus) if slot < first else min(bisect_right(bounds, (slot - first) / asked), len(gpus) - 1)
        for slot in range(n_slots)
    )
    divided = placement.split in (SplitMode.ROW, SplitMode.TENSOR)
    parts = tuple(share / sum(shares) for share in shares) if divided else ()
    return Layout((*gpus, cpu), of_layer, asked, parts, placement.split is SplitMode.TENSOR)


def _shares(placement: Placement, gpus: Sequence[FitDevice]) -> list[float]:
    if placement.shares and any(placement.shares):
        return list(placement.shares)
    return [float(gpu.info.memory_free or gpu.info.memory_total or 1) for gpu in gpus]

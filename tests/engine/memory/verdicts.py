"""What has to be said of the recorded cards."""

from __future__ import annotations

from dataclasses import dataclass

from engine.memory.records import GpuMemory
from engine.protocol.types import DeviceKind

GIB = 1 << 30
IGPU, GPU = DeviceKind.IGPU, DeviceKind.GPU


@dataclass(frozen=True)
class Verdict:
    """What has to be said of a card: ``room`` in GiB, ``bandwidth`` in GB/s, degrees of edge, junction and memory."""

    pci: str
    name: str
    kind: DeviceKind
    gfx: str | None
    room: float | None
    bandwidth: float | None = None
    units: int | None = None
    rebar: bool | None = True
    busy: tuple[int | None, int | None] = (0, None)
    clocks: tuple[int | None, int | None] = (None, None)
    power: tuple[float | None, float | None] = (None, None)
    temperatures: tuple[float | None, float | None, float | None] = (None, None, None)
    fan: int | None = None


VERDICTS: dict[str, list[Verdict]] = {
    "cards/steam_deck_oled": [
        Verdict(
            "0000:04:00.0", "AMD Custom GPU 0932", IGPU, "gfx1033", 0.06, 102, 8,
            busy=(98, None), clocks=(1600, 800), power=(14.1, 15.0), temperatures=(74, None, None),
        )
    ],
    "cards/phoenix": [
        Verdict(
            "0000:64:00.0", "AMD Radeon 780M Graphics", IGPU, "gfx1103", 31.89, 102.4, 12,
            clocks=(800, 400), power=(3.103, None), temperatures=(25, None, None),
        )
    ],
    "cards/strix_point": [
        Verdict(
            "0000:c1:00.0", "AMD Radeon 880M Graphics", IGPU, "gfx1150", 11.66, 128, 12,
            busy=(3, None), clocks=(848, None), power=(9.087, None), temperatures=(38, None, None),
        )
    ],
    "strix_halo_raised": [
        Verdict(
            "0000:c5:00.0", "AMD Radeon 8060S Graphics", IGPU, "gfx1151", 108.27, 256,
            power=(9.1, None), temperatures=(38, None, None),
        )
    ],
    "strix_halo": [
        Verdict(
            "0000:c5:00.0", "AMD Radeon 8060S Graphics", IGPU, "gfx1151", 70.18, 256, rebar=None,
            busy=(99, None), power=(84.1, None), temperatures=(66, None, None),
        )
    ],
    "cards/strix_halo_96": [
        Verdict(
            "0000:c5:00.0", "AMD Radeon 8060S Graphics", IGPU, "gfx1151", 120.12, 256, 40,
            clocks=(600, None), power=(9.1, None), temperatures=(38, None, None),
        )
    ],
    "cards/rx9070xt": [
        Verdict(
            "0000:0f:00.0", "AMD Radeon RX 9070 XT", GPU, "gfx1201", 0.0, 644.1, 64,
            busy=(97, 61), clocks=(2167, 1258), power=(298, 304), temperatures=(62, 85, 88), fan=896,
        )
    ],
    "cards/rx6900xt": [
        Verdict(
            "0000:0c:00.0", "AMD Radeon RX 6900 XT", GPU, "gfx1030", 14.36, 512, 80,
            busy=(3, 0), clocks=(500, 1000), power=(36, 289), temperatures=(56, 59, 54), fan=0,
        )
    ],
    "cards/rx580": [
        Verdict(
            "0000:09:00.0", "AMD Radeon RX 580", GPU, "gfx803", 3.0, 256, 36, rebar=False,
            busy=(11, 2), clocks=(798, 1750), power=(41.045, 155), temperatures=(44, None, None),
        )
    ],
    "cards/vega56": [
        Verdict(
            "0000:0b:00.0", "AMD Radeon RX Vega", GPU, "gfx900", 6.97, 409.6, 56, rebar=False,
            clocks=(26, 167), power=(8, 260), temperatures=(38, 38, 39),
        )
    ],
    "cards/two_equal_cards": [
        Verdict(
            "0000:03:00.0", "AMD Radeon RX 7900 XTX", GPU, "gfx1100", 10.98, 959.2, 96,
            busy=(91, 45), clocks=(2219, 1249), power=(211, 290), temperatures=(63, 81, 78), fan=1200,
        ),
        Verdict(
            "0000:43:00.0", "AMD Radeon RX 7900 XTX", GPU, "gfx1100", 13.98, 959.2, 96,
            busy=(88, 44), clocks=(2219, 1249), power=(211, 290), temperatures=(63, 81, 78), fan=1200,
        ),
    ],
    "cards/old_kernel": [
        Verdict(
            "0000:0a:00.0", "AMD Radeon RX 5700 XT", GPU, "gfx1010", 5.99, 448, 40, rebar=None,
            busy=(7, None), clocks=(800, 875), power=(31, 220), temperatures=(51, 55, 60),
        )
    ],
    "cards/intel_nvidia_amd": [
        Verdict(
            "0000:09:00.0", "AMD Radeon RX 6600", GPU, "gfx1032", 4.99, 224, 28,
            busy=(12, 4), clocks=(1500, 875), power=(28, 100), temperatures=(47, 49, 52), fan=900,
        )
    ],
    "cards/rocm_worker": [
        Verdict(
            "0000:03:00.0", "AMD Radeon RX 7900 XT", GPU, "gfx1100", 5.08, 799.4, 84,
            busy=(71, None), power=(180, None), temperatures=(60, None, None),
        )
    ],
    "raphael_rx7800xt": [
        Verdict(
            "0000:03:00.0", "AMD Radeon RX 7800 XT", GPU, "gfx1101", 13.19, 624, rebar=False,
            busy=(11, None), power=(32, None), temperatures=(48, None, None),
        ),
        Verdict(
            "0000:0f:00.0", "AMD Radeon 610M", IGPU, "gfx1036", 15.76, None, rebar=None,
            power=(12, None), temperatures=(41, None, None),
        ),
    ],
    "steam_deck": [
        Verdict(
            "0000:04:00.0", "AMD Custom GPU 0405", IGPU, "gfx1033", 4.54, 88, 8,
            busy=(37, None), clocks=(200, 687), power=(3.218, 15), temperatures=(56, None, None),
        )
    ],
    "steam_deck_flatpak": [
        Verdict(
            "0000:04:00.0", "AMD Custom GPU 0932", IGPU, "gfx1033", 10.4, 102,
            busy=(3, None), power=(4.218, None), temperatures=(46, None, None),
        )
    ],
    "rx7900xtx": [
        Verdict(
            "0000:03:00.0", "AMD Radeon RX 7900 XTX", GPU, "gfx1100", 13.38, 960, 96,
            busy=(96, 41), clocks=(2219, 1249), power=(211, 290), temperatures=(63, 81, 78), fan=980,
        )
    ],
    "rx7900xtx_without_rebar": [
        Verdict(
            "0000:03:00.0", "AMD Radeon RX 7900 XTX", GPU, "gfx1100", 21.77, 960, 96, rebar=False,
            busy=(2, 0), power=(31, None), temperatures=(44, None, None),
        )
    ],
    "laptop_sleeping_dgpu": [
        Verdict("0000:03:00.0", "AMD Radeon RX 7600S", GPU, "gfx1102", 6.96, None, 32, busy=(None, None)),
        Verdict(
            "0000:64:00.0", "AMD Radeon 780M Graphics", IGPU, "gfx1103", 31.89, 102, 12,
            busy=(4, None), power=(3.103, None), temperatures=(45, None, None),
        ),
    ],
    "no_gpu": [],
}  # fmt: skip


def said(gpu: GpuMemory) -> Verdict:
    visible = gpu.visible_vram.total
    return Verdict(
        pci=gpu.pci,
        name=gpu.name,
        kind=gpu.kind or DeviceKind.SOFTWARE,
        gfx=gpu.gfx,
        room=None if gpu.room is None else round(gpu.room / GIB, 2),
        bandwidth=None if gpu.bandwidth is None else round(gpu.bandwidth / 1e9, 1),
        units=gpu.compute_units,
        rebar=None if visible is None else visible == gpu.vram.total,
        busy=(gpu.busy_percent, gpu.memory_busy_percent),
        clocks=(gpu.core_mhz, gpu.memory_mhz),
        power=(gpu.power_w, gpu.power_cap_w),
        temperatures=(gpu.temperature_c, gpu.junction_c, gpu.memory_c),
        fan=gpu.fan_rpm,
    )

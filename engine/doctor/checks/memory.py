"""How much memory a GPU may have, and how much the system has left."""

from __future__ import annotations

from engine.doctor import fixes, parse
from engine.doctor.facts import CardFacts, Facts
from engine.doctor.records import Finding, Fix, Skipped, Status
from engine.memory.room import RAM_RESERVE
from engine.protocol.types import DeviceKind

GIB = 1 << 30
PAGES_IN_GIB = 262_144
"""TTM counts pages of 4 KiB."""

GTT_LOW, GTT_RAISED, GTT_MOST = 0.45, 0.6, 0.9
"""Parts of the RAM: less than the kernel's own half, more than it, more than the rest of the system can spare."""

RAISE_TO = 0.75
CARVE_OUT_FREE = 2 * GIB
CARVE_OUT_SHARE = 0.25
SMALL_RAM = 16 * 10**9
MODEL_ROOM = 1 * GIB
WITHOUT_HOST_VISIBLE = "GGML_VK_DISABLE_HOST_VISIBLE_VIDMEM"

LIMITS = ("ttm.pages_limit", "ttm.page_pool_size")


def gib(size: int | float) -> str:
    """GiB with one decimal, MiB below one."""
    if size < GIB:
        return f"{size / (1 << 20):.0f} MiB"
    return f"{size / GIB:.1f} GiB"


def rebar(facts: Facts) -> Finding | Skipped:
    """Without a resizable BAR the processor sees 256 MiB of a card's memory at a time."""
    cards = [card for card in facts.usable_cards if card.kind is DeviceKind.GPU]
    if not cards:
        return Skipped("No graphics card with memory of its own.")
    found = "; ".join(_visible(card) for card in cards)
    if any(card.vram is None or card.visible_vram is None for card in cards):
        return Finding(Status.WARN, found)
    if all(_whole(card) for card in cards):
        return Finding(Status.OK, found)
    advice = "Switch on Above 4G Decoding and Resizable BAR (Smart Access Memory) in the firmware's set-up."
    if facts.environ.get(WITHOUT_HOST_VISIBLE):
        return Finding(Status.WARN, f"{found}; {WITHOUT_HOST_VISIBLE} is set", advice)
    advice += " Until then start the program so; without it models can be many times slower."
    line = f"{WITHOUT_HOST_VISIBLE}=1 vramble"
    if facts.flatpak is not None and facts.flatpak.app:
        line = f"flatpak run --env={WITHOUT_HOST_VISIBLE}=1 {facts.flatpak.app}"
    return Finding(Status.WARN, found, advice, Fix(line))


def _visible(card: CardFacts) -> str:
    if card.vram is None or card.visible_vram is None:
        return f"{card.label}: unknown"
    if _whole(card):
        return f"{card.label}: all {gib(card.vram)} visible to the processor"
    return f"{card.label}: {gib(card.visible_vram)} of {gib(card.vram)} visible to the processor (no Resizable BAR)"


def _whole(card: CardFacts) -> bool:
    return card.vram is not None and card.visible_vram is not None and card.visible_vram >= card.vram


def gtt(facts: Facts) -> Finding | Skipped:
    """How much of the RAM an APU may use, and how to raise it."""
    card, ram = facts.main_apu, facts.ram.total
    if card is None:
        return Skipped("Models do not run on an APU here.")
    if card.gtt is None or ram is None:
        return Finding(Status.WARN, "The limit, or the size of the RAM, is unknown.")
    share = card.gtt / ram
    found = f"The GPU may use {gib(card.gtt)} of {gib(ram)} of RAM ({share:.0%}), and the carve-out"
    old = parse.count(facts.setting("amdgpu.gttsize"))
    if old and not facts.system.is_steamos:  # older SteamOS sets it itself
        replacement = _limits(facts, old, 1024)
        return Finding(
            Status.WARN,
            f"{found}; set by amdgpu.gttsize={old}",
            "amdgpu.gttsize is deprecated. Remove it, set the new parameters, restart.",
            replacement,
        )
    if share > GTT_MOST:
        advice = f"More than {GTT_MOST:.0%} of the RAM lets a model starve the system. Lower it and restart."
        return Finding(Status.WARN, found, advice, _raised(facts, ram))
    return _within_limits(facts, found, card.gtt, ram)


def _within_limits(facts: Facts, found: str, limit: int, ram: int) -> Finding:
    share = limit / ram
    asked = parse.count(facts.parameters.get(LIMITS[0]) or facts.options.get(LIMITS[0]))
    if asked and abs(asked * 4096 - limit) > limit // 20:
        asked_for = f"{found}; ttm.pages_limit asks for {gib(asked * 4096)}"
        return Finding(Status.WARN, asked_for, "Restart the computer. If it stays so, the kernel refused the value.")
    if share < GTT_LOW:
        return Finding(
            Status.WARN, found, "That is less than the usual half. Raise it and restart.", _raised(facts, ram)
        )
    if share >= GTT_RAISED:
        return Finding(Status.OK, found)
    target = gib(_target(ram) * GIB)
    advice = f"For larger models it can be raised, for example to {target}; restart afterwards."
    return Finding(Status.OK, found, advice, _raised(facts, ram))


def _target(ram: int) -> int:
    """GiB for the GPU: three quarters of the RAM, and at least 4 GiB left."""
    return max(1, min(int(ram * RAISE_TO / GIB), int(ram / GIB) - 4))


def _raised(facts: Facts, ram: int) -> Fix | None:
    return _limits(facts, _target(ram), 1)


def _limits(facts: Facts, amount: int, in_a_gib: int) -> Fix | None:
    """``amount`` in units of which ``in_a_gib`` make a GiB."""
    if amount <= 0:
        return None
    pages = str(amount * PAGES_IN_GIB // in_a_gib)
    return fixes.module_parameters(facts, [(name, pages) for name in LIMITS])


def carve_out(facts: Facts) -> Finding | Skipped:
    """RAM that the firmware takes away for an APU's graphics. It is gone for everything else."""
    card, ram = facts.main_apu, facts.ram.total
    if card is None:
        return Skipped("Models do not run on an APU here.")
    if card.vram is None or ram is None:
        return Finding(Status.WARN, "The size of the carve-out, or of the RAM, is unknown.")
    share = card.vram / (card.vram + ram)
    found = f"The firmware sets {gib(card.vram)} aside for the GPU ({_percent(share)} of the memory)"
    if card.vram <= CARVE_OUT_FREE or share <= CARVE_OUT_SHARE:
        return Finding(Status.OK, found)
    advice = (
        "Choose the smallest UMA frame buffer in the firmware's set-up and raise the GTT limit instead: "
        "a model may then use the same memory, and other programs too."
    )
    return Finding(Status.WARN, found, advice)


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else "less than 1%"


def swap(facts: Facts) -> Finding | Skipped:
    """A place to go when the RAM is short: models on an APU are in the RAM."""
    total = facts.ram.swap_total
    if total is None:
        return Finding(Status.WARN, "The swap is unknown.")
    if total > 0:
        kinds = (
            " and ".join(f"{gib(size)} {kind}" for kind, size in facts.swaps or ()) or f"{gib(total)} of unknown kind"
        )
        return Finding(Status.OK, f"Swap: {kinds}")
    ram = facts.ram.total
    if facts.main_apu is None and ram is not None and ram >= SMALL_RAM:
        return Finding(Status.OK, f"No swap, {gib(ram)} of RAM")
    advice = "Add compressed swap (zram), so that a full RAM slows programs down instead of ending them."
    return Finding(Status.WARN, "No swap", advice, fixes.package(facts, "zram"))


def headroom(facts: Facts) -> Finding | Skipped:
    """RAM that is left now, before a model is loaded."""
    available, total = facts.ram.available, facts.ram.total
    if available is None or total is None:
        return Finding(Status.WARN, "The available RAM is unknown.")
    found = f"{gib(available)} of {gib(total)} of RAM available"
    if available >= RAM_RESERVE + MODEL_ROOM:
        return Finding(Status.OK, found)
    return Finding(Status.WARN, found, "Close other programs before you load a model.")

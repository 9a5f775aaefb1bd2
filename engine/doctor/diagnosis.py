"""All checks over one set of facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from engine.doctor.checks import engine, history, machine, memory, surroundings
from engine.doctor.facts import Facts
from engine.doctor.privacy import scrubbed
from engine.doctor.records import WORST_FIRST, Check, Diagnosis, Finding, LeftOut, Skipped, Status


@dataclass(frozen=True)
class Examination:
    """One entry of the list: how the check is called, and the function that judges."""

    id: str
    title: str
    judge: Callable[[Facts], Finding | Skipped]


EXAMINATIONS = (
    Examination("system", "System", machine.system),
    Examination("kernel", "Kernel", machine.kernel),
    Examination("driver", "Graphics driver", machine.driver),
    Examination("render-node", "Access to the card", machine.render_node),
    Examination("engine", "Engine", engine.engine),
    Examination("vulkan-backend", "Vulkan plugin", engine.vulkan_backend),
    Examination("vulkan-devices", "Vulkan devices", engine.vulkan_devices),
    Examination("mesa", "Mesa", engine.mesa),
    Examination("rocm", "ROCm", machine.rocm),
    Examination("kfd", "Access for ROCm", machine.kfd),
    Examination("rebar", "Resizable BAR", memory.rebar),
    Examination("gtt", "GTT limit", memory.gtt),
    Examination("carve-out", "Carve-out", memory.carve_out),
    Examination("lockup-timeout", "GPU time limit", surroundings.lockup_timeout),
    Examination("swap", "Swap", memory.swap),
    Examination("memory", "Free memory", memory.headroom),
    Examination("disk", "Free disk space", surroundings.disk),
    Examination("conversations", "Conversations", history.history),
    Examination("flatpak", "Flatpak", surroundings.flatpak),
    Examination("environment", "Environment", surroundings.environment),
    Examination("python-qt", "Python and Qt", surroundings.python_qt),
)
"""In the order in which one thing rests on another."""


def diagnose(facts: Facts) -> Diagnosis:
    """Judge everything. Worst first; of equals in the order of `EXAMINATIONS`. All text is `scrubbed`."""
    checks: list[Check] = []
    left_out: list[LeftOut] = []
    for entry in EXAMINATIONS:
        finding = entry.judge(facts)
        if isinstance(finding, Skipped):
            left_out.append(LeftOut(id=entry.id, title=entry.title, reason=scrubbed(finding.reason, facts.environ)))
        else:
            checks.append(_check(entry, finding, facts.environ))
    checks.sort(key=lambda check: WORST_FIRST.index(check.status))
    return Diagnosis(checks=tuple(checks), left_out=tuple(left_out))


def _check(entry: Examination, finding: Finding, environ: Mapping[str, str]) -> Check:
    fix = finding.fix
    return Check(
        id=entry.id,
        title=entry.title,
        status=finding.status,
        found=scrubbed(finding.found, environ),
        advice=scrubbed(finding.advice, environ),
        fix=fix.line if fix else None,
        survives=fix.survives if fix else None,
    )


def summary(diagnosis: Diagnosis) -> str:
    """The diagnosis in one sentence."""
    sentence = _verdict(diagnosis.count(Status.FAIL), diagnosis.count(Status.WARN))
    if any(left.id == "engine" for left in diagnosis.left_out):
        return sentence.removesuffix(".") + "; the engine was not asked."
    return sentence


def _verdict(failed: int, warned: int) -> str:
    if not failed and not warned:
        return "Everything is as it should be."
    if not failed:
        return f"Nothing is broken, and {_counted(warned, 'thing')} could be better."
    rest = f", and {_counted(warned, 'thing')} could be better" if warned else ""
    return f"{_counted(failed, 'problem').capitalize()} to solve{rest}."


def _counted(number: int, word: str) -> str:
    return f"{'one' if number == 1 else number} {word}{'' if number == 1 else 's'}"

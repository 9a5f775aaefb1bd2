"""How a parent starts the child that looks at model files."""

from __future__ import annotations

from engine.library.surroundings import Surroundings
from engine.memory.tree import SYSROOT_VARIABLE
from engine.own_process import module_command, with_source


def command() -> list[str]:
    """Program and arguments of the child."""
    return module_command("engine.library.child")


def environment(around: Surroundings) -> dict[str, str]:
    """Environment of a child that sees the machine as ``around`` says, with this program's code to be found."""
    env = with_source(around.environ)
    env["HOME"] = str(around.home)
    env[SYSROOT_VARIABLE] = str(around.system)
    return env

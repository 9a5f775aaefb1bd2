"""The set-up, step by step. A step that was done with the same input is not done again."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from vramble_setup import (
    build_cache,
    cpu_level,
    engine_install,
    llama_build,
    markdown_examples,
    starter_model,
    system_packages,
    vulkan_tools,
)
from vramble_setup.environment import Environment
from vramble_setup.report import say

PACKAGES = ("app", "ui", "engine", "assets")


def set_up(checkout: Path, level: str) -> Environment:
    """Makes everything ready for `./dev run` (level "run") or the tests (level "test")."""
    needs = system_packages.needs_for(
        level,
        newer_vulkan_tools=vulkan_tools.needs_newer(vulkan_tools.os_release()),
        has_ensurepip=(checkout / ".venv/bin/pip").exists() or system_packages.has_ensurepip(),
    )
    system_packages.ensure(needs)
    environment = Environment(checkout)
    root = build_cache.cache_root()
    lock = root / f"checkout-{build_cache.key_of({'folder': str(checkout)})}.lock"
    with build_cache.locked(lock, "this checkout"):
        environment.ensure()
        _packages(environment, level)
        _engine(environment)
        requirements = checkout / "requirements"
        starter_model.ensure(environment, requirements / "starter.txt", root)
        if level != "run":
            markdown_examples.ensure(environment, requirements / "examples.txt", root)
        _program(environment)
    return environment


def _packages(environment: Environment, level: str) -> None:
    folder = environment.checkout / "requirements"
    names = ("runtime", "build") if level == "run" else ("runtime", "build", "dev")
    given = {name: digest(folder / f"{name}.txt") for name in names}
    todo = [name for name in names if not is_done(environment, f"packages-{name}", given[name])]
    if not todo:
        return
    say(f"Installing the pinned packages ({', '.join(todo)}).")
    environment.install_pinned(*(folder / f"{name}.txt" for name in todo))
    for name in todo:
        set_done(environment, f"packages-{name}", given[name])


def _engine(environment: Environment) -> None:
    requirements = environment.checkout / "requirements" / "llama.txt"
    sources = sorted(Path(__file__).parent.glob("*.py"))
    given = digest(requirements, *sources, text=engine_circumstances())
    if engine_install.is_installed(environment) and is_done(environment, "engine", given):
        return

    def fetch(folder: Path) -> None:
        say("Fetching the source of the engine (77 MB).")
        options = ("--no-binary", "llama-cpp-python", "--no-build-isolation")
        environment.download(requirements, folder, *options)

    root = build_cache.cache_root()
    plan = llama_build.make_plan(requirements, root, environment.log)
    built, used = llama_build.build(plan, root, fetch)
    engine_install.install(environment, built)
    devices = engine_install.verify(environment)
    facts = llama_build.recorded(built) | llama_build.facts_of(used)
    engine_install.record(environment, facts | {"cache": str(built), "devices_at_setup": devices})
    set_done(environment, "engine", given)
    if not used.has_vulkan:
        say(f"The engine runs on the processor only. {facts['vulkan_reason']}")


def engine_circumstances() -> str:
    """What outside the checkout decides how the engine is built."""
    release = vulkan_tools.os_release()
    parts = [
        cpu_level.this_machine().name,
        release.get("ID", ""),
        release.get("VERSION_ID", ""),
        os.environ.get("VRAMBLE_NO_VULKAN", ""),
        str(build_cache.cache_root()),
    ]
    return "\n".join(parts)


def _program(environment: Environment) -> None:
    folders = [name for name in PACKAGES if (environment.checkout / name).is_dir()]
    given = digest(environment.checkout / "pyproject.toml", text=" ".join(folders))
    script = environment.folder / "bin" / "vramble"
    if not (script.exists() and is_done(environment, "program", given)):
        environment.install_checkout()
        set_done(environment, "program", given)


def is_set_up(checkout: Path) -> bool:
    """Whether a set-up of ``checkout`` was brought to its end before, perhaps an older one."""
    return _mark(Environment(checkout), "program").exists()


def is_done(environment: Environment, name: str, given: str) -> bool:
    """Whether the step was done before with the same input."""
    try:
        return _mark(environment, name).read_text(encoding="utf-8") == given
    except OSError:
        return False


def set_done(environment: Environment, name: str, given: str) -> None:
    file = _mark(environment, name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(given, encoding="utf-8")


def _mark(environment: Environment, name: str) -> Path:
    return environment.shared / "steps" / name


def digest(*files: Path, text: str = "") -> str:
    """A hash over files and a text."""
    total = hashlib.sha256(text.encode())
    for file in files:
        total.update(file.name.encode() + b"\0" + file.read_bytes())
    return total.hexdigest()

"""The layers, as a test: every import of every file, deferred ones included."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ("engine", "app", "ui")

QT = "PySide6"
QT_OF_APP = {"QtCore", "QtDBus"}
"""Parts of Qt without widgets."""

SHARED_APP = {"jobs", "notices", "paths", "processes", "saving"}
"""Modules of `app` that every feature may use."""

FEATURE_EDGES = {
    "bench": {"chat", "load", "worker"},  # load flags; options of single models; a worker of its own
    "chat": {"worker", "settings"},
    "doctor": {"worker"},  # asks the engine that runs
    "downloads": {"power", "settings"},  # keeps the computer awake; limits and offline mode
    "fit": {"chat", "downloads", "load", "worker"},  # flags of the commands; headers and options for badges
    "hub": {"downloads", "settings"},  # the command takes offline mode, mirror and proxy from the settings
    "library": {"settings"},  # keeps the added folders and when models were used
    "load": {"settings", "worker"},  # keeps options of single models; dry runs in a process of a worker
    "memory": {"worker", "settings"},  # parks the model when memory is short
    "worker": {"settings", "power"},  # keeps which models need safer settings; looks after the model after a sleep
}
"""Feature of `app` -> other features it may import."""

SEEN_BY_UI = {
    "engine.bench.change",
    "engine.bench.document",
    "engine.bench.judge",
    "engine.bench.records",
    "engine.chat.found",
    "engine.chat.graphemes",
    "engine.chat.records",
    "engine.chat.text",
    "engine.client.session",
    "engine.doctor.records",
    "engine.errors",
    "engine.formulas.records",
    "engine.hub.quality",
    "engine.hub.records",
    "engine.library.address",
    "engine.library.listing",
    "engine.library.names",
    "engine.library.records",
    "engine.library.roots",
    "engine.library.sizes",
    "engine.loading.check",
    "engine.loading.profile",
    "engine.loading.why_cpu",
    "engine.memory.fit.records",
    "engine.memory.owners",
    "engine.memory.records",
    "engine.memory.sizes",
    "engine.protocol.bench",
    "engine.protocol.caching",
    "engine.protocol.frames",
    "engine.protocol.types",
    "engine.version",
}
"""What `ui` may import of `engine`: records, and pure functions on them. Nothing that reads, writes or waits."""

COMPOSITION = {"app.main", "app.services", "app.wiring", "app.cli"}
"""What puts the program together and may know every feature; `app.wiring` with its modules."""

UPWARD = {("app.main", "ui.start")}
"""The entry point starts the window: the one edge against the direction (ADR 2)."""

PURE_ANSWERS = {("engine.memory.fit.placement", "engine.backends.placement")}
"""The forecast asks the worker's own pure code where a load would go, instead of guessing."""

THREADS = {
    "app.jobs",
    "app.crash",  # sets threading.excepthook, starts nothing
    "engine.chat_files.child",  # sees the end of its parent while it works
    "engine.downloads.channel",  # commands of the parent arrive while a connection waits
    "engine.downloads.lanes",  # one thread for each connection of a file; the next three hold what they share
    "engine.downloads.part_file",
    "engine.downloads.patience",
    "engine.downloads.throttle",
    "engine.downloads.route",  # looks whether this computer is in another network
    "engine.kv_files.layout",  # pieces of a file are summed side by side while the worker waits
    "engine.worker.reader",
    "engine.worker.ram_speed",  # one thread cannot fill the memory bus
}
"""Modules that may make threads."""


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def sources() -> dict[str, Path]:
    return {module_name(p): p for layer in LAYERS for p in sorted((ROOT / layer).rglob("*.py"))}


@cache
def imports_of(name: str, path: Path) -> set[str]:
    """Absolute names of everything ``path`` imports, at any depth of the syntax tree."""
    found: set[str] = set()
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")
                kept = parents[: len(parents) - node.level + 1]
                base = ".".join([*kept, base] if base else kept)
            found.add(base)
            found.update(f"{base}.{alias.name}" for alias in node.names)
    return found


@cache
def edges() -> list[tuple[str, str]]:
    """(importing module, imported project module), the imported one shortened to a real module."""
    known = sources()
    result = []
    for name, path in known.items():
        for target in imports_of(name, path):
            while target and target not in known:
                target = target.rpartition(".")[0]
            if target and target != name:
                result.append((name, target))
    return sorted(set(result))


def composes(name: str) -> bool:
    """Whether the module puts the program together."""
    return name in COMPOSITION or name.startswith("app.wiring.")


def problem_with(name: str, target: str) -> str | None:
    """What is wrong with one edge between project modules, or None."""
    layer, other = name.split(".")[0], target.split(".")[0]
    if (name, target) in UPWARD or (composes(name) and target in {"ui", "app", "engine"}):
        return None
    if LAYERS.index(other) > LAYERS.index(layer):
        return f"{name} imports {target}: `{layer}` may not know `{other}`. Emit a signal or return a value instead."
    if layer == "ui" and other == "engine" and target not in SEEN_BY_UI:
        return f"{name} imports {target}: let `app` do it, or add the module to SEEN_BY_UI if it only holds values."
    if layer == "app" and other == "app":
        return feature_problem(name, target)
    return None


def feature_problem(name: str, target: str) -> str | None:
    if composes(name):
        return None
    feature, wanted = name.split(".")[1:2], target.split(".")[1:2]
    if not feature or not wanted or wanted == feature or wanted[0] in SHARED_APP:
        return None
    if feature[0] in SHARED_APP:
        return f"{name} imports {target}: shared modules of `app` know no feature."
    if wanted[0] in FEATURE_EDGES.get(feature[0], set()):
        return None
    return f"{name} imports {target}: pass it in from app/wiring, or add the edge to FEATURE_EDGES with a reason."


def test_the_walk_sees_files_and_edges() -> None:
    names = sources()
    assert {"engine.protocol.frames", "app.jobs", "engine.errors"} <= set(names)
    assert ("engine.protocol.codec", "engine.protocol.frames") in edges()


def test_layers_and_features() -> None:
    problems = [p for name, target in edges() if (p := problem_with(name, target))]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("engine.memory.sysfs", "app.paths"),
        ("app.chat.controller", "ui.theme"),
        ("app.memory.service", "app.chat.controller"),
        ("app.library.service", "app.worker.service"),
        ("ui.library.discover.page", "engine.library.hub"),
    ],
)
def test_the_rules_can_fail(name: str, target: str) -> None:
    assert problem_with(name, target)


def test_no_cycles() -> None:
    graph: dict[str, set[str]] = {}
    for name, target in edges():
        if not name.startswith(target + "."):
            graph.setdefault(name, set()).add(target)
    done: set[str] = set()

    def visit(name: str, trail: list[str]) -> None:
        assert name not in trail, "cycle: " + " -> ".join([*trail[trail.index(name) :], name])
        if name not in done:
            for target in sorted(graph.get(name, ())):
                visit(target, [*trail, name])
            done.add(name)

    for name in sorted(graph):
        visit(name, [])


def external(name: str) -> set[str]:
    return {target.split(".")[0] for target in imports_of(name, sources()[name])}


def test_qt_stays_out_of_the_engine_and_widgets_out_of_app() -> None:
    problems = []
    for name, path in sources().items():
        for target in imports_of(name, path):
            if name.startswith("engine") and target.split(".")[0] in {QT, "qtawesome", "qtpy"}:
                problems.append(f"{name} imports {target}: no Qt in engine")
            if name.startswith("app") and target.startswith(QT + ".") and target.split(".")[1] not in QT_OF_APP:
                problems.append(f"{name} imports {target}: app uses QtCore only; move it to ui")
    assert not problems, "\n".join(problems)


def test_llama_cpp_only_in_the_worker() -> None:
    wrong = [
        n for n in sources() if "llama_cpp" in external(n) and not n.startswith(("engine.worker", "engine.backends"))
    ]
    assert not wrong, f"import llama_cpp only in engine/worker and engine/backends, not in {wrong}"
    users = [
        f"{n} imports {t}"
        for n, t in edges()
        if t.startswith(("engine.worker", "engine.backends"))
        and not n.startswith(("engine.worker", "engine.backends"))
        and n != "app.main"
        and (n, t) not in PURE_ANSWERS
    ]
    assert not users, f"talk to the worker through engine/client: {users}"


def test_hub_client_only_where_it_belongs() -> None:
    wrong = [
        n
        for n in sources()
        if "huggingface_hub" in external(n)
        and not n.startswith(("engine.downloads", "engine.hub"))
        and n != "engine.library.hub"
    ]
    assert not wrong, f"huggingface_hub belongs to engine/downloads, engine/hub and engine/library/hub.py: {wrong}"


def test_threads_only_in_jobs() -> None:
    wrong = []
    for name, path in sources().items():
        names = imports_of(name, path)
        if (
            names
            & {
                "threading",
                "_thread",
                "concurrent.futures",
                "multiprocessing",
                "PySide6.QtCore.QThread",
                "PySide6.QtCore.QThreadPool",
            }
            and name not in THREADS
        ):
            wrong.append(name)
    assert not wrong, f"use app/jobs.py or a child process, not threads, in {wrong}"


def test_packaging_is_no_package() -> None:
    assert not (ROOT / "packaging" / "__init__.py").exists(), (
        "packaging/__init__.py would shadow the library of that name"
    )

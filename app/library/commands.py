"""``vramble models``: what is installed, whether it is whole, and how to part with it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.paths import find_paths
from engine.errors import VrambleError
from engine.library.keep import delete, import_model
from engine.library.lookup import find_model
from engine.library.names import shown
from engine.library.origin import Check, check_file
from engine.library.records import InstalledModel
from engine.library.scan import scan
from engine.library.sizes import size_text
from engine.library.states import FileState

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_parser(subparsers: Subparsers) -> None:
    """Add ``models`` with its four commands."""
    parser = subparsers.add_parser("models", help="installed models", description="Models in the models folder.")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    shown_as_json = argparse.ArgumentParser(add_help=False)
    shown_as_json.add_argument("--json", action="store_true", help="print JSON")
    listing = commands.add_parser("list", parents=[shown_as_json], help="what is installed")
    listing.set_defaults(func=list_models)
    verify = commands.add_parser(
        "verify",
        parents=[shown_as_json],
        help="read models whole and compare their checksums",
        description="Without MODEL all are checked. Exit code 1 when one is damaged.",
    )
    verify.add_argument("model", metavar="MODEL", nargs="*", help="name or path")
    verify.set_defaults(func=verify_models)
    remove = commands.add_parser("remove", parents=[shown_as_json], help="delete a model")
    remove.add_argument("model", metavar="MODEL", help="name or path")
    remove.set_defaults(func=remove_model)
    bring = commands.add_parser("import", parents=[shown_as_json], help="put a GGUF file into the models folder")
    bring.add_argument("file", metavar="FILE", type=Path, help="the file; it stays where it is")
    bring.set_defaults(func=import_file)


def list_models(arguments: argparse.Namespace) -> int:
    """Print the installed models."""
    models = scan(find_paths().models).models
    if arguments.json:
        _print_json({"models": [_facts(model) for model in models]})
        return 0
    if not models:
        print("No model is installed. Get one with: vramble pull OWNER/REPO")
        return 0
    rows = [(m.name, m.quant or "-", size_text(m.size_bytes), m.problem or shown(m.path)) for m in models]
    _print_table(("NAME", "QUANT", "SIZE", "FILE"), rows)
    return 0


def verify_models(arguments: argparse.Namespace) -> int:
    """Hash models and compare with what was downloaded."""
    found = scan(find_paths().models).models
    models = [_named(name) for name in arguments.model] if arguments.model else list(found)
    results = [(model, _check(model)) for model in models]
    if arguments.json:
        _print_json({"models": [_check_facts(model, checks) for model, checks in results]})
    else:
        for model, checks in results:
            print(f"{model.label}: {_verdict(model, checks)}")
    return 1 if any(_is_bad(model, checks) for model, checks in results) else 0


def remove_model(arguments: argparse.Namespace) -> int:
    """Delete a model."""
    model = _named(arguments.model)
    freed = delete(find_paths().models, model)
    if arguments.json:
        _print_json({"path": shown(model.path), "bytes": freed})
    else:
        print(f"Deleted {shown(model.path)}; {size_text(freed)} are free again.")
    return 0


def import_file(arguments: argparse.Namespace) -> int:
    """Copy or link a file into the models folder, when it is a model."""
    source: Path = arguments.file
    if not source.is_file():
        raise VrambleError("no-such-file", f"There is no file {shown(source)}.")
    candidates = [model for model in scan(source.parent).models if source in (model.path, *model.parts)]
    if not candidates or candidates[0].state is not FileState.OK:
        reason = candidates[0].problem if candidates else "Its name does not end in .gguf."
        raise VrambleError("not-a-model", f"{shown(source.name)} cannot be imported: {reason}")
    models = find_paths().models
    paths = [import_model(models, part) for part in candidates[0].parts]
    checks = [check_file(path) for path in paths]
    if arguments.json:
        _print_json(
            {
                "path": shown(paths[0]),
                "bytes": sum(check.size for check in checks),
                "sha256": checks[0].sha256,
                "verified": False,
            }
        )
    else:
        print(shown(paths[0]))
    return 0


def _named(name: str) -> InstalledModel:
    folder = find_paths().models
    path = find_model(folder, name)
    for model in scan(folder).models:
        if path == model.path or path in model.parts:
            return model
    raise VrambleError("not-installed", f"{shown(path)} is not in the models folder.", f"That is {shown(folder)}.")


def _check(model: InstalledModel) -> tuple[Check, ...]:
    try:
        return tuple(check_file(part) for part in model.parts)
    except OSError as error:
        raise VrambleError(
            "unreadable", f"{shown(model.path)} cannot be read: {error.strerror or error}.", "Check the drive."
        ) from error


def _is_bad(model: InstalledModel, checks: Sequence[Check]) -> bool:
    return model.state is not FileState.OK or any(check.right is False for check in checks)


def _verdict(model: InstalledModel, checks: Sequence[Check]) -> str:
    if model.state is not FileState.OK:
        return model.problem
    if any(check.right is False for check in checks):
        return "damaged: its checksum is not the one it was downloaded with."
    if all(check.right for check in checks):
        return "whole: the checksum is right."
    return "readable; there is no checksum to compare with."


def _facts(model: InstalledModel) -> dict[str, Any]:
    return {
        "name": model.name,
        "quant": model.quant,
        "architecture": model.architecture,
        "path": shown(model.path),
        "bytes": model.size_bytes,
        "repo": model.repo,
        "state": model.state.value,
        "problem": model.problem,
        "can_chat": model.can_chat,
        "parameters": model.n_params,
        "layers": model.n_layers,
        "context_length": model.context_length,
        "parts": [shown(part) for part in model.parts],
    }


def _check_facts(model: InstalledModel, checks: Sequence[Check]) -> dict[str, Any]:
    compared = [check.right for check in checks]
    return {
        "name": model.name,
        "path": shown(model.path),
        "bytes": sum(check.size for check in checks),
        "sha256": checks[0].sha256 if checks else "",
        "verified": bool(compared) and all(compared),
        "state": FileState.DAMAGED.value if False in compared else model.state.value,
        "problem": "" if model.state is FileState.OK and False not in compared else _verdict(model, checks),
    }


def _print_json(value: object) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2))


def _print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head) - 1)]
    for row in (head, *rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        print("  ".join((*cells, row[-1])))

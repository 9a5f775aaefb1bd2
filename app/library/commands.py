"""``vramble models``: what is installed, whether it is whole, and what can be done with it."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app.library import printing
from app.library.folders_command import add_folders_parser
from app.library.library_of_command import CommandLibrary
from engine.errors import VrambleError
from engine.library.deletion import carry_out, plan_deletion
from engine.library.hashing import Progress
from engine.library.names import shown
from engine.library.records import InstalledModel
from engine.library.sizes import size_text
from engine.library.transfer import How
from engine.library.work import Outcome, bring, move, verify

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

NOTHING = "No model is installed. Get one with: vramble pull OWNER/REPO"


def add_parser(subparsers: Subparsers) -> None:
    """Add ``models`` with its commands."""
    parser = subparsers.add_parser(
        "models", help="installed models", description="Models in the folders of the library."
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    shown_as_json = argparse.ArgumentParser(add_help=False)
    shown_as_json.add_argument("--json", action="store_true", help="print JSON")
    listing = commands.add_parser("list", parents=[shown_as_json], help="what is installed")
    listing.set_defaults(func=list_models)
    checking = commands.add_parser(
        "verify",
        parents=[shown_as_json],
        help="read models whole and compare their checksums",
        description="Without MODEL all are checked. Exit code 1 when one is damaged.",
    )
    checking.add_argument("model", metavar="MODEL", nargs="*", help="name or path")
    checking.set_defaults(func=verify_models)
    remove = commands.add_parser("remove", parents=[shown_as_json], help="delete a model")
    remove.add_argument("model", metavar="MODEL", help="name or path")
    remove.add_argument("--of-others", action="store_true", help="also when it belongs to another program")
    remove.set_defaults(func=remove_model)
    moving = commands.add_parser("move", parents=[shown_as_json], help="bring a model to another folder or drive")
    moving.add_argument("model", metavar="MODEL", help="name or path")
    moving.add_argument("folder", metavar="FOLDER", help="a folder of the library: its id, name or path")
    moving.add_argument("--of-others", action="store_true", help="also when it belongs to another program")
    moving.set_defaults(func=move_model)
    _add_import(commands, shown_as_json)
    add_folders_parser(commands, shown_as_json)


def _add_import(commands: Subparsers, shown_as_json: argparse.ArgumentParser) -> None:
    parser = commands.add_parser(
        "import", parents=[shown_as_json], help="put a GGUF file, or all of a folder, into the models folder"
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="the file; it stays where it is, but for --move")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--copy", dest="how", action="store_const", const=How.COPY, help="make a copy")
    how.add_argument("--move", dest="how", action="store_const", const=How.MOVE, help="move it")
    how.add_argument("--link", dest="how", action="store_const", const=How.LINK, help="one file, two names (default)")
    parser.set_defaults(func=import_file, how=How.LINK)


def list_models(arguments: argparse.Namespace) -> int:
    """Print the installed models."""
    models = CommandLibrary().models
    if arguments.json:
        printing.print_json({"models": [printing.model_facts(model) for model in models]})
        return 0
    if not models:
        print(NOTHING)
        return 0
    printing.print_table(("NAME", "QUANT", "SIZE", "OF", "FILE"), printing.model_rows(models))
    return 0


def verify_models(arguments: argparse.Namespace) -> int:
    """Hash models and compare with what was downloaded."""
    library = CommandLibrary()
    models = [library.named(name) for name in arguments.model] if arguments.model else list(library.models)
    results = [(model, verify([model], Progress())) for model in models]
    library.survey.remember([one for _, outcome in results for one in outcome.hashed], time.time())
    library.scan()
    if arguments.json:
        printing.print_json({"models": [printing.check_facts(model, outcome) for model, outcome in results]})
    else:
        if not results:
            print(NOTHING)
        for model, outcome in results:
            print(f"{model.label}: {printing.verdict(model, outcome)}")
    return 1 if any(outcome.wrong for _, outcome in results) else 0


def remove_model(arguments: argparse.Namespace) -> int:
    """Delete a model."""
    library = CommandLibrary()
    model = library.named(arguments.model)
    root = library.root_path(model)
    plan = plan_deletion(model, root)
    _ask_for_consent(model, plan.notes, given=arguments.of_others)
    freed = carry_out(plan, root)
    if arguments.json:
        printing.print_json({"path": shown(model.path), "bytes": freed, "stays": plan.stays})
    else:
        print(f"Deleted {shown(model.path)}; {size_text(freed)} are free again. {plan.stays}".rstrip())
    return 0


def move_model(arguments: argparse.Namespace) -> int:
    """Bring a model to another folder."""
    library = CommandLibrary()
    model = library.named(arguments.model)
    target = library.root_named(arguments.folder)
    _ask_for_consent(model, (), given=arguments.of_others)
    source = library.root(model)
    outcome = move(model, source, target, Progress())
    return _tell_place(outcome, model.size_bytes, as_json=arguments.json)


def import_file(arguments: argparse.Namespace) -> int:
    """Copy, move or link files into the models folder, when they are models."""
    library = CommandLibrary()
    outcome = bring([arguments.file], arguments.how, library.own, Progress(), library.roots)
    library.scan()
    imported = next((model for model in library.models if model.path in outcome.paths), None)
    if imported is None:
        raise VrambleError("not-a-model", "The file was put in place and is not found there.", "Try again.")
    checked = verify([imported], Progress())
    library.survey.remember(checked.hashed, time.time())
    library.scan()
    if arguments.json:
        printing.print_json(
            {
                "path": shown(imported.path),
                "bytes": imported.size_bytes,
                "sha256": checked.hashed[0].sha256,
                "verified": False,
            }
        )
    else:
        print(shown(imported.path))
    return 0


def _tell_place(outcome: Outcome, size: int, *, as_json: bool) -> int:
    path = shown(outcome.paths[0])
    if as_json:
        printing.print_json({"path": path, "bytes": size, "sha256": outcome.hashed[0].sha256 if outcome.hashed else ""})
    else:
        print(path)
    return 0


def _ask_for_consent(model: InstalledModel, notes: Sequence[str], *, given: bool) -> None:
    if model.owner and not given:
        text = notes[0] if notes else f"It belongs to {model.owner}, which will not have it any more."
        raise VrambleError("belongs-to-other", f"{model.label}: {text}", "Say --of-others if that is what you want.")

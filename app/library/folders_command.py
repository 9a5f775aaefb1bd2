"""``vramble models folders``: which folders the library has, what each takes, adding and removing."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from app.library import printing
from app.library.library_of_command import CommandLibrary
from app.library.settings import LibrarySettings
from app.settings import fields, file
from engine.errors import VrambleError
from engine.library.everywhere import whereabouts
from engine.library.names import shown
from engine.library.roots import OWNERS

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_folders_parser(commands: Subparsers, shown_as_json: argparse.ArgumentParser) -> None:
    """Add ``folders`` with ``add`` and ``remove``."""
    parser = commands.add_parser("folders", parents=[shown_as_json], help="folders of the library and what they take")
    parser.set_defaults(func=list_folders)
    actions = parser.add_subparsers(metavar="ACTION")
    add = actions.add_parser("add", parents=[shown_as_json], help="show the models of a folder where they lie")
    add.add_argument("folder", metavar="FOLDER", type=Path)
    add.set_defaults(func=add_folder)
    remove = actions.add_parser("remove", parents=[shown_as_json], help="take a folder off; its files stay")
    remove.add_argument("folder", metavar="FOLDER", help="its id, name or path")
    remove.set_defaults(func=remove_folder)


def list_folders(arguments: argparse.Namespace) -> int:
    """Print all folders."""
    roots = CommandLibrary().roots
    if arguments.json:
        printing.print_json({"folders": [printing.root_facts(root) for root in roots]})
    else:
        printing.print_table(("ID", "NAME", "MODELS", "SIZE", "FREE", "FOLDER"), printing.root_rows(roots))
    return 0


def add_folder(arguments: argparse.Namespace) -> int:
    """Add a folder."""
    library = CommandLibrary()
    folder = arguments.folder.absolute()
    if not folder.is_dir():
        raise VrambleError("no-folder", f"{shown(folder)} is not a folder.", "Check it, or insert its drive first.")
    root = whereabouts(library.paths).root_for(folder)
    if root.id in {info.id for info in library.roots}:
        raise VrambleError("already-in-library", f"{shown(root.path)} is in the library already.")

    def change(settings: LibrarySettings) -> LibrarySettings:
        hidden = tuple(one for one in settings.hidden if one != root.id)
        roots = settings.roots if root.owner else (*settings.roots, root)
        return msgspec.structs.replace(settings, roots=roots, hidden=hidden)

    _change(library, change)
    return _tell(library, root.id, as_json=arguments.json)


def remove_folder(arguments: argparse.Namespace) -> int:
    """Take a folder off the list."""
    library = CommandLibrary()
    info = library.root_named(arguments.folder)
    if info.root.kind not in OWNERS and info.root.path == str(library.paths.models):
        raise VrambleError("own-folder", "The own models folder cannot be taken off.")

    def change(settings: LibrarySettings) -> LibrarySettings:
        roots = tuple(root for root in settings.roots if root.id != info.id)
        hidden = settings.hidden if len(roots) < len(settings.roots) else (*settings.hidden, info.id)
        return msgspec.structs.replace(settings, roots=roots, hidden=hidden)

    _change(library, change)
    if arguments.json:
        printing.print_json(printing.root_facts(info))
    else:
        print(f"{shown(info.path)} is not in the library any more; its files are as they were.")
    return 0


def _tell(library: CommandLibrary, root_id: str, *, as_json: bool) -> int:
    library.scan()
    info = next((root for root in library.roots if root.id == root_id), None)
    if info is None:
        print("The folder was added; there is no model in it yet.")
    elif as_json:
        printing.print_json(printing.root_facts(info))
    else:
        print(f"{shown(info.path)}: {info.models} models.")
    return 0


def _change(library: CommandLibrary, change: Callable[[LibrarySettings], LibrarySettings]) -> None:
    """Save the changed record in the settings file."""
    path = library.paths.settings
    found = file.read(path)
    if not found.writable:
        raise VrambleError("settings-unsaved", f"{shown(path)} cannot be changed.", "Look at it by hand.")
    name = fields.feature_name(LibrarySettings)

    def update(present: Mapping[str, Any]) -> dict[str, Any]:
        before = fields.decode(LibrarySettings, present.get(name))
        return fields.merged(present, {name: fields.changes(before, change(before))})

    try:
        file.update(path, update, found.document)
    except OSError as error:
        text = f"The settings cannot be saved: {error.strerror or error}."
        raise VrambleError("settings-unsaved", text, f"The file is {shown(path)}.") from error

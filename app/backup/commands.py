"""``vramble export``, ``import``, ``backup`` and ``restore``."""

from __future__ import annotations

import argparse
import contextlib
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from app.backup.service import places
from app.paths import Paths, find_paths
from engine.chat.store import Store
from engine.chat_files.backup import make
from engine.chat_files.exporting import Format, write, write_each
from engine.chat_files.importing import import_files
from engine.chat_files.restoring import restore, waiting_in
from engine.errors import VrambleError
from engine.version import program_version

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_export(subparsers: Subparsers) -> None:
    """The parser of ``vramble export``."""
    parser = subparsers.add_parser("export", help="write conversations to a file")
    parser.add_argument("file", type=Path, help="name.md, name.html, name.txt, name.json; name.zip: a file for each")
    parser.add_argument("--format", choices=[form.value for form in Format], help="what a zip holds (default: md)")
    parser.add_argument(
        "--conversation", action="append", default=[], metavar="TITLE", help="only those with this title"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(func=_export)


def add_import(subparsers: Subparsers) -> None:
    """The parser of ``vramble import``."""
    parser = subparsers.add_parser("import", help="take conversations of Vramble, ChatGPT, LM Studio, Jan, Open WebUI")
    parser.add_argument("files", type=Path, nargs="+", help="JSON, zip or folder")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(func=_import)


def add_backup(subparsers: Subparsers) -> None:
    """The parser of ``vramble backup``."""
    parser = subparsers.add_parser("backup", help="write conversations and settings to one file")
    parser.add_argument("file", type=Path)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(func=_backup)


def add_restore(subparsers: Subparsers) -> None:
    """The parser of ``vramble restore``."""
    parser = subparsers.add_parser("restore", help="put a backup in place; what is there is kept beside it")
    parser.add_argument("file", type=Path)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(func=_restore)


def _export(arguments: argparse.Namespace) -> int:
    paths = find_paths()
    file: Path = arguments.file
    packed = file.suffix == ".zip"
    form = _format(arguments.format or ("md" if packed else file.suffix.removeprefix(".")))
    with Store.reader(_existing(paths)) as store:
        titles = set(arguments.conversation)
        wanted = [one.id for one in reversed(store.conversations()) if not titles or one.title in titles]
        found = (whole for id_ in wanted if (whole := store.whole(id_)) is not None)
        count = (write_each if packed else write)(found, file, form)
    _say(arguments.json, {"path": str(file), "conversations": count}, f"{count} conversations are in {file}.")
    return 0


def _import(arguments: argparse.Namespace) -> int:
    with contextlib.closing(Store.open(find_paths().database)) as store:
        if not store.saved:
            raise store.remarks[0]
        done = import_files(store, arguments.files)
    text = f"{done.new} imported, {done.merged} merged, {done.known} known already, {done.skipped} skipped."
    _say(arguments.json, done._asdict(), "\n".join([text, *done.reasons]))
    return 0


def _backup(arguments: argparse.Namespace) -> int:
    paths = find_paths()
    manifest = make(arguments.file, _existing(paths), paths.settings, program=program_version(), now=time.time())
    text = f"{manifest.conversations} conversations with {manifest.messages} messages are in {arguments.file}."
    _say(arguments.json, {"path": str(arguments.file), **msgspec.to_builtins(manifest)}, text)
    return 0


def _restore(arguments: argparse.Namespace) -> int:
    paths = find_paths()
    try:
        done = restore(arguments.file, paths.database, paths.settings, now=time.time())
    except VrambleError as error:
        manifest = waiting_in(places(paths).waiting)
        if error.code != "restore-waits" or manifest is None:
            raise
        text = f"{manifest.conversations} conversations will be in place when the window is started the next time."
        _say(arguments.json, {"kept": [], **msgspec.to_builtins(manifest)}, f"The database is in use: {text}")
        return 0
    kept = [str(path) for path in done.kept]
    text = "\n".join([f"{done.manifest.conversations} conversations were restored.", *(f"kept: {one}" for one in kept)])
    _say(arguments.json, {"kept": kept, **msgspec.to_builtins(done.manifest)}, text)
    return 0


def _existing(paths: Paths) -> Path:
    if not paths.database.exists():
        raise VrambleError("no-conversations", "There are no conversations yet.")
    return paths.database


def _format(name: str) -> Format:
    try:
        return Format(name)
    except ValueError as error:
        known = ", ".join(f".{form}" for form in Format)
        raise VrambleError("export-format", f"A file is named by what it holds: {known} or .zip.") from error


def _say(as_json: bool, values: dict[str, object], text: str) -> None:
    print(json.dumps(values, ensure_ascii=False) if as_json else text)

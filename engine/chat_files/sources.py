"""Files with conversations, of whichever program: found out, opened within limits, given out one by one."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple

import msgspec

from engine.chat.portable import PortableConversation
from engine.chat_files import chatgpt, jan, lm_studio, open_webui, own_json
from engine.chat_files.foreign import mapping
from engine.errors import VrambleError

LARGEST: Final = 512 * 1024**2
"""Bytes of JSON that are read at once; as objects they take several times as much memory."""
MOST_FILES: Final = 100_000

Given = PortableConversation | str
"""A conversation, or a sentence about one that cannot be read."""


class Kind(NamedTuple):
    """A program whose exports are known."""

    name: str
    fits: Callable[[dict[str, Any]], bool]
    conversation_of: Callable[[dict[str, Any]], PortableConversation]


KINDS: Final = (
    Kind("ChatGPT", chatgpt.fits, chatgpt.conversation_of),
    Kind("Open WebUI", open_webui.fits, open_webui.conversation_of),
    Kind("LM Studio", lm_studio.fits, lm_studio.conversation_of),
    Kind("Jan", jan.fits, jan.conversation_of),
)


def conversations_in(path: Path) -> Iterator[Given]:
    """Everything in ``path``: a JSON file, a zip with such files, or a folder.

    Raises:
        VrambleError: ``import-file`` when it cannot be read, ``import-unknown`` when it is of none of the programs.
    """
    try:
        if path.exists() and not path.is_dir() and not path.is_file():
            raise OSError("neither a file nor a folder")
        found = _in_folder(path) if path.is_dir() else _in_zip(path) if zipfile.is_zipfile(path) else _in_file(path)
        yield from found
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        next_step = "Check that it is there and whole."
        raise VrambleError("import-file", f"{path.name} cannot be read.", next_step, str(error)) from error


def conversations_of(document: object, name: str) -> Iterator[Given]:
    """Everything in a decoded JSON file.

    Raises:
        VrambleError: ``import-unknown``.
    """
    if own_json.is_own(document):
        yield from own_json.conversations_of(mapping(document))
        return
    wrapped = mapping(document).get("conversations")
    listed = document if isinstance(document, list) else wrapped if isinstance(wrapped, list) else [document]
    kind = next((kind for one in listed for kind in KINDS if isinstance(one, dict) and kind.fits(one)), None)
    if kind is None:
        raise unknown(name)
    for one in listed:
        yield _read(kind, one)


def _read(kind: Kind, document: object) -> Given:
    if not isinstance(document, dict) or not kind.fits(document):
        return f"An entry of the {kind.name} export is no conversation."
    try:
        return kind.conversation_of(document)
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, RecursionError, OverflowError) as error:
        return f"A conversation of the {kind.name} export cannot be read: {error}"


def unknown(name: str) -> VrambleError:
    """The file is of no program that is known."""
    return VrambleError(
        "import-unknown",
        f"{name} holds no conversations that Vramble can read.",
        "It takes its own exports and those of ChatGPT, LM Studio, Jan and Open WebUI.",
    )


def _decoded(content: bytes, name: str) -> object:
    """A JSON file; the standard library takes half characters (``"\\ud83d"``) too, which others write."""
    content = content.removeprefix(b"\xef\xbb\xbf")
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        next_step = "It may be cut off; export it again."
        raise VrambleError("import-file", f"{name} is not whole.", next_step, str(error)) from error


def _in_file(path: Path) -> Iterator[Given]:
    size = path.stat().st_size
    if size > LARGEST:
        raise VrambleError("import-file", f"{path.name} is too large to be read.", "Split it.", f"{size} bytes")
    if path.suffix == ".jsonl":
        yield from conversations_of(_thread(path.read_bytes(), None), path.name)
        return
    yield from conversations_of(_decoded(path.read_bytes(), path.name), path.name)


def _in_folder(folder: Path) -> Iterator[Given]:
    """Threads of Jan with their messages beside them, and any JSON file."""
    named = (path for path in folder.rglob("*.json*") if path.suffix in (".json", ".jsonl"))
    files = sorted(path for path in named if path.is_file())[:MOST_FILES]
    threads = {path.parent for path in files if path.name == "messages.jsonl"}
    yield from _each(
        folder.name,
        [
            (str(path), lambda path=path: _readable(path, threads))  # type: ignore[misc]
            for path in files
            if path.name != "thread.json" or path.parent not in threads
        ],
    )


def _readable(path: Path, threads: set[Path]) -> object:
    """One file of many; VrambleError when the system does not give it."""
    try:
        return _content(path, threads)
    except OSError as error:
        raise VrambleError("import-file", f"{path.name} cannot be read.", detail=str(error)) from error


def _content(path: Path, threads: set[Path]) -> object:
    if path.stat().st_size > LARGEST:
        raise VrambleError("import-file", f"{path.name} is too large to be read.", "Split it.")
    if path.suffix != ".jsonl":
        return _decoded(path.read_bytes(), path.name)
    beside = path.with_name("thread.json")
    about = _decoded(beside.read_bytes(), beside.name) if path.parent in threads and beside.exists() else None
    return _thread(path.read_bytes(), about)


def _thread(lines: bytes, about: object) -> dict[str, Any]:
    """A thread of Jan out of its two files."""
    messages = []
    for line in lines.splitlines():
        try:
            messages.append(json.loads(line))
        except (ValueError, RecursionError):
            continue
    return {"object": "thread", **mapping(about), "messages": [one for one in messages if isinstance(one, dict)]}


def _in_zip(path: Path) -> Iterator[Given]:
    with zipfile.ZipFile(path) as archive:
        infos = [info for info in archive.infolist() if info.filename.endswith((".json", ".jsonl"))][:MOST_FILES]
        names = {info.filename for info in infos}

        def read(name: str) -> bytes:
            with archive.open(name) as file:
                content = file.read(LARGEST + 1)
            if len(content) > LARGEST:
                raise VrambleError("import-file", f"{name} is too large to be read.", "Split it.")
            return content

        def content_of(name: str) -> object:
            if not name.endswith(".jsonl"):
                return _decoded(read(name), name)
            beside = str(PurePosixPath(name).with_name("thread.json"))
            return _thread(read(name), _decoded(read(beside), beside) if beside in names else None)

        def is_extra(name: str) -> bool:
            pure = PurePosixPath(name)
            return pure.name == "thread.json" and str(pure.with_name("messages.jsonl")) in names

        wanted = sorted(name for name in names if not is_extra(name))
        yield from _each(path.name, [(name, lambda name=name: content_of(name)) for name in wanted])  # type: ignore[misc]


def _each(name: str, files: list[tuple[str, Callable[[], object]]]) -> Iterator[Given]:
    """Of several files those with conversations; others beside them are passed over."""
    found = False
    problem: VrambleError | None = None
    for _, content_of in files:
        try:
            for given in conversations_of(content_of(), name):
                found = True
                yield given
        except VrambleError as error:
            if error.code != "import-unknown":
                found = True
                yield error.message
            problem = error
    if not found:
        raise problem or unknown(name)

"""Files with conversations, of whichever program: found out, opened within limits, given out one by one."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple

from engine.chat.portable import PortableConversation
from engine.chat_files import chatgpt, jan, lm_studio, open_webui, own_json
from engine.chat_files.documents import LISTED, decoded, unpacked
from engine.chat_files.foreign import mapping
from engine.errors import VrambleError

LARGEST: Final = 512 * 1024**2
"""Bytes of JSON that are read at once; as objects they take several times as much memory."""
MOST_FILES: Final = 100_000

Given = PortableConversation | str
"""A conversation, or a sentence about one that cannot be read."""
Expect = Callable[[int], None]
"""Told how many more entries come; fewer than none when there were less than told before."""


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


def conversations_in(path: Path, expect: Expect = lambda _more: None) -> Iterator[Given]:
    """Everything in ``path``: a JSON file, a zip with such files, or a folder. ``expect`` is told of what comes.

    Raises:
        VrambleError: ``import-file`` when it cannot be read, ``import-unknown`` when it is of none of the programs.
    """
    try:
        if path.exists() and not path.is_dir() and not path.is_file():
            raise OSError("neither a file nor a folder")
        give = _in_folder if path.is_dir() else _in_zip if zipfile.is_zipfile(path) else _in_file
        yield from give(path, expect)
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        next_step = "Check that it is there and whole."
        raise VrambleError("import-file", f"{path.name} cannot be read.", next_step, str(error)) from error


def conversations_of(document: object, name: str, expect: Expect = lambda _more: None) -> Iterator[Given]:
    """Everything in a JSON file as `documents.decoded` gives it.

    Raises:
        VrambleError: ``import-unknown``.
    """
    if own_json.is_own(document):
        yield from own_json.conversations_of(mapping(document), expect)
        return
    wrapped = mapping(document).get(LISTED)
    listed = document if isinstance(document, list) else wrapped if isinstance(wrapped, list) else [document]
    kind = next(filter(None, map(_kind_of, listed)), None)
    if kind is None:
        raise unknown(name)
    expect(len(listed))
    for one in listed:
        yield _read(kind, one)


def _kind_of(entry: object) -> Kind | None:
    try:
        document = unpacked(entry)
    except (ValueError, RecursionError):
        return None
    return next((kind for kind in KINDS if isinstance(document, dict) and kind.fits(document)), None)


def _read(kind: Kind, entry: object) -> Given:
    try:
        document = unpacked(entry)
        if not isinstance(document, dict) or not kind.fits(document):
            return f"An entry of the {kind.name} export is no conversation."
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


def _in_file(path: Path, expect: Expect) -> Iterator[Given]:
    size = path.stat().st_size
    if size > LARGEST:
        raise VrambleError("import-file", f"{path.name} is too large to be read.", "Split it.", f"{size} bytes")
    if path.suffix == ".jsonl":
        yield from conversations_of(_thread(path.read_bytes(), None), path.name, expect)
        return
    yield from conversations_of(decoded(path.read_bytes(), path.name), path.name, expect)


def _in_folder(folder: Path, expect: Expect) -> Iterator[Given]:
    """Threads of Jan with their messages beside them, and any JSON file."""
    named = (path for path in folder.rglob("*.json*") if path.suffix in (".json", ".jsonl"))
    files = sorted(path for path in named if path.is_file())[:MOST_FILES]
    threads = {path.parent for path in files if path.name == "messages.jsonl"}
    yield from _each(
        folder.name,
        [
            partial(_readable, path, threads)
            for path in files
            if path.name != "thread.json" or path.parent not in threads
        ],
        expect,
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
        return decoded(path.read_bytes(), path.name)
    beside = path.with_name("thread.json")
    about = decoded(beside.read_bytes(), beside.name) if path.parent in threads and beside.exists() else None
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


def _in_zip(path: Path, expect: Expect) -> Iterator[Given]:
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
                return decoded(read(name), name)
            beside = str(PurePosixPath(name).with_name("thread.json"))
            return _thread(read(name), decoded(read(beside), beside) if beside in names else None)

        def is_extra(name: str) -> bool:
            pure = PurePosixPath(name)
            return pure.name == "thread.json" and str(pure.with_name("messages.jsonl")) in names

        wanted = sorted(name for name in names if not is_extra(name))
        yield from _each(path.name, [partial(content_of, name) for name in wanted], expect)


def _each(name: str, files: Sequence[Callable[[], object]], expect: Expect) -> Iterator[Given]:
    """Of several files those with conversations; others beside them are passed over."""
    found = False
    problem: VrambleError | None = None
    expect(len(files))
    for content_of in files:
        try:
            for given in conversations_of(content_of(), name, lambda more: expect(more - 1)):
                found = True
                yield given
        except VrambleError as error:
            if error.code != "import-unknown":
                found = True
                yield error.message
            problem = error
    if not found:
        raise problem or unknown(name)

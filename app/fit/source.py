"""Where the header of a model comes from: a file here, or ranges of one on the Hub."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from app.paths import Paths
from engine.downloads.client import events
from engine.downloads.messages import Event, Failed, FetchHeaders, HeadersFetched, Listed, ListRepo, Request
from engine.errors import VrambleError
from engine.library.address import parse_repo
from engine.library.argument import HUB, find_model_file
from engine.library.gguf import HeaderProblem
from engine.library.listing import RepoListing, choose
from engine.loading.reading import adapter_bytes
from engine.memory.fit import FitModel, read_model
from engine.memory.fit.image import Encoder, read_encoder, with_encoder
from engine.protocol.types import LoadOptions


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A file with the header and the length of the model's, which may be sparse.

    Attributes:
        listing: What the repository offers, for models that are not here.
        bytes_read: Over the network.
        note: A sentence on which file was taken.
    """

    path: Path
    listing: RepoListing | None = None
    bytes_read: int = 0
    note: str = ""


@contextmanager
def open_source(paths: Paths, argument: str) -> Iterator[Source]:
    """The model that ``argument`` means; from the Hub only when it is not downloaded.

    Raises:
        VrambleError: There is no such model, or the Hub does not give it.
    """
    try:
        yield Source(path=find_model_file(paths, argument))
        return
    except VrambleError as error:
        if not argument.startswith(HUB) or error.code not in ("model-not-downloaded", "bad-model-name"):
            raise
    with tempfile.TemporaryDirectory(prefix="vramble-fit-") as folder:
        yield _from_hub(argument, Path(folder))


def _from_hub(argument: str, folder: Path) -> Source:
    parse_repo(argument)
    listed = _last(ListRepo(text=argument))
    assert isinstance(listed, Listed)
    listing = listed.listing
    file, note = choose(listing, listing.wanted)
    request = FetchHeaders(folder=os.fsencode(folder), repo=listing.repo, files=file.parts, revision=listing.revision)
    done = _last(request)
    assert isinstance(done, HeadersFetched)
    path = Path(os.fsdecode(done.path))
    return Source(path=path, listing=listing, bytes_read=done.bytes_read, note=note)


def _last(request: Request) -> Event:
    last: Event = Failed(code="download-died", message="The download process gave no result.")
    for event in events(request):
        last = event
    if isinstance(last, Failed):
        raise last.error()
    return last


def _draft(options: LoadOptions) -> FitModel | None:
    if options.draft is None:
        return None
    found = read_model(Path(options.draft))
    if isinstance(found, HeaderProblem):
        raise VrambleError("not-a-model", f"{Path(options.draft).name}: {found.message}", "Choose another draft model.")
    return found


def model_of_source(source: Source, options: LoadOptions) -> FitModel:
    """The model, with the adapters and the image encoder that ``options`` name.

    Raises:
        VrambleError: ``not-a-model`` with the reason.
    """
    model = read_model(source.path)
    if isinstance(model, HeaderProblem):
        raise VrambleError("not-a-model", f"{source.path.name}: {model.message}", "Choose another file.")
    adapters = sum(adapter_bytes(Path(adapter.path)) or 0 for adapter in options.lora)
    model = msgspec.structs.replace(model, adapters=adapters, draft=_draft(options))
    if options.mmproj is None:
        return model
    projector = Path(options.mmproj)
    encoder = read_encoder(projector)
    if not isinstance(encoder, Encoder):
        why = f": {encoder.message}" if isinstance(encoder, HeaderProblem) else " is no image encoder."
        raise VrambleError("not-a-model", f"{projector.name}{why}", "Choose another file.")
    return with_encoder(model, encoder)

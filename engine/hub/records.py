"""What searching the Hub gives. Records only: the window shows them as they are."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from engine.hub.quality import Quality
from engine.library.gguf.tables import quant_in_name
from engine.library.listing import FilePart, RepoFile, RepoListing


class Sort(StrEnum):
    """Order of search results, always the most, or the newest, first."""

    TRENDING = "trending"
    DOWNLOADS = "downloads"
    LIKES = "likes"
    UPDATED = "updated"
    CREATED = "created"


class Gate(StrEnum):
    """Whether a repository's files are for everyone."""

    OPEN = "open"
    AUTOMATIC = "auto"
    """Terms have to be accepted on its page."""
    BY_HAND = "manual"
    """Its owner lets each account in."""


class SearchQuery(msgspec.Struct, frozen=True, kw_only=True):
    """What is searched for; fields that are empty do not restrict.

    Attributes:
        text: Contained in the repository's name.
        author: User or organisation.
        smallest: Least number of weights (not of bytes).
        largest: Greatest number of weights.
        architecture: As in the GGUF header: ``llama``, ``qwen3``.
        licence: As in the Hub's tag, without ``license:``: ``apache-2.0``.
        language: Code of two or three letters.
        gated: Only gated repositories, or only others.
    """

    text: str = ""
    author: str = ""
    sort: Sort = Sort.DOWNLOADS
    smallest: int | None = None
    largest: int | None = None
    architecture: str = ""
    licence: str = ""
    language: str = ""
    gated: bool | None = None


class RepoSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One repository. Numbers and times that the Hub did not tell are None, texts empty.

    Attributes:
        repo: ``owner/name`` as the Hub spells it.
        downloads: In the last month.
        created: Seconds since 1970, as `updated`.
        licence: Name of the licence as the Hub spells it; for ``other`` the name that the card gives.
        licence_link: Address of its text, http or https.
        languages: Codes of two or three letters.
        tags: The others of the Hub's tags.
        base_models: Repositories that it was made from.
        task: Such as ``text-generation``.
        architecture: As in the GGUF header.
        n_params: Number of weights.
        context_length: Trained context in tokens.
    """

    repo: str
    downloads: int | None = None
    likes: int | None = None
    updated: float | None = None
    created: float | None = None
    gate: Gate = Gate.OPEN
    private: bool = False
    licence: str = ""
    licence_link: str = ""
    languages: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    base_models: tuple[str, ...] = ()
    task: str = ""
    architecture: str = ""
    n_params: int | None = None
    context_length: int | None = None

    @property
    def author(self) -> str:
        """User or organisation."""
        return self.repo.partition("/")[0]

    @property
    def name(self) -> str:
        """The repository's own name."""
        return self.repo.partition("/")[2]


class ModelFile(msgspec.Struct, frozen=True, kw_only=True):
    """One model to download, with the files of the same repository that go with it.

    Attributes:
        file: The model; a split set is one.
        projector: Lets it see or hear (mmproj).
        draft: A small model that guesses ahead for it.
    """

    file: RepoFile
    projector: RepoFile | None = None
    draft: RepoFile | None = None


class QuantGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Models of one quantisation, smallest first.

    Attributes:
        quant: Such as ``Q4_K_M``; empty: the names do not tell.
        quality: In a word; the window has the words.
        bits: About how many bits a weight takes, None when unknown.
        usual: What most people should take: one group of a repository at most.
    """

    quant: str
    quality: Quality
    bits: float | None
    files: tuple[ModelFile, ...]
    usual: bool = False


class RepoPage(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about one repository.

    Attributes:
        summary: As in the search, completed.
        listing: Its GGUF files; what `FitBadges` and `DownloadService` take.
        groups: The models among them by quantisation, best quality last.
        companions: The other GGUF files: projectors, drafts, adapters, statistics.
        card: The model card: plain Markdown without front matter, HTML and pictures; links are absolute.
        card_cut: The card is longer than what is here.
        read_at: When the Hub told it, in seconds since 1970.
    """

    summary: RepoSummary
    listing: RepoListing
    groups: tuple[QuantGroup, ...] = ()
    companions: tuple[RepoFile, ...] = ()
    card: str = ""
    card_cut: bool = False
    read_at: float = 0.0

    @property
    def repo(self) -> str:
        """``owner/name``."""
        return self.summary.repo


class SearchPage(msgspec.Struct, frozen=True, kw_only=True):
    """One page of search results.

    Attributes:
        rows: Repositories, in the Hub's order.
        cursor: What to ask the next page with; empty: this was the last one.
        read_at: When the Hub told it, in seconds since 1970.
    """

    rows: tuple[RepoSummary, ...]
    cursor: str = ""
    read_at: float = 0.0


class Purpose(StrEnum):
    """What a model of the catalogue is good at."""

    CHAT = "chat"
    CODE = "code"
    REASONING = "reasoning"
    VISION = "vision"
    LANGUAGES = "languages"
    """Many human languages."""
    TOOLS = "tools"


class CatalogueModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model that the program recommends.

    Attributes:
        name: What it is called.
        revision: Commit of `repo` that size and checksum belong to; ``main``: whatever the Hub has.
        file: Path in `repo`, the usual quantisation.
        size: Bytes of `file`.
        sha256: Of `file`; empty: no source that can be cited tells it, so the Hub's own answer counts.
        n_params: Number of weights, as its maker counts them.
        active: Of a mixture of experts the weights that each token needs, else None.
        context_length: Trained context in tokens.
        licence: As in the Hub's tag.
        purposes: The main one first.
        memory_gib: Size of the graphics memory (or of all the memory of an APU's machine that is left for it) it suits.
        rank: How good its answers are next to the others', by judgement: the greater the better.
        why: Why, in a sentence.
        deck: It suits a Steam Deck.
        gated: Terms have to be accepted first.
        projector: Path in `repo` of the file that lets it see; empty: it does not.
        kv_per_token: Bytes of KV cache for each token of context (f16), None when not known.
    """

    name: str
    repo: str
    revision: str = "main"
    file: str
    size: int
    sha256: str = ""
    n_params: int
    active: int | None = None
    context_length: int
    licence: str
    purposes: tuple[Purpose, ...]
    memory_gib: int
    why: str
    rank: int = 0
    deck: bool = False
    gated: bool = False
    projector: str = ""
    kv_per_token: int | None = None

    @property
    def listing(self) -> RepoListing:
        """As a repository with this one file: what `FitBadges` and `DownloadService` take, without asking the Hub.

        A checksum without a revision may be of an older file, so the Hub's own word is waited for then.
        """
        pinned = self.revision != "main"
        part = FilePart(path=self.file, size=self.size, sha256=self.sha256 or None if pinned else None)
        file = RepoFile(
            path=self.file, quant=quant_in_name(self.file), size=self.size, sha256=part.sha256, parts=(part,)
        )
        commit = self.revision if pinned else None
        return RepoListing(repo=self.repo, revision=self.revision, commit=commit, gated=self.gated, files=(file,))

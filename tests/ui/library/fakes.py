"""Stand-ins for what finds, fetches and keeps models: real signals and records, no work behind them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from PySide6.QtCore import QObject, Signal

from app.downloads.records import DownloadJob, JobState, QueueSummary, summary_of
from app.fit.badges import UNKNOWN, Badge
from app.library.service import InstalledModel
from app.library.tasks import LibraryTask
from engine.errors import VrambleError
from engine.hub.quality import bits_of, quality_of
from engine.hub.records import (
    CatalogueModel,
    Gate,
    ModelFile,
    Purpose,
    QuantGroup,
    RepoPage,
    RepoSummary,
    SearchQuery,
)
from engine.library.listing import FilePart, RepoFile, RepoListing
from engine.library.records import Deletion, ModelUpdate, Role
from engine.library.roots import LibraryRoot, RootInfo, RootKind, RootState
from engine.memory.fit.records import FitPlan, Suggestion, Verdict
from engine.protocol.types import LoadOptions

GB = 10**9
DAY = 86_400
QUANTS = (
    ("Q2_K", 3.3),
    ("Q3_K_M", 4.1),
    ("Q4_K_M", 5.0),
    ("Q5_K_M", 5.9),
    ("Q6_K", 6.7),
    ("Q8_0", 8.7),
    ("BF16", 16.4),
)


def summary(repo: str, **changes: Any) -> RepoSummary:
    values: dict[str, Any] = {
        "repo": repo,
        "downloads": 1_204_000,
        "likes": 412,
        "updated": time.time() - 12 * DAY,
        "licence": "apache-2.0",
        "languages": ("en", "zh", "de"),
        "architecture": "qwen3",
        "n_params": 8_190_000_000,
        "context_length": 131_072,
    }
    return RepoSummary(**{**values, **changes})


def file_of(name: str, gb: float, kind: str = "model", sha256: str | None = None) -> RepoFile:
    from engine.library.gguf.tables import quant_in_name
    from engine.library.listing import FileKind

    part = FilePart(path=name, size=int(gb * GB), sha256=sha256)
    return RepoFile(
        path=name, quant=quant_in_name(name), size=part.size, sha256=sha256, parts=(part,), kind=FileKind(kind)
    )


def page(repo: str, quants: Sequence[tuple[str, float]] = QUANTS, *, sees: bool = False, **changes: Any) -> RepoPage:
    """A page with a file for each of ``quants``, and a projector where it ``sees``."""
    name = repo.partition("/")[2].removesuffix("-GGUF")
    files = [file_of(f"{name}-{quant}.gguf", gb) for quant, gb in quants]
    projector = file_of(f"mmproj-{name}-F16.gguf", 0.86, "projector") if sees else None
    groups = tuple(
        QuantGroup(
            quant=file.quant,
            quality=quality_of(file.quant),
            bits=bits_of(file.quant),
            files=(ModelFile(file=file, projector=projector),),
            usual=file.quant == "Q4_K_M",
        )
        for file in files
    )
    companions = (projector,) if projector is not None else ()
    values: dict[str, Any] = {
        "summary": summary(repo),
        "listing": RepoListing(repo=repo, commit="0" * 40, files=(*files, *companions)),
        "groups": groups,
        "companions": companions,
        "card": CARD.replace("NAME", name),
        "read_at": time.time(),
    }
    return RepoPage(**{**values, **changes})


CARD = """# NAME

Quantised with llama.cpp from the original weights. See the [page of the makers](https://example.org/model).

| File | Quantisation | Size |
| --- | --- | --- |
| NAME-Q4_K_M.gguf | Q4_K_M | 5.0 GB |
| NAME-Q8_0.gguf | Q8_0 | 8.7 GB |

## How to use it

```bash
llama-cli -hf owner/NAME:Q4_K_M --temp 0.7 --top-p 0.8
```

- Thinks before it answers; `/no_think` switches that off.
- Context of 128k tokens with YaRN.
"""


def catalogue_model(name: str, gb: float, billions: float, **changes: Any) -> CatalogueModel:
    values: dict[str, Any] = {
        "name": name,
        "repo": f"maker/{name.replace(' ', '-')}-GGUF",
        "file": f"{name.replace(' ', '-')}-Q4_K_M.gguf",
        "size": int(gb * GB),
        "n_params": int(billions * GB),
        "context_length": 131_072,
        "licence": "apache-2.0",
        "purposes": (Purpose.CHAT, Purpose.REASONING),
        "memory_gib": max(1, round(gb * 1.4)),
        "why": "Answers well for its size and thinks before it answers.",
    }
    return CatalogueModel(**{**values, **changes})


CATALOGUE = (
    catalogue_model("Qwen3 4B", 2.5, 4.0, deck=True),
    catalogue_model("Gemma 3 4B", 2.5, 3.9, deck=True, licence="gemma", gated=True, purposes=(Purpose.VISION,)),
    catalogue_model("Qwen3 8B", 5.0, 8.2, purposes=(Purpose.REASONING, Purpose.CODE)),
    catalogue_model("Qwen3 30B A3B", 18.6, 30.5, active=3_300_000_000, purposes=(Purpose.CODE,)),
    catalogue_model("Llama 3.3 70B", 42.5, 70.6, licence="llama3.3", purposes=(Purpose.LANGUAGES,)),
)


class FakeHub(QObject):
    """Answers when a test says so."""

    results_changed = Signal()
    page_changed = Signal()
    catalogue_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.results: tuple[RepoSummary, ...] = ()
        self.searching = self.has_more = self.from_cache = self.page_from_cache = False
        self.problem: VrambleError | None = None
        self.page_problem: VrambleError | None = None
        self.wait_left: float | None = None
        self.read_at = 0.0
        self.page: RepoPage | None = None
        self.opening = ""
        self.catalogue: tuple[CatalogueModel, ...] = CATALOGUE
        self.room: int | None = 22 * 2**30
        self.queries: list[SearchQuery] = []
        self.asked: list[str] = []
        self.watched = False

    def search(self, query: SearchQuery, now: bool = False) -> None:
        self.queries.append(query)
        self.asked.append("search now" if now else "search")
        self.results, self.searching, self.problem, self.has_more = (), True, None, False
        self.results_changed.emit()

    def answer(self, *rows: RepoSummary, more: bool = False) -> None:
        """The Hub tells the next page."""
        self.results += rows
        self.searching, self.has_more, self.problem = False, more, None
        self.results_changed.emit()

    def fail(self, code: str, text: str, step: str = "") -> None:
        self.searching, self.problem = False, VrambleError(code, text, step)
        self.results_changed.emit()

    def more(self) -> None:
        self.asked.append("more")
        self.searching = True
        self.results_changed.emit()

    def retry(self) -> None:
        self.asked.append("retry")

    def cancel(self) -> None:
        self.searching = False
        self.results = ()

    def open(self, text: str) -> None:
        self.asked.append(f"open {text}")
        self.page, self.page_problem, self.opening = None, None, text
        self.page_changed.emit()

    def give(self, found: RepoPage) -> None:
        """The Hub tells a page."""
        self.page, self.opening, self.page_problem = found, "", None
        self.page_changed.emit()

    def refuse(self, code: str, text: str, step: str = "") -> None:
        self.opening, self.page_problem = "", VrambleError(code, text, step)
        self.page_changed.emit()

    def refresh(self) -> None:
        self.asked.append("refresh")

    def leave_page(self) -> None:
        self.page = None

    def recommended(self) -> tuple[CatalogueModel, ...]:
        return tuple(one for one in self.catalogue if self.room and one.size * 1.2 < self.room)

    def set_watched(self, watched: bool) -> None:
        self.watched = watched


class FakeAccount(QObject):
    """An account of the Hub."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.source, self.name, self.busy = "none", "", False
        self.problem: VrambleError | None = None
        self.tokens: list[tuple[str, bool]] = []

    def look(self) -> None:
        pass

    def sign_in(self, token: str, *, in_file: bool = False) -> None:
        self.tokens.append((token, in_file))

    def become(self, source: str, name: str = "", problem: VrambleError | None = None) -> None:
        self.source, self.name, self.problem = source, name, problem
        self.changed.emit()

    def sign_out(self) -> None:
        self.become("none")


class FakeDownloads(QObject):
    """A queue that does what tests say."""

    jobs_changed = Signal()
    finished = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.jobs: tuple[DownloadJob, ...] = ()
        self.offline = False
        self.calls: list[tuple[Any, ...]] = []

    @property
    def summary(self) -> QueueSummary:
        return summary_of(self.jobs)

    def set_jobs(self, *jobs: DownloadJob) -> None:
        self.jobs = jobs
        self.jobs_changed.emit()

    def start(self, repo: str, file: str | RepoFile, *, root: Path | None = None, revision: str | None = None) -> int:
        path, size = (file, None) if isinstance(file, str) else (file.path, file.size)
        self.calls.append(("start", repo, path, root))
        number = len(self.jobs) + 1
        self.set_jobs(*self.jobs, job(number, repo, path, total=size))
        return number

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name not in {"pause", "resume", "retry", "cancel", "move", "pause_all", "resume_all", "dismiss", "repair"}:
            raise AttributeError(name)
        return lambda *arguments: self.calls.append((name, *arguments))


def job(number: int, repo: str, file: str, state: JobState = JobState.QUEUED, **changes: Any) -> DownloadJob:
    return DownloadJob(
        id=number, repo=repo, file=file, target=Path("/models") / repo / file, n_files=1, state=state, **changes
    )


OWN = LibraryRoot(kind=RootKind.OWN, path="/home/deck/.local/share/vramble/models")
CARD_ROOT = LibraryRoot(kind=RootKind.CARD, path="/run/media/deck/SD/models", uuid="1234-ABCD", relative="models")
OLLAMA = LibraryRoot(kind=RootKind.OLLAMA, path="/usr/share/ollama/.ollama/models")


def root_info(root: LibraryRoot, name: str, **changes: Any) -> RootInfo:
    values: dict[str, Any] = {
        "root": root,
        "path": Path(root.path),
        "name": name,
        "models": 3,
        "files": 4,
        "n_bytes": 21 * GB,
        "free": 212 * GB,
        "total": 512 * GB,
        "writable": True,
        "file_system": "ext4",
    }
    return RootInfo(**{**values, **changes})


ROOTS = (
    root_info(OWN, "models"),
    root_info(OLLAMA, "Ollama", found=True, models=2, n_bytes=9 * GB, writable=False),
    root_info(
        CARD_ROOT, "SD", state=RootState.NOT_INSERTED, models=1, n_bytes=5 * GB, free=None, total=None, writable=False
    ),
)


def installed(name: str, quant: str, gb: float, root: LibraryRoot = OWN, **changes: Any) -> InstalledModel:
    path = Path(root.path) / "maker" / f"{name}-GGUF" / f"{name}-{quant}.gguf"
    values: dict[str, Any] = {
        "path": path,
        "name": name,
        "label": f"{name} {quant}",
        "quant": quant,
        "architecture": "qwen3",
        "size_bytes": int(gb * GB),
        "frees_bytes": int(gb * GB),
        "folder": path.parent,
        "repo": f"maker/{name}-GGUF",
        "file": path.name,
        "can_chat": True,
        "role": Role.CHAT,
        "parts": (path,),
        "n_params": int(gb * 1.6 * GB),
        "n_layers": 36,
        "context_length": 40_960,
        "source": root.kind,
        "root": root.id,
        "owner": root.owner,
        "licence": "apache-2.0",
        "last_used": time.time() - 2 * DAY,
    }
    return InstalledModel(**{**values, **changes})


class FakeLibrary(QObject):
    """Models and folders that tests hand in; what is asked of it is noted."""

    models_changed = Signal()
    scanning_changed = Signal(bool)
    roots_changed = Signal()
    tasks_changed = Signal()
    task_ended = Signal(object)
    updates_changed = Signal()

    def __init__(self, models: Iterable[InstalledModel] = (), roots: Iterable[RootInfo] = ROOTS) -> None:
        super().__init__()
        self.models, self.companions, self.problems = tuple(models), (), ()
        self.roots, self.hidden_roots = tuple(roots), ()
        self.tasks: tuple[LibraryTask, ...] = ()
        self.updates: Mapping[Path, ModelUpdate] = {}
        self.checking_updates = self.scanning = self.folder_missing = self.has_starter = False
        self.update_problem: VrambleError | None = None
        self.folder = Path(OWN.path)
        self.calls: list[tuple[Any, ...]] = []
        self.outcomes: dict[str, Any] = {}

    def is_starter(self, model: InstalledModel) -> bool:
        return False

    def plan_delete(self, model: InstalledModel, done: Callable[[Deletion | VrambleError], None]) -> None:
        owner = model.owner
        notes = (f"The file belongs to {owner}.",) if owner else ()
        done(Deletion(model=model, paths=model.parts, frees_bytes=model.frees_bytes, owner=owner, notes=notes))

    def set_models(self, *models: InstalledModel) -> None:
        self.models = models
        self.models_changed.emit()

    def set_tasks(self, *tasks: LibraryTask) -> None:
        self.tasks = tasks
        self.tasks_changed.emit()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        simple = {
            "rescan", "remove_root", "show_root", "verify", "find_duplicates", "move", "join", "import_files", "repair",
            "cancel", "dismiss", "check_updates", "note_used", "share",
        }  # fmt: skip
        answering = {"add_root", "delete", "trash", "undo_trash"}
        if name in simple:
            return lambda *arguments: self.calls.append((name, *arguments))
        if name in answering:

            def answer(*arguments: Any) -> None:
                self.calls.append((name, *arguments[:-1]))
                if name in self.outcomes:
                    arguments[-1](self.outcomes[name])

            return answer
        raise AttributeError(name)


def plan(verdict: Verdict, reason: str, speed: float | None = None) -> FitPlan:
    return FitPlan(
        options=LoadOptions(),
        uses=(),
        verdict=verdict,
        reason=reason,
        gpu_layers=37,
        max_layers=37,
        proposal=LoadOptions() if verdict in (Verdict.FITS, Verdict.TIGHT) else None,
        proposed_layers=21 if verdict is Verdict.PARTLY else 37,
        room=22 * 2**30,
        speed=speed,
    )


class FakeBadges(QObject):
    """What fits is told by the size alone."""

    changed = Signal()

    def __init__(self, room_gb: float = 12.0) -> None:
        super().__init__()
        self.room_gb = room_gb
        self.seen: list[str] = []

    def _badge(self, size: int | None) -> Badge:
        if size is None:
            return UNKNOWN
        gb = size / GB
        speed = round(380 / max(gb, 0.1), 1)
        if gb < self.room_gb * 0.6:
            return Badge(plan(Verdict.FITS, f"It takes {gb:.1f} of {self.room_gb:.0f} GiB of video memory.", speed))
        if gb < self.room_gb:
            return Badge(
                plan(Verdict.PARTLY, "21 of 37 layers fit into the video memory; the rest runs on the CPU.", 9.4)
            )
        return Badge(plan(Verdict.NO, f"It needs {gb:.1f} GiB, {gb - self.room_gb:.1f} GiB more than there is."))

    def of_file(self, listing: RepoListing, file: RepoFile) -> Badge:
        return self._badge(file.size)

    def of_installed(self, path: Path) -> Badge:
        return self._badge(5 * GB)

    def suggestions_for(self, path: Path) -> tuple[Suggestion, ...]:
        return ()

    def suggestions_for_file(self, listing: RepoListing, file: RepoFile) -> tuple[Suggestion, ...]:
        return ()

    def smaller_file(self, listing: RepoListing, file: RepoFile) -> RepoFile | None:
        return None

    def look_at(self, paths: Iterable[Path]) -> None:
        self.seen += [str(path) for path in paths]

    def look_at_files(self, listing: RepoListing, seen: Sequence[RepoFile], chosen: RepoFile | None) -> None:
        self.seen += [file.path for file in seen]

    def leave_files(self) -> None:
        pass


GATED = msgspec.structs.replace(summary("google/gemma-3-4b-it-qat-q4_0-gguf"), gate=Gate.AUTOMATIC, licence="gemma")


def make_store(folder: Path) -> Any:
    """Settings in ``folder``; what is changed is kept when the executor is turned."""
    from app.jobs import SerialRunner
    from app.notices import Notices
    from app.settings.store import SettingsStore
    from tests.app.chat.cranked import Cranked

    return SettingsStore(folder / "settings.json", SerialRunner(Cranked()), Notices())


class FakeDesktop(QObject):
    """Notes what the desktop was told."""

    pressed = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self.notes: list[Any] = []
        self.drawn: list[tuple[float | None, int]] = []
        self.withdrawn: list[str] = []

    def notify(self, note: Any) -> None:
        self.notes.append(note)

    def withdraw(self, key: str) -> None:
        self.withdrawn.append(key)

    def show_progress(self, fraction: float | None, count: int = 0) -> None:
        self.drawn.append((fraction, count))

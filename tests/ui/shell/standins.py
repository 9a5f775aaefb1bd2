"""Services with the real signals and no work behind them: tests say what they answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from PySide6.QtCore import QObject, Signal

from app.chat.conversation_list import ConversationListModel
from app.chat.database import ChatDatabase
from app.chat.keeping import Keeping
from app.chat.parameters import Parameters
from app.chat.presets import Presets
from app.chat.queue import MessageQueue
from app.chat.rows import MessageRow
from app.chat.summary_care import Making
from app.chat.transcript import TranscriptModel
from app.formulas.service import FormulaService
from app.jobs import SerialRunner
from app.library.service import FileState, InstalledModel
from app.load.preparation import Preparation
from app.load.service import LoadService
from app.notices import Notices
from app.settings.store import SettingsStore
from app.worker.safe_mode import SafeMode
from engine.chat.records import Conversation, Draft, Role, Status
from engine.client.session import WorkerState
from engine.errors import VrambleError
from engine.memory.fit.devices import fit_devices
from engine.memory.fit.records import FitPlan
from engine.protocol.frames import Failed, Hello, Loaded
from engine.protocol.types import BackendInfo, DeviceInfo, DeviceKind, LoadOptions, ModelInfo
from tests.app.chat.cranked import Cranked
from tests.ui.library.fakes import FakeDesktop, FakeDownloads

GIB = 1024**3
NOW = 1_800_000_000.0

RADEON = DeviceInfo(
    id="Vulkan0",
    backend="Vulkan",
    name="AMD Radeon RX 7900 XTX (RADV NAVI31)",
    pci="0000:03:00.0",
    kind=DeviceKind.GPU,
    memory_total=24 * GIB,
    memory_free=22 * GIB,
    usable=True,
)
PROCESSOR = DeviceInfo(
    id="CPU",
    backend="CPU",
    name="AMD Ryzen 7 7800X3D",
    pci=None,
    kind=DeviceKind.CPU,
    memory_total=32 * GIB,
    memory_free=20 * GIB,
    usable=True,
)
NO_VULKAN = BackendInfo(name="Vulkan", path="", loaded=False, error="libvulkan.so.1 is not installed")
HELLO = Hello(protocol=1, pid=4711, engine="llama-cpp-python", devices=(RADEON, PROCESSOR))
HELLO_CPU = Hello(protocol=1, pid=4711, engine="llama-cpp-python", backends=(NO_VULKAN,), devices=(PROCESSOR,))


def model_info(path: str = "/models/Qwen3-8B-Q4_K_M.gguf", device: DeviceInfo = RADEON, **changes: Any) -> ModelInfo:
    values: dict[str, Any] = {
        "path": path,
        "name": "Qwen3 8B",
        "architecture": "qwen3",
        "quant": "Q4_K_M",
        "n_params": 8_000_000_000,
        "size_bytes": 5_000_000_000,
        "n_ctx": 16384,
        "n_ctx_train": 32768,
        "n_layers": 36,
        "gpu_layers": 36 if device.kind is DeviceKind.GPU else 0,
        "device": device,
    }
    return ModelInfo(**{**values, **changes})


class FakeWorker(QObject):
    """Remembers what it was asked for; tests emit what happens."""

    state_changed = Signal(object)
    hello_received = Signal(object)
    load_progress = Signal(float)
    model_changed = Signal(object)
    speed_changed = Signal(object)
    answered = Signal(object)
    died = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.state = WorkerState.STOPPED
        self.hello: Hello | None = None
        self.model: ModelInfo | None = None
        self.last_load: tuple[Path, LoadOptions] | None = None
        self.pid: int | None = None
        self.safe_mode: SafeMode | None = None
        self.loads: list[tuple[Path, Callable[[Loaded | Failed], None]]] = []
        self.load_options: list[LoadOptions] = []
        self.cancelled: list[int] = []
        self.unloads = 0
        self.started = 0
        self.log_tail = ""

    def start(self) -> None:
        self.started += 1

    def load(self, path: Path, options: LoadOptions, done: Callable[[Loaded | Failed], None]) -> int:
        self.loads.append((path, done))
        self.load_options.append(options)
        self.set_state(WorkerState.LOADING)
        return len(self.loads)

    def unload(self) -> None:
        self.unloads += 1
        self.set_model(None)
        self.set_state(WorkerState.STOPPED)

    def cancel(self, request: int) -> None:
        self.cancelled.append(request)

    def set_state(self, state: WorkerState) -> None:
        self.state = state
        self.state_changed.emit(state)

    def set_hello(self, hello: Hello) -> None:
        self.hello = hello
        self.hello_received.emit(hello)

    def set_model(self, model: ModelInfo | None) -> None:
        self.model = model
        self.model_changed.emit(model)

    def finish_load(self, outcome: ModelInfo | Failed) -> None:
        """Answer the last `load`."""
        path, done = self.loads[-1]
        if isinstance(outcome, ModelInfo):
            self.last_load = (path, self.load_options[-1])
            self.set_model(outcome)
            self.set_state(WorkerState.READY)
            done(Loaded(id=len(self.loads), model=outcome, seconds=1.0))
        else:
            self.set_state(WorkerState.IDLE)
            done(outcome)


class FakeSteering:
    """Notes down what is asked for at messages."""

    def __init__(self, calls: list[tuple[str, ...]]) -> None:
        self.calls = calls
        self.accepts = True

    def edit(self, message: str, text: str) -> bool:
        self.calls.append(("edit", message, text))
        return self.accepts

    def go_on(self, message: str = "") -> None:
        self.calls.append(("go_on", message))

    def regenerate(self, message: str = "", model: Path | None = None) -> None:
        self.calls.append(("regenerate", message, str(model or "")))

    def branch(self, message: str) -> None:
        self.calls.append(("branch", message))

    def delete_from(self, message: str) -> None:
        self.calls.append(("delete_from", message))


class FakeSummaries(QObject):
    """Notes what is asked of it."""

    changed = Signal()

    def __init__(self, calls: list[tuple[str, ...]]) -> None:
        super().__init__()
        self.calls = calls
        self.making: Making | None = None

    def edit(self, message: str, text: str) -> bool:
        self.calls.append(("edit summary", message, text))
        return True

    def remove(self, message: str) -> None:
        self.calls.append(("remove summary", message))

    def remake(self, message: str) -> None:
        self.calls.append(("remake summary", message))

    def stop(self) -> None:
        self.calls.append(("stop summary",))

    def make(self, making: Making | None) -> None:
        """One is made now, or no more."""
        self.making = making
        self.changed.emit()


class FakeChat(QObject):
    """Real list models; conversations are made by hand."""

    message_wanted = Signal(str)
    current_changed = Signal(object)
    busy_changed = Signal(bool)
    drafts_loaded = Signal(object)
    draft_restored = Signal(str)
    model_wanted = Signal()
    fit_wanted = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.conversations = ConversationListModel(now=lambda: NOW)
        self.transcript = TranscriptModel()
        self.calls: list[tuple[str, ...]] = []
        self.steering = FakeSteering(self.calls)
        self.summaries = FakeSummaries(self.calls)
        runner = SerialRunner(Cranked(), self)
        store = SettingsStore(Path("/nowhere/settings.json"), runner, Notices())
        self.parameters = Parameters(store, lambda _id, _settings: None, lambda: "", self)
        self.queue = MessageQueue(lambda _id, _draft: None, self)
        self.presets = Presets(store, runner, self)
        database = ChatDatabase(Path("/nowhere/vramble.sqlite3"), runner)
        self.keeping = Keeping(
            self.conversations,
            database,
            Path("/nowhere/vramble.sqlite3"),
            runner,
            store,
            self.conversations.put,
            lambda _error: None,
            lambda: NOW,
            self,
        )
        self.temporary = False
        self.current: Conversation | None = None
        self.deleted: dict[str, Conversation] = {}
        self.drafts: dict[str | None, Draft] = {}
        self.accepts = True
        self.expected = ""

    def fill(self, *titles: str, step: float = 100.0) -> None:
        """Conversations with ids "0", "1", ...; the first is the newest."""
        self.conversations.reset(
            [
                Conversation(id=str(i), title=title, created=0, updated=NOW - i * step, tip=None)
                for i, title in enumerate(titles)
            ]
        )

    def show(self, *texts: str) -> None:
        """Messages of the open conversation, user and model in turn."""
        self.transcript.reset([message_row(i, text) for i, text in enumerate(texts)])

    def named(self, name: str) -> list[tuple[str, ...]]:
        return [call for call in self.calls if call[0] == name]

    def new_conversation(self, *, temporary: bool = False) -> None:
        self.calls.append(("new", "temporary") if temporary else ("new",))
        self.temporary = temporary
        self.transcript.reset([])
        self._set(None)

    def open(self, id_: str, message: str | None = None) -> None:
        self.calls.append(("open", id_) if message is None else ("open", id_, message))
        self._set(self.conversations.find(id_))

    def rename(self, id_: str, title: str) -> None:
        self.calls.append(("rename", id_, title))
        found = self.conversations.find(id_)
        assert found is not None
        self.conversations.put(msgspec.structs.replace(found, title=title))

    def delete(self, id_: str) -> None:
        self.calls.append(("delete", id_))
        found = self.conversations.find(id_)
        assert found is not None
        self.deleted[id_] = found
        if self.current == found:
            self._set(None)
        self.conversations.remove(id_)

    def undo_delete(self, id_: str) -> None:
        self.calls.append(("undo", id_))
        self.conversations.put(self.deleted.pop(id_))

    def send(self, text: str) -> bool:
        self.calls.append(("send", text))
        return self.accepts

    def keep_draft(self, conversation: str | None, draft: Draft) -> None:
        self.drafts[conversation] = draft

    def expect_model(self, name: str) -> None:
        self.expected = name

    def stop(self) -> None:
        self.calls.append(("stop",))

    def regenerate(self) -> None:
        self.calls.append(("regenerate",))

    def show_version(self, message: str, step: int) -> None:
        self.calls.append(("version", message, str(step)))

    def _set(self, conversation: Conversation | None) -> None:
        self.current = conversation
        self.current_changed.emit(conversation)


def message_row(number: int, text: str, **changes: Any) -> MessageRow:
    """Row ``number`` of a conversation: even ones are the user's."""
    user = number % 2 == 0
    values: dict[str, Any] = {
        "id": f"m{number}",
        "role": Role.USER if user else Role.ASSISTANT,
        "text": text,
        "status": Status.DONE,
        "author": "You" if user else "Qwen3 8B",
    }
    return MessageRow(**{**values, **changes})


class FakeLibrary(QObject):
    """Has the models that the test puts into it."""

    models_changed = Signal()
    scanning_changed = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.models: tuple[InstalledModel, ...] = ()
        self.scanning = False
        self.has_starter = True
        self.starters: list[Callable[[InstalledModel | VrambleError], None]] = []
        self.scans = 0

    def rescan(self) -> None:
        self.scans += 1

    def put(self, *names: str) -> None:
        """Models with these names."""
        self.models = tuple(installed(name) for name in names)
        self.models_changed.emit()

    def add_starter(self, done: Callable[[InstalledModel | VrambleError], None]) -> None:
        self.starters.append(done)


class FakeMemory(QObject):
    """Nobody samples anything."""

    sampled = Signal(object)
    failed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.snapshot = None
        self.watched: list[bool] = []
        self.hidden: list[bool] = []

    def set_watched(self, watched: bool) -> None:
        self.watched.append(watched)

    def set_hidden(self, hidden: bool) -> None:
        self.hidden.append(hidden)


class FakeSettings(QObject):
    """Records in memory."""

    changed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.records: dict[type, Any] = {}

    def get(self, feature: type) -> Any:
        return self.records.get(feature) or feature()

    def put(self, record: Any) -> None:
        self.records[type(record)] = record
        self.changed.emit(type(record).__name__.removesuffix("Settings").lower())


class QuickLoads(LoadService):
    """Nothing is asked before a load, unless a test says what the answer is."""

    refuses: FitPlan | None = None

    def prepare(self, path: Path, options: LoadOptions, done: Callable[[FitPlan | None], None]) -> Preparation:
        done(self.refuses)
        return Preparation(self, path, options, done)


@dataclass
class FakeServices:
    """What `app.wiring.build` gives, without work behind it."""

    notices: Notices = field(default_factory=Notices)
    settings: FakeSettings = field(default_factory=FakeSettings)
    worker: FakeWorker = field(default_factory=FakeWorker)
    chat: FakeChat = field(default_factory=FakeChat)
    library: FakeLibrary = field(default_factory=FakeLibrary)
    downloads: FakeDownloads = field(default_factory=FakeDownloads)
    desktop: FakeDesktop = field(default_factory=FakeDesktop)
    memory: FakeMemory = field(default_factory=FakeMemory)
    formulas: FormulaService = field(default_factory=lambda: FormulaService(Cranked()))
    load: LoadService = field(init=False)
    closings: list[Callable[[], None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.worker.safe_mode = SafeMode(self.worker, self.settings, self.notices)  # type: ignore[arg-type]
        self.headers = Cranked()
        self.load = QuickLoads(
            self.settings,  # type: ignore[arg-type]
            self.headers,
            self._devices,
            lambda: fit_devices(self._devices()),
            lambda: self.library.models,
        )
        self.worker.hello_received.connect(self.load.take_devices)

    def _devices(self) -> tuple[DeviceInfo, ...]:
        return self.worker.hello.devices if self.worker.hello is not None else ()

    def close(self, done: Callable[[], None]) -> None:
        """Remember ``done``; the test calls it."""
        self.closings.append(done)


def installed(name: str, **changes: Any) -> InstalledModel:
    """A healthy model file."""
    path = Path("/models/owner/repo") / f"{name.replace(' ', '-')}-Q4_K_M.gguf"
    values: dict[str, Any] = {
        "path": path,
        "name": name,
        "label": f"{name} Q4_K_M",
        "quant": "Q4_K_M",
        "architecture": "qwen3",
        "size_bytes": 5_000_000_000,
        "folder": path.parent,
        "repo": "owner/repo",
        "state": FileState.OK,
        "problem": "",
        "can_chat": True,
    }
    return InstalledModel(**{**values, **changes})


def make_services(*models: str) -> FakeServices:
    """Stand-ins with these models installed."""
    services = FakeServices()
    services.library.put(*models)
    return services

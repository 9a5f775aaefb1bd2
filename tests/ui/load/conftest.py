"""The load dialog over a source of facts that tests set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest
import shiboken6
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.load.draft import LoadDraft
from app.load.drafts import DraftChoice
from engine.library.gguf.metadata import Metadata
from engine.library.records import InstalledModel
from engine.loading.facts import ModelFacts
from engine.loading.profile import Profile, suited
from engine.memory.fit import FitDevice, FitModel, FitPlan, Measured, Suggestion, fit_devices, predict, suggest
from engine.memory.fit.image import Encoder, with_encoder
from engine.memory.fit.records import LayerCache, LearnedBytes, Piece
from engine.protocol.types import DeviceInfo, DeviceKind, LoadOptions
from tests.ui.shell.standins import HELLO
from ui.load.dialog import LoadDialog
from ui.theme import Theme

MODEL = Path("/models/owner/repo/Qwen3-8B-Q4_K_M.gguf")
GIB = 1 << 30
LAYERS = 36

W = TypeVar("W", bound=QWidget)


def fit_model(**changes: Any) -> FitModel:
    """An 8B model: 36 layers, 8 KV heads of 128."""
    values: dict[str, Any] = {
        "n_layers": LAYERS,
        "context_length": 32768,
        "width": 4096,
        "n_vocab": 151_936,
        "n_ff": 12288,
        "n_heads": 32,
        "pieces": tuple(Piece(layer, 130 << 20) for layer in range(LAYERS + 1)),
        "caches": (LayerCache(keys=1024, values=1024),) * LAYERS,
    }
    return FitModel(**{**values, **changes})


def model_facts(*, n_experts: int = 0, head: int = 128, fit: FitModel | None = None) -> ModelFacts:
    entries: dict[str, int | float | str] = {
        "general.architecture": "qwen3",
        "qwen3.attention.head_count": 32,
        "qwen3.embedding_length": head * 32,
    }
    return ModelFacts(
        architecture="qwen3",
        n_layers=LAYERS,
        n_ctx_train=32768,
        n_experts=n_experts,
        odd_head=head if head % 32 else None,
        heads_known=True,
        metadata=Metadata(entries),
        fit=fit or fit_model(),
    )


class Source:
    """What a draft asks."""

    def __init__(self) -> None:
        self.defaults = LoadOptions()
        self.devices: Sequence[DeviceInfo] = HELLO.devices
        self.known: ModelFacts = model_facts()
        self.kind = DeviceKind.GPU
        self.learned: LearnedBytes | None = None
        self.runs: dict[LoadOptions, Measured] = {}
        self.asked: list[LoadOptions] = []
        self.beside: tuple[Encoder, ...] = ()
        self.other: InstalledModel | None = None
        self.smaller: tuple[DraftChoice, ...] = ()
        self.left = self.forgotten = 0

    def facts(self, path: Path) -> ModelFacts:
        return self.known

    def encoders(self, path: Path) -> tuple[Encoder, ...]:
        return self.beside

    def guessers(self, path: Path) -> tuple[DraftChoice, ...]:
        return self.smaller

    def profile(self, path: Path, base: LoadOptions) -> Profile:
        return suited(base, self.kind, 6 * GIB, 5 * GIB, quantised_kv=self.known.quantised_kv)

    def model(self, options: LoadOptions) -> FitModel:
        assert self.known.fit is not None
        chosen = next((encoder for encoder in self.beside if encoder.path == options.mmproj), None)
        return with_encoder(self.known.fit, chosen)

    def machine(self) -> tuple[FitDevice, ...]:
        return fit_devices(self.devices, learned=lambda _device: self.learned)

    def forecast(self, path: Path, options: LoadOptions) -> FitPlan | None:
        if self.known.fit is None or not self.devices:
            return None
        return predict(self.model(options), options, self.machine(), self.runs.get(options))

    def suggest(self, path: Path, options: LoadOptions) -> tuple[Suggestion, ...]:
        if self.known.fit is None or not self.devices:
            return ()
        return suggest(self.model(options), options, self.machine(), self.runs.get(options))

    def other_quant(self, path: Path, options: LoadOptions) -> InstalledModel | None:
        return self.other

    def refine(self, path: Path, options: LoadOptions) -> bool:
        if options in self.runs:
            return False
        self.asked.append(options)
        return True

    def is_refining(self, path: Path, options: LoadOptions) -> bool:
        return bool(self.asked) and self.asked[-1] == options and options not in self.runs

    def leave_refining(self) -> None:
        self.left += 1

    def forget_learned(self) -> None:
        self.forgotten += 1
        self.learned = None


class Opened:
    """A shown dialog."""

    def __init__(self, dialog: LoadDialog, draft: LoadDraft, source: Source) -> None:
        self.dialog, self.draft, self.source = dialog, draft, source
        self.loads: list[tuple[Path, LoadOptions, bool]] = []
        dialog.load_wanted.connect(lambda path, options, remember: self.loads.append((path, options, remember)))

    @property
    def options(self) -> LoadOptions:
        return self.draft.options

    def find(self, name: str, kind: type[W] = QWidget) -> W:  # type: ignore[assignment]
        found = self.dialog.findChild(kind, name)
        assert isinstance(found, kind), f"no {name}"
        return found

    def shows(self, name: str) -> bool:
        return self.find(name).isVisibleTo(self.dialog)

    def changes(self) -> dict[str, Any]:
        """What differs from the defaults."""
        names = LoadOptions.__struct_fields__
        pairs = {name: (getattr(self.options, name), getattr(self.source.defaults, name)) for name in names}
        return {name: own for name, (own, default) in pairs.items() if own != default}


OpenDialog = Callable[..., Opened]


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
def open_dialog(qapp: QApplication, qtbot: QtBot, theme: Theme, source: Source) -> Iterator[OpenDialog]:
    made: list[LoadDialog] = []

    def make(options: LoadOptions | None = None, *, again: bool = False, **changes: Any) -> Opened:
        begin = msgspec.structs.replace(options or LoadOptions(), **changes)
        draft = LoadDraft(MODEL, "Qwen3 8B Q4_K_M", begin, source)
        dialog = LoadDialog(draft, theme, again=again)
        made.append(dialog)
        dialog.show()
        dialog.activateWindow()
        qtbot.waitUntil(dialog.isActiveWindow)
        return Opened(dialog, draft, source)

    yield make
    for dialog in made:
        if shiboken6.isValid(dialog):
            shiboken6.delete(dialog)

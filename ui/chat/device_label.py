"""Names the device and backend truthfully; in warn colour when it is the CPU, with the reason on click."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.notices import Action
from app.worker.service import WorkerService
from engine.client.session import WorkerState
from engine.protocol.frames import Hello
from engine.protocol.types import DeviceKind, ModelInfo
from ui.chat import words
from ui.theme import Theme, set_role
from ui.widgets.elided_label import plain_tooltip
from ui.widgets.popover import Popover
from ui.widgets.text_button import ElidedButton

MOST, LEAST, BESIDE = 460, 100, 54


@dataclass(frozen=True)
class DeviceView:
    """What the label shows; ``shorter``: where there is less room. ``warn``: it runs on the processor."""

    text: str = ""
    shorter: tuple[str, ...] = ()
    warn: bool = False
    reason: str = ""
    details: tuple[str, ...] = ()


def device_view(
    hello: Hello | None, model: ModelInfo | None, speed: float | None, safer: tuple[str, ...] = ()
) -> DeviceView:
    """What is true now: where the model runs, else where one would run.

    Args:
        safer: What is safer than asked in the load of ``model``, as sentences.
    """
    device = model.device if model is not None else (words.chosen_device(hello) if hello is not None else None)
    if device is None:
        return DeviceView()
    warn = device.kind in (DeviceKind.CPU, DeviceKind.SOFTWARE)
    parts = words.device_text(device).split(" · ")
    if model is not None and speed is not None and speed > 0:
        parts.append(f"{speed:.1f} tok/s")
    reason = (model.device_reason or "") if model is not None else ""
    if warn and (not reason or words.is_found_reason(reason, hello)):
        reason = words.cpu_reason(hello)
    details = [words.layers_text(model)] if model is not None else []
    details += [words.safer_text(safer)] if safer else []
    details += model.warnings if model is not None else ()
    details += words.device_lines(hello)
    whole, *shorter = (" · ".join(parts[:count]) for count in range(len(parts), 0, -1))
    return DeviceView(whole, tuple(shorter), warn, reason, tuple(d for d in details if d))


class DeviceLabel(ElidedButton):
    """A quiet button, because it can be asked why.

    Attributes:
        diagnosis_wanted: Show what keeps the GPU from being used.
    """

    diagnosis_wanted = Signal()

    def __init__(self, worker: WorkerService, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent=parent, role="quiet", beside=BESIDE, least=LEAST, most=MOST)
        self._worker = worker
        self._speed: float | None = None
        self._given_way = False
        self._view = DeviceView()
        self.setObjectName("deviceLabel")
        self.clicked.connect(self._explain)
        worker.state_changed.connect(self.refresh)
        worker.hello_received.connect(self.refresh)
        worker.model_changed.connect(self.refresh)
        worker.speed_changed.connect(self._take_speed)
        theme.changed.connect(self.refresh)
        self.refresh()

    @property
    def view(self) -> DeviceView:
        """What is shown now."""
        return self._view

    @property
    def wanted(self) -> bool:
        """Whether there is something to show."""
        return bool(self._view.text) and self._worker.state is not WorkerState.LOADING

    def give_way(self, given: bool) -> None:
        """Go, or come back: others need the room more."""
        if given != self._given_way:
            self._given_way = given
            self.refresh()

    def refresh(self) -> None:
        """Read the worker again."""
        safe_mode = self._worker.safe_mode
        safer = safe_mode.in_use if safe_mode is not None else ()
        self._view = view = device_view(self._worker.hello, self._worker.model, self._speed, safer)
        self.set_full_text(view.text, shorter=view.shorter)
        self.setVisible(self.wanted and not self._given_way)
        set_role(self, "quiet-warn" if view.warn else "quiet")
        self.set_icon("warning" if view.warn else "", "warn")
        self.setToolTip(plain_tooltip(view.reason or "\n".join(view.details)))
        self.setAccessibleName(self.tr("Runs on: {device}").format(device=view.text))
        self.setAccessibleDescription(view.reason)

    def _take_speed(self, speed: float | None) -> None:
        self._speed = speed
        self.refresh()

    def _explain(self) -> None:
        heading = self.tr("Runs on the CPU") if self._view.warn else self._view.text
        paragraphs = (self._view.reason, "\n".join(self._view.details))
        texts = tuple(p for p in paragraphs if p)
        Popover(self._theme, heading, texts, self, self._back_to_normal() or self._diagnosis()).open_below(self)

    def _back_to_normal(self) -> Action | None:
        """Not while an answer is written: the model is loaded again."""
        safe_mode = self._worker.safe_mode
        if safe_mode is None or not safe_mode.in_use or self._worker.state is not WorkerState.READY:
            return None
        return Action(self.tr("Use normal settings"), safe_mode.use_normal)

    def _diagnosis(self) -> Action | None:
        return Action(self.tr("Open the diagnosis"), self.diagnosis_wanted.emit) if self._view.warn else None

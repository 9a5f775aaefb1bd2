"""What loads teach about forecasts: predicted and measured are compared after each one, and kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec
from PySide6.QtCore import QObject, Signal, SignalInstance

from app.jobs import Err, Executor, Result, SerialRunner
from app.paths import Paths
from engine.memory.records import MemorySnapshot, WorkerMemory
from engine.protocol.types import DeviceInfo, FlashAttention, LoadOptions, ModelInfo

if TYPE_CHECKING:
    from engine.memory.fit import FitPlan
    from engine.memory.fit.correction import FitHistory
    from engine.memory.fit.records import LearnedBytes

SETTLED_SAMPLES = 2
"""The first sample after a load may have begun before it ended."""

MOST_SAMPLES = 30
"""A load of which nothing is known after so many teaches nothing: too much else has happened since."""


def learned_file(paths: Paths) -> Path:
    """Where it is kept."""
    return paths.data / "fit.json"


class Loads(Protocol):
    """The worker service, as far as it is looked at."""

    @property
    def model_changed(self) -> SignalInstance:
        """Emits ``ModelInfo | None``."""

    @property
    def last_load(self) -> tuple[Path, LoadOptions] | None:
        """What was asked for."""

    @property
    def pid(self) -> int | None:
        """Its process."""


class FitLearning(QObject):
    """Keeps what the loads of this machine taught.

    Args:
        file: Where it is kept (`learned_file`).
        executor: Reads and writes.
        loads: The worker service.
        sampled: Emits `MemorySnapshot`.
        forecast: What a load takes; None while that is not known.
        changed_options: Whether the last load was made with other options than it was asked for.

    Attributes:
        changed: Something else is learned now.
    """

    changed = Signal()

    def __init__(
        self,
        file: Path,
        executor: Executor,
        loads: Loads,
        sampled: SignalInstance,
        forecast: Callable[[Path, LoadOptions], FitPlan | None],
        parent: QObject | None = None,
        changed_options: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__(parent)
        self._file, self._loads, self._forecast, self._changed_options = file, loads, forecast, changed_options
        self._runner = SerialRunner(executor, self)
        self._history: FitHistory | None = None
        self._corrections: dict[tuple[str, str, str], LearnedBytes | None] = {}
        self._due: ModelInfo | None = None
        self._samples = 0
        loads.model_changed.connect(self._take_model)
        sampled.connect(self._take_sample)

    def open(self) -> None:
        """Read what was learned before."""
        self._runner.run(self._read, self._take_history)

    @property
    def ram_speed(self) -> float | None:
        """Bytes a second that the RAM gives; None before it was measured."""
        return None if self._history is None else self._history.ram

    @property
    def ready(self) -> bool:
        """What was kept has been read."""
        return self._history is not None

    def keep_ram_speed(self, speed: float) -> None:
        """It was measured; the fastest counts, because other programs may have computed beside another one."""
        file = self._file

        def work() -> FitHistory:
            from engine.memory.fit.history import keep_ram_speed

            return keep_ram_speed(file, speed)

        self._runner.run(work, self._take_history)

    def learned(self, device: DeviceInfo) -> LearnedBytes | None:
        """What to add to forecasts for ``device``; None while nothing is known of its driver."""
        if self._history is None:
            return None
        short = (device.pci or device.name, device.backend, device.driver)
        if short not in self._corrections:
            from engine.memory.fit.correction import key_of, learned

            self._corrections[short] = learned(self._history.of(key_of(device)))
        return self._corrections[short]

    def forget(self, devices: Sequence[DeviceInfo]) -> None:
        """Begin anew with these devices."""
        file = self._file

        def work() -> FitHistory:
            from engine.memory.fit.correction import key_of
            from engine.memory.fit.history import forget_fit_history

            return forget_fit_history(file, [key_of(device) for device in devices])

        self._due = None
        self._runner.run(work, self._take_history)

    def shutdown(self) -> None:
        """Finish what is being written. Only for quitting."""
        self._runner.close()

    def _read(self) -> FitHistory:
        from engine.memory.fit.history import read_fit_history

        return read_fit_history(self._file)

    def _take_history(self, result: Result[FitHistory]) -> None:
        """A disk that refuses leaves things as they are: forecasts do without."""
        if isinstance(result, Err):
            if not isinstance(result.error, OSError):
                raise result.error
            return
        self._history = result.value
        self._corrections.clear()
        self.changed.emit()

    def _take_model(self, model: ModelInfo | None) -> None:
        self._due, self._samples = model, 0

    def _take_sample(self, snapshot: MemorySnapshot) -> None:
        model = self._due
        if model is None or snapshot.worker is None or snapshot.worker.pid != self._loads.pid:
            return
        self._samples += 1
        if self._samples > MOST_SAMPLES or self._changed_options():
            self._due = None
        elif self._samples >= SETTLED_SAMPLES:
            self._learn(model, snapshot.worker)

    def _learn(self, model: ModelInfo, worker: WorkerMemory) -> None:
        last = self._loads.last_load
        if last is None or str(last[0]) != model.path:
            return
        plan = self._forecast(last[0], as_loaded(last[1], model))
        if plan is None:
            return
        self._due = None
        from engine.memory.fit.correction import records_of

        records = records_of(plan, model.devices or (model.device,), worker, model.memory)
        if not records:
            return
        file = self._file

        def work() -> FitHistory:
            from engine.memory.fit.history import add_to_fit_history

            return add_to_fit_history(file, records)

        self._runner.run(work, self._take_history)


def as_loaded(asked: LoadOptions, model: ModelInfo) -> LoadOptions:
    """``asked`` with what the load really took where that may be something else."""
    flash = FlashAttention.OFF if model.flash_attention is False else asked.flash_attention
    layers = asked.n_gpu_layers if model.gpu_layers > model.n_layers else model.gpu_layers
    return msgspec.structs.replace(asked, n_ctx=model.n_ctx, n_gpu_layers=layers, flash_attention=flash)

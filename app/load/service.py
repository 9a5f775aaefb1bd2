"""How each model is loaded: as remembered, else as suits the device, else by the settings for all models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Signal

from app.jobs import Err, Executor, Result, SerialRunner
from app.load.draft import LoadDraft
from app.load.remembered import RememberedOptions
from app.load.settings import LoadSettings, SeenDevice
from app.settings.store import SettingsStore
from engine.library.records import InstalledModel
from engine.loading.facts import ModelFacts, read_facts
from engine.loading.profile import CPU, Profile, Suit, device_to_expect, room_on, suited
from engine.memory.sizes import GIB
from engine.protocol.types import DeviceInfo, DeviceKind, LoadOptions


class LoadService(QObject):
    """Options for every load of the window, and drafts for the dialog that changes them.

    On integrated graphics a model without options of its own gets those that suit it.

    Args:
        store: Where options are remembered.
        executor: Reads headers of models.
        devices: What the worker told, with what is free now; empty before it did.
        models: What the library has.

    Attributes:
        known: More is known: the worker told its devices, or the header of a model was read.
    """

    known = Signal()

    def __init__(
        self,
        store: SettingsStore,
        executor: Executor,
        devices: Callable[[], Sequence[DeviceInfo]],
        models: Callable[[], Sequence[InstalledModel]],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store, self._devices, self._models = store, devices, models
        self._runner = SerialRunner(executor, self)
        self._facts: dict[tuple[Path, int | None], ModelFacts] = {}
        self._reading: set[tuple[Path, int | None]] = set()
        self._suited: dict[Path, Profile] = {}
        self.remembered = RememberedOptions(store, self._size_of)

    @property
    def defaults(self) -> LoadOptions:
        """The settings for all models."""
        return self.remembered.defaults

    @property
    def devices(self) -> Sequence[DeviceInfo]:
        """What the worker told, with what is free now; empty before it did."""
        return self._devices()

    def options_for(self, path: Path) -> LoadOptions:
        """How ``path`` is loaded when nothing else is said."""
        remembered = self.remembered.find(path)
        if remembered is not None:
            return remembered
        if self._expected(self.defaults).kind is not DeviceKind.IGPU:
            return self.defaults
        self._suited[path] = profile = self.profile(path, self.defaults)
        return profile.options

    def suits_of(self, path: Path, options: LoadOptions) -> tuple[Suit, ...]:
        """In what a load of ``path`` with ``options`` suits the device without being asked to."""
        profile = self._suited.get(path)
        if profile is None or profile.options != options or self.remembered.find(path) is not None:
            return ()
        return profile.changes

    def profile(self, path: Path, base: LoadOptions) -> Profile:
        """``base`` with what suits the device that it will most likely run on."""
        seen = self._expected(base)
        facts = self.facts(path)
        weights = self._size_of(path) or facts.weights
        return suited(base, seen.kind, seen.room, weights, quantised_kv=facts.quantised_kv)

    def facts(self, path: Path) -> ModelFacts:
        """What is known of a model now; before its header was read, what the library says."""
        read = self._facts.get((path, self._size_of(path)))
        if read is not None:
            return read
        model = self._installed(path)
        if model is None:
            return ModelFacts()
        return ModelFacts(weights=model.size_bytes, n_layers=model.n_layers, n_ctx_train=model.context_length)

    def draft(self, path: Path, options: LoadOptions | None = None, parent: QObject | None = None) -> LoadDraft:
        """A draft that begins with ``options``, or with how ``path`` is loaded when nothing else is said."""
        model = self._installed(path)
        name = path.stem if model is None else model.label
        draft = LoadDraft(path, name, options or self.options_for(path), self, parent)
        self.known.connect(draft.refresh)
        self._read(path)
        return draft

    def take_devices(self) -> None:
        """The worker told its devices."""
        device = device_to_expect(self.devices, self.defaults.device)
        if device is not None:
            room = room_on(device, self.devices)
            seen = SeenDevice(kind=device.kind, room=None if room is None else room // GIB * GIB)
            self._store.put(msgspec.structs.replace(self._store.get(LoadSettings), seen=seen))
        self.known.emit()
        self.take_models()

    def take_models(self) -> None:
        """The library has other models. What a profile asks of them is read ahead, where one may be used."""
        if self._expected(self.defaults).kind is DeviceKind.IGPU:
            for model in self._models():
                if model.can_chat:
                    self._read(model.path)

    def shutdown(self) -> None:
        """Read nothing more. Only for quitting."""
        self._runner.close()

    def _expected(self, options: LoadOptions) -> SeenDevice:
        """Kind and room of the device that a load with ``options`` will take."""
        devices = self.devices
        wanted = options.devices[0] if options.devices else options.device
        if not devices:
            on_cpu = wanted == CPU or options.n_gpu_layers == 0
            return SeenDevice() if on_cpu else self._store.get(LoadSettings).seen
        device = device_to_expect(devices, wanted, options.n_gpu_layers)
        return SeenDevice() if device is None else SeenDevice(kind=device.kind, room=room_on(device, devices))

    def _installed(self, path: Path) -> InstalledModel | None:
        return next((model for model in self._models() if model.path == path), None)

    def _size_of(self, path: Path) -> int | None:
        model = self._installed(path)
        return None if model is None else model.size_bytes

    def _read(self, path: Path) -> None:
        """Read the header, unless it is known or about to be."""
        key = (path, self._size_of(path))
        if key in self._facts or key in self._reading:
            return
        self._reading.add(key)
        model = self._installed(path)
        parts = () if model is None else model.parts

        def take(result: Result[ModelFacts | None]) -> None:
            self._reading.discard(key)
            if isinstance(result, Err):
                raise result.error
            if result.value is not None:
                self._facts[key] = result.value
                self.known.emit()

        self._runner.run(lambda: read_facts(path, parts), take)

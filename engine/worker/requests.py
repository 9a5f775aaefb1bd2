"""What the worker does for each request."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from engine.backends.catalogue import Catalogue
from engine.errors import VrambleError
from engine.protocol.frames import (
    Bench,
    Benched,
    CachesSaved,
    Devices,
    DryRan,
    DryRun,
    Forget,
    FromWorker,
    Generate,
    ListDevices,
    Load,
    Loaded,
    Progress,
    Request,
    SaveCaches,
    SelfTest,
    SelfTested,
    Terminal,
    Unloaded,
)
from engine.worker.cancel import CancelFlag
from engine.worker.dry_run import simulate
from engine.worker.fingerprint import cache_mark, driver_words, fingerprint
from engine.worker.loader import Loader
from engine.worker.model import LoadedModel
from engine.worker.native import Llama
from engine.worker.power import PowerMeter
from engine.worker.reference import ReferenceRun
from engine.worker.self_test import SelfTester
from engine.worker.templates.process import TemplateProcess
from engine.worker.together import Arrivals, Together, failed, internal

SAVE_SECONDS = 0.7
"""Caches of conversations may be written so long before a model goes. A process has a second to end."""


class Requests:
    """Answers requests one at a time. Holds the one loaded model."""

    def __init__(
        self, llama: Llama, catalogue: Catalogue, cancel: CancelFlag, send: Callable[[FromWorker], None]
    ) -> None:
        self._llama = llama
        self._catalogue = catalogue
        self._cancel = cancel
        self._send = send
        self._templates = TemplateProcess()
        self._loader = Loader(llama, catalogue, self._templates, cancel)
        self._loaded: LoadedModel | None = None

    def answer(self, request: Request, taken: float) -> Terminal:
        """The terminal frame. ``taken``: monotonic time of arrival. Never raises: a bug becomes ``internal``."""
        try:
            return self._dispatch(request, taken)
        except VrambleError as error:
            return failed(request.id, error)
        except Exception:
            return internal(request.id)

    def _dispatch(self, request: Request, taken: float) -> Terminal:
        if isinstance(request, Load):
            return self._load(request, taken)
        if isinstance(request, SelfTest):
            return self._self_test(request, taken)
        if isinstance(request, DryRun):
            return self._dry_run(request, taken)
        if isinstance(request, Bench):
            return self._bench(request)
        if isinstance(request, SaveCaches):
            return self._save_caches(request)
        if isinstance(request, ListDevices):
            return Devices(id=request.id, backends=self._catalogue.backends, devices=self._catalogue.infos())
        self._unload()
        return Unloaded(id=request.id)

    def _load(self, request: Load, taken: float) -> Loaded:
        self._unload()

        def progress(done: int) -> None:
            self._send(Progress(id=request.id, stage="load", done=done, total=1000))

        loaded = self._loaded = self._loader.load(Path(request.path), request.options, progress)
        mark = fingerprint(loaded.info, request.options, self._catalogue.backends, self._llama.version)
        loaded.info = msgspec.structs.replace(loaded.info, fingerprint=mark)
        loaded.keep(request.cache, cache_mark(mark, loaded.info, request.options))
        return Loaded(id=request.id, model=loaded.info, seconds=time.monotonic() - taken)

    @property
    def parallel(self) -> int:
        """Answers that can be written at the same time."""
        return 1 if self._loaded is None else len(self._loaded.conversations.slots)

    def generate(self, request: Generate, taken: float, arrivals: Arrivals) -> None:
        """Answer it, and what comes meanwhile; terminal frames are sent."""
        try:
            forgotten = self._together(request, taken, arrivals)
        except VrambleError as error:
            end = failed(request.id, error)
        except Exception:
            end = internal(request.id)
        else:
            for one in forgotten:
                self.forget(one.conversations)
            return
        arrivals.finish(request.id)
        self._send(end)

    def _together(self, request: Generate, taken: float, arrivals: Arrivals) -> list[Forget]:
        return Together(self._model(), self._templates, arrivals, self._send).run(request, taken)

    def _self_test(self, request: SelfTest, taken: float) -> SelfTested:
        if request.reference is not None:
            self._unload()
            probe = ReferenceRun(self._llama, self._catalogue, self._cancel).run(request.reference)
        else:
            self._model().turn_to_other_work()
            probe = SelfTester(self._model(), self._cancel).run()
        return SelfTested(id=request.id, probe=probe, seconds=time.monotonic() - taken)

    def _dry_run(self, request: DryRun, taken: float) -> DryRan:
        found = simulate(self._llama, self._catalogue, self._cancel, Path(request.path), request.options)
        return DryRan(
            id=request.id,
            memory=found.memory,
            caches=found.caches,
            gpu_layers=found.gpu_layers,
            flash_attention=found.flash_attention,
            seconds=time.monotonic() - taken,
        )

    def _bench(self, request: Bench) -> Benched:
        from engine.worker.bench import Benchmark  # with numpy, which answers do not need
        from engine.worker.ram_speed import ram_speed

        if request.test is None:
            return Benched(id=request.id, ram=ram_speed())
        loaded = self._model()
        if not (request.warm or request.begun):
            loaded.turn_to_other_work()
        meter = PowerMeter([device.pci for device in loaded.info.devices if device.pci])

        def progress(done: int, total: int) -> None:
            self._send(Progress(id=request.id, stage="bench", done=done, total=total))

        sample = Benchmark(loaded, request.test, self._cancel, progress, meter).run(warm=request.warm)
        return Benched(id=request.id, sample=sample, driver=driver_words() if loaded.info.gpu_layers else "")

    def _save_caches(self, request: SaveCaches) -> CachesSaved:
        end = time.monotonic() + request.seconds
        complete = self._loaded is None or self._loaded.conversations.save(
            lambda: self._cancel.is_set or time.monotonic() > end, straight=True
        )
        return CachesSaved(id=request.id, complete=complete)

    def _model(self) -> LoadedModel:
        if self._loaded is None:
            raise VrambleError("no-model", "No model is loaded.", "Load a model first.")
        return self._loaded

    def _unload(self) -> None:
        loaded, self._loaded = self._loaded, None
        if loaded is not None:
            end = time.monotonic() + SAVE_SECONDS
            loaded.conversations.save(lambda: time.monotonic() > end)
            loaded.close()

    def forget(self, conversations: Sequence[str]) -> None:
        """Keep nothing of these conversations."""
        if self._loaded is not None:
            self._loaded.conversations.forget(conversations)

    def save(self, stopped: Callable[[], bool]) -> bool:
        """Write caches of conversations to the disk until ``stopped``. True: nothing is left to write."""
        return self._loaded is None or self._loaded.conversations.save(stopped)

    def close(self) -> None:
        """Free the model and end the template process."""
        self._unload()
        self._templates.close()

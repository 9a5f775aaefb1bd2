"""Looks after the loaded model when the computer has slept: loads it again when the GPU was lost or became slow."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from statistics import median

import msgspec
from PySide6.QtCore import QObject, QTimer

from app.notices import Action, Notice, Notices, Severity
from app.power.sleep import SleepWatch
from app.worker.service import Answered, WorkerService
from engine.client.ladder import GPU_KINDS
from engine.protocol.frames import Failed, Finished, Generate, Loaded
from engine.protocol.types import ChatMessage, FinishReason, LoadOptions, Sampling

NOTICE = "worker-resumed"
DONE_MS = 15_000
PATIENCE_MS = 30_000
"""Time for a few tokens. The prompt is still in the KV cache, so a device that works needs seconds at most."""

DOUBT_S = 20.0
"""A running answer that does not move after a sleep is told after so many seconds already."""

FIRST_TOKENS, MORE_TOKENS = 4, 16
SLOWER = 3.0
"""So many times slower than before is worth a load: weights that were pushed out of video memory stay out."""

FEWEST_TOKENS = 8
"""Answers with fewer tokens say nothing of the speed."""

REMEMBERED = 5
GREETING = Generate(id=0, messages=(ChatMessage(role="user", content="Hi"),))
GREEDY = Sampling(temperature=0.0, seed=0)
GPU_FAILED = ("decode-failed", "out-of-memory")
"""Failures of a worker that lives, in which the device has a part."""


class ResumeCheck(QObject):
    """After each sleep the loaded model writes a few tokens that nobody sees; a running answer goes first.

    Args:
        sleep: Tells when the computer woke up; it watches only while a model is loaded.
    """

    def __init__(
        self, worker: WorkerService, sleep: SleepWatch, notices: Notices, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._worker, self._sleep, self._notices = worker, sleep, notices
        self._speeds: deque[float] = deque(maxlen=REMEMBERED)
        self._like = GREETING
        self._request: int | None = None
        self._tokens = FIRST_TOKENS
        self._timed_out = False
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(PATIENCE_MS)
        self._patience.timeout.connect(self._give_up)
        worker.model_changed.connect(self._follow_model)
        worker.answered.connect(self._learn)
        worker.look_begun.connect(self._begun)
        worker.died.connect(self._died)
        sleep.resumed.connect(self.check)

    @property
    def checking(self) -> bool:
        """A check runs or waits."""
        return self._request is not None

    def check(self, _slept: float = 0.0) -> None:
        """Let the model write a few tokens, as soon as nothing else is to be done; a CPU is not lost by sleep."""
        model = self._worker.model
        if model is None or model.device.kind not in GPU_KINDS:
            return
        self._worker.doubt(DOUBT_S)
        if not self.checking:
            self._look(FIRST_TOKENS)

    def _look(self, tokens: int) -> None:
        self._tokens, self._timed_out = tokens, False
        request = msgspec.structs.replace(self._like, sampling=GREEDY, max_tokens=tokens, stop=())
        self._request = self._worker.look(request, self._looked)

    def _begun(self, request: int) -> None:
        if request == self._request:
            self._patience.start()

    def _give_up(self) -> None:
        if self._request is not None:
            self._timed_out = True
            self._worker.cancel(self._request)

    def _died(self, _death: object) -> None:
        """During an answer or while the check waited: the death itself is told, and the next message loads."""
        if not self._patience.isActive() and not self._timed_out:
            self._request = None

    def _looked(self, event: Finished | Failed) -> None:
        wanted, self._request = self._request == event.id, None
        self._patience.stop()
        if not wanted:
            return
        name = self._name()
        if isinstance(event, Failed):
            if event.code in ("stopped", "no-model") or (self._worker.pid and event.code not in GPU_FAILED):
                return
            self._load(f"The graphics driver lost the GPU while the computer slept. {name} is loaded again.")
        elif event.reason is FinishReason.CANCELLED:
            self._cancelled(name)
        else:
            self._judge(event, name)

    def _cancelled(self, name: str) -> None:
        if self._timed_out:
            self._load(f"{name} hardly answers since the computer slept. It is loaded again.")
        elif self._worker.model is not None:
            self._look(FIRST_TOKENS)  # it gave way to something else

    def _judge(self, event: Finished, name: str) -> None:
        """Slow: look once more, longer; still slow: load again."""
        speed = event.stats.decode_tps
        before = median(self._speeds) if self._speeds else 0.0
        if speed <= 0 or speed * SLOWER >= before:
            return
        if self._tokens == FIRST_TOKENS:
            self._look(MORE_TOKENS)
            return
        times = round(before / speed)
        self._load(f"{name} is {times} times slower since the computer slept. It is loaded again.")

    def _load(self, text: str) -> None:
        last = self._worker.last_load
        if last is None:
            return
        idle = self._worker.idle  # else what waits loads it
        self._notices.post(Notice(NOTICE, Severity.INFO, text, timeout_ms=0 if idle else DONE_MS))
        if idle:
            path, options = last
            self._worker.unload()  # a device that was lost stays lost in that process
            self._worker.load(path, options, lambda event: self._loaded(path, options, text, event))

    def _loaded(self, path: Path, options: LoadOptions, text: str, event: Loaded | Failed) -> None:
        if isinstance(event, Loaded):
            self._notices.post(Notice(NOTICE, Severity.INFO, text, timeout_ms=DONE_MS))
            return
        self._notices.withdraw(NOTICE)
        if event.code in ("cancelled", "stopped"):
            return
        safe_mode = self._worker.safe_mode
        actions: tuple[Action, ...] = ()
        if safe_mode is not None:
            actions = safe_mode.offer(path, options, event.code, event.detail)
        message = f"{path.stem} could not be loaded again after the computer slept. {event.message} {event.next_step}"
        self._notices.post(Notice(NOTICE, Severity.ERROR, message.strip(), event.detail, actions))

    def _follow_model(self, model: object) -> None:
        self._sleep.set_watched(model is not None)
        if model is None:
            return
        self._like = GREETING
        self._speeds.clear()

    def _learn(self, answered: Answered) -> None:
        """The check goes on with the first half of the last answer: most of the KV cache stays as it is, and a model
        that has said everything would say nothing more."""
        stats = answered.finished.stats
        said = answered.text[: len(answered.text) // 2].rpartition(" ")[0]
        self._like = msgspec.structs.replace(answered.request, prefill=answered.request.prefill + said)
        if stats.generated_tokens >= FEWEST_TOKENS and stats.decode_tps > 0:
            self._speeds.append(stats.decode_tps)

    def _name(self) -> str:
        last = self._worker.last_load
        return "The model" if last is None else last[0].stem

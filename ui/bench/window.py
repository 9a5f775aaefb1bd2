"""The benchmark: its own window with what to measure, what came out, and what came out before."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QTabWidget, QVBoxLayout, QWidget

from app.bench.live import live_report
from app.bench.service import BenchService, Phase
from app.bench.wish import Wish
from app.library.service import LibraryService
from app.worker.service import WorkerService
from engine.bench.records import Report
from engine.client.session import WorkerState
from engine.errors import VrambleError
from ui.bench import words
from ui.bench.history_page import HistoryPage
from ui.bench.panel import Panel
from ui.bench.progress_line import ProgressLine
from ui.bench.result_page import ResultPage
from ui.bench.welcome import Welcome
from ui.library.message_slot import MessageSlot
from ui.theme import SPACE_L, SPACE_S, Theme
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.first_size import fit_screen

RESULT, HISTORY = range(2)


class BenchWindow(QWidget):
    """Panel at the left, result and history at the right. Closing it stops what runs.

    Attributes:
        manager_wanted: There is no model; the user wants to get one.
        answer_unwanted: The chat's answer should be stopped, so that a benchmark can run.
    """

    manager_wanted = Signal()
    answer_unwanted = Signal()

    def __init__(
        self,
        service: BenchService,
        library: LibraryService,
        worker: WorkerService,
        theme: Theme,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._service, self._library, self._worker, self._theme = service, library, worker, theme
        self._no_figure = False
        self.setObjectName("benchWindow")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("role", "background")
        self.setWindowTitle(self.tr("Benchmark – Vramble"))
        self.setMinimumSize(900, 560)
        fit_screen(self, 1180, 740)
        self._build()
        self._lay_out()
        self._connect()
        self._add_shortcuts()
        self._refresh_models()
        self._refresh_devices()
        self._refresh()

    def present(self) -> None:
        """Bring the window to the front."""
        self.show()
        self.raise_()
        self.activateWindow()
        self._panel.focus()

    def turn(self, step: int) -> None:
        """Show the other tab."""
        self._tabs.setCurrentIndex((self._tabs.currentIndex() + step) % self._tabs.count())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape stops a benchmark, then closes the window."""
        if event.key() != Qt.Key.Key_Escape:
            super().keyPressEvent(event)
        elif self._service.running:
            self._service.cancel()
        else:
            self.close()

    def showEvent(self, event: QShowEvent) -> None:
        """Earlier reports are read, and the devices asked for, when somebody looks."""
        super().showEvent(event)
        if not event.spontaneous():
            self._service.archive.open()
            if self._worker.hello is None:
                self._worker.start()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Nothing would show that a benchmark runs: it ends with its window."""
        self._service.cancel()
        super().closeEvent(event)

    def _build(self) -> None:
        theme = self._theme
        self._panel = Panel(theme)
        self._result = ResultPage(self._service, theme)
        self._history = HistoryPage(self._service.archive, theme)
        self._messages = MessageSlot(theme)
        self._progress, self._line = ProgressLine(), ElidedLabel()
        self._line.setProperty("role", "muted")
        self._welcome = Welcome(theme)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._welcome)
        self._stack.addWidget(self._result)
        self._tabs = QTabWidget()
        self._tabs.setObjectName("benchTabs")
        self._tabs.addTab(self._stack, self.tr("Result"))
        self._tabs.addTab(self._history, self.tr("Earlier ones"))

    def _lay_out(self) -> None:
        right = QVBoxLayout()
        right.setContentsMargins(SPACE_L, SPACE_S, SPACE_L, SPACE_S)
        right.setSpacing(SPACE_S)
        right.addWidget(self._messages)
        right.addWidget(self._tabs, 1)
        self._foot = QStackedWidget()
        self._foot.setSizePolicy(self._foot.sizePolicy().Policy.Preferred, self._foot.sizePolicy().Policy.Maximum)
        self._foot.addWidget(self._line)
        self._foot.addWidget(self._progress)
        right.addWidget(self._foot)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._panel)
        row.addLayout(right, 1)

    def _connect(self) -> None:
        service = self._service
        self._panel.run_wanted.connect(self._run)
        self._panel.stop_wanted.connect(service.cancel)
        self._panel.answer_unwanted.connect(self.answer_unwanted)
        self._welcome.model_wanted.connect(self.manager_wanted)
        self._welcome.run_wanted.connect(self._panel.start)
        service.changed.connect(self._refresh)
        service.finished.connect(self._finished)
        service.failed.connect(self._failed)
        service.stopped.connect(self._stopped)
        service.archive.changed.connect(self._refresh)
        self._result.told.connect(self._line.setText)
        self._history.chosen.connect(self._show_earlier)
        self._library.models_changed.connect(self._refresh_models)
        self._worker.hello_received.connect(self._refresh_devices)
        self._worker.model_changed.connect(self._refresh)
        self._worker.state_changed.connect(self._refresh)

    def _add_shortcuts(self) -> None:
        for keys, number in (("Ctrl+1", RESULT), ("Ctrl+2", HISTORY)):
            jump = QShortcut(QKeySequence(keys), self)
            jump.activated.connect(lambda number=number: self._tabs.setCurrentIndex(number))
        for keys, step in (("Ctrl+PgDown", 1), ("Ctrl+PgUp", -1)):
            QShortcut(QKeySequence(keys), self).activated.connect(lambda step=step: self.turn(step))
        QShortcut(QKeySequence(QKeySequence.StandardKey.Close), self).activated.connect(self.close)
        QShortcut(QKeySequence("Ctrl+R"), self).activated.connect(self._panel.start)

    def _run(self, wish: Wish) -> None:
        self._messages.clear()
        self._no_figure = False
        self._line.setText("")
        self._tabs.setCurrentIndex(RESULT)
        self._service.start(wish)
        self._panel.focus()

    def _refresh_models(self) -> None:
        loaded = self._worker.model
        last = self._worker.last_load
        preferred = loaded.path if loaded is not None else str(last[0]) if last is not None else None
        self._panel.set_models(self._library.models, preferred)
        self._refresh()

    def _refresh_devices(self) -> None:
        hello = self._worker.hello
        self._panel.set_devices(hello.devices if hello is not None else ())

    def _refresh(self) -> None:
        service = self._service
        self._panel.set_running(service.running, stopping=service.phase is Phase.STOPPING)
        state = self._worker.state
        self._panel.set_note(words.about_chat(service, state, self._worker.model))
        held = not service.running and bool(words.chat_at_work(state))
        self._panel.set_held(held, answering=held and state is WorkerState.GENERATING)
        self._foot.setCurrentWidget(self._progress if service.running else self._line)
        if service.running:
            self._progress.show_progress(service)
        self._show()

    def _show(self) -> None:
        """The running benchmark's figures, else the report that is there, else what this is good for."""
        live = live_report(self._service.course)
        last = next(iter(self._service.archive.reports[-1:]), None)
        report = live or self._result.report or self._service.report or last
        if live is None and (self._service.running or self._no_figure):
            report = None
        self._stack.setCurrentWidget(self._result if report is not None else self._welcome)
        if report is not None and (live is not None or report is not self._result.report):
            self._result.show_report(report, live=live is not None)
        if report is None:
            self._teach()

    def _teach(self) -> None:
        self._welcome.teach(
            running=self._service.running,
            has_model=any(model.can_chat for model in self._library.models),
            stopped=self._no_figure,
            can_run=self._panel.can_run,
        )

    def _finished(self, report: Report) -> None:
        self._result.show_report(report)
        self._stack.setCurrentWidget(self._result)
        self._tell_stop(kept=not report.finished)
        if self._service.archive.unsaved:
            self._line.setText(self.tr("Not kept for later: {0}.").format(self._service.archive.unsaved))
        elif self._service.unloaded:
            self._line.setText(self.tr("The next message loads {0} again.").format(self._service.unloaded))
        self._panel.focus()

    def _stopped(self) -> None:
        self._no_figure = True
        self._result.forget()
        self._refresh()
        self._tell_stop(kept=False)
        self._panel.focus()

    def _tell_stop(self, *, kept: bool) -> None:
        """Say why it ended before its end, and that what was measured is kept."""
        if self._service.interrupted:
            self._messages.show_info(self.tr("The benchmark was stopped, because the chat needed its model."))
        elif kept:
            self._messages.show_info(self.tr("Stopped. What was measured until then is kept."))

    def _failed(self, error: VrambleError) -> None:
        self._result.forget()
        self._refresh()
        self._messages.show_error(error)
        self._panel.focus()

    def _show_earlier(self, report: Report) -> None:
        self._no_figure = False
        self._result.show_report(report)
        self._stack.setCurrentWidget(self._result)
        self._tabs.setCurrentIndex(RESULT)

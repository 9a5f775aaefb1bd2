"""The benchmark: its own window with what to measure, what came out, and what came out before."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QStackedWidget, QTabWidget, QVBoxLayout, QWidget

from app.bench.live import live_report
from app.bench.service import BenchService, Phase
from app.bench.wish import Wish
from app.library.service import LibraryService
from app.worker.service import WorkerService
from engine.bench.records import Report
from engine.errors import VrambleError
from ui.bench import words
from ui.bench.history_page import HistoryPage
from ui.bench.panel import Panel
from ui.bench.result_page import ResultPage
from ui.library.message_slot import MessageSlot
from ui.library.words import time_left
from ui.theme import SPACE_L, SPACE_S, SPACE_XS, Theme
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.empty_state import EmptyState
from ui.widgets.first_size import fit_screen
from ui.widgets.text_button import TextButton

RESULT, HISTORY = range(2)


class BenchWindow(QWidget):
    """Panel at the left, result and history at the right. Closing it stops what runs.

    Attributes:
        manager_wanted: There is no model; the user wants to get one.
    """

    manager_wanted = Signal()

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
        self.setObjectName("benchWindow")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("role", "background")
        self.setWindowTitle(self.tr("Benchmark – Vramble"))
        self.setMinimumSize(900, 560)
        fit_screen(self, 1180, 740)
        self._build()
        self._lay_out()
        self._connect()
        self._refresh_models()
        self._refresh_devices()
        self._refresh()

    def present(self) -> None:
        """Bring the window to the front."""
        self.show()
        self.raise_()
        self.activateWindow()
        self._panel.focus()

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
        self._bar = QProgressBar()
        self._bar.setRange(0, 1000)
        self._bar.setAccessibleName(self.tr("Progress of the benchmark"))
        self._stage, self._left, self._line = ElidedLabel(), ElidedLabel(), ElidedLabel()
        self._stage.setObjectName("benchStage")
        self._left.setAlignment(Qt.AlignmentFlag.AlignRight)
        for label in (self._left, self._line):
            label.setProperty("role", "muted")
        self._get = TextButton(theme, self.tr("Get a model"), "stack", role="primary")
        self._get.clicked.connect(self.manager_wanted)
        self._empty = EmptyState(theme, "gauge", "", "", (self._get,))
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._result)
        self._tabs = QTabWidget()
        self._tabs.setObjectName("benchTabs")
        self._tabs.addTab(self._stack, self.tr("Result"))
        self._tabs.addTab(self._history, self.tr("Earlier ones"))

    def _lay_out(self) -> None:
        self._progress = QWidget()
        above = QHBoxLayout()
        above.addWidget(self._stage, 3)
        above.addWidget(self._left, 1)
        inside = QVBoxLayout(self._progress)
        inside.setContentsMargins(0, 0, 0, SPACE_XS)
        inside.setSpacing(SPACE_XS)
        inside.addLayout(above)
        inside.addWidget(self._bar)
        right = QVBoxLayout()
        right.setContentsMargins(SPACE_L, SPACE_S, SPACE_L, SPACE_S)
        right.setSpacing(SPACE_S)
        right.addWidget(self._messages)
        right.addWidget(self._tabs, 1)
        self._foot = QStackedWidget()
        self._foot.setSizePolicy(self._foot.sizePolicy().Policy.Preferred, self._foot.sizePolicy().Policy.Maximum)
        for widget in (self._line, self._progress):
            self._foot.addWidget(widget)
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
        service.changed.connect(self._refresh)
        service.finished.connect(self._finished)
        service.failed.connect(self._failed)
        service.archive.changed.connect(self._refresh)
        self._result.told.connect(self._line.setText)
        self._history.chosen.connect(self._show_earlier)
        self._library.models_changed.connect(self._refresh_models)
        self._worker.hello_received.connect(self._refresh_devices)
        self._worker.model_changed.connect(self._refresh)
        for keys, number in (("Ctrl+1", RESULT), ("Ctrl+2", HISTORY)):
            jump = QShortcut(QKeySequence(keys), self)
            jump.activated.connect(lambda number=number: self._tabs.setCurrentIndex(number))
        close = QShortcut(QKeySequence(QKeySequence.StandardKey.Close), self)
        close.activated.connect(self.close)
        run = QShortcut(QKeySequence("Ctrl+R"), self)
        run.activated.connect(self._panel.start)

    def _run(self, wish: Wish) -> None:
        self._messages.clear()
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
        self._panel.set_note(self._note())
        self._foot.setCurrentWidget(self._progress if service.running else self._line)
        if service.running:
            course = service.course
            self._stage.setText(words.stage(service))
            self._bar.setValue(round(1000 * course.fraction) if course is not None else 0)
            seconds = course.seconds_left if course is not None else None
            self._left.setText("" if seconds is None else time_left(seconds))
        self._show()

    def _show(self) -> None:
        """The running benchmark's figures, else the report that is there, else what this is good for."""
        live = live_report(self._service.course)
        report = (
            live or self._result.report or self._service.report or next(iter(self._service.archive.reports[-1:]), None)
        )
        if self._service.running and live is None:
            report = None
        self._stack.setCurrentWidget(self._result if report is not None else self._empty)
        if report is not None and (live is not None or report is not self._result.report):
            self._result.show_report(report, live=live is not None)
        if report is None:
            self._teach()

    def _teach(self) -> None:
        has_model = any(model.can_chat for model in self._library.models)
        self._get.setVisible(not has_model and not self._service.running)
        if self._service.running:
            self._empty.set_text(
                self.tr("Measuring"), self.tr("The first figures appear here as soon as there are some.")
            )
        elif has_model:
            self._empty.set_text(
                self.tr("How fast is a model here?"),
                self.tr(
                    "Run measures it and sets the speed against what the memory of the card allows. A comparison finds"
                    " the backend or the option that is faster on this computer."
                ),
            )
        else:
            self._empty.set_text(self.tr("There is no model yet"), self.tr("A benchmark needs a model to run."))

    def _note(self) -> str:
        """What running does to the chat."""
        service, loaded = self._service, self._worker.model
        if service.running:
            return self.tr("A message or a load in the chat stops the benchmark.")
        if loaded is not None:
            text = self.tr("{0} is unloaded first, so that nothing else takes memory. The next message loads it again.")
            return text.format(loaded.name)
        return ""

    def _finished(self, report: Report) -> None:
        self._result.show_report(report)
        self._stack.setCurrentWidget(self._result)
        if self._service.interrupted:
            self._messages.show_info(self.tr("The benchmark was stopped, because the chat needed its model."))
        if self._service.archive.unsaved:
            self._line.setText(self.tr("Not kept for later: {0}.").format(self._service.archive.unsaved))
        elif self._service.unloaded:
            self._line.setText(self.tr("The next message loads {0} again.").format(self._service.unloaded))
        self._panel.focus()

    def _failed(self, error: VrambleError) -> None:
        self._result.forget()
        self._refresh()
        self._messages.show_error(error)
        self._panel.focus()

    def _show_earlier(self, report: Report) -> None:
        self._result.show_report(report)
        self._stack.setCurrentWidget(self._result)
        self._tabs.setCurrentIndex(RESULT)

"""Long work on files: a line for each, with a bar and a button that ends it."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from app.library.service import LibraryService
from app.library.tasks import LibraryTask, TaskKind, TaskState
from ui.library import words
from ui.theme import SPACE_M, SPACE_S, SPACE_XS, Theme, set_role
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.icon_button import IconButton
from ui.widgets.text_button import TextButton

STEPS = 1000
GOOD_MS = 8000
"""What ended well is taken off the list after so long."""
BAR_WIDTH = 160


class TaskRow(QFrame):
    """One task.

    Attributes:
        end_wanted: Cancel it, or take it off the list when it has ended.
    """

    end_wanted = Signal(int)

    def __init__(self, theme: Theme, task: LibraryTask, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._task = theme, task
        self.setProperty("role", "notice")
        self.setObjectName(f"task-{task.kind}")
        self._text = ElidedLabel()
        self._text.setObjectName("taskLine")
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setRange(0, STEPS)
        self._bar.setFixedWidth(theme.px(BAR_WIDTH))
        self._cancel = TextButton(theme, self.tr("Cancel"), "x", role="quiet")
        self._cancel.setObjectName("cancelTask")
        self._close = IconButton(theme, "x", self.tr("Close"))
        self._close.setObjectName("dismissTask")
        for button in (self._cancel, self._close):
            button.clicked.connect(lambda: self.end_wanted.emit(self._task.id))
        row = QHBoxLayout(self)
        row.setContentsMargins(SPACE_M, SPACE_XS, SPACE_XS, SPACE_XS)
        row.setSpacing(SPACE_S)
        row.addWidget(self._text, 1)
        row.addWidget(self._bar)
        row.addWidget(self._cancel)
        row.addWidget(self._close)
        self.show_task(task)

    def show_task(self, task: LibraryTask) -> None:
        """Follow the task."""
        self._task = task
        active = task.state.active
        line = self._line(task)
        self._text.setText(line)
        self._text.setAccessibleName(line)
        set_role(self._text, "bad" if task.state is TaskState.FAILED or task.wrong else "")
        known = task.total_bytes > 0
        self._bar.setRange(0, STEPS if known or task.state is TaskState.QUEUED else 0)
        if known:
            self._bar.setValue(min(STEPS, task.done_bytes * STEPS // task.total_bytes))
        self._bar.setVisible(active)
        self._bar.setAccessibleName(line)
        self._cancel.setVisible(active)
        self._close.setVisible(not active)

    def _line(self, task: LibraryTask) -> str:
        what = f"{self._title(task.kind)} {task.label}".strip()
        if task.state is TaskState.FAILED:
            return task.error.sentence if task.error is not None else self.tr("{0}: failed").format(what)
        if task.state is TaskState.CANCELLED:
            return self._cancelled(task, what)
        if task.state is TaskState.DONE:
            return self._ended(task, what)
        parts = [what]
        if task.state is TaskState.QUEUED:
            parts.append(self.tr("waits for its turn"))
        if task.total_bytes:
            done, total = words.file_size(task.done_bytes), words.file_size(task.total_bytes)
            parts.append(self.tr("{0} of {1}").format(done, total))
        parts += [words.speed(task.rate)] if task.rate else []
        parts += [words.time_left(task.seconds_left)] if task.seconds_left is not None else []
        return " · ".join(parts)

    def _cancelled(self, task: LibraryTask, what: str) -> str:
        if task.kind is TaskKind.IMPORT:
            return self.tr("{0}: cancelled; models that were brought here by then stay").format(what)
        return self.tr("{0}: cancelled, nothing was changed").format(what)

    def _ended(self, task: LibraryTask, what: str) -> str:
        if task.kind is TaskKind.VERIFY and task.wrong:
            one = self.tr("{0}: its bytes are not right. Repair fetches those that are wrong again.")
            many = self.tr("{0}: {1} are damaged. Repair fetches the bytes that are wrong again.")
            return one.format(what) if len(task.wrong) == 1 else many.format(what, len(task.wrong))
        return (
            self.tr("{0}: everything is right").format(what)
            if task.kind is TaskKind.VERIFY
            else f"{what}: " + self.tr("done")
        )

    def _title(self, kind: TaskKind) -> str:
        return {
            TaskKind.VERIFY: self.tr("Checking"),
            TaskKind.MOVE: self.tr("Moving"),
            TaskKind.IMPORT: self.tr("Importing"),
            TaskKind.COMPARE: self.tr("Looking for duplicates"),
            TaskKind.JOIN: self.tr("Joining"),
            TaskKind.SHARE: self.tr("Keeping one copy of"),
        }[kind]


class TaskStrip(QWidget):
    """All tasks of the library; takes no room without one. Rows stay while they change."""

    def __init__(self, library: LibraryService, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._library, self._theme = library, theme
        self._rows: dict[int, TaskRow] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(SPACE_XS)
        library.tasks_changed.connect(self._refresh)
        library.task_ended.connect(self._ended)
        self._refresh()

    def _refresh(self) -> None:
        tasks = self._library.tasks
        for number in [number for number in self._rows if number not in {task.id for task in tasks}]:
            row = self._rows.pop(number)
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        for task in tasks:
            if task.id in self._rows:
                self._rows[task.id].show_task(task)
            else:
                row = self._rows[task.id] = TaskRow(self._theme, task)
                row.end_wanted.connect(self._end)
                self._column.addWidget(row)
        self.setVisible(bool(tasks))

    def _ended(self, task: LibraryTask) -> None:
        if task.state in (TaskState.DONE, TaskState.CANCELLED) and not task.wrong:
            QTimer.singleShot(GOOD_MS, self, lambda: self._library.dismiss(task.id))

    def _end(self, number: int) -> None:
        task = next((task for task in self._library.tasks if task.id == number), None)
        if task is not None:
            (self._library.cancel if task.state.active else self._library.dismiss)(number)

"""Getting a model: name a repository, see its files, download one."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QStackedLayout, QVBoxLayout, QWidget

from app.downloads.service import DownloadService, RepoListing
from app.fit.badges import UNKNOWN, FitBadges
from app.library.service import LibraryService
from engine.errors import VrambleError
from engine.library.address import parse_repo
from engine.library.listing import RepoFile, choose
from ui.library import words
from ui.library.file_status import Status, status_of
from ui.library.files_model import ROW_ROLE, Column, FilesTable
from ui.library.fit_column import FitColumn
from ui.library.fit_sheet import FitSheet
from ui.library.message_slot import MessageSlot
from ui.library.table_view import TableView
from ui.theme import SPACE_M, SPACE_S, Theme
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.empty_state import EmptyState
from ui.widgets.text_button import TextButton

WIDTHS = (124, 92, 190, 280, 110, 172)
SUGGESTIONS = (
    ("Qwen/Qwen3-0.6B-GGUF", "0.6 GB"),
    ("Qwen/Qwen3-4B-GGUF", "2.5 GB"),
    ("Qwen/Qwen3-8B-GGUF", "5.0 GB"),
)
"""Repositories to begin with, and the size of their usual file."""


class GetPage(QWidget):
    """Repository field, table of files, download button.

    Attributes:
        started: A download began; the argument is the job's id.
    """

    started = Signal(int)

    def __init__(
        self,
        downloads: DownloadService,
        library: LibraryService,
        theme: Theme,
        badges: FitBadges | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._badges = badges
        self._downloads, self._library, self._theme = downloads, library, theme
        self._listing: RepoListing | None = None
        self._build_top()
        self._build_table()
        self._messages = MessageSlot(theme)
        self._summary = ElidedLabel()
        self._summary.setProperty("role", "muted")
        self._download_button = TextButton(theme, self.tr("Download"), "download-simple", role="primary")
        self._download_button.setObjectName("downloadButton")
        self._download_button.clicked.connect(self._download)
        self._lay_out()
        downloads.listed.connect(self._show_listing)
        downloads.jobs_changed.connect(self._refresh_status)
        library.models_changed.connect(self._refresh_status)
        self._show_chosen()

    # ---- building

    def _build_top(self) -> None:
        self._edit = QLineEdit()
        self._edit.setObjectName("repoEdit")
        self._edit.setPlaceholderText(self.tr("owner/repository, or paste the address of its page"))
        self._edit.setAccessibleName(self.tr("Repository on the Hub"))
        self._edit.returnPressed.connect(self._list)
        self._edit.textChanged.connect(self._update_button)
        self._list_button = TextButton(self._theme, self.tr("List files"), "magnifying-glass")
        self._list_button.setObjectName("listFilesButton")
        self._list_button.clicked.connect(self._list_or_stop)

    def _build_table(self) -> None:
        self._table = FilesTable(self._theme, self)
        self._view = TableView(self._theme, WIDTHS, Column.FILE, (Column.QUALITY,))
        self._view.setObjectName("filesTable")
        self._view.setAccessibleName(self.tr("Files of the repository"))
        self._view.setModel(self._table)
        self._view.fit()
        self._view.selectionModel().selectionChanged.connect(self._show_chosen)
        self._view.doubleClicked.connect(self._download)
        self._view.enter_pressed.connect(self._download)
        self._watch_fit()

    def _watch_fit(self) -> None:
        badges = self._badges
        if badges is None:
            self._view.setColumnHidden(Column.FIT, True)
            return
        self._table.set_fit(lambda file: badges.of_file(self._listing, file) if self._listing else UNKNOWN)
        badges.changed.connect(self._table.refit)
        self._fit_column = FitColumn(
            self._view, Column.FIT, Column.SIZE, self._look_at, self._table.refit, self._explain
        )
        self._view.selectionModel().selectionChanged.connect(self._fit_column.look_soon)

    def _look_at(self, rows: range) -> None:
        found = self._listing
        if self._badges is not None and found is not None:
            seen = [found.files[row] for row in rows if row < len(found.files)]
            self._badges.look_at_files(found, seen, self._chosen())

    def _explain(self, row: int, cell: QRect) -> None:
        found, badges = self._listing, self._badges
        if badges is None or found is None or found.files[row].companion:
            return
        file = found.files[row]
        other = badges.smaller_file(found, file)
        sheet = FitSheet(
            self._theme,
            file.quant or file.path,
            badges.of_file(found, file),
            badges.suggestions_for_file(found, file),
            self,
            installed=False,
            other=(other.quant or other.path) if other is not None else "",
        )
        if other is not None:
            sheet.other_wanted.connect(lambda: self._view.choose(found.files.index(other)))
        sheet.open_at(cell)

    def _build_empty(self) -> EmptyState:
        buttons = []
        for number, (repo, size) in enumerate(SUGGESTIONS):
            name = repo.partition("/")[2].removesuffix("-GGUF")
            button = TextButton(self._theme, self.tr("{0}, {1}").format(name, size))
            button.setObjectName(f"suggestionButton{number}")
            button.setToolTip(repo)
            button.clicked.connect(lambda _checked=False, repo=repo: self.ask_for(repo))
            buttons.append(button)
        return EmptyState(
            self._theme,
            "download-simple",
            self.tr("Which repository?"),
            self.tr(
                "Models are shared on the Hub in repositories with “GGUF” in their name. "
                "Type one above, paste the address of its page, or begin with one of these."
            ),
            tuple(buttons),
        )

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(SPACE_S)
        top.addWidget(self._edit, 1)
        top.addWidget(self._list_button)
        self._waiting = QLabel()
        self._waiting.setProperty("role", "muted")
        self._waiting.setAlignment(Qt.AlignmentFlag.AlignCenter)
        actions = QHBoxLayout()
        actions.setSpacing(SPACE_S)
        actions.addWidget(self._summary, 1)
        actions.addWidget(self._download_button)
        files = QWidget()
        inside = QVBoxLayout(files)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(SPACE_M)
        inside.addWidget(self._view, 1)
        inside.addLayout(actions)
        self._pages = QStackedLayout()
        self._empty = self._build_empty()
        for page in (self._empty, self._waiting, files):
            self._pages.addWidget(page)
        self._files = files
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, SPACE_M, 0, 0)
        outer.setSpacing(SPACE_M)
        outer.addLayout(top)
        outer.addWidget(self._messages)
        outer.addLayout(self._pages, 1)
        self._update_button()

    # ---- asking

    def focus(self) -> None:
        """Give the keyboard to the repository field."""
        self._edit.setFocus()
        self._edit.selectAll()

    def ask_for(self, repo: str) -> None:
        """List the files of ``repo``."""
        self._edit.setText(repo)
        self._list()

    def _list_or_stop(self) -> None:
        if self._downloads.listing:
            self._downloads.cancel_listing()
            self._pages.setCurrentWidget(self._files if self._listing else self._empty)
            self._update_button()
        else:
            self._list()

    def _list(self) -> None:
        text = self._edit.text().strip()
        if not text:
            return
        self._messages.clear()
        self._downloads.cancel_listing()
        self._listing = None
        if self._badges is not None:
            self._badges.leave_files()
        try:
            repo = parse_repo(text).repo
        except VrambleError as error:
            self._show_listing(error)
            return
        self._waiting.setText(self.tr("Asking the Hub for the files of {0}…").format(repo))
        self._pages.setCurrentWidget(self._waiting)
        self._downloads.list_files(text)
        self._update_button()

    def _update_button(self) -> None:
        if self._downloads.listing:
            self._list_button.setText(self.tr("Stop"))
            self._list_button.set_icon("x")
            self._list_button.setEnabled(True)
        else:
            self._list_button.setText(self.tr("List files"))
            self._list_button.set_icon("magnifying-glass")
            self._list_button.setEnabled(bool(self._edit.text().strip()))

    # ---- showing

    def _show_listing(self, found: RepoListing | VrambleError) -> None:
        self._update_button()
        if isinstance(found, VrambleError):
            self._pages.setCurrentWidget(self._empty)
            if found.code == "repo-name":
                self._messages.show_error(found)
            else:
                self._messages.show_error(found, self.tr("Try again"), self._list)
            return
        self._listing = found
        self._table.set_rows(found.files)
        if self._badges is not None:
            self._fit_column.look_soon()
        self._refresh_status()
        if not found.files:
            self._pages.setCurrentWidget(self._empty)
            text = self.tr("{0} holds no GGUF files. Look for a repository with “GGUF” in its name.")
            self._messages.show_info(text.format(found.repo))
            return
        self._pages.setCurrentWidget(self._files)
        self._view.choose(self._first_choice(found))
        if self._edit.hasFocus() or self._list_button.hasFocus():
            self._view.setFocus()

    def _first_choice(self, found: RepoListing) -> int:
        try:
            file, _ = choose(found, found.wanted)
        except VrambleError:
            return 0
        return found.files.index(file)

    def _chosen(self) -> RepoFile | None:
        index = self._view.chosen()
        if not index.isValid():
            return None
        file: RepoFile = index.data(ROW_ROLE)
        return file

    def _refresh_status(self) -> None:
        found = self._listing
        if found is not None:
            words_of = {
                Status.NEW: "",
                Status.DOWNLOADING: self.tr("Downloading"),
                Status.INTERRUPTED: self.tr("Interrupted"),
                Status.INSTALLED: self.tr("Installed"),
            }
            states = self._states(found.repo, found.files)
            self._table.set_status({path: words_of[state] for path, state in states.items()})
        self._show_chosen()

    def _states(self, repo: str, files: Iterable[RepoFile]) -> dict[str, Status]:
        """Where each file is, by its path."""
        jobs, models = self._downloads.jobs, self._library.models + self._library.companions
        return {file.path: status_of(repo, file.path, jobs, models, self._library.folder) for file in files}

    def _show_chosen(self) -> None:
        file, found = self._chosen(), self._listing
        status = self._states(found.repo, (file,))[file.path] if file and found else Status.NEW
        self._download_button.setEnabled(file is not None and status in (Status.NEW, Status.INTERRUPTED))
        label = self.tr("Resume") if status is Status.INTERRUPTED else self.tr("Download")
        if file is not None and file.size is not None:
            label = self.tr("{0} ({1})").format(label, words.file_size(file.size))
        self._download_button.setText(label)
        self._summary.setText(self._about(found) if found else "")

    def _about(self, found: RepoListing) -> str:
        facts = [
            found.repo,
            self.tr("1 file") if len(found.files) == 1 else self.tr("{0} files").format(len(found.files)),
        ]
        if found.gated:
            facts.append(self.tr("gated: accept its terms on the Hub first"))
        if found.left_out:
            facts.append(self.tr("{0} with unsafe names left out").format(len(found.left_out)))
        return " · ".join(facts)

    # ---- doing

    def _download(self) -> None:
        file, found = self._chosen(), self._listing
        if file is None or found is None or not self._download_button.isEnabled():
            return
        try:
            number = self._downloads.start(found.repo, file)
        except VrambleError as error:
            self._messages.show_error(error)
        else:
            self.started.emit(number)

"""The right side of Discover: one repository."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.notices import Action, Notice, Severity
from engine.errors import VrambleError
from engine.hub.records import CatalogueModel, Gate, RepoPage, RepoSummary
from engine.library.listing import RepoListing
from ui.library.discover import words
from ui.library.discover.entries import Entry, Status, entries_of, entries_of_catalogue, status_of
from ui.library.discover.files_view import FilesView
from ui.library.discover.gate_card import GateCard
from ui.library.discover.pane_pages import CARD, FILES, PanePages, scrolled
from ui.library.discover.repo_head import RepoHead
from ui.library.keep.roots_words import places_to_put
from ui.library.message_slot import MessageSlot
from ui.library.parts import Parts
from ui.theme import SPACE_S
from ui.widgets.empty_state import EmptyState

REFUSALS = ("hub-gated", "hub-not-accepted", "hub-forbidden", "hub-bad-token")
"""Codes that the step before a gated repository is the way out of."""


class RepoPane(QWidget):
    """Head, the step before a gated repository, files, card.

    Attributes:
        load_wanted: Path of an installed model.
        downloads_wanted: A download should be shown.
        started: A download began; the argument is the job's id.
    """

    load_wanted = Signal(object)
    downloads_wanted = Signal()
    started = Signal(int)

    def __init__(self, parts: Parts, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        theme = parts.theme
        self._hub, self._downloads, self._library, self._theme = parts.hub, parts.downloads, parts.library, theme
        self._outside, self._visit = parts.outside, parts.outside.visit
        self._repo = self._problem = ""
        self._summary: RepoSummary | None = None
        self._entry: CatalogueModel | None = None
        self._head, self._gate = RepoHead(theme), GateCard(theme, parts.account)
        self._messages = MessageSlot(theme)
        self._files = FilesView(theme, parts.badges, self._status)
        self._tabs = PanePages(self._files, theme)
        self._lay_out()
        self._connect()
        self._refresh_places()
        self.show_nothing()

    # ---- building

    def _lay_out(self) -> None:
        whole = QWidget()
        column = QVBoxLayout(whole)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_S)
        column.addWidget(self._head)
        column.addWidget(self._messages)
        column.addWidget(self._gate)
        column.addWidget(self._tabs, 1)
        self._start = EmptyState(
            self._theme,
            "compass",
            self.tr("Choose a model"),
            self.tr("Its files are shown here, with what they need and how fast they will be on this machine."),
        )
        self._pages = QStackedWidget()
        self._pages.addWidget(self._start)
        self._pages.addWidget(scrolled(whole))
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self._pages)

    def _connect(self) -> None:
        self._hub.page_changed.connect(self._show_page)
        self._downloads.jobs_changed.connect(self._files.refresh)
        self._library.models_changed.connect(self._files.refresh)
        self._library.roots_changed.connect(self._refresh_places)
        self._files.get_wanted.connect(self._get)
        self._files.load_wanted.connect(self.load_wanted)
        self._files.downloads_wanted.connect(self.downloads_wanted)
        self._head.page_wanted.connect(lambda: self._visit(self.address))
        self._head.copy_wanted.connect(self._copy_address)
        self._head.refresh_wanted.connect(self._hub.refresh)
        self._head.licence_wanted.connect(self._visit)
        self._gate.signed_in.connect(self._signed_in)
        self._gate.page_wanted.connect(lambda: self._visit(self.address))
        self._gate.tokens_wanted.connect(lambda: self._visit(f"{self._outside.site()}/settings/tokens"))
        self._tabs.card.link_activated.connect(self._ask_for_link)
        self._tabs.card.address_copied.connect(self._tell_copied)

    # ---- what is shown

    @property
    def repo(self) -> str:
        """The repository that is shown, "" for none."""
        return self._repo

    @property
    def address(self) -> str:
        """The address of its page."""
        return f"{self._outside.site()}/{self._repo}"

    def show_nothing(self) -> None:
        """Nothing is chosen."""
        self._repo, self._summary, self._entry = "", None, None
        self._pages.setCurrentIndex(0)

    def show_repo(self, repo: str, summary: RepoSummary | None = None, entry: CatalogueModel | None = None) -> None:
        """Show ``repo`` with what is known already; the rest is asked for."""
        if repo != self._repo:
            self._messages.clear()
            self._tabs.setCurrentIndex(FILES)
        self._repo, self._summary, self._entry = repo, summary, entry
        self._pages.setCurrentIndex(1)
        self._show_page()

    def focus(self) -> None:
        """Give the keyboard to the files."""
        self._tabs.setCurrentIndex(FILES)
        self._files.focus()

    def show_card(self) -> None:
        """Show what its owner has written."""
        self._tabs.setCurrentIndex(CARD)

    def _show_page(self) -> None:
        if not self._repo:
            return
        page = self._hub.page
        page = page if page is not None and page.repo.casefold() == self._repo.casefold() else None
        summary = page.summary if page is not None else self._summary
        self._head.show_repo(page.repo if page is not None else self._repo, summary, self._entry, self._kept(page))
        problem = self._hub.page_problem
        refused = problem is not None and problem.code in REFUSALS
        gate = summary.gate if summary is not None else words.gate_of(self._entry)
        gate = Gate.AUTOMATIC if refused and gate is Gate.OPEN else gate
        self._gate.show_gate(gate, refused=refused)
        self._show_files(page)
        self._tabs.show_card(self._repo, page)
        self._show_problem(problem)

    def _show_files(self, page: RepoPage | None) -> None:
        if page is not None:
            entries = entries_of(page)
            self._tabs.show_files(len(entries))
            self._files.show_entries(page.listing, entries, page.listing.wanted)
        elif self._entry is not None:
            self._tabs.show_files(None)
            self._files.show_entries(*entries_of_catalogue(self._entry))
        else:
            problem = self._hub.page_problem
            asking = "" if problem is not None else self.tr("Asking the Hub for its files…")
            self._tabs.show_waiting(words.waits(problem, self._hub.wait_left) or asking)

    def _show_problem(self, problem: VrambleError | None) -> None:
        shown = self._messages.notice
        if problem is None:
            if shown is not None and shown.key == self._problem:
                self._messages.clear()
            self._problem = ""
            return
        text = words.sentence(problem, self._hub.wait_left)
        if shown is None or shown.text != text:
            self._problem = problem.code
            again = Action(self.tr("Try again"), self._hub.refresh)
            self._messages.show_notice(Notice(problem.code, Severity.ERROR, text, problem.detail, (again,)))

    def _kept(self, page: RepoPage | None) -> str:
        if page is None or not self._hub.page_from_cache:
            return ""
        told = self.tr("As the Hub told it {0}.").format(words.age(page.read_at))
        return " ".join((told, words.waits(self._hub.page_problem, self._hub.wait_left))).strip()

    # ---- doing

    def _signed_in(self) -> None:
        """What was refused before may be told now."""
        if self._hub.page_problem is not None:
            self._hub.refresh()

    def _status(self, listing: RepoListing, entry: Entry) -> Status:
        models = self._library.models + self._library.companions
        return status_of(listing.repo, entry.file, self._downloads.jobs, models)

    def _get(self, entry: Entry) -> None:
        page = self._hub.page
        known = page is not None and page.repo.casefold() == self._repo.casefold()
        repo = page.repo if page is not None and known else self._repo
        foot = self._files.foot
        wanted = [entry.file]
        wanted += [entry.projector] if foot.projector and entry.projector is not None else []
        wanted += [entry.draft] if foot.draft and entry.draft is not None else []
        folder: Path | None = foot.folder
        try:
            numbers = [self._downloads.start(repo, file, root=folder) for file in wanted]
        except VrambleError as error:
            self._messages.show_error(error)
        else:
            self.started.emit(numbers[0])

    def _refresh_places(self) -> None:
        self._files.foot.set_roots(places_to_put(self._library.roots))
        self._files.refresh()

    def _copy_address(self) -> None:
        QGuiApplication.clipboard().setText(self.address)
        self._messages.show_notice(Notice("copied", Severity.INFO, self.tr("The address was copied."), timeout_ms=4000))

    def _ask_for_link(self, address: str) -> None:
        """Its owner has written the address: it is shown whole before anything is opened."""
        text = self.tr("Open {0} in the browser?").format(address)
        go = Action(self.tr("Open"), lambda: self._visit(QUrl(address).toString()))
        copy = Action(self.tr("Copy"), lambda: QGuiApplication.clipboard().setText(address))
        self._messages.show_notice(Notice("open-link", Severity.INFO, text, actions=(go, copy)))

    def _tell_copied(self, address: str) -> None:
        text = self.tr("This address is not opened from here; it was copied instead: {0}").format(address)
        self._messages.show_notice(Notice("open-link", Severity.INFO, text, timeout_ms=8000))

"""The head of a repository's page: its name, what is known of it, and what it is good for."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from engine.hub.records import CatalogueModel, RepoSummary
from ui.library import words as library_words
from ui.library.discover import words
from ui.settings.row import PlainLabel
from ui.theme import SPACE_S, SPACE_XS, Theme
from ui.widgets.elided_label import plain_tooltip
from ui.widgets.icon_button import IconButton
from ui.widgets.text_button import TextButton

SHOWN_LANGUAGES = 4


class RepoHead(QWidget):
    """Name, facts, and for models of the catalogue a sentence on what they are for.

    Attributes:
        page_wanted: Its page should be opened in the browser.
        copy_wanted: Its address should be copied.
        refresh_wanted: It should be asked for again.
        licence_wanted: The text of its licence should be opened.
    """

    page_wanted = Signal()
    copy_wanted = Signal()
    refresh_wanted = Signal()
    licence_wanted = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._licence_link = ""
        self._name = PlainLabel("", "title")
        self._name.setObjectName("repoName")
        self._name.setMinimumWidth(1)
        self._facts = PlainLabel("", "muted")
        self._facts.setObjectName("repoFacts")
        self._why = PlainLabel()
        self._why.setObjectName("repoWhy")
        self._kept = QLabel()
        self._kept.setProperty("role", "muted")
        self._page = TextButton(theme, self.tr("Open page"), "arrow-square-out", role="quiet")
        self._page.setObjectName("openRepoPage")
        self._page.setToolTip(self.tr("Show the page of the repository in the browser"))
        self._page.clicked.connect(self.page_wanted)
        self._licence = TextButton(theme, self.tr("Licence"), "scales", role="quiet")
        self._licence.setObjectName("openLicence")
        self._licence.clicked.connect(lambda: self.licence_wanted.emit(self._licence_link))
        self._copy = IconButton(theme, "link", self.tr("Copy address"))
        self._copy.setObjectName("copyRepoAddress")
        self._copy.clicked.connect(self.copy_wanted)
        self._refresh = IconButton(theme, "arrow-clockwise", self.tr("Ask the Hub again"), shortcut="F5")
        self._refresh.setObjectName("refreshRepo")
        self._refresh.clicked.connect(self.refresh_wanted)
        self._lay_out()

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(SPACE_XS)
        row.addWidget(self._name, 1)
        for button in (self._licence, self._page, self._copy, self._refresh):
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_XS, 0, 0, SPACE_S)
        column.setSpacing(SPACE_XS)
        column.addLayout(row)
        column.addWidget(self._facts)
        column.addWidget(self._why)
        column.addWidget(self._kept)

    def show_repo(self, repo: str, summary: RepoSummary | None, entry: CatalogueModel | None, kept: str) -> None:
        """Show what is known; ``kept`` says how old it is, where it was not asked just now."""
        self._name.setText(repo.partition("/")[2] or repo)
        self._name.setToolTip(plain_tooltip(repo))
        if summary is not None:
            self._facts.setText(facts(summary))
        elif entry is not None:
            self._facts.setText(f"{repo.partition('/')[0]} · {words.facts_of_catalogue(entry)}")
        else:
            self._facts.setText(repo.partition("/")[0])
        self._why.setText(self._purpose(entry) if entry is not None else "")
        self._why.setVisible(entry is not None)
        self._kept.setText(kept)
        self._kept.setVisible(bool(kept))
        self._licence_link = summary.licence_link if summary is not None else ""
        self._licence.setVisible(bool(self._licence_link))
        self._licence.setToolTip(self._licence_link)

    def _purpose(self, entry: CatalogueModel) -> str:
        suits = self.tr("Suits {0} GiB of memory.").format(entry.memory_gib)
        deck = self.tr("Fits a Steam Deck.") if entry.deck else ""
        return " ".join(text for text in (entry.why, suits, deck) if text)


def facts(summary: RepoSummary) -> str:
    """Everything that the Hub tells of a repository, in one or two lines."""
    shown = list(summary.languages[:SHOWN_LANGUAGES])
    languages = ", ".join(shown) + ("…" if len(summary.languages) > SHOWN_LANGUAGES else "")
    found = [
        summary.author,
        library_words.parameters(summary.n_params),
        words.tr("context {0}").format(library_words.context(summary.context_length)) if summary.context_length else "",
        summary.architecture,
        words.licence(summary.licence) if summary.licence else words.tr("no licence named"),
        words.gate(summary.gate),
        languages,
        words.tr("{0} downloads").format(words.count(summary.downloads)) if summary.downloads is not None else "",
        words.tr("{0} likes").format(words.count(summary.likes)) if summary.likes is not None else "",
        words.tr("updated {0}").format(words.age(summary.updated)) if summary.updated is not None else "",
    ]
    return " · ".join(fact for fact in found if fact)

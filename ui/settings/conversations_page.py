"""Conversations: titles, exports and imports, backup and restore."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QDate, QDateTime, QStandardPaths
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from app.backup.service import BackupService, Manifest
from app.chat.keeping import Keeping
from app.chat.titling import TitleSettings
from app.notices import Notices
from app.settings.store import SettingsStore
from engine.errors import VrambleError
from ui.chat.exporting import Exporting, progress_words
from ui.settings.bound import RowMaker
from ui.settings.page import SettingsPage
from ui.settings.row import Row
from ui.shell.dialogs import show_dialog
from ui.theme import Theme
from ui.widgets.text_button import TextButton

SUFFIX = "vramble-backup.zip"


class ConversationsPage(SettingsPage):
    """What happens to conversations as a whole.

    Args:
        notices: Where exports and imports tell how they went.
    """

    def __init__(
        self,
        theme: Theme,
        store: SettingsStore,
        keeping: Keeping,
        backup: BackupService,
        notices: Notices,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(theme, parent)
        self._keeping, self._backup = keeping, backup
        self._exporting = Exporting(keeping.exchange, notices, theme, self)
        self.set_title(self.tr("Conversations"), self.tr("They lie in one file on this computer, and nowhere else."))
        self._build_titles(RowMaker(theme, store, TitleSettings))
        self._build_exchange()
        self._build_backup()
        keeping.exchange.changed.connect(self._follow)
        backup.changed.connect(self._follow)
        self._follow()

    def opened(self) -> None:
        """Look whether something waits to be restored."""
        self._backup.look()

    def _build_titles(self, make: RowMaker) -> None:
        section = self.section(self.tr("Titles"))
        section.add(
            make.switch(
                "by_model",
                self.tr("Titles by the model"),
                self.tr("After the first answer the loaded model gives a new conversation its title, when it is idle."),
                words="title name automatic",
            )
        )

    def _build_exchange(self) -> None:
        section = self.section(self.tr("Export and import"))
        self._export = TextButton(self.theme, self.tr("Export all…"), "export")
        self._export.setObjectName("exportAll")
        self._export.clicked.connect(self._open_export)
        text = self.tr("Markdown, a web page, plain text, or JSON, which Vramble can import again.")
        section.add(Row(self.theme, self.tr("Export"), text, [self._export], words="save markdown html json zip"))
        self._import = TextButton(self.theme, self.tr("Import…"), "download-simple")
        self._import.setObjectName("importConversations")
        self._import.clicked.connect(self._exporting.ask_what)
        text = self.tr(
            "Own exports, and those of ChatGPT, LM Studio, Jan and Open WebUI. Importing twice adds nothing."
        )
        self._stop = TextButton(self.theme, self.tr("Stop"), "x")
        self._stop.setObjectName("stopImport")
        self._stop.clicked.connect(self._keeping.exchange.cancel)
        controls = [self._stop, self._import]
        self._import_row = Row(self.theme, self.tr("Import"), text, controls, words="chatgpt jan lm studio")
        section.add(self._import_row)
        self._import_text = text

    def _build_backup(self) -> None:
        section = self.section(self.tr("Backup"))
        self._make = TextButton(self.theme, self.tr("Back up…"), "floppy-disk")
        self._make.setObjectName("backUp")
        self._make.clicked.connect(self._ask_where)
        self._made = Row(self.theme, self.tr("Back up everything"), "", [self._make], words="save copy zip")
        section.add(self._made)
        self._made_text = self.tr("Conversations, folders, settings and presets as one file. Models are not in it.")
        self._restore = TextButton(self.theme, self.tr("Restore…"), "clock-counter-clockwise")
        self._restore.setObjectName("restore")
        self._restore.clicked.connect(self._ask_which)
        self._give_up = TextButton(self.theme, self.tr("Do not restore"), "x")
        self._give_up.setObjectName("giveUpRestore")
        self._give_up.clicked.connect(self._backup.give_up)
        controls = [self._give_up, self._restore]
        self._restored = Row(self.theme, self.tr("Restore a backup"), "", controls, words="recover")
        section.add(self._restored)
        self._restore_text = self.tr(
            "The backup is examined first and takes its place at the next start; what is here now is kept beside it."
        )
        self._made.set_text(self._made_text)

    def _open_export(self) -> None:
        menu = QMenu(self)
        menu.aboutToHide.connect(menu.deleteLater)
        self._exporting.fill(menu, ())
        menu.popup(self._export.mapToGlobal(self._export.rect().bottomLeft()))

    def _ask_where(self) -> None:
        dialog = self._dialog(self.tr("Back up everything"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("zip")
        dialog.setNameFilters(["ZIP (*.zip)"])
        dialog.selectFile(f"{QDate.currentDate().toString('yyyy-MM-dd')}.{SUFFIX}")
        dialog.fileSelected.connect(lambda path: self._backup.back_up(Path(path), self._backed_up))
        show_dialog(dialog)

    def _ask_which(self) -> None:
        dialog = self._dialog(self.tr("Restore a backup"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters(["ZIP (*.zip)", self.tr("All files (*)")])
        dialog.fileSelected.connect(lambda path: self._backup.restore(Path(path), self._staged))
        show_dialog(dialog)

    def _backed_up(self, result: Manifest | VrambleError) -> None:
        if isinstance(result, VrambleError):
            self._made.set_text(result.sentence)
            return
        text = self.tr("Done: {n} conversations with {m} messages.")
        self._made.set_text(text.format(n=result.conversations, m=result.messages))

    def _staged(self, result: Manifest | VrambleError) -> None:
        if isinstance(result, VrambleError):
            self._restored.set_text(result.sentence)

    def _follow(self) -> None:
        exchange, backup = self._keeping.exchange, self._backup
        self._export.setEnabled(not exchange.running)
        self._import.setEnabled(not exchange.running)
        self._stop.setVisible(exchange.importing)
        self._import_row.set_text(progress_words(self, exchange.progress) if exchange.importing else self._import_text)
        self._make.setEnabled(not backup.busy)
        self._restore.setEnabled(not backup.busy)
        self._give_up.setVisible(backup.waiting is not None)
        if backup.waiting is not None:
            self._restored.set_text(_waiting_text(self, backup.waiting))
        elif backup.busy:
            self._restored.set_text(self.tr("Reading and checking…"))
        else:
            self._restored.set_text(self._restore_text)

    def _dialog(self, title: str) -> QFileDialog:
        places = QStandardPaths.standardLocations(QStandardPaths.StandardLocation.DocumentsLocation)
        dialog = QFileDialog(self.window(), title, places[0] if places else "")
        dialog.finished.connect(dialog.deleteLater)
        return dialog


def _waiting_text(page: ConversationsPage, waiting: Manifest) -> str:
    day = QDateTime.fromSecsSinceEpoch(int(waiting.created)).toString("yyyy-MM-dd HH:mm")
    text = page.tr(
        "The backup of {day} with {n} conversations takes its place when Vramble is started again."
        " What is here now is kept beside it."
    )
    return text.format(day=day, n=waiting.conversations)

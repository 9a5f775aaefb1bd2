"""Asks where an export goes or what is imported, and tells how that went."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QElapsedTimer, QObject, QStandardPaths
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from app.chat.exchange import Exchange, Format, Imported, Progress
from app.notices import Action, Notice, Notices, Severity, from_error
from engine.errors import VrambleError
from ui.shell.dialogs import show_dialog
from ui.theme import Theme

EXCHANGE_NOTICE = "conversations-exchange"
SHOWN_MS = 12_000
PROGRESS_MS = 700
"""Between two words about a running import; a short one has none."""


class Exporting(QObject):
    """Exports and imports with file dialogs of the desktop."""

    def __init__(self, exchange: Exchange, notices: Notices, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._exchange, self._notices, self._window = exchange, notices, parent
        self._told = QElapsedTimer()

    def fill(self, menu: QMenu, conversations: Sequence[str]) -> None:
        """One entry for each format; ``conversations``: none named means all."""
        ids = tuple(conversations)
        for form, name, _files in self._formats():
            action = menu.addAction(name)
            action.triggered.connect(lambda _checked=False, form=form: self.ask_where(ids, form, each=False))
        if len(ids) != 1:
            menu.addSeparator()
            for form, _name, files in self._formats():
                action = menu.addAction(files)
                action.triggered.connect(lambda _checked=False, form=form: self.ask_where(ids, form, each=True))

    def ask_where(self, conversations: Sequence[str], form: Format, *, each: bool) -> None:
        """Let the user choose a file, then write it."""
        ending = "zip" if each else form.value
        dialog = self._dialog(self.tr("Export conversations"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(ending)
        dialog.setNameFilters([f"{ending.upper()} (*.{ending})"])
        dialog.selectFile(f"{self.tr('Conversations')}.{ending}")
        dialog.fileSelected.connect(lambda path: self._export(conversations, Path(path), form, each))
        show_dialog(dialog)

    def ask_what(self) -> None:
        """Let the user choose files, then import them."""
        dialog = self._dialog(self.tr("Import conversations"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setNameFilters([self.tr("Exports (*.json *.jsonl *.zip)"), self.tr("All files (*)")])
        dialog.filesSelected.connect(lambda paths: self.take([Path(path) for path in paths]))
        show_dialog(dialog)

    def take(self, paths: Sequence[Path]) -> None:
        """Import files."""
        if self._exchange.running:
            self._tell_busy()
            return
        self._told.start()
        self._exchange.changed.connect(self._tell_progress)
        self._exchange.import_files(paths, self._imported)

    def _tell_progress(self) -> None:
        if not self._exchange.importing or self._told.elapsed() < PROGRESS_MS:
            return
        self._told.restart()
        stop = Action(self.tr("Stop"), self._exchange.cancel)
        text = progress_words(self, self._exchange.progress)
        self._notices.post(Notice(EXCHANGE_NOTICE, Severity.INFO, text, actions=(stop,)))

    def _export(self, conversations: Sequence[str], path: Path, form: Format, each: bool) -> None:
        def done(result: int | VrambleError) -> None:
            if isinstance(result, VrambleError):
                self._notices.post(from_error(EXCHANGE_NOTICE, result))
                return
            one, more = self.tr("1 conversation is in {file}."), self.tr("{n} conversations are in {file}.")
            said = (one if result == 1 else more).format(n=result, file=path.name)
            self._notices.post(Notice(EXCHANGE_NOTICE, Severity.INFO, said, str(path), timeout_ms=SHOWN_MS))

        if not self._exchange.export(conversations, path, form, each=each, done=done):
            self._tell_busy()

    def _imported(self, result: Imported | VrambleError) -> None:
        self._exchange.changed.disconnect(self._tell_progress)
        if isinstance(result, VrambleError):
            self._notices.post(from_error(EXCHANGE_NOTICE, result))
            return
        parts = [self.tr("{n} imported").format(n=result.new)]
        if result.merged:
            parts.append(self.tr("{n} were there and have new messages").format(n=result.merged))
        if result.known:
            parts.append(self.tr("{n} were there already").format(n=result.known))
        if result.skipped:
            parts.append(self.tr("{n} skipped").format(n=result.skipped))
        text = self.tr("Conversations: {parts}.").format(parts=", ".join(parts))
        severity = Severity.WARN if result.skipped else Severity.INFO
        detail = "\n".join(result.reasons)
        timeout = 0 if result.skipped else SHOWN_MS
        self._notices.post(Notice(EXCHANGE_NOTICE, severity, text, detail, timeout_ms=timeout))

    def _tell_busy(self) -> None:
        text = self.tr("Another export or import is still running.")
        self._notices.post(Notice(EXCHANGE_NOTICE, Severity.INFO, text, timeout_ms=SHOWN_MS))

    def _dialog(self, title: str) -> QFileDialog:
        places = QStandardPaths.standardLocations(QStandardPaths.StandardLocation.DocumentsLocation)
        dialog = QFileDialog(self._window.window(), title, places[0] if places else "")
        dialog.finished.connect(dialog.deleteLater)
        return dialog

    def _formats(self) -> list[tuple[Format, str, str]]:
        """Each with its name and that of a file for each conversation."""
        return [
            (Format.MARKDOWN, self.tr("Markdown"), self.tr("Zip of Markdown files")),
            (Format.HTML, self.tr("Web page (HTML)"), self.tr("Zip of web pages")),
            (Format.TEXT, self.tr("Plain text"), self.tr("Zip of text files")),
            (Format.JSON, self.tr("JSON, to import again"), self.tr("Zip of JSON files")),
        ]


def progress_words(speaker: QObject, progress: Progress) -> str:
    """How far an import is."""
    if not progress.total:
        return speaker.tr("Importing: the file is being read…")
    text = speaker.tr("Importing: {n:,} of {m:,} conversations. They appear when all are there.")
    return text.format(n=progress.done, m=progress.total)

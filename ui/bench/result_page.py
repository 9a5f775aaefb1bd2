"""The report that is shown: a figure, charts, a table, what others published, and ways to take it along."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from app.bench.service import BenchService
from engine.bench.document import document, markdown
from engine.bench.judge import judge
from engine.bench.records import Race, Report
from ui.bench import rows, words
from ui.bench.cells import CellTable, CellView
from ui.bench.chart import BarChart
from ui.bench.headline import Headline
from ui.settings.row import plain_label
from ui.shell.dialogs import show_dialog
from ui.theme import SPACE_L, SPACE_M, SPACE_S, Theme
from ui.widgets.text_button import TextButton


class ResultPage(QScrollArea):
    """Shows one report.

    Attributes:
        told: A sentence about an export, for the line at the bottom of the window.
    """

    told = Signal(str)

    def __init__(self, service: BenchService, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._service, self._theme = service, theme
        self._report: Report | None = None
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._build()
        self._lay_out()

    @property
    def report(self) -> Report | None:
        """What is shown."""
        return self._report

    def forget(self) -> None:
        """Nothing is shown any more: what was begun gave no report."""
        self._report = None

    def show_report(self, report: Report, *, live: bool = False) -> None:
        """Show ``report``; ``live``: it is still being measured."""
        self._report = report
        history = self._service.archive.reports
        self._headline.show_report(report)
        self._show_verdict(report, live)
        self._generation.set_bars(rows.generation_bars(report, live=live))
        self._prompts.set_bars(rows.prompt_bars(report, live=live))
        limited = any(bar.ceiling for bar in self._generation.bars)
        self._legend.setVisible(limited)
        self._results.set_rows(rows.result_rows(report, history))
        self._remarks.setText(self._remarks_of(report))
        self._remarks.setVisible(bool(self._remarks.text()))
        figures = self._service.archive.beside(report)
        self._published.set_rows(rows.published_rows(figures))
        self._others.setVisible(bool(figures) and not live)
        cards = {figure.card for figure in figures}
        card = next(iter(cards)) if len(cards) == 1 else ""
        heading = self.tr("Published by others for {0}").format(card) if card else self.tr("Published by others")
        self._others_title.setText(heading)
        for button in (self._copy, self._save):
            button.setEnabled(not live)

    def _show_verdict(self, report: Report, live: bool) -> None:
        found = None if live else judge(report)
        last = report == self._service.report
        self._headline.show_verdict(
            words.verdict(report) if found else "",
            keep=found is not None and last and report.race is not Race.NONE,
            kept=found is not None and self._service.is_kept(found.winner),
        )

    def _remarks_of(self, report: Report) -> str:
        lines = [self.tr("Left out: {0}. {1}").format(words.test(item.test), item.reason) for item in report.left_out]
        lines += [
            self.tr("{0} dropped out: {1}").format(words.variant(report, variant) or variant.label, variant.error)
            for variant in report.variants
            if variant.error
        ]
        if not report.finished:
            lines.append(self.tr("It was stopped before its end."))
        return "\n".join(lines)

    def _build(self) -> None:
        theme = self._theme
        self._headline = Headline(theme)
        self._headline.keep_wanted.connect(self._keep_winner)
        self._remarks = plain_label("", "muted")
        self._generation = BarChart(theme, self.tr("Generation, tok/s"))
        self._generation.setObjectName("benchChart")
        self._prompts = BarChart(theme, self.tr("Reading prompts, tok/s"))
        self._legend = plain_label(
            self.tr("Green: the limit if only reading weights and KV cache took time. Whisker: lowest to highest run."),
            "muted",
        )
        self._results = CellTable(theme, rows.result_titles(), 2, tips=rows.result_tips())
        self._table = CellView(theme, self._results, self.tr("Results"), 1)
        self._table.setObjectName("benchTable")
        self._published = CellTable(theme, rows.published_titles(), 4, 6)
        self._others_table = CellView(theme, self._published, self.tr("Published by others"), 6, wrap=True)
        self._copy = TextButton(theme, self.tr("Copy as Markdown"), "copy")
        self._copy.setObjectName("benchCopy")
        self._copy.clicked.connect(self._copy_markdown)
        self._save = TextButton(theme, self.tr("Save…"), "download-simple")
        self._save.setObjectName("benchSave")
        self._save.setToolTip(self.tr("As JSON or as Markdown"))
        self._save.clicked.connect(self._choose_file)

    def _lay_out(self) -> None:
        inside = QWidget()
        inside.setProperty("role", "page")
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, SPACE_M, SPACE_S, SPACE_L)
        column.setSpacing(SPACE_M)
        column.addWidget(self._headline)
        card = QFrame()
        card.setProperty("role", "card")
        inside_card = QVBoxLayout(card)
        inside_card.setContentsMargins(SPACE_L, SPACE_M, SPACE_L, SPACE_M)
        inside_card.setSpacing(SPACE_S)
        for widget in (self._generation, self._prompts, self._legend):
            inside_card.addWidget(widget)
        column.addWidget(card)
        column.addWidget(self._table)
        column.addWidget(self._remarks)
        buttons = QHBoxLayout()
        buttons.setSpacing(SPACE_S)
        for button in (self._copy, self._save):
            buttons.addWidget(button)
        buttons.addStretch(1)
        column.addLayout(buttons)
        column.addWidget(self._lay_out_others())
        column.addStretch(1)
        self.setWidget(inside)

    def _lay_out_others(self) -> QWidget:
        self._others = QWidget()
        column = QVBoxLayout(self._others)
        column.setContentsMargins(0, SPACE_M, 0, 0)
        column.setSpacing(SPACE_S)
        self._others_title = plain_label("", "heading")
        column.addWidget(self._others_title)
        column.addWidget(
            plain_label(
                self.tr(
                    "Other machines, other builds, mostly another model: an orientation, not a comparison. Nothing of"
                    " it was measured here."
                ),
                "muted",
            )
        )
        column.addWidget(self._others_table)
        return self._others

    def _keep_winner(self) -> None:
        found = judge(self._report) if self._report is not None else None
        if found is not None and self._report is not None:
            self._service.keep(found.winner)
            self.told.emit(self.tr("The next load of {0} is like this.").format(self._report.model.name))
            self._show_verdict(self._report, live=False)

    def _text(self, kind: str) -> str:
        assert self._report is not None
        history = self._service.archive.reports
        if kind == "md":
            return markdown(self._report, history)
        return json.dumps(msgspec.to_builtins(document(self._report, history)), indent=2, ensure_ascii=False) + "\n"

    def _copy_markdown(self) -> None:
        QGuiApplication.clipboard().setText(self._text("md"))
        self.told.emit(self.tr("Copied."))

    def _choose_file(self) -> None:
        assert self._report is not None
        dialog = QFileDialog(self.window(), self.tr("Save the benchmark"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters(["JSON (*.json)", "Markdown (*.md)"])
        dialog.setDefaultSuffix("json")
        dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix("md" if "*.md" in chosen else "json"))
        name = "".join(sign if sign.isalnum() or sign in "-._" else "-" for sign in self._report.model.name)
        dialog.selectFile(f"benchmark-{name}")
        texts = {kind: self._text(kind) for kind in ("json", "md")}
        dialog.fileSelected.connect(
            lambda chosen: self.save_to(Path(chosen), texts["md" if chosen.endswith(".md") else "json"])
        )
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        show_dialog(dialog)

    def save_to(self, path: Path, text: str) -> None:
        """Write ``text`` and say how that went."""

        def done(problem: str) -> None:
            failed = self.tr("Not saved: {0}.").format(problem)
            self.told.emit(failed if problem else self.tr("Saved as {0}.").format(path.name))

        self._service.archive.save(path, text, done)

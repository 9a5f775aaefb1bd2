"""Guessing ahead: a draft model, the text that is there already, and how far."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QCoreApplication, QSignalBlocker
from PySide6.QtWidgets import QComboBox, QFileDialog, QWidget

from app.load.draft import LoadDraft
from engine.loading.check import MAX_DRAFT, MAX_LAYERS
from engine.protocol.types import LoadOptions
from ui.load import words
from ui.load.fields import CheckRow, FloatRow, NumberRow
from ui.load.row import ChoiceRow
from ui.shell.dialogs import show_dialog
from ui.theme import Theme

GUESS_FIELDS = ("draft", "draft_gpu_layers", "ngram", "n_draft", "n_draft_min", "draft_p_min")
"""Fields of `LoadOptions` that are only here."""


def tr(text: str) -> str:
    """Translate a text of this module."""
    return QCoreApplication.translate("LoadGuessing", text)


def guess_rows(draft: LoadDraft, theme: Theme) -> tuple[ChoiceRow, ...]:
    """All of them, in the order in which they are shown."""
    return (
        DraftRow(draft, theme),
        DraftLayersRow(draft, theme),
        CheckRow(
            draft,
            theme,
            tr("N-gram lookup"),
            tr(
                "Guesses the next words from what stands in the conversation already. Faster where text is corrected,"
                " summed up or quoted; takes no memory."
            ),
            "ngram",
            tr("Guess from the conversation"),
        ),
        MostRow(draft, theme),
        LeastRow(draft, theme),
        ProbabilityRow(draft, theme),
    )


class DraftRow(ChoiceRow):
    """A model of the library, or a file."""

    def __init__(self, draft: LoadDraft, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(
            draft,
            theme,
            tr("Draft model"),
            tr(
                "A much smaller model with the same vocabulary guesses the next words, and this one looks at all of"
                " them at once. The words stay the same; mostly they come faster. It takes memory of its own."
            ),
            ("draft",),
            parent,
        )
        self._paths: list[str | None] = [None]
        self._texts: list[str] = []
        self.combo = QComboBox()
        self.add_control(self.combo, "draft")
        self.combo.activated.connect(self._take)

    def show_options(self, options: LoadOptions) -> None:
        """Name what can be chosen; one that is not in the library is named by its file."""
        choices = {str(one.path): f"{one.label}, {words.gib(one.size)}" for one in self._draft.guessers}
        if options.draft is not None:
            choices.setdefault(options.draft, Path(options.draft).name)
        texts = [tr("None"), *choices.values(), tr("Choose a file…")]
        with QSignalBlocker(self.combo):
            if texts != self._texts:
                self._texts, self._paths = texts, [None, *choices]
                self.combo.clear()
                self.combo.addItems(texts)
            self.combo.setCurrentIndex(self._paths.index(options.draft))

    def hint(self) -> str:
        """Why there is nothing to choose."""
        if self._draft.guessers or self._draft.options.draft is not None:
            return ""
        return tr("There is no much smaller model with this vocabulary in the library.")

    def take_file(self, path: str) -> None:
        """Let the model in this file guess."""
        if path:
            self._draft.change(draft=path)

    def _take(self, index: int) -> None:
        if index < len(self._paths):
            self._draft.change(draft=self._paths[index])
            return
        self.show_options(self._draft.options)
        dialog = QFileDialog(self, tr("Choose a draft model"), str(self._draft.path.parent))
        dialog.setNameFilters([tr("Models (*.gguf)"), tr("All files (*)")])
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self.take_file)
        dialog.finished.connect(dialog.deleteLater)
        show_dialog(dialog)


class DraftLayersRow(NumberRow):
    """Where the draft model computes."""

    def __init__(self, draft: LoadDraft, theme: Theme) -> None:
        super().__init__(
            draft,
            theme,
            tr("Draft model: layers on the GPU"),
            tr("A draft model is of use where it is quick, so all of it on the GPU where that has room."),
            "draft_gpu_layers",
            (-1, MAX_LAYERS),
            lowest=tr("All"),
        )

    def refresh(self) -> None:
        """Show or hide."""
        super().refresh()
        self.setVisible(self._draft.options.draft is not None and not self._draft.on_cpu)


class MostRow(NumberRow):
    """The longest guess."""

    def __init__(self, draft: LoadDraft, theme: Theme) -> None:
        text = tr("More are worth it where guesses are mostly right; after wrong ones fewer are tried.")
        super().__init__(draft, theme, tr("Most tokens guessed"), text, "n_draft", (1, MAX_DRAFT))

    def refresh(self) -> None:
        """Show or hide."""
        super().refresh()
        self.setVisible(_guesses(self._draft))


class LeastRow(NumberRow):
    """The shortest guess."""

    def __init__(self, draft: LoadDraft, theme: Theme) -> None:
        text = tr("Shorter guesses are not tried.")
        super().__init__(draft, theme, tr("Least tokens guessed"), text, "n_draft_min", (1, MAX_DRAFT))

    def refresh(self) -> None:
        """Show or hide."""
        super().refresh()
        self.setVisible(_guesses(self._draft))


class ProbabilityRow(FloatRow):
    """How sure the draft model has to be."""

    def __init__(self, draft: LoadDraft, theme: Theme) -> None:
        usual = draft.defaults.draft_p_min
        text = tr(
            "The draft model stops guessing at a token that it gives less probability, 0 to 1. At 0 it always guesses."
        )
        super().__init__(draft, theme, tr("Draft model: how sure"), text, "draft_p_min", empty=usual)
        self.edit.setPlaceholderText(f"{usual:g}")

    def refresh(self) -> None:
        """Show or hide."""
        super().refresh()
        self.setVisible(self._draft.options.draft is not None)


def _guesses(draft: LoadDraft) -> bool:
    return draft.options.ngram or draft.options.draft is not None

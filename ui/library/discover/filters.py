"""What search results are narrowed down by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from PySide6.QtCore import QLocale, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from engine.hub.records import SearchQuery
from ui.library.clear_edit import ClearEdit
from ui.library.discover import words
from ui.settings.controls import Choice
from ui.theme import SPACE_S, Theme

BILLION = 10**9
SIZES = ((None, None), (None, 2), (2, 5), (5, 10), (10, 20), (20, 40), (40, 80), (80, None))
"""Least and greatest number of weights, in billions."""

ARCHITECTURES = (
    ("llama", "Llama"),
    ("qwen3", "Qwen 3"),
    ("qwen3moe", "Qwen 3 MoE"),
    ("qwen2", "Qwen 2.5"),
    ("gemma3", "Gemma 3"),
    ("phi3", "Phi"),
    ("mistral3", "Mistral 3"),
    ("gpt-oss", "gpt-oss"),
    ("deepseek2", "DeepSeek"),
    ("glm4moe", "GLM 4 MoE"),
    ("granite", "Granite"),
    ("lfm2", "LFM 2"),
    ("smollm3", "SmolLM 3"),
)
LICENCES = ("apache-2.0", "mit", "gemma", "llama3.1", "llama3.2", "llama3.3", "cc-by-nc-4.0")
LANGUAGES = ("en", "zh", "de", "fr", "es", "it", "pt", "ja", "ko", "ru", "pl", "nl", "tr", "ar", "hi")
FIELD = 150
TYPING_MS = 300


class Filters(QWidget):
    """Author and choices, as many in a line as there is room for.

    Attributes:
        changed: The user narrowed down otherwise.
    """

    changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._columns = theme, 0
        self._author = ClearEdit(theme, self.tr("Author"), self.tr("Any author"))
        self._author.setObjectName("authorFilter")
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(TYPING_MS)
        self._typing.timeout.connect(self.changed)
        self._author.textEdited.connect(lambda _text: self._typing.start())
        self._author.editingFinished.connect(self._settle)
        self._choices = {name: self._make(name, title, choices) for name, title, choices in self._offers()}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(SPACE_S)
        theme.changed.connect(self._arrange)
        self._arrange()

    def narrow(self, query: SearchQuery) -> SearchQuery:
        """``query`` with what is chosen here."""
        smallest, largest = self._value("size") or (None, None)
        return msgspec.structs.replace(
            query,
            author=self._author.text().strip(),
            smallest=None if smallest is None else smallest * BILLION,
            largest=None if largest is None else largest * BILLION,
            architecture=self._value("architecture") or "",
            licence=self._value("licence") or "",
            language=self._value("language") or "",
            gated=self._value("gated"),
        )

    @property
    def in_use(self) -> int:
        """How many of them narrow down."""
        values = [self._value(name) for name in self._choices]
        return sum(value not in (None, "", (None, None)) for value in values) + bool(self._author.text().strip())

    def clear(self) -> None:
        """Narrow down by nothing."""
        self._author.clear()
        for choice in self._choices.values():
            choice.setCurrentIndex(0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put as many into a line as there is room for."""
        super().resizeEvent(event)
        self._arrange()

    def _offers(self) -> Sequence[tuple[str, str, Sequence[tuple[Any, str]]]]:
        return (
            ("size", self.tr("Size"), [(size, self._size(*size)) for size in SIZES]),
            ("architecture", self.tr("Architecture"), [("", self.tr("Any architecture")), *ARCHITECTURES]),
            ("licence", self.tr("Licence"), [("", self.tr("Any licence")), *((n, words.licence(n)) for n in LICENCES)]),
            ("language", self.tr("Language"), [("", self.tr("Any language")), *((n, language(n)) for n in LANGUAGES)]),
            (
                "gated",
                self.tr("Access"),
                [(None, self.tr("Open and gated")), (False, self.tr("Open only")), (True, self.tr("Gated only"))],
            ),
        )

    def _size(self, smallest: int | None, largest: int | None) -> str:
        if smallest is None and largest is None:
            return self.tr("Any size")
        if smallest is None:
            return self.tr("Up to {0}B").format(largest)
        return self.tr("{0}B and more").format(smallest) if largest is None else f"{smallest}B – {largest}B"

    def _make(self, name: str, title: str, choices: Sequence[tuple[Any, str]]) -> Choice:
        choice = Choice(self._theme, title, choices, width=FIELD)
        choice.setObjectName(f"{name}Filter")
        choice.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        choice.chosen.connect(lambda _value: self.changed.emit())
        return choice

    def _value(self, name: str) -> Any:
        return self._choices[name].value

    def _settle(self) -> None:
        if self._typing.isActive():
            self._typing.stop()
            self.changed.emit()

    def _arrange(self) -> None:
        fields = (self._author, *self._choices.values())
        room = max(1, self.width() // (self._theme.px(FIELD) + SPACE_S))
        columns = next((wide for wide in (6, 3, 2) if wide <= room), 2)
        if columns == self._columns:
            return
        self._columns = columns
        for number, field in enumerate(fields):
            self._grid.addWidget(field, number // columns, number % columns)
        for column in range(len(fields)):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)


def language(code: str) -> str:
    """What the speakers of a language call it."""
    return QLocale(code).nativeLanguageName() or code

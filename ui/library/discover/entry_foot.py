"""What is to be said about the chosen file: why it fits or not, what comes along, where it goes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QVBoxLayout, QWidget

from app.fit.badges import Badge
from engine.library.roots import RootInfo
from ui.library import words
from ui.library.discover.entries import Entry, Status, Where, size_of
from ui.settings.controls import Choice
from ui.theme import SPACE_M, SPACE_S, SPACE_XS, Theme, set_role
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.notice_card import Sentence

LINES = 2
"""Of the reason, kept free so that nothing moves."""

PLACE_WIDTH = 220


class EntryFoot(QWidget):
    """Below the table of files.

    Attributes:
        changed: What comes along, or where it goes, is chosen otherwise.
    """

    changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._entry: Entry | None = None
        self._roots: tuple[RootInfo, ...] = ()
        self._name = ElidedLabel()
        self._name.setObjectName("entryName")
        self._reason = Sentence("")
        self._reason.setObjectName("entryReason")
        self._reason.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._projector, self._draft = QCheckBox(), QCheckBox()
        self._projector.setObjectName("withProjector")
        self._draft.setObjectName("withDraft")
        self._projector.setChecked(True)
        self._place = Choice(theme, self.tr("Where it goes"), [], width=PLACE_WIDTH)
        self._place.setObjectName("downloadPlace")
        self._place.hide()
        for box in (self._projector, self._draft):
            box.clicked.connect(self._tell)
        self._place.chosen.connect(lambda _value: self._tell())
        self._lay_out()
        theme.changed.connect(self._fit)
        self._fit()
        self.show_nothing()

    def _lay_out(self) -> None:
        boxes = QHBoxLayout()
        boxes.setSpacing(SPACE_M)
        boxes.addWidget(self._name, 1)
        for box in (self._projector, self._draft, self._place):
            boxes.addWidget(box)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_XS, 0, 0, 0)
        column.setSpacing(SPACE_XS)
        column.addLayout(boxes)
        column.addWidget(self._reason)

    @property
    def projector(self) -> bool:
        """The file that lets the model see comes along."""
        return self._projector.isChecked()

    @property
    def draft(self) -> bool:
        """The file that guesses ahead comes along."""
        return self._draft.isChecked()

    @property
    def folder(self) -> Path | None:
        """Folder that it goes to; None: the own models folder."""
        root = self._root()
        return None if root is None or root is self._roots[0] else root.path

    def set_roots(self, roots: Sequence[RootInfo]) -> None:
        """Folders that something can be put into, the own one first."""
        chosen = self._root()
        self._roots = tuple(roots)
        free = self.tr("{0}, {1} free")
        texts = [free.format(one.name, words.file_size(one.free)) if one.free else one.name for one in self._roots]
        self._place.set_choices(list(zip((one.id for one in self._roots), texts, strict=True)))
        if chosen is not None and any(one.id == chosen.id for one in self._roots):
            self._place.show_value(chosen.id)
        self._place.setVisible(len(self._roots) > 1)

    def show_nothing(self) -> None:
        """No entry is chosen."""
        self._entry = None
        self._name.setText("")
        self._reason.setText("")
        for box in (self._projector, self._draft):
            box.hide()

    def show_entry(self, entry: Entry, badge: Badge, status: Status) -> None:
        """Say what there is to say about ``entry``."""
        if entry != self._entry:
            self._entry = entry
            self._offer(self._projector, entry.projector, self.tr("With pictures (+{0})"))
            self._offer(self._draft, entry.draft, self.tr("With draft model (+{0})"))
            self._draft.setToolTip(self.tr("A small model that guesses ahead, so that answers come faster"))
            self._projector.setToolTip(self.tr("The file that lets the model see or hear"))
        parts = len(entry.file.parts)
        name = entry.file.path
        self._name.setText(self.tr("{0} · {1} parts").format(name, parts) if parts > 1 else name)
        self._say(entry, badge, status)

    def _offer(self, box: QCheckBox, file: object, text: str) -> None:
        box.setVisible(file is not None)
        if file is not None:
            box.setText(text.format(words.file_size(getattr(file, "size", None))))

    def _say(self, entry: Entry, badge: Badge, status: Status) -> None:
        short = self._shortage(entry) if status.where is Where.NEW else ""
        set_role(self._reason, "bad" if short else "muted")
        if short or entry.file.companion:
            self._reason.setText(short or self.tr("This file belongs to a model and cannot be loaded alone."))
        elif badge.plan is not None:
            akin = self.tr(" Reckoned from another file of the same model.") if badge.akin else ""
            self._reason.setText(badge.plan.reason + akin)
        else:
            self._reason.setText(self.tr("Whether it fits is known once its header was read and the engine runs."))

    def _shortage(self, entry: Entry) -> str:
        """Why there is no room on the drive, "" when there is or when that is unknown."""
        root, size = self._root(), size_of(entry, projector=self.projector, draft=self.draft)
        if root is None or size is None:
            return ""
        largest = max((part.size or 0 for part in entry.file.parts), default=0)
        if root.file_limit is not None and largest > root.file_limit:
            text = self.tr("{0} holds no file larger than {1}. Choose another place.")
            return text.format(root.name, words.file_size(root.file_limit))
        if root.free is not None and size > root.free:
            text = self.tr("{0} has {1} free, {2} are needed. Delete something there, or choose another place.")
            return text.format(root.name, words.file_size(root.free), words.file_size(size))
        return ""

    def _root(self) -> RootInfo | None:
        if not self._roots:
            return None
        index = max(0, self._place.currentIndex())
        return self._roots[index] if index < len(self._roots) else self._roots[0]

    def _tell(self) -> None:
        self.changed.emit()

    def _fit(self) -> None:
        self._reason.setMinimumWidth(1)
        self._reason.set_least(LINES * self._reason.fontMetrics().lineSpacing() + SPACE_S)

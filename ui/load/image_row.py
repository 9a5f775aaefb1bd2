"""The image encoder that is loaded with a model."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QCheckBox, QComboBox, QWidget

from app.load.draft import LoadDraft
from engine.protocol.types import LoadOptions
from ui.load import words
from ui.load.row import ChoiceRow
from ui.theme import Theme


class ImageRow(ChoiceRow):
    """Yes or no, and which one where several lie beside the model. Only shown where there is one."""

    def __init__(self, draft: LoadDraft, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(
            draft,
            theme,
            self.tr("Image encoder"),
            self.tr("A file beside the model for pictures. It takes memory of its own; pictures cannot be sent yet."),
            ("mmproj",),
            parent,
        )
        self._paths: list[str] = []
        self.box = QCheckBox(self.tr("Load the image encoder"))
        self.combo = QComboBox()
        self.combo.setAccessibleName(self.tr("Which image encoder"))
        self.add_control(self.box, "mmproj")
        self.add_control(self.combo, "mmprojFile")
        self.box.toggled.connect(self._take)
        self.combo.currentIndexChanged.connect(lambda _index: self._take(self.box.isChecked()))

    def refresh(self) -> None:
        """Show or hide."""
        super().refresh()
        self.setVisible(bool(self._paths))

    def show_options(self, options: LoadOptions) -> None:
        """Check the box or not, and name what can be chosen."""
        sizes = {encoder.path: encoder.size for encoder in self._draft.encoders}
        if options.mmproj is not None:
            sizes.setdefault(options.mmproj, 0)
        with QSignalBlocker(self.combo), QSignalBlocker(self.box):
            if list(sizes) != self._paths:
                self._paths = list(sizes)
                self.combo.clear()
                self.combo.addItems([_label(path, size) for path, size in sizes.items()])
            if options.mmproj is not None:
                self.combo.setCurrentIndex(self._paths.index(options.mmproj))
            self.box.setChecked(options.mmproj is not None)
        self.combo.setVisible(len(self._paths) > 1)
        self.combo.setEnabled(options.mmproj is not None)

    def hint(self) -> str:
        """Which file it is, where there is no choice."""
        sizes = {encoder.path: encoder.size for encoder in self._draft.encoders}
        return _label(self._paths[0], sizes.get(self._paths[0], 0)) if len(self._paths) == 1 else ""

    def _take(self, on: bool) -> None:
        chosen = self._paths[max(0, self.combo.currentIndex())] if self._paths else None
        self._draft.change(mmproj=chosen if on else None)


def _label(path: str, size: int) -> str:
    return f"{Path(path).name}, {words.gib(size)}" if size else Path(path).name

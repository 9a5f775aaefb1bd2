"""LoRA adapters that are laid over the model."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QDoubleSpinBox, QFileDialog, QHBoxLayout, QVBoxLayout, QWidget

from app.load.draft import LoadDraft
from engine.loading.check import MAX_LORA_SCALE
from engine.protocol.types import LoadOptions, LoraAdapter
from ui.load.fields import TEXT_MARGIN
from ui.load.row import ChoiceRow
from ui.shell.dialogs import show_dialog
from ui.theme import Theme
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.icon_button import IconButton
from ui.widgets.text_button import TextButton

DECIMALS, SCALE_WIDTH = 3, 104


class LoraRow(ChoiceRow):
    """Files, each with how strong it is. The engine checks that they were made for this model."""

    def __init__(self, draft: LoadDraft, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(
            draft,
            theme,
            self.tr("LoRA adapters"),
            self.tr(
                "Small files that teach a model something more. They have to be made for it; that is checked when it"
                " is loaded. 1 is as trained, 0 is without effect."
            ),
            ("lora",),
            parent,
        )
        self._lines: list[_AdapterLine] = []
        self._list = QVBoxLayout()
        self._list.setSpacing(0)
        self.controls.addLayout(self._list)
        self.add_button = TextButton(theme, self.tr("Add adapter…"), "plus")
        self.add_control(self.add_button, "addAdapter")
        self.add_button.clicked.connect(self._choose_file)

    def show_options(self, options: LoadOptions) -> None:
        """A line for each; lines stay while only their scale changes."""
        if [line.path for line in self._lines] != [adapter.path for adapter in options.lora]:
            for line in self._lines:
                self._list.removeWidget(line)
                line.hide()
                line.deleteLater()
            self._lines = [self._new_line(number, adapter) for number, adapter in enumerate(options.lora)]
        for line, adapter in zip(self._lines, options.lora, strict=True):
            line.show_scale(adapter.scale)

    def add_file(self, path: str) -> None:
        """Lay the file at ``path`` over the model, as trained."""
        if path and all(adapter.path != path for adapter in self._draft.options.lora):
            self._draft.change(lora=(*self._draft.options.lora, LoraAdapter(path=path)))

    def _new_line(self, number: int, adapter: LoraAdapter) -> _AdapterLine:
        line = _AdapterLine(adapter.path, number, self._theme)
        self.dress(line.scale, f"adapterScale{number}")
        line.scale.valueChanged.connect(lambda value: self._rescale(line.path, value))
        line.remove.clicked.connect(lambda: self._remove(line.path))
        self._list.addWidget(line)
        return line

    def _rescale(self, path: str, scale: float) -> None:
        lora = self._draft.options.lora
        self._draft.change(lora=tuple(LoraAdapter(path=a.path, scale=scale) if a.path == path else a for a in lora))

    def _remove(self, path: str) -> None:
        self._draft.change(lora=tuple(a for a in self._draft.options.lora if a.path != path))
        self.add_button.setFocus()

    def _choose_file(self) -> None:
        dialog = QFileDialog(self, self.tr("Add a LoRA adapter"), str(self._draft.path.parent))
        dialog.setNameFilters([self.tr("Adapters (*.gguf)"), self.tr("All files (*)")])
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self.add_file)
        dialog.finished.connect(dialog.deleteLater)
        show_dialog(dialog)


class _AdapterLine(QWidget):
    """Name, scale, remove."""

    def __init__(self, path: str, number: int, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.path = path
        name = ElidedLabel(Path(path).name)
        name.set_tooltip(path)
        self.scale = QDoubleSpinBox()
        self.scale.setRange(-MAX_LORA_SCALE, MAX_LORA_SCALE)
        self.scale.setDecimals(DECIMALS)
        self.scale.setSingleStep(0.1)
        self.scale.setKeyboardTracking(False)
        self.scale.lineEdit().setTextMargins(TEXT_MARGIN, 0, 0, 0)
        self.scale.setFixedWidth(theme.px(SCALE_WIDTH))
        self.scale.setAccessibleName(self.tr("Scale of {0}").format(Path(path).name))
        self.remove = IconButton(theme, "x", self.tr("Remove {0}").format(Path(path).name))
        self.remove.setObjectName(f"removeAdapter{number}")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(name, 1)
        row.addWidget(self.scale)
        row.addWidget(self.remove)

    def show_scale(self, scale: float) -> None:
        """Show it rounded; the exact one stays in the draft."""
        with QSignalBlocker(self.scale):
            self.scale.setValue(scale)

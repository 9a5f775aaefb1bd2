"""The line of presets: choose one, save, rename, delete, read and write files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QInputDialog, QMenu, QWidget

from app.chat.parameters import Parameters, Values, fitting
from app.chat.presets import Presets
from app.notices import Notices, from_error
from engine.errors import VrambleError
from ui.settings.controls import Choice
from ui.shell.dialogs import show_dialog
from ui.theme import SPACE_XS, Theme
from ui.widgets.icon_button import IconButton

NOTICE = "preset"


class PresetBar(QWidget):
    """Choosing a preset sets exactly its values; one that the values are equal to is shown as chosen."""

    def __init__(
        self, theme: Theme, parameters: Parameters, presets: Presets, notices: Notices, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._parameters, self._presets, self._notices = parameters, presets, notices
        self._choice = Choice(theme, self.tr("Preset"), [])
        self._choice.setObjectName("presetChoice")
        self._choice.chosen.connect(self._choose)
        self._more = IconButton(theme, "dots-three-vertical", self.tr("Presets"))
        self._more.setObjectName("presetMenuButton")
        self._more.clicked.connect(self._open_menu)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(SPACE_XS)
        row.addWidget(self._choice, 1)
        row.addWidget(self._more)
        parameters.changed.connect(self.follow)
        presets.changed.connect(self.follow)
        self.follow()

    def follow(self) -> None:
        """Offer the presets there are, and show which one the values come from."""
        own = self._parameters.own
        names = [preset.name for preset in self._presets.all]
        found = next((preset.name for preset in self._presets.all if self._effective(preset.values) == own), None)
        nothing = self.tr("No preset") if not own else self.tr("Own values")
        self._choice.set_choices([(None, nothing), *((name, name) for name in names)])
        self._choice.show_value(found)

    @property
    def chosen(self) -> str | None:
        """The preset that is shown."""
        value = self._choice.value
        return value if isinstance(value, str) else None

    def _effective(self, values: Values) -> Values:
        """Those of a preset's values that differ from what is inherited."""
        return self._parameters.differing(fitting(values))

    def _choose(self, name: str | None) -> None:
        preset = self._presets.find(name) if name is not None else None
        self._parameters.take(preset.values if preset is not None else {})
        self.follow()

    def _open_menu(self) -> None:
        menu = QMenu(self)
        menu.aboutToHide.connect(menu.deleteLater)
        name = self.chosen
        menu.addAction(self.tr("Save as preset…")).triggered.connect(lambda: self._ask_name(self._save, ""))
        if name is not None:
            rename = menu.addAction(self.tr("Rename…"))
            rename.triggered.connect(lambda: self._ask_name(lambda new: self._rename(name, new), name))
            menu.addAction(self.tr("Delete preset")).triggered.connect(lambda: self._presets.delete(name))
        menu.addSeparator()
        menu.addAction(self.tr("Import…")).triggered.connect(self._import)
        if name is not None:
            menu.addAction(self.tr("Export…")).triggered.connect(lambda: self._export(name))
        menu.popup(self._more.mapToGlobal(QPoint(0, self._more.height())))

    def _save(self, name: str) -> None:
        self._presets.save(name, self._parameters.own)

    def _rename(self, name: str, new: str) -> None:
        self._presets.rename(name, new)

    def _ask_name(self, use: Callable[[str], None], present: str) -> None:
        dialog = QInputDialog(self)
        dialog.setObjectName("presetName")
        dialog.setWindowTitle(self.tr("Preset"))
        dialog.setLabelText(self.tr("Name of the preset"))
        dialog.setTextValue(present)
        dialog.textValueSelected.connect(use)
        dialog.finished.connect(dialog.deleteLater)
        show_dialog(dialog)

    def _import(self) -> None:
        self._ask_file(QFileDialog.AcceptMode.AcceptOpen, "", lambda path: self._presets.read(path, self._took))

    def _export(self, name: str) -> None:
        mode = QFileDialog.AcceptMode.AcceptSave
        self._ask_file(mode, f"{name}.json", lambda path: self._presets.export(name, path, self._wrote))

    def _ask_file(self, mode: QFileDialog.AcceptMode, name: str, use: Callable[[Path], None]) -> None:
        dialog = QFileDialog(self)
        dialog.setAcceptMode(mode)
        dialog.setNameFilter(self.tr("Presets (*.json)"))
        dialog.setDefaultSuffix("json")
        if name:
            dialog.selectFile(name.replace("/", "-"))
        dialog.fileSelected.connect(lambda file: use(Path(file)))
        dialog.finished.connect(dialog.deleteLater)
        show_dialog(dialog)

    def _took(self, result: str | VrambleError) -> None:
        if isinstance(result, VrambleError):
            self._wrote(result)
        elif result:
            self._choose(result)

    def _wrote(self, error: VrambleError | None) -> None:
        if error is not None:
            self._notices.post(from_error(NOTICE, error))

"""Looks, and what lies where on the disk."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from app.library.settings import LibrarySettings
from app.paths import Paths
from app.settings.look import DiskLook, Part, Place, places
from app.settings.store import SettingsStore
from ui.settings import words
from ui.settings.bound import RowMaker
from ui.settings.page import SettingsPage
from ui.settings.row import Row
from ui.theme import SCALE_MAX, SCALE_MIN, Theme, ThemeMode
from ui.widgets.icon_button import IconButton
from ui.window_settings import WindowSettings

SCALES = (0.8, 0.85, 0.9, 1.0, 1.1, 1.15, 1.25, 1.4, 1.5, 1.75, 2.0)


def percent(scale: float) -> str:
    """A text size in words."""
    return f"{round(scale * 100)} %"


class GeneralPage(SettingsPage):
    """Theme, text size, folders.

    Args:
        opener: Shows a folder in the desktop's file manager.
    """

    def __init__(
        self,
        theme: Theme,
        store: SettingsStore,
        paths: Paths,
        look: DiskLook,
        opener: Callable[[Path], None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(theme, parent)
        self._look, self._opener = look, opener
        self._sizes: dict[Part, QLabel] = {}
        self._places = places(paths)
        self.set_title(self.tr("General"))
        self._build_looks(RowMaker(theme, store, WindowSettings))
        self._build_models(RowMaker(theme, store, LibrarySettings))
        self._build_storage(store.path)

    def opened(self) -> None:
        """Measure the folders again."""
        for place in self._places:
            self._look.measure(place, partial(self._show_size, place.part))

    def _build_looks(self, make: RowMaker) -> None:
        section = self.section(self.tr("Appearance"))
        section.add(
            make.choice(
                "theme",
                self.tr("Colours"),
                self.tr("Light or dark, or as the desktop wants it."),
                [
                    (ThemeMode.SYSTEM, self.tr("Follow the system")),
                    (ThemeMode.LIGHT, self.tr("Light")),
                    (ThemeMode.DARK, self.tr("Dark")),
                ],
                words="theme dark light mode",
            )
        )
        sizes = [(scale, percent(scale)) for scale in SCALES if SCALE_MIN <= scale <= SCALE_MAX]
        text = self.tr("Of everything in the windows.")
        section.add(make.choice("scale", self.tr("Text size"), text, sizes, words="font zoom scale"))

    def _build_models(self, make: RowMaker) -> None:
        section = self.section(self.tr("Models"))
        section.add(
            make.switch(
                "others",
                self.tr("Models of other programs"),
                self.tr("Those of LM Studio, Ollama, Jan, GPT4All and others are used where they lie."),
                words="library folders lm studio ollama jan gpt4all lemonade hugging face cache",
            )
        )

    def _build_storage(self, settings: Path) -> None:
        titles = {
            Part.MODELS: self.tr("Models"),
            Part.CONVERSATIONS: self.tr("Conversations"),
            Part.BACKENDS: self.tr("Own backends"),
            Part.CACHE: self.tr("Cache"),
            Part.LOGS: self.tr("Logs"),
        }
        section = self.section(self.tr("Storage"), self.tr("Everything stays on this computer."))
        for place in self._places:
            section.add(self._build_place(place, titles[place.part]))
        title = self.tr("Settings file")
        button = self._folder_button(settings.parent, title)
        section.add(Row(self.theme, title, words.shown_path(settings), [button], words="json"))

    def _build_place(self, place: Place, title: str) -> Row:
        size = QLabel(self.tr("measuring…"))
        size.setProperty("role", "muted")
        size.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        size.setObjectName(f"size-{place.part}")
        self._sizes[place.part] = size
        button = self._folder_button(place.folder, title)
        return Row(self.theme, title, words.shown_path(place.folder), [size, button], words="folder disk space")

    def _folder_button(self, folder: Path, title: str) -> IconButton:
        button = IconButton(self.theme, "folder-open", self.tr("Open the folder of “{0}”").format(title))
        button.clicked.connect(lambda: self._look.find_folder(folder, self._opener))
        return button

    def _show_size(self, part: Part, size: int | None) -> None:
        self._sizes[part].setText(words.file_size(size))

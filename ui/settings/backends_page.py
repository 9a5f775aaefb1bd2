"""The engine's backends: what is loaded, switches, their variables, and what comes from outside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import msgspec
from PySide6.QtWidgets import QWidget

from app.settings.look import DiskLook
from app.settings.records import BackendSettings
from app.settings.store import SettingsStore
from app.settings.variables import overlays_kept_away, strays
from app.worker.service import WorkerService
from engine.protocol.types import BackendInfo
from ui.settings import words
from ui.settings.backend_row import BackendRow
from ui.settings.controls import Switch
from ui.settings.page import SettingsPage
from ui.settings.row import Row
from ui.theme import Theme
from ui.widgets.text_button import TextButton

ROCM = "ROCm"


class BackendsPage(SettingsPage):
    """Follows the settings and what the engine tells.

    Args:
        folder: Where plugins are that the user added.
        environ: The environment of the program.
        opener: Shows a folder in the desktop's file manager.
    """

    def __init__(
        self,
        theme: Theme,
        store: SettingsStore,
        worker: WorkerService,
        look: DiskLook,
        folder: Path,
        environ: Mapping[str, str],
        opener: Callable[[Path], None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(theme, parent)
        self._store, self._worker, self._look = store, worker, look
        self._folder, self._environ, self._opener = folder, environ, opener
        self._rows: dict[str, BackendRow] = {}
        self._told: tuple[BackendInfo, ...] | None = None
        self._switches: dict[str, Switch] = {}
        self.set_title(
            self.tr("Backends"),
            self.tr("The parts of the engine that compute. Changes apply when the engine starts next."),
        )
        self._backends = self.section()
        self._build_own()
        self._build_strays()
        self._build_overlays()
        store.changed.connect(self._follow)
        worker.hello_received.connect(self._show)
        self._show()

    def opened(self) -> None:
        """The engine may have told more meanwhile."""
        self._show()

    def _build_own(self) -> None:
        section = self.section(self.tr("Own plugins"))
        button = TextButton(self.theme, self.tr("Open folder"), "folder-open")
        button.setObjectName("openBackendsFolder")
        button.clicked.connect(lambda: self._look.find_folder(self._folder, self._opener))
        text = self.tr("Any ggml plugin (libggml-….so) of the same llama.cpp build is loaded from here: {0}")
        text = text.format(words.shown_path(self._folder))
        section.add(Row(self.theme, self.tr("Folder for plugins"), text, [button], words="hip rocm cuda sycl"))
        self._add_hip = Row(
            self.theme,
            self.tr("Add ROCm (HIP)"),
            self.tr(
                "Run “packaging/build-backend hip” in Vramble's source folder, with ROCm installed. "
                "It builds the plugin and puts it into this folder; docs/backends.md says more."
            ),
        )
        section.add(self._add_hip)
        self._own = section

    def _build_strays(self) -> None:
        found = strays(self._environ)
        section = self.section(
            self.tr("Variables from outside"),
            self.tr(
                "The program was started with these. They change how a GPU is used, and are easily forgotten. "
                "Switched off, the engine does not get them."
            ),
        )
        for name, value in found.items():
            switch = Switch(self.theme, self.tr("Pass {0} on to the engine").format(name))
            switch.setObjectName(f"stray-{name}")
            switch.chosen.connect(partial(self._pass_on, name))
            self._switches[name] = switch
            text = " ".join(part for part in (f"{name}={value}.", words.variable(name)) if part)
            section.add(Row(self.theme, name, text, [switch], words="environment stray"))

    def _build_overlays(self) -> None:
        kept = overlays_kept_away(self._environ)
        text = self.tr(
            "MangoHud, vkBasalt, the Steam overlay, OBS capture and the like draw on games. "
            "Here they could only crash the engine, so it starts without them."
        )
        section = self.section(self.tr("Overlays"))
        row = Row(self.theme, self.tr("Kept away from the engine"), text, words="mangohud vkbasalt steam obs layer")
        now = self.tr("Kept away at this start: {0}.").format(", ".join(kept))
        row.set_note(now if kept else self.tr("None was switched on at this start."), "muted")
        section.add(row)

    def _infos(self) -> tuple[BackendInfo, ...]:
        """What the engine told, and what is switched off but was not told."""
        told = self._worker.hello.backends if self._worker.hello is not None else ()
        names = {info.name.casefold() for info in told}
        off = self._store.get(BackendSettings).off
        missing = (name for name in dict.fromkeys(off) if name.casefold() not in names)
        return (*told, *(BackendInfo(name=name, path="", loaded=False) for name in missing))

    def _follow(self, feature: str) -> None:
        if feature == "backend":
            self._show()

    def _show(self) -> None:
        infos = self._infos()
        if infos != self._told:
            self._told = infos
            self._fill(infos)
        settings = self._store.get(BackendSettings)
        for row in self._rows.values():
            row.show_settings(settings)
        for name, switch in self._switches.items():
            switch.show_value(name not in settings.ignored)
        has_hip = any(info.name == ROCM and info.loaded for info in infos)
        self._own.set_wanted(self._add_hip, not has_hip)

    def _fill(self, infos: tuple[BackendInfo, ...]) -> None:
        self._backends.clear()
        self._rows = {}
        for info in infos:
            row = BackendRow(self.theme, info)
            row.switched.connect(partial(self._switch, info.name))
            row.variables_changed.connect(partial(self._set_variables, info.name))
            self._rows[info.name] = row
            variables = " ".join(self._store.get(BackendSettings).environment.get(info.name, {}))
            self._backends.add(row, f"{info.name} {info.path} {variables} backend plugin")
        if not infos:
            text = self.tr("The engine has not told its backends yet.")
            self._backends.add(Row(self.theme, self.tr("No backends are known"), text))

    def _switch(self, name: str, on: bool) -> None:
        settings = self._store.get(BackendSettings)
        others = tuple(other for other in settings.off if other.casefold() != name.casefold())
        self._store.put(msgspec.structs.replace(settings, off=others if on else (*others, name)))

    def _set_variables(self, backend: str, values: dict[str, str]) -> None:
        settings = self._store.get(BackendSettings)
        environment = {**settings.environment, backend: values}
        kept = {name: table for name, table in environment.items() if table}
        self._store.put(msgspec.structs.replace(settings, environment=kept))

    def _pass_on(self, name: str, wanted: bool) -> None:
        settings = self._store.get(BackendSettings)
        others = tuple(other for other in settings.ignored if other != name)
        self._store.put(msgspec.structs.replace(settings, ignored=others if wanted else (*others, name)))

"""How models are fetched: how many at a time, how fast, whether at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QWidget

from app.downloads.settings import MAX_CONNECTIONS, MAX_PARALLEL, DownloadSettings
from app.settings.fields import feature_name
from app.settings.store import SettingsStore
from ui.settings.controls import Choice, Number, Switch
from ui.theme import SPACE_L, SPACE_M, SPACE_S, Theme

MB = 10**6
SPEEDS = (None, 1, 2, 5, 10, 20, 50, 100)
"""Megabytes a second."""
WIDTH, NARROW = 128, 76


class Limits(QFrame):
    """Every change is kept at once."""

    def __init__(self, store: SettingsStore, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._store, self._theme, self._columns = store, theme, 0
        self.setObjectName("downloadLimits")
        self.setProperty("role", "chip")
        parallel, connections = self.tr("Downloads at a time"), self.tr("Connections for a file")
        self._parallel = Number(theme, parallel, 1, MAX_PARALLEL, width=NARROW)
        self._connections = Number(theme, connections, 1, MAX_CONNECTIONS, width=NARROW)
        self._speed = Choice(theme, self.tr("Speed of all together"), self._speeds(), width=WIDTH)
        self._offline = Switch(theme, self.tr("Offline: ask nobody"))
        self._awake = Switch(theme, self.tr("No suspend meanwhile"))
        self._offline.setToolTip(self.tr("Nothing is asked of the Hub; what was kept earlier is shown"))
        self._controls: tuple[tuple[str, QWidget], ...] = (
            (parallel, self._parallel),
            (connections, self._connections),
            (self._speed.accessibleName(), self._speed),
            (self._offline.accessibleName(), self._offline),
            (self._awake.accessibleName(), self._awake),
        )
        self._name_and_connect()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(SPACE_M, SPACE_S, SPACE_M, SPACE_S)
        self._grid.setHorizontalSpacing(SPACE_L)
        self._grid.setVerticalSpacing(0)
        self._cells = [self._cell(text, control) for text, control in self._controls]
        store.changed.connect(self._follow)
        theme.changed.connect(self._arrange)
        self._show()
        self._arrange()

    def _name_and_connect(self) -> None:
        fields: Sequence[tuple[Any, str]] = (
            (self._parallel, "parallel"),
            (self._connections, "connections"),
            (self._offline, "offline"),
            (self._awake, "inhibit_sleep"),
        )
        for control, field in fields:
            control.setObjectName(f"downloads-{field}")
            control.chosen.connect(lambda value, field=field: self._put(**{field: value}))
        self._speed.setObjectName("downloads-limit_bytes_s")
        self._speed.chosen.connect(lambda value: self._put(limit_bytes_s=value))

    def _cell(self, text: str, control: QWidget) -> QWidget:
        cell = QWidget()
        label = QLabel(text)
        label.setProperty("role", "muted")
        label.setBuddy(control)
        row = QHBoxLayout(cell)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(SPACE_S)
        row.addWidget(label)
        row.addStretch()
        row.addWidget(control, 0, Qt.AlignmentFlag.AlignVCenter)
        return cell

    def _speeds(self) -> list[tuple[int | None, str]]:
        return [(None if one is None else one * MB, self._speed_text(one)) for one in SPEEDS]

    def _speed_text(self, speed: int | None) -> str:
        return self.tr("No limit") if speed is None else self.tr("{0} MB/s").format(speed)

    def _put(self, **changes: object) -> None:
        self._store.put(msgspec.structs.replace(self._store.get(DownloadSettings), **changes))

    def _follow(self, feature: str) -> None:
        if feature == feature_name(DownloadSettings):
            self._show()

    def _show(self) -> None:
        settings = self._store.get(DownloadSettings)
        self._parallel.show_value(settings.parallel)
        self._connections.show_value(settings.connections)
        limit = settings.limit_bytes_s
        own = self.tr("{0} MB/s").format(f"{limit / MB:.1f}") if limit is not None else ""
        self._speed.show_value(limit, own)
        self._offline.show_value(settings.offline)
        self._awake.show_value(settings.inhibit_sleep)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """As many beside each other as there is room for."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        widest = max(cell.sizeHint().width() for cell in self._cells)
        columns = max(1, min(3, (self.width() - 2 * SPACE_M) // (widest + SPACE_L)))
        if columns == self._columns:
            return
        self._columns = columns
        for number, cell in enumerate(self._cells):
            self._grid.addWidget(cell, number // columns, number % columns)
        for column in range(3):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)

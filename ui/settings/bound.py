"""Rows that show a setting, change it at once, and follow it when it is changed elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtWidgets import QWidget

from app.settings.setting import Setting
from app.settings.store import SettingsStore
from ui.settings.controls import Choice, Number, Switch
from ui.settings.row import Row
from ui.theme import Theme

Take = Callable[[Any], None]


class BoundRow(Row):
    """A row whose control shows ``setting``.

    Args:
        control: Has a signal ``chosen`` with a value, and a method ``show_value``.
        take: Called with a value that the user chose, and with the default by the arrow; default: the setting's own.
    """

    def __init__(
        self,
        theme: Theme,
        store: SettingsStore,
        setting: Setting,
        title: str,
        text: str,
        control: Choice | Number | Switch,
        *,
        take: Take | None = None,
        words: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(theme, title, text, [control], words=words, can_reset=True, parent=parent)
        self._setting, self._control = setting, control
        self._take = take or setting.set
        control.chosen.connect(self._choose)
        self.reset.connect(self._reset)
        store.changed.connect(self._follow)
        self._show()

    def _choose(self, value: Any) -> None:
        self._take(value)
        self._show()

    def _reset(self) -> None:
        self._choose(self._setting.default)

    def _follow(self, feature: str) -> None:
        if feature == self._setting.feature:
            self._show()

    def _show(self) -> None:
        self._control.show_value(self._setting.value)
        self.set_changed(self._setting.is_changed)


class RowMaker:
    """Makes rows over one store."""

    def __init__(self, theme: Theme, store: SettingsStore, record: type) -> None:
        self._theme, self._store, self._record = theme, store, record

    def choice(
        self,
        field: str,
        title: str,
        text: str,
        choices: Sequence[tuple[Any, str]],
        *,
        take: Take | None = None,
        words: str = "",
    ) -> BoundRow:
        """One of several values."""
        return self._row(field, title, text, Choice(self._theme, title, choices), take, words)

    def switch(self, field: str, title: str, text: str, *, words: str = "") -> BoundRow:
        """On or off."""
        return self._row(field, title, text, Switch(self._theme, title), None, words)

    def number(
        self,
        field: str,
        title: str,
        text: str,
        limits: tuple[int, int],
        *,
        step: int = 1,
        word: str = "",
        suffix: str = "",
        words: str = "",
    ) -> BoundRow:
        """A whole number within ``limits``; the lowest one is shown as ``word``."""
        control = Number(self._theme, title, *limits, step=step, word=word, suffix=suffix)
        return self._row(field, title, text, control, None, words)

    def _row(
        self, field: str, title: str, text: str, control: Choice | Number | Switch, take: Take | None, words: str
    ) -> BoundRow:
        setting = Setting(self._store, self._record, field)
        control.setObjectName(f"{setting.feature}-{field}")
        return BoundRow(self._theme, self._store, setting, title, text, control, take=take, words=f"{field} {words}")

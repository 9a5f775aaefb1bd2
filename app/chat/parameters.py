"""What answers are made with: settings for all, laid over by those of the model and of the conversation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import PurePath
from typing import Any

import msgspec
from PySide6.QtCore import QObject, Signal

from app.chat.settings import ChatSettings
from app.chat.throttle import Throttle
from app.settings.store import SettingsStore
from engine.chat.records import Conversation
from engine.chat.text import clean

SAVE_MS = 400
Values = dict[str, Any]
"""Some fields of `ChatSettings` by name, as plain values."""


class ModelChatSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Defaults of single models: by file name, the fields of `ChatSettings` that were chosen for it."""

    by_model: dict[str, dict[str, Any]] = {}


@cache
def field_types() -> dict[str, Any]:
    """The type of each field of `ChatSettings`. Asking for it takes milliseconds, and every frame needs it."""
    return {field.name: field.type for field in msgspec.structs.fields(ChatSettings)}


def laid_over(base: ChatSettings, values: Mapping[str, Any]) -> ChatSettings:
    """``base`` with each value that fits its field; others are passed over."""
    accepted: dict[str, Any] = {}
    for name, wanted in field_types().items():
        if name in values:
            try:
                accepted[name] = msgspec.convert(values[name], wanted)
            except msgspec.ValidationError:
                continue
    return msgspec.structs.replace(base, **accepted)


def fitting(values: object) -> Values:
    """Those of ``values`` that are fields of `ChatSettings` and fit them, as plain values."""
    if not isinstance(values, Mapping):
        return {}
    names = set(ChatSettings.__struct_fields__)
    found = laid_over(ChatSettings(), values)
    kept: Values = {}
    for name in names & set(values):
        plain = _plain(getattr(found, name))
        if plain == values[name]:
            kept[name] = plain
    return kept


def decoded(text: str | None) -> Values:
    """Values as a conversation stores them; nothing where they cannot be read."""
    try:
        return fitting(msgspec.json.decode(text)) if text else {}
    except msgspec.DecodeError:
        return {}


def encoded(values: Values) -> str | None:
    """The inverse of `decoded`; None for no values."""
    return msgspec.json.encode(dict(sorted(values.items()))).decode() if values else None


class Parameters(QObject):
    """The parameters of the open conversation, and of the new chat before it is one.

    Args:
        save: Stores the values of a conversation (id, JSON text or None).
        model: File of the loaded model, or of the one that comes back; "" when none is known.

    Attributes:
        changed: `present` or `own` changed, or another conversation is open.
    """

    changed = Signal()

    def __init__(
        self,
        settings: SettingsStore,
        save: Callable[[str, str | None], None],
        model: Callable[[], str],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._settings, self._save, self._model = settings, save, model
        self._place: str | None = None
        self._own: dict[str | None, Values] = {}
        self._unsaved: set[str] = set()
        self._throttle = Throttle(SAVE_MS, self.save, self)
        settings.changed.connect(self._settings_changed)

    @property
    def own(self) -> Values:
        """What was chosen for the open conversation."""
        return dict(self._own.get(self._place, {}))

    @property
    def inherited(self) -> ChatSettings:
        """What holds where nothing was chosen: the settings for all, with the defaults of the model."""
        return laid_over(self._settings.get(ChatSettings), self.of_model)

    @property
    def present(self) -> ChatSettings:
        """What the next answer of the open conversation is made with."""
        return self.of(self._place)

    @property
    def of_model(self) -> Values:
        """The defaults of the model."""
        return dict(self._settings.get(ModelChatSettings).by_model.get(self.model, {}))

    @property
    def model(self) -> str:
        """By which name defaults are kept: the file name of the model; "" while none is known."""
        return PurePath(self._model()).name

    def of(self, conversation: str | None) -> ChatSettings:
        """What the next answer of ``conversation`` is made with."""
        return laid_over(self.inherited, self._own.get(conversation, {}))

    def change(self, **values: object) -> None:
        """Choose values for the open conversation; one that is as inherited is no choice."""
        inherited = self.inherited
        own = self.own
        for name, value in values.items():
            plain = clean(value) if isinstance(value, str) else _plain(value)
            if plain == _plain(getattr(inherited, name)):
                own.pop(name, None)
            else:
                own[name] = plain
        self._put(fitting(own))

    def reset(self, *names: str) -> None:
        """Take choices back; without names all."""
        self._put({name: value for name, value in self.own.items() if names and name not in names})

    def take(self, values: Mapping[str, Any]) -> None:
        """Choose exactly ``values``, as a preset says."""
        self._put(self.differing(fitting(values)))

    def differing(self, values: Values) -> Values:
        """Those of ``values`` that are other than what is inherited."""
        inherited = self.inherited
        return {name: value for name, value in values.items() if value != _plain(getattr(inherited, name))}

    def keep_for_model(self) -> None:
        """Make the present values the defaults of the model; the conversation then has no choices of its own."""
        if not self.model:
            return
        everywhere, present = self._settings.get(ChatSettings), self.present
        names = ChatSettings.__struct_fields__
        differing = {n: _plain(getattr(present, n)) for n in names if getattr(present, n) != getattr(everywhere, n)}
        self._put_defaults(differing)
        self.reset()

    def forget_for_model(self) -> None:
        """The model has no defaults of its own any more."""
        self._put_defaults({})

    def follow(self, conversation: Conversation | None, place: str | None) -> None:
        """Another conversation is open, or this one was read again."""
        if conversation is not None and conversation.id not in self._unsaved:
            self._own[conversation.id] = decoded(conversation.settings)
        self._place = place
        self.changed.emit()

    def began(self, conversation: str) -> str | None:
        """The new chat became ``conversation``: what is to be stored with it."""
        self._own[conversation] = self._own.pop(None, {})
        self._place = conversation
        return encoded(self._own[conversation])

    def refused(self, conversation: str) -> None:
        """It did not: its values belong to the new chat again."""
        self._own[None] = self._own.pop(conversation, {})

    def save(self) -> None:
        """Store what changed, now."""
        waiting, self._unsaved = self._unsaved, set()
        for conversation in waiting:
            self._save(conversation, encoded(self._own.get(conversation, {})))

    def close(self) -> None:
        """Store what changed; nothing follows."""
        self._throttle.stop()
        self.save()

    def _put(self, values: Values) -> None:
        if values == self._own.get(self._place, {}):
            return
        self._own[self._place] = values
        if self._place is not None:
            self._unsaved.add(self._place)
            self._throttle.poke()
        self.changed.emit()

    def _put_defaults(self, values: Values) -> None:
        by_model = dict(self._settings.get(ModelChatSettings).by_model)
        by_model.pop(self.model, None)
        if values:
            by_model[self.model] = values
        self._settings.put(ModelChatSettings(by_model=by_model))

    def _settings_changed(self, feature: str) -> None:
        if feature in ("chat", "modelchat"):
            self.changed.emit()


def _plain(value: object) -> Any:
    plain = msgspec.to_builtins(value)
    return list(plain) if isinstance(plain, tuple) else plain

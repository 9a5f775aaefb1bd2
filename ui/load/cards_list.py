"""The graphics cards that share a model: which, in what order, how much each takes."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QVBoxLayout, QWidget

from app.load.draft import LoadDraft
from app.load.places import as_settings, cards_for
from app.settings import device_choice
from app.settings.device_choice import Card
from app.settings.records import EngineSettings
from engine.protocol.types import SplitMode
from ui.chat.words import short_device
from ui.load import words
from ui.load.fields import number_edit
from ui.theme import Theme
from ui.widgets.icon_button import IconButton

SPLITS = tuple(SplitMode)
SHARE_WIDTH = 92


class CardsList(QWidget):
    """A line for each card, and how the model is divided."""

    def __init__(self, draft: LoadDraft, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._draft, self._theme = draft, theme
        self._lines: list[CardLine] = []
        self._column = QVBoxLayout()
        self._column.setSpacing(0)
        self.own_shares = QCheckBox(self.tr("Set how much each one takes"))
        self.own_shares.setObjectName("ownShares")
        self.own_shares.setToolTip(self.tr("Else each takes as much as it has memory free."))
        self.own_shares.toggled.connect(self._set_own)
        self.split = QComboBox()
        self.split.setObjectName("split")
        self.split.setAccessibleName(self.tr("How the model is divided"))
        for mode in SPLITS:
            self.split.addItem(self.tr("Divide: {0}").format(words.split(mode)))
        self.split.currentIndexChanged.connect(lambda index: draft.change(split=SPLITS[index]))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._column)
        column.addWidget(self.own_shares)
        column.addWidget(self.split)

    def refresh(self) -> None:
        """Show the draft."""
        options = self._draft.options
        cards = cards_for(options, self._draft.devices)
        if [line.key for line in self._lines] != [_key(card) for card in cards]:
            self._rebuild(cards)
        chosen = len(options.devices) if len(options.devices) > 1 else 0
        for line, card in zip(self._lines, cards, strict=True):
            line.show_card(card, chosen)
        with QSignalBlocker(self.own_shares), QSignalBlocker(self.split):
            self.own_shares.setChecked(bool(options.shares))
            self.split.setCurrentIndex(SPLITS.index(options.split))

    def _rebuild(self, cards: tuple[Card, ...]) -> None:
        for line in self._lines:
            self._column.removeWidget(line)
            line.hide()
            line.deleteLater()
        self._lines = [self._new_line(number, card) for number, card in enumerate(cards)]

    def _new_line(self, number: int, card: Card) -> CardLine:
        line = CardLine(card, number, self._theme)
        line.box.toggled.connect(lambda on: self._take(device_choice.with_card(self._settings(), line.card, on)))
        for button, step in ((line.earlier, -1), (line.later, 1)):
            button.clicked.connect(lambda _=False, step=step: self._move(line.card, step))
        line.share.valueChanged.connect(lambda percent: self._share(line.card, percent))
        self._column.addWidget(line)
        return line

    def _settings(self) -> EngineSettings:
        return as_settings(self._draft.options)

    def _move(self, card: Card, step: int) -> None:
        if card.place is None:
            return
        self._take(device_choice.moved(self._settings(), card.place, step))
        moved = next(line for line in self._lines if line.card.key == card.key)
        first, other = (moved.earlier, moved.later) if step < 0 else (moved.later, moved.earlier)
        (first if first.isEnabled() else other).setFocus(Qt.FocusReason.OtherFocusReason)

    def _share(self, card: Card, percent: int) -> None:
        if card.place is not None:
            self._take(device_choice.with_share(self._settings(), card.place, percent))

    def _set_own(self, own: bool) -> None:
        self._take(device_choice.with_own_shares(self._settings(), own))

    def _take(self, settings: EngineSettings) -> None:
        """One card alone is no sharing any more."""
        if len(settings.devices) == 1:
            self._draft.change(device=settings.devices[0], devices=(), shares=())
        else:
            self._draft.change(device=settings.device, devices=settings.devices, shares=settings.shares)


class CardLine(QWidget):
    """One card: taken or not, earlier, later, share."""

    def __init__(self, card: Card, number: int, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.card, self.key = card, _key(card)
        name = short_device(card.shown.name) if card.shown is not None else card.key
        self.box = QCheckBox(name)
        self.box.setObjectName(f"card{number}")
        self.share = number_edit((0, 100))
        self.share.setObjectName(f"cardShare{number}")
        self.share.setSuffix(" %")
        self.share.setAccessibleName(self.tr("Share of {0}").format(name))
        self.share.setFixedWidth(theme.px(SHARE_WIDTH))
        self.earlier = IconButton(theme, "arrow-up", self.tr("Use {0} earlier").format(name))
        self.later = IconButton(theme, "arrow-down", self.tr("Use {0} later").format(name))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.box, 1)
        for control in (self.share, self.earlier, self.later):
            row.addWidget(control)

    def show_card(self, card: Card, chosen: int) -> None:
        """Where it stands among the ``chosen`` ones."""
        self.card = card
        with QSignalBlocker(self.box), QSignalBlocker(self.share):
            self.box.setChecked(card.place is not None)
            self.share.setValue(card.share or 0)
        self.share.setVisible(card.share is not None)
        self.earlier.setEnabled(card.place is not None and card.place > 0)
        self.later.setEnabled(card.place is not None and card.place < chosen - 1)


def _key(card: Card) -> tuple[str, str, bool]:
    return card.key, card.backend, card.present

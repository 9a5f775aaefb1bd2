"""Number format of the KV cache, keys and values alike; under Advanced each for itself."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QComboBox, QWidget

from app.load.draft import LoadDraft
from engine.protocol.types import KvType, LoadOptions
from ui.load import words
from ui.load.row import ChoiceRow
from ui.theme import Theme

KINDS = tuple(KvType)


class KvRow(ChoiceRow):
    """One format for keys and values; a mixture is shown and kept until another one is chosen."""

    def __init__(self, draft: LoadDraft, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(
            draft,
            theme,
            self.tr("Memory format of the KV cache"),
            self.tr(
                "The KV cache holds what was read and written so far. 8 bits are hardly noticed, 4 bits may be; both"
                " need flash attention."
            ),
            ("kv_type_k", "kv_type_v"),
            parent,
        )
        self.combo = QComboBox()
        for kind in KINDS:
            self.combo.addItem(words.kv_format(kind))
        self.add_control(self.combo, "kvFormat")
        self.combo.currentIndexChanged.connect(self._take)

    def show_options(self, options: LoadOptions) -> None:
        """A mixture is one entry more."""
        keys, values = options.kv_type_k, options.kv_type_v
        with QSignalBlocker(self.combo):
            while self.combo.count() > len(KINDS):
                self.combo.removeItem(len(KINDS))
            if keys is not values:
                mixed = self.tr("Keys {0}, values {1}")
                self.combo.addItem(mixed.format(words.kv_short(keys), words.kv_short(values)))
            self.combo.setCurrentIndex(KINDS.index(keys) if keys is values else len(KINDS))
        allow(self.combo, self._draft.facts.odd_head is None)

    def hint(self) -> str:
        """What the format depends on."""
        odd = self._draft.facts.odd_head
        if odd is not None:
            return self.tr("The heads of this model have {0} values; only multiples of 32 fit into fewer bits.").format(
                odd
            )
        if self._draft.flash_followed:
            return self.tr("Flash attention was switched from off to automatic: this format needs it.")
        return ""

    def _take(self, index: int) -> None:
        if index < len(KINDS):
            self._draft.change(kv_type_k=KINDS[index], kv_type_v=KINDS[index])


class KvPartsRow(ChoiceRow):
    """Keys and values apart."""

    def __init__(self, draft: LoadDraft, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(
            draft,
            theme,
            self.tr("Keys and values of the KV cache"),
            self.tr("Keys suffer more from few bits than values do."),
            ("kv_type_k", "kv_type_v"),
            parent,
            name="kvParts",
        )
        self._combos: dict[str, QComboBox] = {}
        for field, name in (("kv_type_k", self.tr("Keys")), ("kv_type_v", self.tr("Values"))):
            combo = QComboBox()
            combo.setAccessibleName(name)
            for kind in KINDS:
                combo.addItem(f"{name}: {words.kv_short(kind)} ({kind.value})")
            combo.currentIndexChanged.connect(lambda index, field=field: draft.change(**{field: KINDS[index]}))
            self.add_control(combo, field)
            self._combos[field] = combo

    def show_options(self, options: LoadOptions) -> None:
        """Each its own."""
        for field, combo in self._combos.items():
            with QSignalBlocker(combo):
                combo.setCurrentIndex(KINDS.index(getattr(options, field)))
            allow(combo, self._draft.facts.odd_head is None)


def allow(combo: QComboBox, quantised: bool) -> None:
    """Whether formats of fewer bits can be chosen."""
    model = combo.model()
    if isinstance(model, QStandardItemModel):
        for index in range(1, len(KINDS)):
            model.item(index).setEnabled(quantised)
            model.item(index).setData(None if quantised else "", Qt.ItemDataRole.ToolTipRole)

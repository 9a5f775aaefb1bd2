"""The last ten minutes: what to plot, which sensors, the plot, its legend."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import QLineF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.memory.history import History, MarkerKind
from app.settings.store import SettingsStore
from engine.memory.records import MemorySnapshot
from engine.protocol.types import ModelInfo
from ui.memory.legend_view import Entry, LegendView
from ui.memory.page_settings import MemoryPageSettings
from ui.memory.plot import HistoryPlot
from ui.memory.plot_paint import DASHES, TINTS
from ui.memory.series import HOST, Subject, subjects
from ui.memory.shares import Region, chosen_gpu
from ui.theme import SPACE_M, SPACE_XS, Theme, set_role

SWATCH = QSize(26, 12)


class HistoryPanel(QWidget):
    """Follows the history while it is seen.

    Attributes:
        told: The line for the moment that is pointed at.
    """

    told = Signal(str)

    def __init__(self, history: History, store: SettingsStore, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._store, self._theme = store, theme
        self._subjects: tuple[Subject, ...] = ()
        self._snapshot: MemorySnapshot | None = None
        self._model: ModelInfo | None = None
        self.plot = HistoryPlot(history, theme)
        self.plot.told.connect(self.told)
        self._legend = LegendView(theme)
        self._choice = QComboBox()
        self._choice.setObjectName("memoryHistorySubject")
        self._choice.setAccessibleName(self.tr("Which memory the plot shows"))
        self._choice.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._choice.currentIndexChanged.connect(self._chosen)
        self._boxes = {name: self._box(name, text) for name, text in self._line_names().items()}
        self._lay_out()
        theme.changed.connect(self._restyle)
        self._restyle()

    def show_figures(self, snapshot: MemorySnapshot, model: ModelInfo | None) -> None:
        """Follow the newest sample."""
        self._snapshot, self._model = snapshot, model
        found = subjects(snapshot)
        if found != self._subjects:
            self._take_subjects(found)
        self._apply()
        self.plot.follow()
        self._explain()

    def _take_subjects(self, found: tuple[Subject, ...]) -> None:
        """Keep the choice when it is still there; else the card of the model."""
        index = self._choice.currentIndex()
        wanted = self._subjects[index].key if 0 <= index < len(self._subjects) else None
        if wanted is None and self._model is not None:
            wanted = self._model.device.pci
        titles = [subject.title for subject in found]
        changed = titles != [subject.title for subject in self._subjects]
        self._subjects = found
        self._choice.blockSignals(True)
        if changed:
            self._choice.clear()
            self._choice.addItems(titles)
        keys = [subject.key for subject in found]
        self._choice.setCurrentIndex(keys.index(wanted) if wanted in keys else 0)
        self._choice.blockSignals(False)
        self._choice.setVisible(len(found) > 1)
        self.setVisible(bool(found))

    def _chosen(self) -> None:
        self._apply()
        self._explain()

    def _apply(self) -> None:
        index = self._choice.currentIndex()
        if self._snapshot is None or not 0 <= index < len(self._subjects):
            return
        subject = self._subjects[index]
        gpu = chosen_gpu(self._snapshot, self._model) if subject.key == HOST else self._snapshot.gpu(subject.key)
        for box in self._boxes.values():
            box.setVisible(gpu is not None)
        self.plot.set_lines(self._store.get(MemoryPageSettings).lines if gpu is not None else ())
        self.plot.set_subject(subject, gpu.pci if gpu is not None else None, gpu.power_cap_w if gpu else None)

    def _explain(self) -> None:
        """The layers and events that there are."""
        layers = [Entry(layer.region, layer.owner, layer.name) for layer in self.plot.seen()]
        names = {
            MarkerKind.LOAD: self.tr("model loaded"),
            MarkerKind.ANSWER: self.tr("answer"),
            MarkerKind.UNLOAD: self.tr("model unloaded"),
        }
        events = [Entry(Region.RAM, None, names[kind], event=kind) for kind in self.plot.events()]
        self._legend.show_entries((*layers, *events))

    def _line_names(self) -> dict[str, str]:
        return {"busy": self.tr("Busy"), "temperature": self.tr("Temperature"), "power": self.tr("Power")}

    def _box(self, name: str, text: str) -> QCheckBox:
        box = QCheckBox(text)
        box.setObjectName(f"memoryLine-{name}")
        box.setIconSize(SWATCH)
        box.setChecked(name in self._store.get(MemoryPageSettings).lines)
        box.toggled.connect(lambda on, name=name: self._toggle(name, on))
        return box

    def _toggle(self, name: str, on: bool) -> None:
        self._store.put(msgspec.structs.replace(self._store.get(MemoryPageSettings), **{name: on}))
        self._apply()

    def _lay_out(self) -> None:
        title = QLabel(self.tr("Last 10 minutes"))
        set_role(title, "heading")
        head = QHBoxLayout()
        head.setSpacing(SPACE_M)
        head.addWidget(title)
        head.addWidget(self._choice)
        head.addStretch()
        for box in self._boxes.values():
            head.addWidget(box)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_XS)
        column.addLayout(head)
        column.addWidget(self.plot, 1)
        column.addWidget(self._legend)

    def _restyle(self) -> None:
        for name, box in self._boxes.items():
            box.setIcon(self._swatch(name))

    def _swatch(self, name: str) -> QIcon:
        """The line as it is in the plot."""
        ratio = self.devicePixelRatioF()
        picture = QPixmap(SWATCH * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(QColor(getattr(self._theme.tokens, TINTS[name])), 2)
        if DASHES[name]:
            pen.setDashPattern([length / 2 for length in DASHES[name]])
        painter.setPen(pen)
        painter.drawLine(QLineF(1, SWATCH.height() / 2, SWATCH.width() - 1, SWATCH.height() / 2))
        painter.end()
        return QIcon(picture)

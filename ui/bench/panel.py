"""What is to be measured: model, protocol, comparison, device, runs, and the button."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QFrame, QScrollArea, QVBoxLayout, QWidget

from app.bench.wish import Wish
from engine.bench.records import NEEDED, Protocol, Race
from engine.library.records import InstalledModel
from engine.protocol.types import DeviceInfo, DeviceKind
from ui.bench import words
from ui.settings.controls import Choice, Number
from ui.settings.row import plain_label
from ui.theme import SCROLL_BAR, SPACE_L, SPACE_M, SPACE_S, SPACE_XS, Theme
from ui.widgets.scroll_edge import ScrollEdge
from ui.widgets.text_button import TextButton

WIDTH, MOST_RUNS = 272, 20


class Panel(QWidget):
    """The choices at the left.

    Attributes:
        run_wanted: A `Wish`.
        stop_wanted: Stop pressed; it stands where Run is.
        answer_unwanted: The chat's answer, for which Run waits, should be stopped.
    """

    run_wanted = Signal(object)
    stop_wanted = Signal()
    answer_unwanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._devices: tuple[DeviceInfo, ...] = ()
        self._running = self._held = False
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("role", "panel")
        self._build()
        self._lay_out()
        theme.changed.connect(self._limit)
        self._limit()
        self._refresh()

    def set_models(self, models: Sequence[InstalledModel], preferred: str | None) -> None:
        """Offer ``models``; the chosen one stays, at first it is the one whose path is ``preferred``."""
        before = self._model.value if self._model.count() else preferred
        usable = [model for model in models if model.can_chat]
        self._model.set_choices([(str(model.path), model.label) for model in usable])
        if any(str(model.path) == before for model in usable):
            self._model.show_value(before)
        self._refresh()

    def set_devices(self, devices: Sequence[DeviceInfo]) -> None:
        """Offer ``devices``, those that can be used."""
        usable = tuple(device for device in devices if device.usable)
        if usable == self._devices:
            return
        self._devices = usable
        before = self._device.value if self._device.count() else None
        choices = [(None, self.tr("As in the chat")), *((device.id, words.device(device)) for device in usable)]
        self._device.set_choices(choices)
        if any(before == value for value, _ in choices):
            self._device.show_value(before)
        self._fill_boxes()
        self._refresh()

    def set_running(self, running: bool, *, stopping: bool) -> None:
        """Hold the choices still while a benchmark runs."""
        self._running = running
        for widget in (self._model, self._race, self._device, self._boxes, self._runs):
            widget.setEnabled(not running)
        self._refresh()
        self._run.setVisible(not running)
        self._stop.setVisible(running)
        self._stop.setEnabled(not stopping)

    def set_note(self, text: str) -> None:
        """Say above the button what running does to the chat."""
        self._note.setText(text)
        self._note.setVisible(bool(text))

    def set_held(self, held: bool, *, answering: bool) -> None:
        """Whether Run has to wait for the chat, and whether for an answer, which can be stopped here."""
        self._held = held
        self._refresh()
        if not answering and self._stop_answer.hasFocus():
            self.focus()
        self._stop_answer.setVisible(answering)

    def focus(self) -> None:
        """Give the keyboard to the button that can be pressed."""
        held = self._held and not self._stop_answer.isHidden()
        button = self._stop if self._running else self._stop_answer if held else self._run
        button.setFocus(Qt.FocusReason.OtherFocusReason)

    def wish(self) -> Wish:
        """What is chosen."""
        race: Race = self._race.value
        chosen = tuple(device.id for device, box in zip(self._devices, self._box_list, strict=True) if box.isChecked())
        return Wish(
            path=Path(self._model.value),
            protocol=self._protocol.value,
            race=race,
            device=None if race is Race.DEVICES else self._device.value,
            devices=chosen if race is Race.DEVICES else (),
            runs=self._runs.value(),
        )

    @property
    def can_run(self) -> bool:
        """Run can be pressed."""
        return self._run.isEnabled() and not self._running

    def start(self) -> None:
        """Press Run, if it can be pressed."""
        if self.can_run:
            self.run_wanted.emit(self.wish())

    def _build(self) -> None:
        theme = self._theme
        self._model = Choice(theme, self.tr("Model"), [], width=WIDTH)
        self._protocol = Choice(
            theme, self.tr("What is measured"), [(value, words.protocol(value)) for value in Protocol], width=WIDTH
        )
        self._race = Choice(
            theme, self.tr("What is compared"), [(value, words.race(value)) for value in Race], width=WIDTH
        )
        self._device = Choice(theme, self.tr("Device"), [(None, self.tr("As in the chat"))], width=WIDTH)
        self._runs = Number(theme, self.tr("Runs of each test"), 1, MOST_RUNS, width=WIDTH)
        self._runs.show_value(3)
        self._boxes, self._box_list = QWidget(), list[QCheckBox]()
        self._box_column = QVBoxLayout(self._boxes)
        self._box_column.setContentsMargins(0, 0, 0, 0)
        self._box_column.setSpacing(0)
        self._about, self._about_race, self._note = (plain_label("", "muted") for _ in range(3))
        self._run = TextButton(theme, self.tr("Run"), "play", role="primary")
        self._stop = TextButton(theme, self.tr("Stop"), "stop")
        self._stop_answer = TextButton(theme, self.tr("Stop the answer"), "stop")
        self._name_and_connect()

    def _name_and_connect(self) -> None:
        for name, widget in {
            "benchModel": self._model,
            "benchProtocol": self._protocol,
            "benchRace": self._race,
            "benchDevice": self._device,
            "benchRuns": self._runs,
            "benchRun": self._run,
            "benchStop": self._stop,
            "benchStopAnswer": self._stop_answer,
        }.items():
            widget.setObjectName(name)
        self._protocol.chosen.connect(self._refresh)
        self._race.chosen.connect(self._refresh)
        self._run.clicked.connect(self.start)
        self._stop.clicked.connect(self.stop_wanted)
        self._stop_answer.clicked.connect(self.answer_unwanted)

    def _lay_out(self) -> None:
        choices = QWidget()
        choices.setProperty("role", "page")
        column = QVBoxLayout(choices)
        column.setContentsMargins(SPACE_L, SPACE_L, SPACE_L, 0)
        column.setSpacing(SPACE_XS)
        self._device_label, self._boxes_label = map(plain_label, (self.tr("Device"), self.tr("Devices that take part")))
        for part in (
            (plain_label(self.tr("Model")), self._model),
            (plain_label(self.tr("What is measured")), self._protocol, self._about),
            (plain_label(self.tr("What is compared")), self._race, self._about_race),
            (self._device_label, self._device, self._boxes_label, self._boxes),
            (plain_label(self.tr("Runs of each test")), self._runs),
        ):
            for widget in part:
                column.addWidget(widget)
            column.addSpacing(SPACE_M)
        column.addStretch(1)
        self._frame(choices)

    def _frame(self, choices: QWidget) -> None:
        """Choices that scroll where there is no room for all, and the button below them."""
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(choices)
        foot = QVBoxLayout()
        foot.setContentsMargins(SPACE_L, SPACE_S, SPACE_L, SPACE_L)
        foot.setSpacing(SPACE_S)
        for widget in (self._note, self._stop_answer, self._run, self._stop):
            foot.addWidget(widget)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(scroll, 1)
        whole.addWidget(ScrollEdge(scroll))
        whole.addLayout(foot)

    def _fill_boxes(self) -> None:
        for box in self._box_list:
            self._box_column.removeWidget(box)
            box.hide()
            box.deleteLater()
        self._box_list = []
        for device in self._devices:
            box = QCheckBox(words.device(device).replace("&", "&&"))
            box.setObjectName(f"benchBox-{device.id}")
            box.setToolTip(device.name)
            box.setChecked(device.kind is not DeviceKind.SOFTWARE)
            box.toggled.connect(self._refresh)
            self._box_column.addWidget(box)
            self._box_list.append(box)
        for before, after in pairwise([self._race, *self._box_list, self._runs]):
            QWidget.setTabOrder(before, after)

    def _refresh(self) -> None:
        """What can be chosen follows from what is chosen."""
        race: Race = self._race.value
        self._protocol.show_value(NEEDED.get(race, self._protocol.value))
        self._protocol.setEnabled(race not in NEEDED and not self._running)
        self._about.setText(words.about_protocol(self._protocol.value))
        self._about_race.setText(words.about_race(race))
        self._about_race.setVisible(race is not Race.NONE)
        of_devices = race is Race.DEVICES
        self._device_label.setVisible(not of_devices)
        self._device.setVisible(not of_devices)
        self._boxes_label.setVisible(of_devices)
        self._boxes.setVisible(of_devices)
        enough = not of_devices or sum(box.isChecked() for box in self._box_list) > 1
        self._run.setEnabled(self._model.count() > 0 and enough and not self._held)
        self._run.setToolTip(self._hint(enough))

    def _hint(self, enough: bool) -> str:
        """Why Run cannot be pressed."""
        if not self._model.count():
            return self.tr("Get a model first.")
        if not enough:
            return self.tr("Choose at least two devices.")
        return self.tr("The chat is at work.") if self._held else ""

    def _limit(self) -> None:
        self.setFixedWidth(self._theme.px(WIDTH) + 2 * SPACE_L + SCROLL_BAR)

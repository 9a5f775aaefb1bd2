"""The transcript: one view that lays out and paints only what is seen."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, QPoint, QRect, QRectF, Signal
from PySide6.QtGui import (
    QGuiApplication,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QWidget

from ui.chat.transcript import hit
from ui.chat.transcript.actions import Actions
from ui.chat.transcript.background import Background
from ui.chat.transcript.budget import deadline
from ui.chat.transcript.buttons import Buttons
from ui.chat.transcript.commands import Models
from ui.chat.transcript.end_button import EndButton
from ui.chat.transcript.feed import Feed
from ui.chat.transcript.find import Find
from ui.chat.transcript.formulas import Formulas, Source
from ui.chat.transcript.keys import Keys
from ui.chat.transcript.layout import Layout
from ui.chat.transcript.look import Look
from ui.chat.transcript.mouse import Mouse
from ui.chat.transcript.pace import Pace
from ui.chat.transcript.paint import paint
from ui.chat.transcript.scene import Scene
from ui.chat.transcript.selection import Selection, Spot, selected_text
from ui.chat.transcript.spoken import Spoken
from ui.chat.transcript.view_input import InputView
from ui.chat.transcript.words import make_words
from ui.theme import Theme
from ui.widgets.column import COLUMN_WIDTH

NARROWEST = 240
"""Pixels of the column; a view that is narrower cuts it off."""
FIRST_READ = 0.025
"""Seconds spent at most on reading long messages before the first paint."""


class TranscriptView(InputView):
    """Shows the rows of ``model``, each a message record under ``Qt.UserRole`` (see `row.Row`).

    Attributes:
        link_activated: The user wants to open this http, https or mailto address; ask before.
        address_copied: This address may not be opened, and was put on the clipboard instead.
        regenerate_requested: Answer the last question again.
        command_requested: `commands.Asked`: edit, continue, regenerate, branch, delete.
        finding: Finding words in the conversation.
        version_requested: Show the version of a message (its id) that is so many steps further on (-1: back).
        save_requested: A code block should become a file: a name for it, and the code.
        mouse_done: A button was clicked with the mouse and did its work; the keyboard is needed elsewhere.
    """

    link_activated = Signal(str)
    address_copied = Signal(str)
    regenerate_requested = Signal()
    version_requested = Signal(str, int)
    command_requested = Signal(object)
    save_requested = Signal(str, str)
    mouse_done = Signal()

    def __init__(
        self, model: QAbstractItemModel, theme: Theme, parent: QWidget | None = None, formulas: Source | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("transcript")
        self.setAccessibleName(self.tr("Conversation"))
        self._theme = theme
        self.words = make_words()
        self.selection = Selection()
        self.content = Layout(Look(theme, Formulas(formulas)), self.words)
        self.scene = Scene(self.content, 0.0, self.selection)
        self.hovered: int | None = None
        self.models: Models = tuple
        self._buttons = Buttons(theme, self.viewport())
        self._end_button = EndButton(theme, self.viewport())
        self._end_button.clicked.connect(self.scroll_to_end)
        self._actions = self._make_actions(self._buttons)
        self._spoken = Spoken(self, self.viewport(), self.words)
        self._mouse, self._keys = Mouse(self, self._actions), Keys(self)
        self._pace = Pace(self.refresh, self)
        self._background = Background(self.content, self.refresh, self.viewport().update, self)
        self.finding = Find(self, model, theme, self)
        self.finding.room_changed.connect(lambda height: self.setViewportMargins(0, height, 0, 0))
        theme.changed.connect(self._theme_changed)
        if formulas is not None:
            formulas.drawn.connect(self._formulas_drawn)
        self._feed = Feed(model, self.content, self.selection, self._pace.changed, self)
        self._feed.reset()

    def _make_actions(self, buttons: Buttons) -> Actions:
        """What can be done with messages here."""
        return Actions(self, buttons)

    # What others may ask for.

    def set_left_out(self, count: int) -> None:
        """Grey the first ``count`` messages: the model does not get them any more."""
        if count != self.scene.left_out:
            self.scene.left_out = count
            self.viewport().update()

    def scroll_to_end(self) -> None:
        """Show the end and stay there while it grows."""
        self.content.follow = True
        self.refresh()

    def scroll_to_start(self) -> None:
        """Show the first message."""
        self.content.follow = False
        self.content.jump(0)
        self.refresh()

    def scroll_by(self, pixels: float) -> None:
        """Move down by ``pixels``; reaching the end turns following on."""
        self.content.follow = False
        self.content.limit(deadline(FIRST_READ))
        self.content.scroll_by(pixels)
        self.content.arrange()
        self.content.follow = self.content.at_end()
        self.refresh()

    def selected_text(self) -> str:
        """What Ctrl+C would copy."""
        return selected_text(self.content, self.selection)

    def reveal(self, spot: Spot) -> None:
        """Bring a place into view, also one that its block has scrolled away sideways."""
        row, section, position = spot
        self.content.reveal(row, section, position)
        message = self.content.message(row)
        view = message.view(section) if message.part(section) is not None else None
        if isinstance(view, hit.Sideways):
            hit.bring_sideways(view, position)
        self.refresh()

    def show_message(self, message: str, words: str = "") -> bool:
        """Bring the message with this id into view, at ``words`` if they stand in it. False: it is not here."""
        row = next((number for number, row in enumerate(self.content.rows) if row.id == message), None)
        if row is None:
            return False
        self.reveal((row, 0, 0))
        if words:
            self.finding.show_words(row, words)
        return True

    def menu_corner(self, message: str) -> QPoint:
        """Where a sheet about a message is opened, on the screen: at its upper left corner, as far as that is seen."""
        row = next((number for number, row in enumerate(self.content.rows) if row.id == message), 0)
        return self.to_global(self.visible_rect(row).topLeft())

    @property
    def actions_of(self) -> Actions:
        """Copying, links and the menu."""
        return self._actions

    # Keeping up.

    def _formulas_drawn(self) -> None:
        if self.content.messages.drop_waiting():
            self._pace.changed(True)

    def _theme_changed(self) -> None:
        look = Look(self._theme, self.content.look.formulas)
        self._buttons.measure()
        self.content.relayout(look, self._measure_column(look))
        self.refresh()

    def _measure_column(self, look: Look) -> float:
        width = self.viewport().width()
        column = float(min(look.px(COLUMN_WIDTH), max(NARROWEST, width - 2 * look.margin)))
        self.scene.column_x = float(round((width - column) / 2))
        return column

    def refresh(self) -> None:
        """Arrange what is seen, and have it painted."""
        with self._pace.arranging():
            self.content.limit(deadline(FIRST_READ))
            self._feed.flush()
            self.content.arrange()
            self._background.attend()
            self.sync_bar()
            self._place_overlays()
            self.viewport().update()

    def _place_overlays(self) -> None:
        self._buttons.show_these(self._actions.wanted(self.scene))
        self._end_button.place(self.viewport().rect(), self.scene.column_x + self.content.column)
        self._end_button.setVisible(bool(self.content.rows) and not self.content.at_end())
        self._spoken.update(self.scene)

    # Events.

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out again for the width; the text at the top stays where it is."""
        self.content.view_height = float(self.viewport().height())
        column = self._measure_column(self.content.look)
        if column != self.content.column:
            self.content.relayout(self.content.look, column)
        self.finding.place()
        self.refresh()

    def settle(self) -> None:
        """What was placed belongs to the rows as they are now."""
        if self._pace.stale:
            self.refresh()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw what is seen."""
        with self._pace.painting():
            self.settle()
            painter = QPainter(self.viewport())
            painter.fillRect(event.rect(), self.content.look.colour("background"))
            if self.content.rows:
                self.scene.ring = self._keys.ring
                paint(painter, self.scene, QRectF(event.rect()))
            painter.end()

    def set_hovered(self, row: int | None) -> None:
        """Show the buttons of the message under the pointer."""
        if row != self.hovered:
            self.hovered = row
            self._place_overlays()

    def visible_rect(self, row: int) -> QRect:
        """The part of the view that shows message number ``row``; empty when none of it is seen."""
        return hit.row_rect(self.scene, row).intersected(self.viewport().rect())

    def copy_selection(self) -> None:
        """Put the selected text on the clipboard."""
        if text := self.selected_text():
            QGuiApplication.clipboard().setText(text)

    def say_row(self, row: int) -> None:
        """Have a message read out by a screen reader."""
        self._spoken.say(self._spoken.text_of(self.content.rows[row]))

    def to_global(self, point: QPoint) -> QPoint:
        """A point of the viewport on the screen."""
        return self.viewport().mapToGlobal(point)

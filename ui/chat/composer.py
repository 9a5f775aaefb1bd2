"""Where a message is written: the box, Send or Stop in one place, a line of hints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from engine.chat.records import Draft
from engine.chat.text import clean
from ui.chat.editing_bar import EditingBar
from ui.chat.message_edit import LARGE_TEXT, MessageEdit
from ui.chat.paste_chip import PasteChip
from ui.chat.queue_bar import QueueBar
from ui.theme import CONTROL_HEIGHT, SPACE_M, SPACE_S, SPACE_XS, Theme
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.icon_button import IconButton

ROUND_MARGIN = 4
"""Pixels around a round button in both directions together, as in the stylesheet."""


class Editing(NamedTuple):
    """Which sent message is in the box, and what was there before. ``words`` say what it is; "": a sent message."""

    message: str
    draft: Draft
    words: str = ""


class Composer(QWidget):
    """Hands finished messages to ``send`` and keeps them when that says no.

    Args:
        send: Takes the text; False leaves it in the box.
        edit: Takes the id of a sent message and its new text; False leaves it in the box.

    Attributes:
        stop_requested: The Stop button was pressed.
        sent_too_early: Something should be sent while an answer runs, and cannot wait; it stays in the box.
        edit_last_wanted: The last message should be edited.
        draft_changed: What is written in a conversation (its id, None: the new chat) is this `Draft` now.
    """

    stop_requested = Signal()
    sent_too_early = Signal()
    draft_changed = Signal(object, object)
    edit_last_wanted = Signal()

    def __init__(
        self,
        send: Callable[[str], bool],
        theme: Theme,
        parent: QWidget | None = None,
        edit: Callable[[str, str], bool] = lambda _message, _text: False,
    ) -> None:
        super().__init__(parent)
        self._send, self._send_edited, self._theme = send, edit, theme
        self._editing: dict[str | None, Editing] = {}
        self._drafts: dict[str | None, Draft] = {}
        self._place: str | None = None
        self._first_sent = self._showing = False
        self._chips: list[PasteChip] = []
        self._edit = MessageEdit()
        self._edit.setObjectName("composer")
        self._edit.setAccessibleName(self.tr("Message"))
        self._edit.setPlaceholderText(self.tr("Message"))
        self._edit.submitted.connect(self.submit)
        self._edit.large_pasted.connect(self._add_chip)
        self._edit.up_pressed.connect(self._edit_last)
        self._edit.escaped.connect(self.stop_editing)
        self.queue_bar = QueueBar(theme)
        self._editing_bar = EditingBar(theme)
        self._editing_bar.cancelled.connect(self.stop_editing)
        self._edit.textChanged.connect(self._changed)
        self._send_button = IconButton(
            theme, "arrow-up-bold", self.tr("Send"), tint="on_accent", role="round-primary", shortcut=self.tr("Enter")
        )
        self._send_button.setObjectName("sendButton")
        self._send_button.clicked.connect(self.submit)
        self._stop_button = IconButton(
            theme, "stop-fill", self.tr("Stop"), tint="on_accent", role="round-primary", shortcut=self.tr("Esc")
        )
        self._stop_button.setObjectName("stopButton")
        self._stop_button.clicked.connect(self._stop)
        self._hint = ElidedLabel()
        self._hint.setProperty("role", "muted")
        self._build()
        self._update_buttons()

    def submit(self) -> None:
        """Send what is written, if anything is and nothing is being answered."""
        text = self.text()
        edited = self.edited
        if edited is not None:
            if text and self.busy:
                self.sent_too_early.emit()
            elif text and self._send_edited(edited, text):
                self.stop_editing()
        elif text and self._send(text):
            self.clear()
            self._first_sent = self._place is None
        elif text and self.busy:
            self.sent_too_early.emit()
        self.focus()

    def text(self) -> str:
        """The message as it would be sent: what was typed, then what was pasted in bulk."""
        return clean("\n\n".join([self._edit.toPlainText(), *(chip.text for chip in self._chips)])).strip()

    def draft(self) -> Draft:
        """What is written, in its pieces."""
        return Draft(text=self._edit.toPlainText(), pasted=tuple(chip.text for chip in self._chips))

    @property
    def edited(self) -> str | None:
        """Id of the sent message that is being edited."""
        editing = self._editing.get(self._place)
        return None if editing is None else editing.message

    def edit_message(self, message: str, text: str, words: str = "") -> None:
        """Put a sent message into the box; what was typed comes back afterwards. ``words`` say what it is."""
        editing = self._editing.get(self._place)
        kept = self.draft() if editing is None else editing.draft
        self._editing[self._place] = Editing(message, kept, words)
        self._show(Draft(text=text))
        self._mark_editing()
        self.focus()

    def stop_editing(self) -> None:
        """Leave the sent message as it is, and show what was typed before."""
        editing = self._editing.pop(self._place, None)
        if editing is not None:
            self._show(editing.draft)
            self._mark_editing()
            self._update_buttons()
        self.focus()

    def take_drafts(self, drafts: Mapping[str | None, Draft]) -> None:
        """What an earlier run left unsent, by conversation. What was written since stays, behind it."""
        for place, draft in drafts.items():
            if place != self._place:
                self._drafts.setdefault(place, draft)
            else:
                later = self.draft()
                text = "\n".join(piece for piece in (draft.text, later.text) if piece)
                self._show(Draft(text=text, pasted=(*draft.pasted, *later.pasted)))
                self._changed()

    def clear(self) -> None:
        """Empty the box."""
        self._show(Draft())
        self._changed()

    def restore(self, text: str) -> None:
        """Put a refused message back, in front of what was typed since."""
        if text and text != self.text():
            later = self._edit.toPlainText()
            self._edit.clear()
            self._edit.take_text(f"{text}\n{later}" if later else text)
        self.focus()

    def append(self, text: str) -> None:
        """Type ``text`` at the end, as when keys arrive for another widget."""
        self._edit.moveCursor(self._edit.textCursor().MoveOperation.End)
        self._edit.take_text(text)
        self.focus()

    def switch_to(self, place: str | None) -> None:
        """Another conversation is open: keep this one's draft, show the other one's."""
        if place == self._place:
            return
        came_to_be, self._first_sent = self._first_sent and place is not None, False
        if came_to_be:
            self.draft_changed.emit(self._place, Draft())
            self._place = place
            self._changed()
            return
        self._drafts[self._place] = self.draft()
        self._place = place
        self._show(self._drafts.pop(place, Draft()))
        self._mark_editing()

    def focus(self) -> None:
        """Give the box the keyboard."""
        self._edit.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def busy(self) -> bool:
        """Whether Stop is in the place of Send."""
        return self._buttons.currentWidget() is self._stop_button

    def set_busy(self, busy: bool) -> None:
        """Show Stop while an answer is running."""
        had_focus = self._send_button.hasFocus() or self._stop_button.hasFocus()
        self._buttons.setCurrentWidget(self._stop_button if busy else self._send_button)
        if had_focus:
            self.focus()

    def stop(self) -> None:
        """Stop the answer, as Escape does."""
        if self.busy:
            self._stop()

    def set_hint(self, text: str) -> None:
        """The muted line below the box."""
        self._hint.setText(text)

    def add_below(self, widget: QWidget) -> None:
        """Put ``widget`` at the right end of the line below the box."""
        self._below.addWidget(widget)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """The whole frame is the box's target."""
        self.focus()
        super().mousePressEvent(event)

    def _show(self, draft: Draft) -> None:
        """Write ``draft`` in place of what is there, without telling: it is no change of anything."""
        self._showing = True
        for chip in list(self._chips):
            self._drop_chip(chip)
        self._edit.clear()
        self._edit.take_text(draft.text)
        for text in draft.pasted:
            self._add_chip(text)
        self._showing = False

    def _changed(self) -> None:
        self._update_buttons()
        if not self._showing and self.edited is None:
            self.draft_changed.emit(self._place, self.draft())

    def _mark_editing(self) -> None:
        editing = self._editing.get(self._place)
        self._editing_bar.say("" if editing is None else editing.words)
        self._editing_bar.setVisible(editing is not None)
        self._edit.takes_escape = editing is not None

    def _edit_last(self) -> None:
        if self.edited is None and not self._chips and not self.busy:
            self.edit_last_wanted.emit()

    def _stop(self) -> None:
        self.stop_requested.emit()
        self.focus()

    def _build(self) -> None:
        self._buttons = QStackedWidget()
        self._buttons.addWidget(self._send_button)
        self._buttons.addWidget(self._stop_button)
        self._theme.changed.connect(self._fit_buttons)
        self._fit_buttons()
        self._frame = QFrame()
        self._frame.setProperty("role", "field")
        self._frame.setCursor(Qt.CursorShape.IBeamCursor)
        self._buttons.setCursor(Qt.CursorShape.ArrowCursor)
        self._edit.focus_changed.connect(self._mark_focus)
        row = QHBoxLayout()
        row.setSpacing(SPACE_S)
        row.addWidget(self._edit, 1, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self._buttons, 0, Qt.AlignmentFlag.AlignBottom)
        self._chip_column = QVBoxLayout()
        self._chip_column.setSpacing(SPACE_XS)
        inside = QVBoxLayout(self._frame)
        inside.setContentsMargins(SPACE_M, SPACE_XS, SPACE_XS, SPACE_XS)
        inside.setSpacing(SPACE_XS)
        inside.addLayout(self._chip_column)
        inside.addLayout(row)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_XS)
        column.addWidget(self.queue_bar)
        column.addWidget(self._editing_bar)
        column.addWidget(self._frame)
        self._below = QHBoxLayout()
        self._below.setSpacing(SPACE_S)
        self._below.addWidget(self._hint, 1)
        column.addLayout(self._below)
        self.setTabOrder(self._edit, self._send_button)
        self.setTabOrder(self._send_button, self._stop_button)

    def _fit_buttons(self) -> None:
        """As large as the disc, which grows with the text; the ring of the focus does not count."""
        side = self._theme.px(CONTROL_HEIGHT) + ROUND_MARGIN
        self._buttons.setFixedSize(side, side)

    def _mark_focus(self, focused: bool) -> None:
        self._frame.setProperty("focused", focused)
        self._frame.style().unpolish(self._frame)
        self._frame.style().polish(self._frame)

    def _add_chip(self, text: str) -> None:
        chip = PasteChip(text, self._theme)
        chip.removed.connect(lambda: self._remove_chip(chip))
        self._chips.append(chip)
        self._chip_column.addWidget(chip)
        self._changed()

    def _remove_chip(self, chip: PasteChip) -> None:
        self._drop_chip(chip)
        self.focus()

    def _drop_chip(self, chip: PasteChip) -> None:
        self._chips.remove(chip)
        self._chip_column.removeWidget(chip)
        chip.hide()
        chip.deleteLater()
        self._changed()

    def _update_buttons(self) -> None:
        if self._edit.document().characterCount() > LARGE_TEXT:
            written = True
        else:
            written = bool(self._edit.toPlainText().strip())
        self._send_button.setEnabled(written or bool(self._chips))

"""Views for the transcript's tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from PySide6.QtCore import QAbstractItemModel
from pytestqt.qtbot import QtBot

from app.chat.rows import MessageRow
from tests.ui.transcript.samples import model_of
from ui.chat.transcript.view import TranscriptView
from ui.theme import Theme

MakeView = Callable[..., TranscriptView]


@pytest.fixture
def make_view(qtbot: QtBot, theme: Theme) -> MakeView:
    """Makes a shown view of rows or of a model, 900 by 600 unless told."""

    def make(content: Sequence[MessageRow] | QAbstractItemModel, width: int = 900, height: int = 600) -> TranscriptView:
        model = content if isinstance(content, QAbstractItemModel) else model_of(content)
        view = TranscriptView(model, theme)
        view.model = model  # type: ignore[attr-defined]  # keeps it alive
        qtbot.addWidget(view)
        view.resize(width, height)
        view.show()
        view.activateWindow()
        qtbot.waitUntil(view.isActiveWindow)
        view.refresh()
        return view

    return make

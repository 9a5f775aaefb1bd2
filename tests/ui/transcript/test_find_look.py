"""Where the bar for finding stands, and how what was found is marked."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QPoint, QPointF, QRect
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from app.formulas.service import FormulaService
from tests.app.chat.cranked import Cranked
from tests.ui.transcript.conftest import MakeView
from tests.ui.transcript.samples import answer, dialogue, parts_of, question
from ui.chat.transcript import hit
from ui.chat.transcript.blocks import Paragraph
from ui.chat.transcript.formulas import Formulas
from ui.chat.transcript.look import Look
from ui.chat.transcript.part_view import LINE
from ui.chat.transcript.text_view import TextView
from ui.chat.transcript.view import TranscriptView
from ui.theme import Theme


def find(view: TranscriptView, words: str, qtbot: QtBot) -> None:
    view.finding.show_words(0, words)
    qtbot.waitUntil(lambda: view.finding.finder.done, timeout=60_000)


def on_view(view: TranscriptView, box: QRect) -> QRect:
    return box.translated(view.viewport().pos())


def test_the_bar_covers_nothing(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view([question("Where is the needle?"), answer("Here.")])
    height = view.viewport().height()
    find(view, "needle", qtbot)
    bar = view.finding.bar
    assert not bar.geometry().intersects(view.viewport().geometry())
    assert view.rect().contains(bar.geometry())
    cursor = view.selection.cursor
    assert cursor is not None
    place = hit.caret_rect(view.scene, cursor)
    assert place is not None
    assert on_view(view, place.toRect()).top() > bar.geometry().bottom()
    bar.close_bar()
    assert (view.viewport().height(), view.viewport().y()) == (height, 0)


def test_following_the_end_goes_on_beside_the_bar(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view(dialogue(30))
    view.finding.open()
    assert view.content.at_end()
    view.finding.bar.close_bar()
    assert view.content.at_end()


def test_the_room_grows_with_the_text(make_view: MakeView, theme: Theme) -> None:
    view = make_view([answer("Here.")])
    view.finding.open()
    before = view.viewport().y()
    theme.set_scale(1.5)
    assert view.viewport().y() > before
    assert not view.finding.bar.geometry().intersects(view.viewport().geometry())
    view.finding.bar.close_bar()
    theme.set_scale(1.0)
    assert view.viewport().y() == 0


def test_the_line_is_right_below_the_letters_in_a_tall_line_too(theme: Theme, qtbot: QtBot) -> None:
    executor = Cranked()
    look = Look(theme, Formulas(FormulaService(executor)))
    text = r"needle $\displaystyle\frac{\frac{a}{b}}{\frac{c}{d}}$ it is"
    (part,) = parts_of(text)
    assert isinstance(part, Paragraph)
    TextView(look, look.plain, 600.0, part.content)
    executor.drain()
    tall = TextView(look, look.plain, 600.0, part.content)
    plain = TextView(look, look.plain, 600.0, parts_of("needle it is")[0].content)  # type: ignore[attr-defined]
    assert tall.height > plain.height + look.em / 2
    (low,), (usual,) = tall.under(0, 6), plain.under(0, 6)
    assert round(low.top() - tall.baseline, 3) == round(usual.top() - plain.baseline, 3)
    assert low.bottom() < tall.height - LINE


def test_what_goes_over_several_lines_is_marked_in_each(theme: Theme) -> None:
    look = Look(theme)
    (part,) = parts_of("many words of one sentence")
    assert isinstance(part, Paragraph)
    view = TextView(look, look.plain, 6 * look.em, part.content)
    lines = view.under(0, view.length)
    assert len(lines) > 1
    assert all(above.bottom() < below.top() for above, below in pairwise(lines))


def test_the_line_is_seen_on_every_ground(make_view: MakeView, qtbot: QtBot) -> None:
    text = "`needle`\n\n```\nneedle\n```\n\n|needle|\n|-|\n|x|\n"
    view = make_view([question("needle"), answer(text)])
    find(view, "needle", qtbot)
    view.selection.clear()
    image = view.viewport().grab().toImage()
    accent = QColor(view.content.look.colour("accent")).rgb()
    matches = view.finding.finder.matches
    assert len(matches) == 4
    for row, section, start, end in matches:
        placed = next(one for one in view.content.placed if one[:2] == (row, section))
        (box,) = view.content.message(row).view(section).under(start, end)
        middle = view.scene.origin(placed) + QPointF(box.center().x(), box.center().y())
        assert image.pixel(QPoint(round(middle.x()), round(middle.y()))) == accent, (row, section)

"""What a longer context costs stands beside its slider."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel

from tests.ui.load.conftest import OpenDialog, Opened
from ui.load.sliders import ContextRow


def said(opened: Opened) -> str:
    row = next(row for row in opened.dialog.rows if isinstance(row, ContextRow))
    assert row.hint() in [label.text() for label in row.findChildren(QLabel) if label.isVisibleTo(row)]
    return row.hint()


def test_the_kv_cache_and_the_change(open_dialog: OpenDialog) -> None:
    opened = open_dialog(n_ctx=8192)
    assert said(opened).endswith("KV cache: 1.1 GiB.")
    opened.draft.change(n_ctx=16384)
    assert "KV cache: 2.2 GiB. " in said(opened)
    assert said(opened).endswith(" more than with 8192 tokens.")
    opened.draft.change(n_ctx=4096)
    assert "KV cache: 0.6 GiB. " in said(opened)
    assert said(opened).endswith(" less than with 8192 tokens.")


def test_nothing_where_it_is_not_known(open_dialog: OpenDialog) -> None:
    opened = open_dialog(n_ctx=8192)
    opened.source.devices = ()
    opened.draft.refresh()
    assert "KV cache" not in said(opened)

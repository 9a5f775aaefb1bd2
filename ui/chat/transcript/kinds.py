"""The kinds of buttons in the transcript, and what they say."""

from __future__ import annotations

from enum import Enum

from PySide6.QtCore import QCoreApplication


class Kind(Enum):
    """What a button does; the values are object name and icon."""

    COPY_CODE = ("copyCodeButton", "copy")
    WRAP_CODE = ("wrapCodeButton", "arrow-u-down-left")
    SAVE_CODE = ("saveCodeButton", "download-simple")
    COPY_MESSAGE = ("copyMessageButton", "copy")
    THOUGHT = ("thoughtButton", "caret-right")
    EDIT = ("editMessageButton", "pencil-simple")
    CONTINUE = ("continueButton", "play")
    MENU = ("messageMenuButton", "dots-three")
    REGENERATE = ("regenerateButton", "arrow-clockwise")
    VERSION_BACK = ("versionBackButton", "caret-left")
    VERSION_ON = ("versionOnButton", "caret-right")
    SUMMARY_EDIT = ("editSummaryButton", "pencil-simple")
    SUMMARY_AGAIN = ("remakeSummaryButton", "arrow-clockwise")
    SUMMARY_WRITE = ("writeSummaryButton", "pencil-simple")
    SUMMARY_MAKE = ("makeSummaryButton", "arrow-clockwise")
    SUMMARY_REMOVE = ("removeSummaryButton", "trash")
    SUMMARY_STOP = ("stopSummaryButton", "stop-fill")


def tr(text: str) -> str:
    """Translate a text of this module."""
    return QCoreApplication.translate("Buttons", text)


def labels() -> dict[Kind, tuple[str, str, str]]:
    """Of each kind: its label, what it says when it is done, and its name for tooltip and screen reader."""
    return {
        Kind.COPY_CODE: (tr("Copy"), tr("Copied"), tr("Copy code")),
        Kind.WRAP_CODE: (tr("Wrap"), tr("Wrap"), tr("Wrap long lines")),
        Kind.SAVE_CODE: ("", "", tr("Save code")),
        Kind.COPY_MESSAGE: (tr("Copy"), tr("Copied"), tr("Copy message")),
        Kind.THOUGHT: (tr("Thought"), tr("Thought"), tr("Thought of the model")),
        Kind.EDIT: ("", "", tr("Edit message")),
        Kind.CONTINUE: (tr("Continue"), tr("Continue"), tr("Continue this answer")),
        Kind.MENU: ("", "", tr("More for this message")),
        Kind.REGENERATE: (tr("Regenerate"), tr("Regenerate"), tr("Regenerate this answer")),
        Kind.VERSION_BACK: ("", "", tr("Previous version")),
        Kind.VERSION_ON: ("", "", tr("Next version")),
        Kind.SUMMARY_EDIT: (tr("Edit"), tr("Edit"), tr("Edit this summary")),
        Kind.SUMMARY_AGAIN: (
            tr("Summarise again"),
            tr("Summarise again"),
            tr("Have the model summarise these messages again"),
        ),
        Kind.SUMMARY_WRITE: (tr("Write a summary"), tr("Write a summary"), tr("Write what the model gets instead")),
        Kind.SUMMARY_MAKE: (tr("Summarise"), tr("Summarise"), tr("Have the model summarise these messages")),
        Kind.SUMMARY_REMOVE: (
            tr("Remove"),
            tr("Remove"),
            tr("Give the model nothing in place of these messages"),
        ),
        Kind.SUMMARY_STOP: (tr("Stop"), tr("Stop"), tr("Stop summarising")),
    }

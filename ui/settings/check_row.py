"""One check of the diagnosis: the verdict, what was found, what to do, a line to copy."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from engine.doctor.records import Check, Status
from ui.settings.row import plain_label
from ui.theme import ICON_SIZE, SPACE_L, SPACE_M, SPACE_S, SPACE_XS, Theme
from ui.widgets.empty_state import Emblem
from ui.widgets.icon_button import IconButton

ICONS = {Status.OK: "check-circle", Status.WARN: "warning", Status.FAIL: "x-circle"}
TINTS = {Status.OK: "good", Status.WARN: "warn", Status.FAIL: "bad"}


class CheckRow(QWidget):
    """Shows `Check`."""

    def __init__(self, theme: Theme, check: Check, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self.check = theme, check
        verdicts = {
            Status.OK: self.tr("Fine"),
            Status.WARN: self.tr("Could be better"),
            Status.FAIL: self.tr("Problem"),
        }
        verdict = plain_label(verdicts[check.status], TINTS[check.status])
        verdict.setObjectName(f"check-{check.id}")
        verdict.setWordWrap(False)
        verdict.setMinimumWidth(0)
        self.setAccessibleName(f"{check.title}: {verdict.text()}. {check.found} {check.advice}".strip())
        head = QHBoxLayout()
        head.setSpacing(SPACE_S)
        head.addWidget(plain_label(check.title, "heading"), 1)
        head.addWidget(verdict)
        column = QVBoxLayout()
        column.setSpacing(SPACE_XS)
        column.addLayout(head)
        for widget in self._texts():
            column.addWidget(widget)
        icon = QVBoxLayout()
        icon.addWidget(Emblem(theme, ICONS[check.status], tint=TINTS[check.status], size=ICON_SIZE))
        icon.addStretch()
        row = QHBoxLayout(self)
        row.setContentsMargins(SPACE_L, SPACE_M, SPACE_M, SPACE_M)
        row.setSpacing(SPACE_M)
        row.addLayout(icon)
        row.addLayout(column, 1)

    def _texts(self) -> list[QWidget]:
        check = self.check
        texts: list[QWidget] = [plain_label(check.found, "muted")]
        if check.advice:
            texts.append(plain_label(check.advice))
        if check.fix:
            texts.append(self._build_fix(check.fix))
        if check.survives is not None:
            texts.append(plain_label(self._survival(check.survives), "muted"))
        return texts

    def _survival(self, survives: bool) -> str:
        if survives:
            return self.tr("This survives an update of SteamOS.")
        return self.tr("This does not survive an update of SteamOS, whose system folder is read-only.")

    def _build_fix(self, line: str) -> QFrame:
        box = QFrame()
        box.setProperty("role", "chip")
        copy = IconButton(self._theme, "copy", self.tr("Copy the line for “{0}”").format(self.check.title))
        copy.setObjectName(f"copyFix-{self.check.id}")
        copy.clicked.connect(lambda: self._copy(copy, line))
        row = QHBoxLayout(box)
        row.setContentsMargins(SPACE_M, 0, SPACE_XS, 0)
        row.setSpacing(SPACE_S)
        row.addWidget(plain_label(line, "mono"), 1)
        row.addWidget(copy)
        return box

    def _copy(self, button: IconButton, line: str) -> None:
        QGuiApplication.clipboard().setText(line)
        button.set_icon("check")

"""The step before a gated repository: what it is, its page, and the token of the account."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from engine.hub.records import Gate
from ui.library.seams import Account
from ui.settings.row import PlainLabel
from ui.theme import ICON_SIZE, SPACE_M, SPACE_S, SPACE_XS, Theme, set_role
from ui.widgets.empty_state import Emblem
from ui.widgets.text_button import TextButton

LEAST_TOKEN = 140
NO_TOKEN = "none"
OWN = ("keyring", "file")
"""Where a token lies that this program has put there."""


class TokenEdit(QLineEdit):
    """A secret. Escape empties it before it closes the window."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """See the class."""
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)


class GateCard(QFrame):
    """Hidden where everybody may download.

    Attributes:
        page_wanted: The page of the repository should be opened in the browser.
        tokens_wanted: The page where tokens are made should be.
        signed_in: There is a token now.
    """

    page_wanted = Signal()
    tokens_wanted = Signal()
    signed_in = Signal()

    def __init__(self, theme: Theme, account: Account | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._account, self._gate, self._refused = theme, account, Gate.OPEN, False
        self._known = account is not None and account.source != NO_TOKEN
        self.setObjectName("gateCard")
        self.setProperty("role", "notice")
        self.setProperty("severity", "warn")
        self._head = PlainLabel("", "heading")
        self._text = PlainLabel()
        self._problem = PlainLabel("", "bad")
        self._problem.setObjectName("tokenProblem")
        self._build_token()
        self._page = TextButton(theme, self.tr("Open its page"), "arrow-square-out")
        self._page.setObjectName("openGatePage")
        self._page.clicked.connect(self.page_wanted)
        self._make = TextButton(theme, self.tr("Make a token"), "key", role="quiet")
        self._make.setObjectName("makeToken")
        self._make.clicked.connect(self.tokens_wanted)
        self._lay_out()
        if account is not None:
            account.changed.connect(self._account_changed)
        self.show_gate(Gate.OPEN)

    def _build_token(self) -> None:
        self._edit = TokenEdit()
        self._edit.setObjectName("tokenEdit")
        self._edit.setEchoMode(QLineEdit.EchoMode.Password)
        self._edit.setPlaceholderText(self.tr("Access token, hf_…"))
        self._edit.setAccessibleName(self.tr("Access token of your Hub account"))
        self._edit.textChanged.connect(lambda _text: self._refresh())
        self._edit.returnPressed.connect(self._keep)
        self._sign_in = TextButton(self._theme, self.tr("Sign in"), "key", role="primary")
        self._sign_in.setObjectName("keepToken")
        self._sign_in.clicked.connect(self._keep)
        self._file = TextButton(self._theme, self.tr("Keep it in a file"), "floppy-disk")
        self._file.setObjectName("keepTokenInFile")
        self._file.setToolTip(self.tr("A file that only you can read, because no keyring answers here"))
        self._file.clicked.connect(lambda: self._keep(in_file=True))
        self._out = TextButton(self._theme, self.tr("Sign out"), role="quiet")
        self._out.setObjectName("forgetToken")
        self._out.clicked.connect(self._forget)

    def _lay_out(self) -> None:
        emblem = Emblem(self._theme, "lock-simple", tint="warn", size=ICON_SIZE)
        head = QHBoxLayout()
        head.setSpacing(SPACE_S)
        head.addWidget(emblem)
        head.addWidget(self._head, 1)
        pages, token = QHBoxLayout(), QHBoxLayout()
        for line in (pages, token):
            line.setSpacing(SPACE_S)
        pages.addWidget(self._page)
        pages.addWidget(self._make)
        pages.addStretch()
        token.addWidget(self._edit, 1)
        for button in (self._sign_in, self._file, self._out):
            token.addWidget(button)
        self._rows = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._rows.setSpacing(SPACE_S)
        self._rows.addLayout(pages)
        self._rows.addLayout(token, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_M, SPACE_S, SPACE_S, SPACE_S)
        column.setSpacing(SPACE_XS)
        column.addLayout(head)
        column.addWidget(self._text)
        column.addLayout(self._rows)
        column.addWidget(self._problem)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The token goes below the pages where both do not fit side by side."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        buttons = (self._page, self._make, self._sign_in, self._file, self._out)
        wanted = sum(one.sizeHint().width() + SPACE_S for one in buttons if not one.isHidden())
        wanted += self._theme.px(LEAST_TOKEN) if not self._edit.isHidden() else 0
        wide = self.width() - 2 * SPACE_M >= wanted
        self._rows.setDirection(QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom)

    def show_gate(self, gate: Gate, *, refused: bool = False) -> None:
        """Show the step that leads through ``gate``; ``refused``: the account that is signed in was not let in."""
        self._gate, self._refused = gate, refused
        if gate is not Gate.OPEN and self._account is not None:
            self._account.look()
        self._refresh()

    def _account_changed(self) -> None:
        """A token that was taken does not stay in the field."""
        known = self._account is not None and self._account.source != NO_TOKEN
        if known:
            self._edit.clear()
        self._refresh()
        if known and not self._known:
            self.signed_in.emit()
        self._known = known

    def _refresh(self) -> None:
        account = self._account
        known = account is not None and account.source != NO_TOKEN
        self.setVisible(self._gate is not Gate.OPEN)
        by_hand = self._gate is Gate.BY_HAND
        self._head.setText(
            self.tr("Its owner decides who may have it.")
            if by_hand
            else self.tr("Its owner asks you to accept the licence first.")
        )
        self._text.setText(self._explained(known, by_hand))
        typed, busy = bool(self._edit.text().strip()), account is not None and account.busy
        problem = account.problem if account is not None else None
        no_keyring = problem is not None and problem.code == "no-keyring"
        self._sign_in.setEnabled(typed and not busy)
        self._sign_in.setText(self.tr("Signing in…") if busy else self.tr("Sign in"))
        for widget in (self._edit, self._make, self._sign_in):
            widget.setVisible(account is not None and not known)
        self._file.setVisible(no_keyring and not known)
        self._file.setEnabled(typed and not busy)
        self._out.setVisible(known and account is not None and account.source in OWN)
        self._problem.setText(problem.sentence if problem is not None else "")
        self._problem.setVisible(problem is not None)
        self._arrange()
        set_role(self._problem, "bad")

    def _explained(self, known: bool, by_hand: bool) -> str:
        ask = self.tr("Open its page and ask for access there, which can take days.")
        accept = self.tr("Open its page, sign in there and accept the licence.")
        step = ask if by_hand else accept
        if known and self._account is not None:
            name = self._account.name
            who = self.tr("You are signed in as {0}.").format(name) if name else self.tr("You are signed in.")
            who += " " + self.tr("This account was not let in yet.") if self._refused else ""
            return f"{who} {step} " + self.tr("Then the download works.")
        token = self.tr(
            "Then paste a token of your account that may read. It is kept in your keyring and sent to nobody else."
        )
        return f"{step} {token}"

    def _keep(self, *_clicked: object, in_file: bool = False) -> None:
        text = self._edit.text().strip()
        if text and self._account is not None:
            self._account.sign_in(text, in_file=in_file)

    def _forget(self) -> None:
        if self._account is not None:
            self._account.sign_out()

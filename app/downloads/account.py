"""Who the user is at the Hub: keyring and Hub are asked off the GUI thread."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from PySide6.QtCore import QObject, Signal

from app.downloads.child import Child
from app.downloads.network import Network
from app.jobs import Err, Executor, Result, SerialRunner
from engine.downloads.messages import CheckToken, Event, Failed, TokenChecked
from engine.downloads.token import TokenSource, account_of, forget_token, keep_token, token_source
from engine.errors import VrambleError

__all__ = ["HubAccount", "TokenSource"]


class Seen(msgspec.Struct, frozen=True):
    """What is known without asking the Hub."""

    source: TokenSource = TokenSource.NONE
    name: str = ""


class HubAccount(QObject):
    """The access token for gated and private repositories. No property, signal or error holds it.

    Attributes:
        changed: Something below is another one.
    """

    changed = Signal()

    def __init__(self, executor: Executor, network: Network, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._network = network
        self._runner = SerialRunner(executor, self)
        self._child: Child | None = None
        self._children: set[Child] = set()
        self._seen = Seen()
        self._busy = False
        self._problem: VrambleError | None = None

    @property
    def source(self) -> TokenSource:
        """Where the token comes from, as far as `look` has found out."""
        return self._seen.source

    @property
    def name(self) -> str:
        """Name of the account, when it was signed in here; else empty."""
        return self._seen.name

    @property
    def busy(self) -> bool:
        """The Hub or the keyring is being asked."""
        return self._busy

    @property
    def problem(self) -> VrambleError | None:
        """Why the last wish could not be done. ``no-keyring``: offer ``sign_in(token, in_file=True)``."""
        return self._problem

    @property
    def tokens_page(self) -> str:
        """Address of the Hub's page where a token is made."""
        return f"{self._network.hub}/settings/tokens"

    def look(self) -> None:
        """Find out whether there is a token. Asks no keyring and no Hub."""
        hub = self._network.hub
        self._run(lambda: _look(hub))

    def sign_in(self, token: str, *, in_file: bool = False) -> None:
        """Ask the Hub whose ``token`` it is, and keep it when it is good. ``in_file``: not in the keyring."""
        self.cancel()
        self._child = child = Child(self, self._network.environ())
        self._children.add(child)
        asked = self._network.hub
        child.ended.connect(lambda event: self._checked(event, token, asked, in_file))
        child.gone.connect(self._forget)
        self._set(busy=True)
        child.start(CheckToken(token=token.strip()))

    def sign_out(self) -> None:
        """Forget the token that is kept here. Those of the environment and of the Hub's own client stay."""
        hub = self._network.hub

        def work() -> Seen:
            forget_token(hub)
            return _look(hub)

        self._run(work)

    def cancel(self) -> None:
        """Want no answer of the Hub any more."""
        if self._child is not None:
            child, self._child = self._child, None
            child.kill()
            self._set(busy=False)

    def shutdown(self) -> None:
        """End before this returns. Only for quitting."""
        for child in tuple(self._children):
            child.shutdown()
        self._children.clear()
        self._runner.close()

    def _checked(self, event: Event, token: str, asked: str, in_file: bool) -> None:
        """``asked``: the Hub that knows the token; another one may be set by now, and never gets it."""
        self._child = None
        if isinstance(event, TokenChecked):
            hub, name = self._network.hub, event.name

            def work() -> Seen:
                keep_token(asked, token, name, in_file=in_file)
                return _look(hub)

            self._run(work)
        elif isinstance(event, Failed):
            self._set(busy=False, problem=event.error())

    def _run(self, work: Callable[[], Seen]) -> None:
        def done(result: Result[Seen]) -> None:
            if isinstance(result, Err):
                if not isinstance(result.error, VrambleError):
                    raise result.error
                self._set(busy=False, problem=result.error)
            else:
                self._seen = result.value
                self._set(busy=False)

        self._set(busy=True)
        self._runner.run(work, done)

    def _set(self, *, busy: bool, problem: VrambleError | None = None) -> None:
        self._busy, self._problem = busy, problem
        self.changed.emit()

    def _forget(self, child: Child) -> None:
        self._children.discard(child)
        child.deleteLater()


def _look(hub: str) -> Seen:
    return Seen(token_source(hub), account_of(hub))

"""The real program in a real X server, driven by real mouse and key events.

`Screen` is an Xvfb; `Program` one started Vramble on it. Questions go to the agent of `driven.py`, input goes
through `xdotool`, so a test sees what a user sees. A question is answered when the program has taken all keys and
clicks before it: after them a window that is never shown is resized, and the agent waits to hear of that. Nothing is
pressed before it lies still with nothing over it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.e2e.screen import Screen
from tests.e2e.started import ROOT, Started, WaitedInVainError

__all__ = ["ROOT", "Program", "Screen", "WaitedInVainError", "program"]

Look = Callable[[], dict[str, Any] | None]


class Program(Started):
    """One run of the program, looked at and used as a person does."""

    def widget(self, name: str, seconds: float = 90) -> dict[str, Any]:
        """The visible widget with this object name."""
        return self.until(
            lambda: next((w for w in self.ask("find", name=name) if w["visible"]), None), f"widget {name}", seconds
        )

    def visible(self, name: str) -> bool:
        return any(w["visible"] for w in self.ask("find", name=name))

    def focus_window(self, window: int) -> None:
        self.screen.xdotool("windowfocus", str(window))

    def settled(self, look: Look, what: str, seconds: float = 90) -> dict[str, Any]:
        """What ``look`` finds, once it has been in the same place at three looks, enabled and with nothing over it."""
        places: list[list[int]] = []

        def still() -> dict[str, Any] | None:
            found = look()
            if found is None or not found.get("enabled", True) or not found.get("uncovered", True):
                places.clear()
                return None
            places.append(found["rect"])
            return found if len(places) > 2 and places[-1] == places[-2] == places[-3] else None

        return self.until(still, f"{what} to be enabled and to lie still", seconds)

    def press(self, look: Look, what: str, seconds: float = 90, button: int = 1) -> None:
        """Press what ``look`` finds, when it lies still; also what is under the pointer may move."""
        while True:
            rect = self.settled(look, what, seconds)["rect"]
            self.screen.xdotool("mousemove", *self.middle(rect))
            again = look()
            if again is not None and again["rect"] == rect:
                return self.click_at(rect, button)

    @staticmethod
    def middle(rect: list[int]) -> tuple[str, str]:
        return str(rect[0] + rect[2] // 2), str(rect[1] + rect[3] // 2)

    def click_at(self, rect: list[int], button: int = 1) -> None:
        self.screen.xdotool("mousemove", *self.middle(rect), "click", str(button))

    def click(self, name: str, seconds: float = 90) -> None:
        """Press a widget with the left mouse button, when it can be pressed."""
        self.focus_window(self.widget(name, seconds)["window"])
        self.press(lambda: next((w for w in self.ask("find", name=name) if w["visible"]), None), name, seconds)

    def click_button(self, text: str, seconds: float = 90) -> None:
        """Press the button with this text."""

        def look() -> dict[str, Any] | None:
            return next((b for b in self.ask("buttons") if b["text"].replace("&", "") == text), None)

        self.press(look, f"button {text!r}", seconds)

    def click_menu(self, text: str, seconds: float = 90) -> None:
        def look() -> dict[str, Any] | None:
            return next((a for a in self.ask("menu") if text in a["text"].replace("&", "")), None)

        self.press(look, f"menu entry {text!r}", seconds)

    def click_row(self, name: str, text: str, button: int = 1, column: int = 0) -> None:
        def row() -> dict[str, Any] | None:
            rows = self.ask("rows", name=name, column=column)
            return next((r for r in rows if text in r["text"] and r["rect"][2] > 0), None)

        self.press(row, f"row {text!r} in {name}", button=button)

    def choose(self, name: str, *keys: str) -> None:
        """Open the list of a box and choose in it by ``keys``."""
        self.click(name)
        self.until(lambda: self.ask("popup"), f"the list of {name}")
        self.key(*keys)
        self.until(lambda: not self.ask("popup"), f"the list of {name} to close")

    def key(self, *keys: str) -> None:
        self.screen.xdotool("key", "--clearmodifiers", *keys)

    def type(self, text: str) -> None:
        self.screen.xdotool("type", "--delay", "4", "--", text)

    def send(self, text: str) -> None:
        """Type a message into the composer and press Enter."""
        self.click("composer")
        self.type(text)
        self.key("Return")

    def messages(self) -> list[dict[str, Any]]:
        return self.ask("messages")

    def answer(self, status: str = "done", seconds: float = 90) -> dict[str, Any]:
        """The last message, once it is an assistant's with this status."""

        def ready() -> dict[str, Any] | None:
            rows = self.messages()
            return rows[-1] if rows and rows[-1]["role"] == "assistant" and rows[-1]["status"] == status else None

        return self.until(ready, f"an answer that is {status}; rows: {self.messages()}", seconds)

    def shot(self, path: Path, window: str = "") -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.ask("shot", path=str(path), window=window)


@contextlib.contextmanager
def program(
    screen: Screen, home: Path, environ: dict[str, str] | None = None, arguments: tuple[str, ...] = ()
) -> Iterator[Program]:
    """A started program that is gone afterwards; its screen is kept when the test fails."""
    run = Program(screen, home, environ, arguments)
    try:
        yield run
    except BaseException:
        with contextlib.suppress(Exception):
            run.shot(home / "failed.png")
        raise
    finally:
        run.close()

"""``vramble chat MODEL`` in a terminal: a conversation, with commands that begin with a slash."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from app.chat.manner_words import changed, full_name, listed, shown
from app.chat.screen import tell
from app.chat.talk import Talk, Turn
from app.chat.talk_file import save
from app.chat.typing_line import TypingLine
from engine.api.figures import Figures
from engine.client.blocking import BlockingWorker
from engine.errors import VrambleError
from engine.protocol.types import FinishReason, GenerationStats, ModelInfo

HELP = """\
/help              these lines
/exit              end, as Ctrl+D does
/stats             figures of the last answer and of the conversation
/reset             begin a new conversation
/regenerate        answer the last message again
/set               show what can be set; * is changed
/set NAME VALUE    change it: sampling, max_tokens, system, stop, reasoning and others
/save FILE         write the conversation, FILE.json as JSON, else as Markdown
A message that begins with a slash is written with two. Alt+Enter, a backslash at the end of a line, or a text
between lines with \"\"\" makes several lines. Ctrl+C stops an answer; at the prompt twice it ends."""

Loaded = tuple[BlockingWorker, ModelInfo]
"""A worker and the model in it."""


class Interactive:
    """A conversation that is typed.

    Args:
        engine: Gives the worker with the model; starts another one when it has died.
    """

    def __init__(self, talk: Talk, line: TypingLine, engine: Callable[[], Loaded]) -> None:
        self._talk, self._line, self._engine = talk, line, engine
        self._figures = Figures()
        self._saved: set[Path] = set()
        self._over = False
        self._commands: dict[str, Callable[[str], None]] = {
            "help": lambda _words: tell(HELP),
            "exit": self._exit,
            "quit": self._exit,
            "stats": self._stats,
            "reset": self._reset,
            "regenerate": self._regenerate,
            "set": self._set,
            "save": self._save,
        }

    def run(self) -> int:
        """Until the end of input or ``/exit``.

        Raises:
            VrambleError: The engine cannot be started any more.
        """
        _, model = self._engine()
        tell(f"{model.name} on {model.device.name}. /help tells more, /exit or Ctrl+D ends.")
        if model.device_reason:
            tell(model.device_reason)
        self._line.open()
        try:
            while not self._over:
                self._turn()
        finally:
            self._line.close()
        return 0

    def _turn(self) -> None:
        message = self._typed()
        if message is None:
            self._over = True
        elif message.startswith("/") and not message.startswith("//"):
            name, _, words = message[1:].partition(" ")
            self._try(lambda: self._command(name.strip().lower(), words.strip()))
        elif message.strip():
            text = message[1:] if message.startswith("//") else message
            self._try(lambda: self._show(self._talk.ask(self._engine()[0], text, stream=True)))

    def _typed(self) -> str | None:
        """A message; after a second Ctrl+C in a row none."""
        for _ in range(2):
            try:
                return self._line.message()
            except KeyboardInterrupt:
                tell("\nCtrl+C once more, Ctrl+D or /exit ends.")
        return None

    def _try(self, work: Callable[[], None]) -> None:
        """What fails is told; the conversation goes on."""
        try:
            work()
        except VrambleError as error:
            tell(error.sentence)

    def _command(self, name: str, words: str) -> None:
        run = self._commands.get(name)
        if run is None:
            step = "/help lists the commands; a message that begins with a slash is written with two."
            raise VrambleError("unknown-command", f"There is no command /{name}.", step)
        run(words)

    def _exit(self, _words: str) -> None:
        self._over = True

    def _reset(self, _words: str) -> None:
        self._talk.reset()
        self._figures = Figures()
        tell("A new conversation.")

    def _regenerate(self, _words: str) -> None:
        if not self._talk.asked:
            raise VrambleError("nothing-to-answer", "There is no message to answer again yet.")
        self._show(self._talk.ask_again(self._engine()[0]))

    def _set(self, words: str) -> None:
        name, value = _assignment(words)
        if not name:
            tell(listed(self._talk.manner))
            return
        if value:
            self._talk.manner = changed(self._talk.manner, name, value)
        tell(f"{full_name(name)} is {shown(self._talk.manner, name)}")

    def _save(self, words: str) -> None:
        if not words:
            raise VrambleError("no-file", "Name a file: /save talk.md")
        tell(f"Saved as {save(self._talk, self._engine()[1], words, self._saved)}")

    def _stats(self, _words: str) -> None:
        if not self._figures.answers:
            tell("There is no answer yet.")
            return
        last, (_, model) = self._figures.last, self._engine()
        used = last.prompt_tokens + last.generated_tokens
        tell(f"last answer: {_all_of(last)}")
        count = self._figures.answers
        tell(f"conversation: {count} answer{'s' if count != 1 else ''}, {self._figures}")
        tell(f"context: {used} of {model.n_ctx} tokens")

    def _show(self, turn: Turn) -> None:
        print(flush=True)
        self._figures = self._figures.plus(turn.end.stats)
        tell(f"[{_brief(turn)}]")


def _assignment(words: str) -> tuple[str, str]:
    """``NAME VALUE`` or ``NAME=VALUE``."""
    name, _, value = words.partition(" ")
    if "=" in name:
        name, _, rest = name.partition("=")
        value = f"{rest} {value}" if value else rest
    return name, value.strip().removeprefix("= ").strip()


def _all_of(stats: GenerationStats) -> str:
    rate = stats.accepted_rate
    guessed = "" if rate is None else f", {stats.accepted} of {stats.drafted} guessed tokens accepted ({rate:.0%})"
    return (
        f"{stats.generated_tokens} tokens, {stats.prompt_tokens} of the prompt ({stats.cached_tokens} cached),"
        f" first token {stats.ttft_ms:.0f} ms, prefill: {stats.prefill_tps:.1f} tok/s,"
        f" decode: {stats.decode_tps:.1f} tok/s{guessed}"
    )


def _brief(turn: Turn) -> str:
    stats = turn.end.stats
    words = [f"{stats.generated_tokens} tokens"]
    if stats.decode_tps > 0:
        words.append(f"{stats.decode_tps:.1f} tok/s")
    if turn.end.reason not in (FinishReason.STOP, FinishReason.LENGTH):
        words.append(turn.end.reason.value)
    return ", ".join(words)

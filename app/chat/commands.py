"""``vramble chat``: one answer, or a conversation, in a terminal."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from app.chat.interactive import Interactive
from app.chat.load_flags import add_load_flags, read_load_flags, wants_warnings, with_profile
from app.chat.numbers import whole
from app.chat.sampling_flags import add_sampling_flags, read_sampling_flags
from app.chat.screen import show_progress, wipe_progress
from app.chat.self_test_report import run_self_test
from app.chat.talk import Manner, Talk
from app.chat.typing_line import TypingLine
from app.paths import find_paths
from engine.client.blocking import BlockingWorker
from engine.client.calls import load_model
from engine.client.command import worker_command
from engine.errors import VrambleError
from engine.library.argument import HELP, find_model_file
from engine.loading.fallback import fallback
from engine.protocol.frames import Finished
from engine.protocol.types import FinishReason, LoadOptions, ModelInfo

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_parser(subparsers: Subparsers) -> None:
    """Add the command. Its ``func`` takes the parsed arguments and returns the exit code."""
    parser = subparsers.add_parser(
        "chat",
        help="chat with a model",
        description="Answers the prompt (--prompt or standard input), or chats in a terminal.",
    )
    parser.add_argument("model", metavar="MODEL", help=HELP)
    parser.add_argument("--prompt", metavar="T", help="the message; without it standard input is read")
    parser.add_argument("--system", metavar="T", help="system prompt")
    parser.add_argument("--max-tokens", metavar="N", type=whole(1), help="longest answer in tokens")
    parser.add_argument("--json", action="store_true", help="print one JSON document at the end")
    parser.add_argument("--self-test", action="store_true", help="compare the device with the CPU instead of answering")
    add_sampling_flags(parser)
    add_load_flags(parser)
    parser.set_defaults(func=run, parser=parser)


def run(arguments: argparse.Namespace) -> int:
    """Find the model, load it, answer."""
    paths = find_paths()
    interactive = arguments.prompt is None and sys.stdin.isatty()
    if interactive and arguments.json and not arguments.self_test:
        arguments.parser.error("--json needs --prompt or text on standard input")
    options, sampling = read_load_flags(arguments), read_sampling_flags(arguments)
    prompt = None if interactive or arguments.self_test else _prompt(arguments.prompt)
    model = find_model_file(paths, arguments.model)
    manner = Manner.of(arguments, sampling)
    with BlockingWorker(worker_command(paths.backends)) as worker, ExitStack() as stack:
        hello = worker.start()
        options = with_profile(options, arguments, hello.devices, model)
        host = Host(worker, model, options, stack)
        _, info = host.loaded()
        _tell(info.warnings if prompt is None or wants_warnings(arguments) else _elsewhere(options, info))
        if arguments.self_test:
            return run_self_test(worker, hello, paths, info, options, arguments.json)
        if prompt is None:
            line = TypingLine(paths.state / "chat-history")
            return Interactive(Talk(manner), line, host.loaded).run()
        return answer_once(worker, manner, prompt, as_json=arguments.json)


def _elsewhere(options: LoadOptions, info: ModelInfo) -> tuple[str, ...]:
    """What no script should miss: a device that was named is not the one that computes."""
    text = fallback(options, info)
    return (text,) if text else ()


def _tell(lines: tuple[str, ...]) -> None:
    for line in lines:
        print(line, file=sys.stderr)


class Host:
    """The worker with its model; another one, loaded the same way, when it has died. ``stack`` ends that."""

    def __init__(self, worker: BlockingWorker, path: Path, options: LoadOptions, stack: ExitStack) -> None:
        self._worker, self._path, self._options, self._stack = worker, path, options, stack
        self._model: ModelInfo | None = None

    def loaded(self) -> tuple[BlockingWorker, ModelInfo]:
        """Worker and model, with progress on a terminal while it is loaded.

        Raises:
            VrambleError: The load failed, or the worker could not be started.
        """
        if self._worker.pid is None:
            self._model = None
            self._worker = self._stack.enter_context(self._worker.another())
            self._worker.start()
        if self._model is None:
            try:
                self._model = load_model(self._worker, self._path, self._options, show_progress).model
            finally:
                wipe_progress()
        return self._worker, self._model


def answer_once(worker: BlockingWorker, manner: Manner, prompt: str, *, as_json: bool) -> int:
    """One answer on standard output, as text or as JSON."""
    turn = Talk(manner).ask(worker, prompt, stream=not as_json)
    if as_json:
        found = document(turn.thinking, turn.text, turn.end)
        print(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
    elif not turn.text.endswith("\n"):
        print()
    if turn.end.reason is FinishReason.CANCELLED:
        raise VrambleError("cancelled", "Stopped before the answer was complete.")
    return 1 if turn.end.reason is FinishReason.ERROR else 0


def document(thought: str, text: str, finished: Finished) -> dict[str, object]:
    """What ``--json`` prints: thought (None where there is none), answer and its figures."""
    stats = msgspec.to_builtins(finished.stats)
    del stats["thinking_tokens"]
    return {"text": text, "thinking": thought or None, "finish_reason": finished.reason, **stats}


def _prompt(given: str | None) -> str:
    text = given
    if text is None:
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    if not text.strip():
        raise VrambleError("empty-prompt", "The prompt is empty.", "Give it with --prompt or on standard input.")
    return text

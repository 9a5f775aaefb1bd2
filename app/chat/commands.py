"""``vramble chat``: one answer, or a conversation, in a terminal."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from app.chat.load_flags import add_load_flags, read_load_flags, wants_warnings, with_profile
from app.chat.numbers import not_negative, whole
from app.paths import find_paths
from app.worker.model_argument import HELP, find_model_file
from engine.client.blocking import BlockingWorker
from engine.client.calls import generate, load_model
from engine.client.command import worker_command
from engine.errors import VrambleError
from engine.protocol.frames import Delta, Finished, Progress
from engine.protocol.types import ChatMessage, FinishReason, LoadOptions, ModelInfo, Sampling

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

EXIT_WORD = "/exit"
MAX_SEED = 2**32 - 1
THINK_START, THINK_END = "<think>", "</think>"


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
    parser.add_argument("--temp", metavar="X", type=not_negative, help="temperature, 0 for greedy (default 0.7)")
    parser.add_argument("--seed", metavar="N", type=whole(0, MAX_SEED), help="same seed, same text (default: random)")
    parser.add_argument("--max-tokens", metavar="N", type=whole(1), help="longest answer in tokens")
    parser.add_argument("--json", action="store_true", help="print one JSON document at the end")
    add_load_flags(parser)
    parser.set_defaults(func=run, parser=parser)


def run(arguments: argparse.Namespace) -> int:
    """Find the model, load it, answer."""
    paths = find_paths()
    interactive = arguments.prompt is None and sys.stdin.isatty()
    if interactive and arguments.json:
        arguments.parser.error("--json needs --prompt or text on standard input")
    options = read_load_flags(arguments)
    prompt = None if interactive else _prompt(arguments.prompt)
    model = find_model_file(paths, arguments.model)
    with BlockingWorker(worker_command(paths.backends)) as worker:
        devices = worker.start().devices
        chat = Chat(worker, arguments)
        info = chat.load(model, with_profile(options, arguments, devices, model))
        if prompt is None or wants_warnings(arguments):
            print(*info.warnings, sep="\n", end="\n" * bool(info.warnings), file=sys.stderr)
        if prompt is None:
            return chat.converse(info)
        return chat.answer_once(prompt)


class Chat:
    """A conversation with a loaded model."""

    def __init__(self, worker: BlockingWorker, arguments: argparse.Namespace) -> None:
        self._worker = worker
        self._arguments = arguments
        self._messages: list[ChatMessage] = []
        if arguments.system:
            self._messages.append(ChatMessage(role="system", content=arguments.system))
        sampling = Sampling(seed=arguments.seed)
        if arguments.temp is not None:
            sampling = msgspec.structs.replace(sampling, temperature=arguments.temp)
        self._sampling = sampling

    def load(self, path: Path, options: LoadOptions) -> ModelInfo:
        """Load the model, with progress on a terminal."""
        try:
            return load_model(self._worker, path, options, _show_progress).model
        finally:
            _wipe_progress()

    def answer_once(self, prompt: str) -> int:
        """One answer on standard output, as text or as JSON."""
        as_json = self._arguments.json
        text, finished = self._answer(prompt, stream=not as_json)
        if as_json:
            print(msgspec.json.format(msgspec.json.encode(document(text, finished)), indent=2).decode())
        elif not text.endswith("\n"):
            print()
        if finished.reason is FinishReason.CANCELLED:
            raise VrambleError("cancelled", "Stopped before the answer was complete.")
        return 1 if finished.reason is FinishReason.ERROR else 0

    def converse(self, model: ModelInfo) -> int:
        """Answer what is typed until the end of input or ``/exit``. Ctrl+C stops an answer, at the prompt it ends."""
        print(f"{model.name} on {model.device.name}. {EXIT_WORD} or Ctrl+D ends.", file=sys.stderr)
        if model.device_reason:
            print(model.device_reason, file=sys.stderr)
        while (line := _typed()) is not None:
            if not line.strip():
                continue
            try:
                text, finished = self._answer(line, stream=True)
            except VrambleError as error:
                if self._worker.pid is None:
                    raise
                print(error.sentence, file=sys.stderr)
                continue
            self._messages.append(ChatMessage(role="assistant", content=text))
            print()
            print(f"[{_figures(finished)}]", file=sys.stderr)
        return 0

    def _answer(self, prompt: str, stream: bool) -> tuple[str, Finished]:
        pieces: list[str] = []

        def take(delta: Delta) -> None:
            pieces.append(delta.text)
            if stream:
                sys.stdout.write(delta.text)
                sys.stdout.flush()

        question = ChatMessage(role="user", content=prompt)
        finished = generate(self._worker, [*self._messages, question], self._sampling, self._arguments.max_tokens, take)
        self._messages.append(question)
        return "".join(pieces), finished


def document(text: str, finished: Finished) -> dict[str, object]:
    """What ``--json`` prints: the answer and its figures."""
    thinking, answer = split_thinking(text)
    return {
        "text": answer,
        "thinking": thinking,
        "finish_reason": finished.reason,
        **msgspec.to_builtins(finished.stats),
    }


def split_thinking(text: str) -> tuple[str | None, str]:
    """A thought in ``<think>`` tags at the beginning, and the rest; None where there is no thought."""
    if not text.lstrip().startswith(THINK_START):
        return None, text
    thought, _, answer = text.lstrip().removeprefix(THINK_START).partition(THINK_END)
    return thought.strip(), answer.lstrip()


def _prompt(given: str | None) -> str:
    text = given
    if text is None:
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    if not text.strip():
        raise VrambleError("empty-prompt", "The prompt is empty.", "Give it with --prompt or on standard input.")
    return text


def _typed() -> str | None:
    try:
        line = input("> ")
    except (EOFError, KeyboardInterrupt):
        print()
        return None
    return None if line.strip() == EXIT_WORD else line


def _figures(finished: Finished) -> str:
    stats = finished.stats
    words = [f"{stats.generated_tokens} tokens"]
    if stats.decode_tps > 0:
        words.append(f"{stats.decode_tps:.1f} tok/s")
    if finished.reason not in (FinishReason.STOP, FinishReason.LENGTH):
        words.append(finished.reason.value)
    return ", ".join(words)


def _show_progress(progress: Progress) -> None:
    if sys.stderr.isatty() and progress.total > 0:
        sys.stderr.write(f"\rLoading {100 * progress.done // progress.total} %")
        sys.stderr.flush()


def _wipe_progress() -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")
        sys.stderr.flush()

"""``vramble chat``: one answer, or a conversation, in a terminal."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from app.chat.load_flags import add_load_flags, read_load_flags, wants_warnings, with_profile
from app.chat.numbers import whole
from app.chat.sampling_flags import add_sampling_flags, read_sampling_flags, read_thinking_flags
from app.chat.self_test_report import run_self_test
from app.paths import find_paths
from engine.client.blocking import BlockingWorker
from engine.client.calls import generate, load_model
from engine.client.command import worker_command
from engine.errors import VrambleError
from engine.library.argument import HELP, find_model_file
from engine.loading.fallback import fallback
from engine.protocol.frames import Delta, Finished, Progress
from engine.protocol.types import ChatMessage, FinishReason, LoadOptions, ModelInfo, Sampling

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

EXIT_WORD = "/exit"
DIM, NOT_DIM = "\033[2m", "\033[22m"


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
    with BlockingWorker(worker_command(paths.backends)) as worker:
        hello = worker.start()
        chat = Chat(worker, arguments, sampling)
        options = with_profile(options, arguments, hello.devices, model)
        info = chat.load(model, options)
        _tell(info.warnings if prompt is None or wants_warnings(arguments) else _elsewhere(options, info))
        if arguments.self_test:
            return run_self_test(worker, hello, paths, info, options, arguments.json)
        if prompt is None:
            return chat.converse(info)
        return chat.answer_once(prompt)


def _elsewhere(options: LoadOptions, info: ModelInfo) -> tuple[str, ...]:
    """What no script should miss: a device that was named is not the one that computes."""
    text = fallback(options, info)
    return (text,) if text else ()


def _tell(lines: tuple[str, ...]) -> None:
    for line in lines:
        print(line, file=sys.stderr)


class Chat:
    """A conversation with a loaded model."""

    def __init__(self, worker: BlockingWorker, arguments: argparse.Namespace, sampling: Sampling) -> None:
        self._worker = worker
        self._arguments = arguments
        self._sampling = sampling
        self._thinking = read_thinking_flags(arguments)
        self._messages: list[ChatMessage] = []
        if arguments.system:
            self._messages.append(ChatMessage(role="system", content=arguments.system))

    def load(self, path: Path, options: LoadOptions) -> ModelInfo:
        """Load the model, with progress on a terminal."""
        try:
            return load_model(self._worker, path, options, _show_progress).model
        finally:
            _wipe_progress()

    def answer_once(self, prompt: str) -> int:
        """One answer on standard output, as text or as JSON."""
        as_json = self._arguments.json
        thought, text, finished = self._answer(prompt, stream=not as_json)
        if as_json:
            print(msgspec.json.format(msgspec.json.encode(document(thought, text, finished)), indent=2).decode())
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
                thought, text, finished = self._answer(line, stream=True)
            except VrambleError as error:
                if self._worker.pid is None:
                    raise
                print(error.sentence, file=sys.stderr)
                continue
            self._messages.append(ChatMessage(role="assistant", content=text, thinking=thought))
            print()
            print(f"[{_figures(finished)}]", file=sys.stderr)
        return 0

    def _answer(self, prompt: str, stream: bool) -> tuple[str, str, Finished]:
        """Thought, answer with the text it was begun with, end."""
        arguments, begun = self._arguments, self._arguments.prefill
        thoughts: list[str] = []
        pieces: list[str] = [begun]
        screen = Screen(shown=stream)
        screen.show(Delta(id=0, text=begun))

        def take(delta: Delta) -> None:
            thoughts.append(delta.thinking)
            pieces.append(delta.text)
            screen.show(delta)

        question = ChatMessage(role="user", content=prompt)
        try:
            finished = generate(
                self._worker,
                [*self._messages, question],
                self._sampling,
                arguments.max_tokens,
                take,
                stop=arguments.stop,
                thinking=self._thinking,
                prefill=begun,
            )
        finally:
            screen.close()
        self._messages.append(question)
        return "".join(thoughts), "".join(pieces), finished


class Screen:
    """Shows an answer as it comes; its thought dimmed, on standard error, if that is a terminal."""

    def __init__(self, *, shown: bool) -> None:
        self._shown, self._dims = shown, shown and sys.stderr.isatty()
        self._thinking = False

    def show(self, delta: Delta) -> None:
        """Write what is new."""
        if delta.thinking and self._dims:
            sys.stderr.write(delta.thinking if self._thinking else DIM + delta.thinking)
            sys.stderr.flush()
            self._thinking = True
        if delta.text and self._shown:
            self.close()
            sys.stdout.write(delta.text)
            sys.stdout.flush()

    def close(self) -> None:
        """End the thought, if one is shown."""
        if self._thinking:
            sys.stderr.write(f"{NOT_DIM}\n\n")
            sys.stderr.flush()
            self._thinking = False


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

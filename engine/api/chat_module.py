"""A chat as MLC's Python module had it in 2023, so that its examples and benchmarks can be run with this engine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import TracebackType
from typing import Literal, Self, Unpack, overload

from engine.api.callbacks import ProgressCallback
from engine.api.engine import Engine
from engine.api.figures import Figures
from engine.api.keywords import AnswerKeywords, LoadKeywords
from engine.api.loading import OnLoad
from engine.api.request import Answer, Conversation
from engine.api.stream import Stream
from engine.protocol.types import LoadOptions, ModelInfo, Sampling


class ChatModule:
    """A conversation with a model. Use it in a ``with`` block, call `close`, or let it go.

    >>> cm = ChatModule(model, device="cpu", n_ctx=512)
    >>> text = cm.benchmark_generate("Hi", generate_length=16)
    >>> cm.figures.last.generated_tokens
    16
    >>> cm.stats().startswith("prefill: ")
    True
    >>> cm.reset_chat()
    >>> cm.close()

    Args:
        system: The system prompt.

    Other arguments and errors: as for `Engine`.
    """

    def __init__(
        self,
        model: str | os.PathLike[str],
        *,
        system: str = "",
        options: LoadOptions | None = None,
        sampling: Sampling | None = None,
        on_load: OnLoad | None = None,
        **load: Unpack[LoadKeywords],
    ) -> None:
        self.engine = Engine(model, options=options, sampling=sampling, on_load=on_load, **load)
        self.conversation = Conversation(system)
        self.figures = Figures()
        """Sums over the answers since the last reset."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def model(self) -> ModelInfo:
        """What is loaded, and where."""
        return self.engine.model

    @overload
    def generate(
        self,
        prompt: str,
        progress_callback: ProgressCallback | None = None,
        *,
        stream: Literal[False] = False,
        stateless: bool = False,
        **keywords: Unpack[AnswerKeywords],
    ) -> str: ...

    @overload
    def generate(
        self,
        prompt: str,
        progress_callback: ProgressCallback | None = None,
        *,
        stream: Literal[True],
        stateless: bool = False,
        **keywords: Unpack[AnswerKeywords],
    ) -> Iterator[str]: ...

    def generate(
        self,
        prompt: str,
        progress_callback: ProgressCallback | None = None,
        *,
        stream: bool = False,
        stateless: bool = False,
        **keywords: Unpack[AnswerKeywords],
    ) -> str | Iterator[str]:
        """Answer a message of the conversation, which keeps both; an answer that failed leaves no trace.

        Args:
            progress_callback: Hears the answer while it grows, as `StreamToStdout` does.
            stream: Give back an iterator over the text in place of the whole of it.
            stateless: Neither look at the conversation nor keep anything in it.
            keywords: As for `Engine.stream`.

        Raises:
            VrambleError: The answer failed, or the worker died.
        """
        pieces = self._answer(prompt, progress_callback, stateless, keywords)
        return pieces if stream else "".join(pieces)

    def benchmark_generate(self, prompt: str, generate_length: int) -> str:
        """Answer with exactly ``generate_length`` tokens, whatever the model would do; the figures start anew.

        The conversation and the system prompt are left out, and end tokens are never chosen. The prompt goes through
        the model's template, so it is some tokens longer than its text; `stats` tells prompt and answer apart.

        Raises:
            VrambleError: ``context-exceeded`` and others.
        """
        self.figures = Figures()
        answer = self.engine.generate(prompt, max_tokens=generate_length, endless=True)
        self._count(answer)
        return answer.text

    def stats(self) -> str:
        """Speeds since the last reset: ``prefill: 133.9 tok/s, decode: 55.8 tok/s``. Numbers are in `figures`."""
        return str(self.figures)

    def reset_chat(self) -> None:
        """Begin a new conversation; the system prompt stays, the figures start anew."""
        self.conversation.clear()
        self.figures = Figures()

    def close(self) -> None:
        """End the worker."""
        self.engine.close()

    def _answer(
        self, prompt: str, callback: ProgressCallback | None, stateless: bool, keywords: AnswerKeywords
    ) -> Iterator[str]:
        stream = self.engine.stream(prompt if stateless else self.conversation.ask(prompt), **keywords)
        return self._pieces(stream, prompt, callback, stateless, keywords.get("prefill", ""))

    def _pieces(
        self, stream: Stream, prompt: str, callback: ProgressCallback | None, stateless: bool, prefill: str
    ) -> Iterator[str]:
        text = ""
        with stream:
            for piece in stream:
                text += piece
                if callback is not None:
                    callback(text, False)
                yield piece
        answer = stream.answer()
        self._count(answer)
        if not stateless:
            self.conversation.add(prompt, answer, prefill)
        if callback is not None:
            callback(text, True)

    def _count(self, answer: Answer) -> None:
        self.figures = self.figures.plus(answer.stats)

"""From a conversation to the tokens of a prompt, and to what the model will write behind it: a thought or an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from engine.errors import VrambleError
from engine.protocol.caching import Overflow
from engine.protocol.frames import Generate
from engine.protocol.types import ChatMessage
from engine.worker.cancel import Stop
from engine.worker.messages import SYSTEM, USER, normalise
from engine.worker.model import LoadedModel
from engine.worker.overflow import room_for_answer, shorter
from engine.worker.prompt import check_room
from engine.worker.prompt_cache import common_prefix
from engine.worker.templates.process import TemplateProcess
from engine.worker.thinking.channels import ChannelParser
from engine.worker.thinking.parser import PairParser, Parser
from engine.worker.thinking.tags import ANSWER_CHANNEL, PAIRS, THOUGHT_CHANNEL, Channels, Tags


@dataclass(frozen=True)
class Prompt:
    """What the model gets.

    Attributes:
        tokens: The whole prompt.
        parser: Splits what comes behind it.
        prefill: Tokens of the answer's beginning, the last of ``tokens``.
        template_thinks: The template itself speaks of the tags of a thought.
        head: So many tokens at the beginning do not belong to the conversation: the system prompt. Known only where
            the oldest part may be left out.
        shortened: The oldest part was left out.
    """

    tokens: list[int]
    parser: Parser
    prefill: list[int]
    template_thinks: bool
    head: int = 0
    shortened: bool = False


def make_prompt(loaded: LoadedModel, templates: TemplateProcess, request: Generate, cancel: Stop) -> Prompt:
    """The prompt for a request.

    Raises:
        VrambleError: ``empty-prompt``, ``template-failed``, ``template-limit``, ``context-exceeded``.
        RenderCancelled: while the template ran.
    """
    turns = normalise(request.messages)
    n_ctx = loaded.info.n_ctx
    prompt = _assemble(loaded, templates, turns, request, cancel)
    if request.overflow is Overflow.STOP:
        check_room(len(prompt.tokens), n_ctx)
        return prompt
    fitting, shortened = n_ctx - room_for_answer(n_ctx, request.max_tokens), False
    if len(prompt.tokens) > fitting:
        for fewer in shorter(turns, n_ctx, lambda text: len(loaded.vocabulary.tokenize_on(text, special=False))):
            prompt, shortened = _assemble(loaded, templates, fewer, request, cancel), True
            if len(prompt.tokens) <= fitting:
                break
        check_room(len(prompt.tokens), n_ctx)
    head = _head(loaded, templates, turns, request, cancel, prompt.tokens)
    return replace(prompt, head=head, shortened=shortened)


def _head(
    loaded: LoadedModel,
    templates: TemplateProcess,
    turns: Sequence[ChatMessage],
    request: Generate,
    cancel: Stop,
    tokens: list[int],
) -> int:
    """Tokens that the prompt of another conversation with the same system message begins with as well."""
    system = [turn for turn in turns[:1] if turn.role == SYSTEM]
    others = [ChatMessage(role=USER, content=text) for text in ("Q", "1")]
    return min(
        common_prefix(tokens, _render(loaded, templates, [*system, other], request.thinking.enabled, cancel)[1])
        for other in others
    )


def _assemble(
    loaded: LoadedModel,
    templates: TemplateProcess,
    turns: Sequence[ChatMessage],
    request: Generate,
    cancel: Stop,
) -> Prompt:
    """The prompt for these turns, however long it is."""
    text, tokens = _render(loaded, templates, turns, request.thinking.enabled, cancel)
    opening = Opening.of(loaded, text, turns)
    added, parser = opening.go_on(request)
    for part in added:
        tokens += loaded.vocabulary.tokenize_on(part.text, special=part.special)
    prefill = loaded.vocabulary.tokenize_on(request.prefill, special=False) if request.prefill else []
    tokens += prefill
    if loaded.vocabulary.adds_bos and tokens[:1] != [loaded.vocabulary.bos]:
        tokens.insert(0, loaded.vocabulary.bos)
    if not tokens:
        raise VrambleError(
            "empty-prompt",
            f"The chat template in {loaded.template.file} made an empty prompt.",
            "Choose another file of this model.",
        )
    return Prompt(tokens, parser, prefill, opening.template_thinks)


def _render(
    loaded: LoadedModel,
    templates: TemplateProcess,
    turns: Sequence[ChatMessage],
    thinking: bool | None,
    cancel: Stop,
) -> tuple[str, list[int]]:
    """Text of the template and its tokens. Texts of control tokens in the conversation stay text."""
    guard = loaded.guard
    mark = guard.mark_for([loaded.template.text, *(part for turn in turns for part in (turn.content, turn.thinking))])
    guarded = [
        ChatMessage(role=turn.role, content=guard.guard(turn.content, mark), thinking=guard.guard(turn.thinking, mark))
        for turn in turns
    ]
    text = loaded.template.prompt(templates, guarded, lambda: cancel.is_set, thinking=thinking)
    first, *others = text.split(mark)
    tokens = loaded.vocabulary.tokenize(first, special=True)
    for part in others:
        tokens += loaded.vocabulary.tokenize_on(part, special=True)
    return "".join([first, *others]), tokens


class Added(NamedTuple):
    """Text behind the template's; ``special``: control tokens are meant in it."""

    text: str
    special: bool


@dataclass(frozen=True)
class Opening:
    """How the prompt of a template ends."""

    loaded: LoadedModel
    tags: Tags | None
    """The pair whose opening tag stands at the end."""

    channel: str | None
    """The channel whose message is begun at the end."""

    template_thinks: bool

    @classmethod
    def of(cls, loaded: LoadedModel, text: str, turns: Sequence[ChatMessage]) -> Opening:
        template, end = loaded.template.text, text.rstrip()
        thinks = any(tag in template for pair in PAIRS for tag in (pair.open, pair.close))
        thinks = thinks or (loaded.marks.channels is not None and Channels().channel in template)
        typed = turns[-1].content.rstrip()

        def opens(tag: str) -> bool:
            return end.endswith(tag) and not (typed.endswith(tag) and end.endswith(typed))

        place = next((place for place, pair in enumerate(PAIRS) if opens(pair.open)), None)
        channels = (THOUGHT_CHANNEL, ANSWER_CHANNEL) if loaded.marks.channels else ()
        channel = next((name for name in channels if opens(Channels().begin(name))), None)
        return cls(loaded, None if place is None else loaded.marks.pairs[place], channel, thinks)

    def go_on(self, request: Generate) -> tuple[list[Added], Parser]:
        """What stands between the template's text and the prefill or the model's words; and who reads those."""
        channels, thought = self.loaded.marks.channels, request.prefill_thinking
        before, behind, parser = self._message(channels, request) if channels else self._brackets(request)
        spelled = [Added(self.loaded.marks.spelled(text, self.loaded.vocabulary), True) for text in (before, behind)]
        added = [spelled[0], Added(thought, False), spelled[1]]
        return [part for part in added if part.text], parser

    def _brackets(self, request: Generate) -> tuple[str, str, Parser]:
        """What comes before the thought that is prefilled, what behind it."""
        pairs = self.loaded.marks.pairs
        used = self.tags or next(iter(self._named()), pairs[0])
        begin = "" if self.tags else f"{used.open}\n"
        if request.prefill_thinking and not request.prefill:
            return begin, "", PairParser(pairs, used)
        if request.prefill_thinking:
            return begin, f"\n{used.close}\n\n", PairParser(pairs, answering=True)
        if request.prefill or (self.tags and request.thinking.enabled is False):
            return "", f"\n{used.close}\n\n" if self.tags else "", PairParser(pairs, answering=True)
        return "", "", PairParser(pairs, self.tags)

    def _named(self) -> list[Tags]:
        template = self.loaded.template.text
        return [marked for plain, marked in zip(PAIRS, self.loaded.marks.pairs, strict=True) if plain.close in template]

    def _message(self, channels: Channels, request: Generate) -> tuple[str, str, Parser]:
        channel = self.channel
        begin = "" if channel else channels.begin(THOUGHT_CHANNEL)
        if request.prefill_thinking and not request.prefill:
            return begin, "", ChannelParser(channels, THOUGHT_CHANNEL)
        if request.prefill_thinking:
            return begin, channels.to_answer, ChannelParser(channels, ANSWER_CHANNEL)
        if request.prefill or request.thinking.enabled is False:
            ahead = {None: channels.begin(ANSWER_CHANNEL), THOUGHT_CHANNEL: channels.to_answer}
            return "", ahead.get(channel, ""), ChannelParser(channels, ANSWER_CHANNEL)
        return "", "", ChannelParser(channels, channel)

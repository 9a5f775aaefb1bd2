"""jinja2's sandbox, set up the way chat templates expect it."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

from jinja2 import TemplateError, nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

MAX_RESULT = 8 * 1024 * 1024
"""Most characters of a rendered prompt."""


class ResultTooLongError(Exception):
    """The rendered text passed `MAX_RESULT`."""


class GenerationBlock(Extension):
    """``{% generation %}`` marks the assistant's part for training; here its body is just rendered."""

    tags = {"generation"}  # noqa: RUF012 - jinja2's own declaration

    def parse(self, parser: Parser) -> list[nodes.Node]:
        """The body of the block."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def to_json(value: Any, indent: int | None = None, separators: Any = None, sort_keys: bool = False) -> str:
    """The ``tojson`` filter: plain JSON. jinja2's own escapes for HTML, which changes the prompt."""
    return json.dumps(value, ensure_ascii=False, indent=indent, separators=separators, sort_keys=sort_keys)


def raise_exception(message: str) -> None:
    """Templates call this to refuse a conversation."""
    raise TemplateError(str(message))


def environment(now: Callable[[], datetime]) -> ImmutableSandboxedEnvironment:
    """A sandbox whose ``strftime_now`` asks ``now``."""
    sandbox = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, GenerationBlock]
    )
    sandbox.filters["tojson"] = to_json
    sandbox.globals["raise_exception"] = raise_exception
    sandbox.globals["strftime_now"] = lambda pattern: now().strftime(pattern)
    return sandbox


class DayClock:
    """The time of the first question of the day, all day: a prompt that changes each minute would spoil the cache."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._frozen: datetime | None = None

    def __call__(self) -> datetime:
        """The frozen time."""
        now = self._clock()
        if self._frozen is None or self._frozen.date() != now.date():
            self._frozen = now
        return self._frozen


class Renderer:
    """Renders conversations; the last template stays compiled."""

    def __init__(self, clock: Callable[[], datetime], max_result: int = MAX_RESULT) -> None:
        self._sandbox = environment(DayClock(clock))
        self._max_result = max_result
        self._source: str | None = None
        self._template = self._sandbox.from_string("")

    def render(self, source: str, variables: dict[str, Any]) -> str:
        """The prompt.

        Raises:
            TemplateError: syntax error, unknown function, or refused by the template.
            ResultTooLongError: more than the allowed length.
        """
        if source != self._source:
            self._template = self._sandbox.from_string(source)
            self._source = source
        parts, length = [], 0
        for part in self._template.generate(**variables):
            length += len(part)
            if length > self._max_result:
                raise ResultTooLongError
            parts.append(part)
        return "".join(parts)

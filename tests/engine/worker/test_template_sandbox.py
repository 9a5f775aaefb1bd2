"""Helpers and limits of the template sandbox, without a process."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from jinja2 import TemplateError

from engine.worker.templates.chat import CHATML, marker_after
from engine.worker.templates.sandbox import Renderer, ResultTooLongError

NOON = datetime(2026, 3, 4, 12, 30, tzinfo=UTC)


def render(source: str, **variables: object) -> str:
    return Renderer(lambda: NOON).render(source, variables)


def test_helpers_that_models_expect() -> None:
    source = (
        "{{ strftime_now('%d %b %Y %H:%M') }}|{{ {'k':'ä<b>'} | tojson }}|"
        "{% for i in range(5) %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endfor %}"
    )
    assert re.fullmatch(r'04 Mar 2026 12:30\|\{"k": "ä<b>"\}\|01', render(source))


def test_the_date_stays_all_day() -> None:
    now = NOON
    renderer = Renderer(lambda: now)
    source = "{{ strftime_now('%d %H:%M') }}"
    assert renderer.render(source, {}) == "04 12:30"
    now = NOON + timedelta(hours=5)
    assert renderer.render(source, {}) == "04 12:30"
    now = NOON + timedelta(days=1, minutes=1)
    assert renderer.render(source, {}) == "05 12:31"


def test_a_template_can_refuse() -> None:
    with pytest.raises(TemplateError, match="roles must alternate"):
        render("{{ raise_exception('roles must alternate') }}")


def test_blocks_for_training_are_rendered() -> None:
    assert render("a{% generation %}b{% endgeneration %}c") == "abc"


def test_whitespace_of_blocks_is_trimmed() -> None:
    assert render("{% if true %}\n  {% if true %}\nx\n  {% endif %}\n{% endif %}\n") == "x\n"


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ ''.__class__ }}",
        "{{ cycler.__init__.__globals__ }}",
        "{{ raise_exception.__globals__ }}",
        "{{ messages.append(1) }}",
    ],
)
def test_the_sandbox_gives_nothing_away(source: str) -> None:
    messages: list[int] = []
    try:
        text = render(source, messages=messages)
    except TemplateError:
        text = ""
    assert text == ""
    assert messages == []


def test_an_endless_result_is_cut() -> None:
    renderer = Renderer(lambda: NOON, max_result=1000)
    with pytest.raises(ResultTooLongError):
        renderer.render("{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}", {})


def test_chatml() -> None:
    messages = [{"role": "user", "content": "hi"}]
    expected = "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"
    assert render(CHATML, messages=messages, add_generation_prompt=True) == expected


@pytest.mark.parametrize(
    ("text", "marker"),
    [
        ("q ANSWER<|im_end|>\n<|im_start|>user", "<|im_end|>"),
        ("q ANSWER </s><s>[INST] b", "</s>"),
        ("q ANSWER<end_of_turn>\n", "<end_of_turn>"),
        ("q ANSWER\n\n[INST]b[/INST]", "[INST]"),
        ("q ANSWER\n### User: <b>", None),
        ("q ANSWER", None),
        ("no answer at all <|x|>", None),
    ],
)
def test_the_marker_behind_an_answer(text: str, marker: str | None) -> None:
    assert marker_after(text, "ANSWER") == marker

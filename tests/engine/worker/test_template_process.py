"""The template process: limits that hold against C code, cancel, and life after each."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from engine.errors import VrambleError
from engine.own_process import with_source
from engine.protocol.types import ChatMessage
from engine.worker.templates.chat import ChatTemplate
from engine.worker.templates.child import serve
from engine.worker.templates.process import MODULE, RenderCancelled, TemplateProcess

ALTERNATE = (
    "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
    "[{{ m.role }}]{{ m.content }}{% endfor %}"
)


def never() -> bool:
    return False


@pytest.fixture
def process() -> Iterator[TemplateProcess]:
    made = TemplateProcess()
    yield made
    made.close()


def test_renders_and_keeps_the_process(process: TemplateProcess) -> None:
    assert process.render("{{ a }}ü\U0001f600", {"a": "x\ny"}, never, "f.gguf") == "x\nyü\U0001f600"
    first = process._child
    assert process.render("{{ a }}", {"a": "z" * 300_000}, never, "f.gguf") == "z" * 300_000
    assert process._child is first


def test_memory_is_limited_and_the_next_one_works(process: TemplateProcess) -> None:
    with pytest.raises(VrambleError, match=r"f\.gguf used too much memory") as caught:
        process.render('{{ "x" * 3000000000 }}', {}, never, "f.gguf")
    assert caught.value.code == "template-limit"
    assert process.render("ok", {}, never, "f.gguf") == "ok"


def test_time_is_limited_also_in_c_code() -> None:
    """The timer's default action ends the process in the middle of one long call of C code."""
    code = (
        "import sys, io, json; from engine.worker.templates.child import serve;"
        "serve([json.dumps({'template': '{{ (9 ** 9) ** (9 ** 9) }}', 'variables': {}})], sys.stdout, seconds=1)"
    )
    env = with_source(os.environ)
    done = subprocess.run([sys.executable, "-P", "-c", code], env=env, check=False, timeout=60, capture_output=True)
    assert done.returncode == -signal.SIGPROF
    assert done.stdout == b""


def kills(process: TemplateProcess, deaths: int, number: signal.Signals) -> Callable[[], bool]:
    """A question for a cancel that kills the next child each time it is asked, ``deaths`` times."""
    dead: set[int] = set()

    def asked() -> bool:
        child = process._child
        if child is not None and child.pid not in dead and len(dead) < deaths:
            dead.add(child.pid)
            child.send_signal(number)
        return False

    return asked


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_child_that_is_killed_is_replaced_and_asked_again(process: TemplateProcess, number: signal.Signals) -> None:
    assert process.render("{{ 'x' * n }}", {"n": 300}, kills(process, 1, number), "f.gguf") == "x" * 300


def test_a_child_that_always_dies_is_told(process: TemplateProcess) -> None:
    with pytest.raises(VrambleError, match="ended the process that renders it") as caught:
        process.render("{{ 'x' * n }}", {"n": 300}, kills(process, 9, signal.SIGKILL), "f.gguf")
    assert caught.value.code == "template-limit"
    assert process.render("again", {}, never, "f.gguf") == "again"


def test_its_own_limit_is_no_reason_to_ask_again(process: TemplateProcess) -> None:
    with pytest.raises(VrambleError, match="took longer than 5 seconds"):
        process.render("x", {}, kills(process, 1, signal.SIGPROF), "f.gguf")


def test_cancel_while_rendering(process: TemplateProcess) -> None:
    asked = iter([False, False])
    with pytest.raises(RenderCancelled):
        process.render(
            "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
            {},
            lambda: next(asked, True),
            "f.gguf",
        )
    assert process.render("ok", {}, never, "f.gguf") == "ok"


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{{ raise_exception('roles must alternate') }}", "roles must alternate"),
        ("{% if %}", "Expected an expression"),
        ("{{ nothing.at.all }}", "undefined"),
        ("{{ 1 // 0 }}", "ZeroDivisionError"),
    ],
)
def test_what_the_template_says_reaches_the_user(process: TemplateProcess, template: str, words: str) -> None:
    with pytest.raises(VrambleError, match=words) as caught:
        process.render(template, {}, never, "model.gguf")
    assert caught.value.code == "template-failed"
    assert "model.gguf" in caught.value.message


def test_a_model_without_system_role_gets_the_text_in_the_first_question(process: TemplateProcess) -> None:
    template = ChatTemplate.of_model(ALTERNATE, "f.gguf", "", "")
    messages = [ChatMessage(role="system", content="be brief"), ChatMessage(role="user", content="hi")]
    assert template.prompt(process, messages, never) == "[user]be brief\n\nhi"


@pytest.mark.parametrize("text", [None, "", "  \n"])
def test_no_template_is_chatml(text: str | None) -> None:
    template = ChatTemplate.of_model(text, "f.gguf", "<s>", "</s>")
    assert template.source == "fallback"
    assert "<|im_start|>" in template.text


def test_the_end_of_turn_marker_of_a_template(process: TemplateProcess) -> None:
    fallback = ChatTemplate.of_model(None, "f.gguf", "", "")
    assert fallback.end_of_turn(process, never) == "<|im_end|>"
    assert ChatTemplate.of_model("{% if %}", "f.gguf", "", "").end_of_turn(process, never) is None


def test_serve_answers_line_by_line() -> None:
    out = io.StringIO()
    requests = [{"template": "{{ n }}", "variables": {"n": number}} for number in range(3)]
    serve(map(json.dumps, requests), out)
    assert [json.loads(line)["text"] for line in out.getvalue().splitlines()] == ["0", "1", "2"]


def test_the_process_ends_with_its_stdin() -> None:
    env = with_source(os.environ)
    done = subprocess.run([sys.executable, "-P", "-m", MODULE], input=b"", env=env, check=False, timeout=60)
    assert done.returncode == 0

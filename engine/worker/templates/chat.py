"""The chat template of the loaded model."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from engine.errors import VrambleError
from engine.protocol.types import ChatMessage
from engine.worker.messages import ASSISTANT, USER, without_system
from engine.worker.templates.process import TemplateProcess

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""Used when the file brings no template."""

CHATML_STOPS = ("<|im_end|>", "<|im_start|>")

THINKING_SWITCHES = ("enable_thinking", "thinking")
"""Variables that switch thinking on and off: most families', and Granite's and DeepSeek 3.1's."""

THOUGHT_NAMES = ("reasoning_content", "thinking")

_ANSWER = "vramble-answer-5d1c"
_MARKER = re.compile(r"\s*(<\|[^<>|\s]{1,40}\|>|</?[A-Za-z_][\w.-]{0,40}>|\[/?[A-Z_]{1,20}\])")


@dataclass(frozen=True)
class ChatTemplate:
    """Source and special texts of a template. ``source`` is ``file`` or ``fallback``."""

    text: str
    source: str
    file: str
    bos: str
    eos: str

    @classmethod
    def of_model(cls, text: str | None, file: str, bos: str, eos: str) -> ChatTemplate:
        """The file's template; ChatML when there is none or a blank one."""
        if text and text.strip():
            return cls(text, "file", file, bos, eos)
        return cls(CHATML, "fallback", file, bos, eos)

    def prompt(
        self,
        process: TemplateProcess,
        messages: Sequence[ChatMessage],
        cancelled: Callable[[], bool],
        *,
        answer_follows: bool = True,
        thinking: bool | None = None,
    ) -> str:
        """The conversation as one text, ready for the answer. ``thinking``: whether the model is to think; None for
        what the template does by itself.

        A template that refuses a conversation with a system message gets it again with the system text in front of the
        first question: several model families know no system role.

        Raises:
            VrambleError: as `TemplateProcess.render`.
            RenderCancelled: as there.
        """
        try:
            return self._render(process, messages, cancelled, answer_follows, thinking)
        except VrambleError as error:
            plain = without_system(messages)
            if error.code != "template-failed" or plain == list(messages):
                raise
            return self._render(process, plain, cancelled, answer_follows, thinking)

    def _render(
        self,
        process: TemplateProcess,
        messages: Sequence[ChatMessage],
        cancelled: Callable[[], bool],
        answer_follows: bool,
        thinking: bool | None,
    ) -> str:
        variables: dict[str, Any] = {
            "messages": [as_template_sees(message) for message in messages],
            "add_generation_prompt": answer_follows,
            "bos_token": self.bos,
            "eos_token": self.eos,
            "tools": None,
            "documents": None,
        }
        if thinking is not None:
            variables |= dict.fromkeys(THINKING_SWITCHES, thinking)
        return process.render(self.text, variables, cancelled, self.file)

    def end_of_turn(self, process: TemplateProcess, cancelled: Callable[[], bool]) -> str | None:
        """The marker that the template puts after an answer, or None. It is looked for in a sample conversation.

        A template that fails or is stopped gives None: the first real prompt will say so.
        """
        sample = [
            ChatMessage(role=USER, content="a"),
            ChatMessage(role=ASSISTANT, content=_ANSWER),
            ChatMessage(role=USER, content="b"),
        ]
        try:
            text = self.prompt(process, sample, cancelled, answer_follows=False)
        except VrambleError:
            return None
        return marker_after(text, _ANSWER)


def as_template_sees(message: ChatMessage) -> dict[str, str]:
    """A turn as templates name its parts. A thought has two names: Qwen's, DeepSeek's and others', and OpenAI's."""
    turn = {"role": message.role, "content": message.content}
    return turn | dict.fromkeys(THOUGHT_NAMES, message.thinking) if message.thinking else turn


def marker_after(text: str, answer: str) -> str | None:
    """The control-like text right behind ``answer``: ``<|im_end|>``, ``</s>``, ``[/INST]``."""
    match = _MARKER.match(text, text.find(answer) + len(answer)) if answer in text else None
    return match.group(1) if match else None

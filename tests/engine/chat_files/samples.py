"""Small exports of other programs, written by hand after their formats."""

from __future__ import annotations

from typing import Any


def chatgpt(title: str = "Sysfs", id_: str = "conv-1") -> dict[str, Any]:
    """A root without a message, a hidden node, a question with two answers, the second one shown."""

    def node(id_: str, parent: str | None, message: dict[str, Any] | None, children: list[str]) -> dict[str, Any]:
        return {"id": id_, "parent": parent, "message": message, "children": children}

    def said(role: str, text: str, time: float | None = 1_700_000_000.5, **about: Any) -> dict[str, Any]:
        content = {"content_type": "text", "parts": [text]}
        return {"author": {"role": role}, "create_time": time, "content": content, "metadata": about}

    hidden = said("user", "My profile is secret", is_user_system_message=True)
    hidden["content"] = {"content_type": "user_editable_context", "user_profile": "secret"}
    thought = {"content_type": "thoughts", "thoughts": [{"content": "Let me think."}]}
    pieces: dict[str, Any] = {"content_type": "multimodal_text", "parts": [{"asset_pointer": "x"}, {"text": "What?"}]}
    return {
        "title": title,
        "conversation_id": id_,
        "create_time": 1_700_000_000.0,
        "update_time": 1_700_000_100.0,
        "current_node": "a2",
        "default_model_slug": "gpt-x",
        "mapping": {
            "root": node("root", None, None, ["sys"]),
            "sys": node("sys", "root", said("system", ""), ["ctx"]),
            "ctx": node("ctx", "sys", hidden, ["q"]),
            "q": node("q", "ctx", {**said("user", ""), "content": pieces}, ["a1", "t"]),
            "a1": node("a1", "q", said("assistant", "First.", None, model_slug="gpt-y"), []),
            "t": node("t", "q", {**said("assistant", ""), "content": thought}, ["a2"]),
            "a2": node("a2", "t", said("assistant", "Second."), []),
        },
    }


def open_webui() -> dict[str, Any]:
    """A question, two answers, the first one shown, with a thought in a details element."""
    messages = {
        "q": {
            "id": "q",
            "parentId": None,
            "childrenIds": ["a", "b"],
            "role": "user",
            "content": "Hi",
            "timestamp": 1700,
        },
        "a": {
            "id": "a",
            "parentId": "q",
            "childrenIds": [],
            "role": "assistant",
            "content": '<details type="reasoning"><summary>Thought</summary>\n> hm\n> yes\n</details>\nHello.',
            "modelName": "Llama",
            "timestamp": 1_700_000_001,
        },
        "b": {
            "id": "b",
            "parentId": "q",
            "childrenIds": [],
            "role": "assistant",
            "content": "Hey.",
            "model": "llama:8b",
        },
    }
    chat = {"title": "Greeting", "models": ["llama:8b"], "history": {"messages": messages, "currentId": "a"}}
    return {
        "id": "w1",
        "title": "Greeting",
        "chat": chat,
        "updated_at": 1_700_000_009,
        "pinned": True,
        "archived": False,
    }


def lm_studio() -> dict[str, Any]:
    """A question, an answer in steps with a thought, and another version of it that is selected."""
    step = {"type": "contentBlock", "content": [{"type": "text", "text": "Because."}]}
    thinking = {**step, "content": [{"type": "text", "text": "Why?"}], "style": {"type": "thinking"}}
    answer = {"type": "multiStep", "role": "assistant", "steps": [thinking, step], "senderInfo": {"senderName": "qwen"}}
    other = {"type": "singleStep", "role": "assistant", "content": [{"type": "text", "text": "Just so."}]}
    question = {"type": "singleStep", "role": "user", "content": [{"type": "text", "text": "Why?"}]}
    prompt = {"key": "llm.prediction.systemPrompt", "value": "Be brief."}
    return {
        "name": "Reasons",
        "createdAt": 1_700_000_000_000,
        "lastUsedModel": {"identifier": "qwen3-8b"},
        "perChatPredictionConfig": {"fields": [prompt]},
        "messages": [
            {"versions": [question], "currentlySelected": 0},
            {"versions": [answer, other], "currentlySelected": 1},
        ],
    }


def jan() -> dict[str, Any]:
    """An export: two messages, the answer with its thought in tags."""

    def said(id_: str, role: str, text: str, time: int) -> dict[str, Any]:
        return {
            "id": id_,
            "role": role,
            "content": [{"type": "text", "text": {"value": text, "annotations": []}}],
            "created_at": time,
            "metadata": {"modelId": "gemma"} if role == "assistant" else {},
        }

    return {
        "title": "Physics",
        "exported_at": "2026-11-30T10:00:00.000Z",
        "messages": [
            said("m1", "user", "A joke?", 1_700_000_000_000),
            said("m2", "assistant", "<think>funny</think>\n\nNo.", 1_700_000_001_000),
        ],
    }

"""Imports: each program's export, damaged ones, hostile ones, and the same twice."""

from __future__ import annotations

import contextlib
import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.chat.portable import PortableConversation
from engine.chat.store import Store
from engine.chat_files.importing import Imported, import_files
from engine.chat_files.sources import conversations_of
from engine.errors import VrambleError
from tests.engine.chat_files.samples import chatgpt, jan, lm_studio, open_webui


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    found = Store.open(tmp_path / "data" / "vramble.sqlite3")
    yield found
    found.close()


def write(folder: Path, document: object, name: str = "export.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(document))
    return path


def shown(store: Store, title: str) -> list[tuple[str, str, str]]:
    """Role, thought and text of the shown branch."""
    (id_,) = [one.id for one in store.conversations() if one.title == title]
    thread = store.thread(id_)
    assert thread is not None
    assert not any(message.problem for message in thread.messages)
    return [(message.role.value, message.thinking, message.text) for message in thread.messages]


def test_chatgpt(store: Store, tmp_path: Path) -> None:
    assert import_files(store, [write(tmp_path, [chatgpt()])]) == Imported(new=1)
    assert shown(store, "Sysfs") == [
        ("user", "", "What?"),
        ("assistant", "Let me think.", ""),
        ("assistant", "", "Second."),
    ]
    (one,) = store.conversations()
    assert (one.created, one.updated) == (1_700_000_000.0, 1_700_000_100.0)
    whole = store.whole(one.id)
    assert whole is not None
    assert {message.text for message in whole.messages} == {"What?", "First.", "", "Second."}
    assert {message.model for message in whole.messages} == {None, "gpt-x", "gpt-y"}
    assert not any("secret" in message.text for message in whole.messages)


def test_open_webui(store: Store, tmp_path: Path) -> None:
    assert import_files(store, [write(tmp_path, [open_webui()])]).new == 1
    assert shown(store, "Greeting") == [("user", "", "Hi"), ("assistant", "hm\nyes", "Hello.")]
    (one,) = store.conversations()
    assert one.pinned is not None
    thread = store.thread(one.id)
    assert thread is not None
    assert (thread.messages[1].model, thread.messages[1].versions) == ("Llama", 2)


def test_lm_studio(store: Store, tmp_path: Path) -> None:
    assert import_files(store, [write(tmp_path, lm_studio())]).new == 1
    assert shown(store, "Reasons") == [("user", "", "Why?"), ("assistant", "", "Just so.")]
    (one,) = store.conversations()
    assert json.loads(one.settings or "") == {"system_prompt": "Be brief."}
    assert one.created == 1_700_000_000.0
    whole = store.whole(one.id)
    assert whole is not None
    assert [(message.thinking, message.text, message.model) for message in whole.messages[1:]] == [
        ("Why?", "Because.", "qwen"),
        ("", "Just so.", "qwen3-8b"),
    ]


def test_jan(store: Store, tmp_path: Path) -> None:
    assert import_files(store, [write(tmp_path, jan())]).new == 1
    assert shown(store, "Physics") == [("user", "", "A joke?"), ("assistant", "funny", "No.")]


def test_the_data_folder_of_jan(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "threads" / "jan_1"
    folder.mkdir(parents=True)
    (folder / "thread.json").write_text(json.dumps({"id": "t1", "title": "Physics", "object": "thread"}))
    lines = [json.dumps(message) for message in jan()["messages"]]
    (folder / "messages.jsonl").write_text("\n".join([lines[0], "{broken", lines[1]]))
    assert import_files(store, [tmp_path / "threads"]).new == 1
    assert len(shown(store, "Physics")) == 2


@pytest.mark.parametrize("document", [[chatgpt()], [open_webui()], lm_studio(), jan()])
def test_the_second_import_adds_nothing(store: Store, tmp_path: Path, document: Any) -> None:
    path = write(tmp_path, document)
    import_files(store, [path])
    before = [store.whole(one) for one in store.every_id()]
    assert import_files(store, [path]) == Imported(known=1)
    assert [store.whole(one) for one in store.every_id()] == before


def test_a_conversation_that_went_on_elsewhere_gets_its_new_messages(store: Store, tmp_path: Path) -> None:
    short = jan()
    short["messages"] = short["messages"][:1]
    import_files(store, [write(tmp_path, short)])
    assert import_files(store, [write(tmp_path, jan())]) == Imported(merged=1)
    (id_,) = store.every_id()
    whole = store.whole(id_)
    assert whole is not None
    assert [message.text for message in whole.messages] == ["A joke?", "No."]


def test_several_files_in_a_zip(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", json.dumps([chatgpt()]))
        archive.writestr("user.json", json.dumps({"email": "x@example.org"}))
        archive.writestr("more/chat.json", json.dumps(lm_studio()))
        archive.writestr("chat.html", "<html>")
    assert import_files(store, [path]).new == 2


def test_what_is_no_file_in_a_folder_keeps_no_other_out(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "exports"
    (folder / "a.json").mkdir(parents=True)
    (folder / "b.json").symlink_to("nowhere.json")
    os.mkfifo(folder / "c.json")
    (folder / "d.json").write_text(json.dumps(chatgpt()))
    assert import_files(store, [folder]).new == 1
    with pytest.raises(VrambleError, match="cannot be read"):
        import_files(store, [folder / "c.json"])


def test_one_bad_conversation_keeps_no_other_out(store: Store, tmp_path: Path) -> None:
    empty = {**chatgpt("Empty", "e"), "mapping": {"root": {"message": None, "parent": None}}}
    path = write(tmp_path, [chatgpt("Good", "g"), "no conversation", empty, 7, chatgpt("Also", "h")])
    done = import_files(store, [path])
    assert (done.new, done.skipped) == (2, 3)
    assert any("no messages" in reason for reason in done.reasons)


@pytest.mark.parametrize(
    "content",
    [
        b"", b"[", b'{"mapping": {', b"null", b"[]", b"{}", b'"text"', b"\xff\xfe[\x00", b"[" * 100_000,
        json.dumps([{"title": "x"}]).encode(), b"PK\x03\x04 no zip",
    ],
)  # fmt: skip
def test_what_is_no_export_changes_nothing(store: Store, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "export.json"
    path.write_bytes(content)
    with pytest.raises(VrambleError) as raised:
        import_files(store, [path])
    assert raised.value.code in ("import-file", "import-unknown")
    assert store.every_id() == []


def test_a_file_that_is_cut_changes_nothing(store: Store, tmp_path: Path) -> None:
    whole = json.dumps([chatgpt(id_=str(number)) for number in range(5)])
    path = tmp_path / "export.json"
    path.write_text(whole[: len(whole) // 2])
    with pytest.raises(VrambleError):
        import_files(store, [path])
    assert store.every_id() == []


def test_a_zip_with_flipped_bits_is_a_sentence(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.json", json.dumps({"numbers": list(range(5000))}))
    content = bytearray(path.read_bytes())
    content[50:80] = bytes(0xFF ^ one for one in content[50:80])
    path.write_bytes(content)
    with pytest.raises(VrambleError) as raised:
        import_files(store, [path])
    assert raised.value.code == "import-file"
    assert store.conversations() == []


def test_settings_with_half_a_character_keep_no_conversation_out(store: Store, tmp_path: Path) -> None:
    message = {"id": "m", "stats": {"x": "\ud83d"}, "parts": [{"content": "hello"}]}
    one = {"id": "c", "title": "half", "settings": {"system_prompt": "\ud83d"}, "messages": [message]}
    path = write(tmp_path, {"format": "vramble-conversations", "version": 1, "conversations": [one]})
    assert import_files(store, [path]) == Imported(new=1)
    assert shown(store, "half") == [("user", "", "hello")]


def test_loops_and_missing_parents_are_cut(store: Store, tmp_path: Path) -> None:
    document = chatgpt()
    nodes = document["mapping"]
    nodes["q"]["parent"] = "a2"
    nodes["a1"]["parent"] = "nowhere"
    for node in nodes.values():
        node.pop("children")
    assert import_files(store, [write(tmp_path, [document])]).new == 1
    whole = store.whole(store.every_id()[0])
    assert whole is not None
    assert len(whole.messages) == 4
    thread = store.thread(whole.id)
    assert thread is not None
    assert not any(message.problem for message in thread.messages)


def test_signs_that_cannot_be_stored_are_replaced(store: Store, tmp_path: Path) -> None:
    document = jan()
    document["messages"][0]["content"][0]["text"]["value"] = "a\ud83d\x00\x1b[31m"
    import_files(store, [write(tmp_path, document)])
    assert shown(store, "Physics")[0][2] == "a\ufffd\ufffd\u241b[31m"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def spoilt(document: Any, path: list[int], value: Any) -> Any:
    """``document`` with one of its values replaced: which, ``path`` chooses."""
    if not path or not isinstance(document, dict | list) or not document:
        return value
    if isinstance(document, list):
        at = path[0] % len(document)
        return [spoilt(one, path[1:], value) if number == at else one for number, one in enumerate(document)]
    key = list(document)[path[0] % len(document)]
    return {**document, key: spoilt(document[key], path[1:], value)}


@given(
    st.sampled_from([[chatgpt()], [open_webui()], lm_studio(), jan()]),
    st.lists(st.integers(0, 9), min_size=1, max_size=8),
    values,
)
def test_any_spoilt_value_gives_conversations_or_a_reason(document: Any, path: list[int], value: Any) -> None:
    found: list[object] = []
    with contextlib.suppress(VrambleError):
        found += conversations_of(spoilt(document, path, value), "export.json")
    assert all(isinstance(one, PortableConversation | str) for one in found)


def test_a_long_row_of_hidden_nodes_is_walked_once(store: Store, tmp_path: Path) -> None:
    def node(number: int, said: str, role: str) -> dict[str, Any]:
        message = {"author": {"role": role}, "content": {"content_type": "text", "parts": [said]}}
        parent = f"n{number - 1}" if number else None
        return {
            "id": f"n{number}",
            "message": message if said else None,
            "parent": parent,
            "children": [f"n{number + 1}"],
        }

    nodes = [
        node(0, "question", "user"),
        *(node(n, "", "user") for n in range(1, 20_000)),
        node(20_000, "answer", "assistant"),
    ]
    document = {"title": "Deep", "id": "deep", "mapping": {one["id"]: one for one in nodes}, "current_node": "n20000"}
    assert import_files(store, [write(tmp_path, [document])]) == Imported(new=1)
    assert [(role, text) for role, _, text in shown(store, "Deep")] == [("user", "question"), ("assistant", "answer")]

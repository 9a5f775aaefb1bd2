"""The own export: everything comes back, whatever it is."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.chat.exchanging import Taken
from engine.chat.portable import PortableConversation, PortableMessage, PortablePart
from engine.chat.store import Store
from engine.chat.text import clean
from engine.chat_files import own_json
from engine.chat_files.exporting import Format, write
from engine.chat_files.importing import Imported, import_files
from tests.engine.chat.support import turn

texts = st.text(max_size=40).map(clean)
plain = st.text("abcdefgh 日本é", min_size=1, max_size=20).map(str.strip).filter(bool)
parts = st.lists(
    st.builds(PortablePart, st.sampled_from(["text", "thinking", "tool_call"]), texts), min_size=1, max_size=3
).map(lambda found: tuple(PortablePart(part.kind, part.content, at - 1) for at, part in enumerate(found)))


@st.composite
def conversations(draw: st.DrawFn) -> PortableConversation:
    """A tree of messages with everything that a message can have."""
    count = draw(st.integers(1, 8))
    messages = []
    for number in range(count):
        above = draw(st.integers(-1, number - 1))
        messages.append(
            PortableMessage(
                id=f"m{number}",
                parent=None if above < 0 else f"m{above}",
                role=draw(st.sampled_from(["user", "assistant", "tool", "system"])),
                status=draw(st.sampled_from(["done", "stopped", "failed", "odd"])),
                created=draw(st.floats(1, 4e9)),
                model=draw(st.none() | plain),
                settings=draw(st.none() | st.dictionaries(plain, st.integers(0, 9), max_size=2)),
                stats=draw(st.none() | st.dictionaries(plain, st.booleans(), max_size=2)),
                finish=draw(st.none() | st.just("stop")),
                error=draw(st.none() | plain),
                thought_s=draw(st.none() | st.floats(0, 100)),
                parts=draw(parts),
            )
        )
    return PortableConversation(
        id="c",
        title=draw(plain).replace("  ", " "),
        titled=draw(st.sampled_from(["user", "model"])),
        created=draw(st.floats(1, 4e9)),
        updated=draw(st.floats(1, 4e9)),
        tip=f"m{draw(st.integers(0, count - 1))}",
        folder=draw(st.none() | st.just("Work")),
        pinned=draw(st.booleans()),
        archived=draw(st.booleans()),
        settings=draw(st.none() | st.just({"temperature": 0.5})),
        messages=tuple(messages),
    )


@given(conversations())
@settings(max_examples=40)
def test_what_goes_in_comes_out(given_one: PortableConversation) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "a.sqlite3")
        assert store.take(given_one) is Taken.NEW
        found = store.whole("c")
        file = Path(folder) / "export.json"
        write([found] if found is not None else [], file, Format.JSON)
        other = Store.open(Path(folder) / "b.sqlite3")
        assert import_files(other, [file]) == Imported(new=1)
        assert found is not None
        assert msgspec.structs.replace(found, title=" ".join(found.title.split())) == msgspec.structs.replace(
            given_one, title=" ".join(given_one.title.split())
        )
        assert other.whole("c") == found
        assert import_files(other, [file]) == Imported(known=1)
        store.close()
        other.close()


@given(st.lists(conversations(), max_size=3))
@settings(max_examples=20)
def test_the_file_is_json_and_holds_its_version(many: list[PortableConversation]) -> None:
    document = json.loads(b"".join(own_json.encode(many)))
    assert (document["format"], document["version"]) == ("vramble-conversations", 1)
    assert list(own_json.conversations_of(document)) == many


def test_a_newer_export_is_told(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "a.sqlite3")
    file = tmp_path / "export.json"
    file.write_text('{"format": "vramble-conversations", "version": 2, "conversations": [{"id": "x"}]}')
    done = import_files(store, [file])
    assert (done.new, done.skipped) == (0, 1)
    assert "newer version" in done.reasons[0]
    store.close()


def test_missing_fields_and_two_with_one_id(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "a.sqlite3")
    message = {"id": "m", "parts": [{"content": "hello"}]}
    document = {
        "format": "vramble-conversations",
        "version": 1,
        "conversations": [
            {"id": "c", "messages": [message]},
            {"title": "no id"},
            {"id": "c", "messages": [{**message, "id": "n"}]},
            {"id": "../../etc", "messages": [message]},
        ],
    }
    file = tmp_path / "export.json"
    file.write_text(json.dumps(document))
    done = import_files(store, [file])
    assert (done.new, done.merged, done.skipped) == (2, 1, 1)
    assert all("/" not in one for one in store.every_id())
    assert sorted(one.title for one in store.conversations()) == ["hello", "hello"]
    store.close()


def test_real_turns_keep_their_versions(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "a.sqlite3")
    thread = turn(store, "c", "question", "answer")
    store.branch("c", thread.messages[1].id, "d", "Copy")
    write([one for id_ in store.every_id() if (one := store.whole(id_)) is not None], tmp_path / "x.json", Format.JSON)
    other = Store.open(tmp_path / "b.sqlite3")
    assert import_files(other, [tmp_path / "x.json"]).new == 2
    for id_ in ("c", "d"):
        assert other.whole(id_) == store.whole(id_)
    assert other.search("answer").hits
    store.close()
    other.close()

"""Presets: kept, renamed, written to files and read back."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chat.parameters import decoded, encoded, fitting
from app.chat.presets import Preset, Presets, decode, encode
from app.jobs import SerialRunner
from engine.errors import VrambleError
from tests.app.chat.conftest import Chat
from tests.app.chat.cranked import Cranked

JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)
VALUES = st.fixed_dictionaries(
    {},
    optional={
        "temperature": st.floats(0, 5),
        "top_k": st.integers(0, 1000),
        "think": st.none() | st.booleans(),
        "overflow": st.sampled_from(["stop", "shift"]),
        "system_prompt": st.text(st.characters(codec="utf-8"), max_size=30),
    },
)


@pytest.fixture
def presets(chat: Chat) -> Presets:
    return chat.controller.presets


def test_made_changed_and_gone(chat: Chat, presets: Presets) -> None:
    told: list[int] = []
    presets.changed.connect(lambda: told.append(len(presets.all)))
    assert presets.save(" Pirate \n", {"temperature": 1.2, "nonsense": 3}) == "Pirate"
    assert presets.save("Calm", {"temperature": 0.0}) == "Calm"
    presets.save("Pirate", {"temperature": 1.4})
    assert [(one.name, one.values) for one in presets.all] == [
        ("Pirate", {"temperature": 1.4}),
        ("Calm", {"temperature": 0.0}),
    ]
    assert presets.rename("Pirate", "Calm") == "Calm (2)"
    presets.delete("Calm")
    assert [one.name for one in presets.all] == ["Calm (2)"]
    assert presets.save("  ", {}) == ""
    assert told == [1, 2, 2, 2, 1]


def test_to_a_file_and_back(presets: Presets, chat: Chat, tmp_path: Path) -> None:
    executor = Cranked()
    presets._runner = SerialRunner(executor)
    presets.save("Pirate", {"temperature": 1.2, "system_prompt": "Arr\n"})
    results: list[object] = []
    presets.export("Pirate", tmp_path / "p.json", results.append)
    executor.drain()
    presets.read(tmp_path / "p.json", results.append)
    executor.drain()
    assert results == [None, "Pirate (2)"]
    assert presets.all[0].values == presets.all[1].values
    (tmp_path / "zero.json").symlink_to("/dev/zero")
    presets.read(tmp_path / "missing.json", results.append)
    presets.read(tmp_path / "zero.json", results.append)
    presets.export("Pirate", tmp_path / "no" / "p.json", results.append)
    executor.drain()
    assert [getattr(one, "code", None) for one in results[2:]] == ["preset-file"] * 3


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"format": "other"}', b"\xff\xfe", b"null"])
def test_files_that_are_none(content: bytes) -> None:
    with pytest.raises(VrambleError) as caught:
        decode(content, "x")
    assert caught.value.code == "bad-preset"


@given(VALUES)
def test_round_trip(values: dict[str, object]) -> None:
    preset = Preset(name="A", values=fitting(values))
    assert decode(encode(preset), "B") == preset
    assert decoded(encoded(preset.values)) == preset.values


@given(st.dictionaries(st.sampled_from(["temperature", "top_k", "think", "prefill", "other"]), JUNK))
def test_anything_is_read_without_harm(values: dict[str, object]) -> None:
    document = msgspec.json.encode({"format": "vramble-preset", "name": values.get("other"), "values": values})
    preset = decode(document, "File")
    assert preset.name
    assert fitting(preset.values) == preset.values

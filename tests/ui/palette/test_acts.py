"""Finding commands by parts of their names."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ui.palette.acts import Act, Index, folded

NAMES = [
    "New chat",
    "New temporary chat",
    "Memory",
    "Open “Über Straßen”",
    "Load Qwen3 8B Q4_K_M",
    "Open “chat about GTT”",
]


def found(typed: str, names: list[str] = NAMES, most: int = 10) -> list[str]:
    return [act.name for act in Index(Act(name, lambda: None) for name in names).matching(typed, most)]


def test_without_words_all_are_there_in_order() -> None:
    assert found("") == NAMES
    assert found("  ", most=2) == NAMES[:2]


def test_words_match_anywhere_and_in_any_order() -> None:
    assert found("chat new") == ["New chat", "New temporary chat"]
    assert found("wen3 8b") == ["Load Qwen3 8B Q4_K_M"]
    assert found("mem x") == []


def test_case_and_accents_do_not_matter() -> None:
    assert found("uber strassen") == ["Open “Über Straßen”"]
    assert found("ÜBER") == ["Open “Über Straßen”"]


def test_names_that_begin_with_it_come_first() -> None:
    assert found("chat", ["A chatter", "Open chat", "Chat rooms", "xchat"]) == [
        "Chat rooms",
        "A chatter",
        "Open chat",
        "xchat",
    ]


def test_what_is_not_listed_is_not_found() -> None:
    assert Index([Act("Stop", lambda: None, listed=False)]).matching("stop", 5) == []


@given(st.text(max_size=20), st.lists(st.text(max_size=20), max_size=8))
def test_what_is_found_has_every_word(typed: str, names: list[str]) -> None:
    result = found(typed, names)
    assert len(result) <= len(names)
    assert all(all(word in folded(name) for word in folded(typed).split()) for name in result)
    assert found("", names) == names

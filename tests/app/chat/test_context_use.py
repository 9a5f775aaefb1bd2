"""How full the context is, by counts and by estimates."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.chat.context_use import RESERVE, context_use
from app.chat.rows import MessageRow
from app.chat.settings import ChatSettings
from engine.chat.records import Role, Status
from engine.protocol.types import GenerationStats


def user(text: str) -> MessageRow:
    return MessageRow(id="q", role=Role.USER, text=text, status=Status.DONE, author="You")


def model(text: str, **stats: int) -> MessageRow:
    figures = GenerationStats(**stats) if stats else None
    return MessageRow(id="a", role=Role.ASSISTANT, text=text, status=Status.DONE, author="Tiny", stats=figures)


def test_counted_where_the_engine_counted() -> None:
    rows = [user("x" * 384), model("y" * 100, prompt_tokens=100, generated_tokens=40, thinking_tokens=10)]
    use = context_use(rows, ChatSettings(), 4096)
    assert (use.system, use.history, use.reserve, use.free) == (0, 130, RESERVE, 4096 - 130 - RESERVE)
    assert (use.exact, use.left_out) == (True, 0)


def test_estimated_by_the_rate_of_the_last_answer() -> None:
    rows = [user("x" * 384), model("y", prompt_tokens=100, generated_tokens=40), user("z" * 384)]
    use = context_use(rows, ChatSettings(max_tokens=50), 4096)
    assert (use.history, use.reserve, use.exact) == (240, 50, False)


def test_nothing_yet() -> None:
    use = context_use((), ChatSettings(system_prompt="s" * 360), 2048)
    assert (use.system, use.history, use.reserve, use.exact) == (100, 0, 512, False)


def test_whole_turns_are_left_out() -> None:
    rows = [row for _ in range(5) for row in (user("x" * 720), model("y" * 720))]
    use = context_use([*rows, user("last")], ChatSettings(), 1024)
    assert use.left_out == 8
    assert context_use([user("x" * 100_000)], ChatSettings(), 1024).left_out == 0


@given(
    st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 5000), st.integers(0, 9000)), max_size=6),
    st.integers(1, 10_000),
    st.none() | st.integers(1, 20_000),
)
def test_the_parts_are_never_negative(turns: list[tuple[int, int, int]], n_ctx: int, limit: int | None) -> None:
    rows = [row for q, a, n in turns for row in (user("x" * q), model("y" * a, prompt_tokens=n))]
    use = context_use(rows, ChatSettings(max_tokens=limit), n_ctx)
    assert min(use.system, use.history, use.reserve, use.free, use.left_out) >= 0
    assert use.left_out <= max(0, len(rows) - 2)

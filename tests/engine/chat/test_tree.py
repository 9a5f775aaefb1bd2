"""The tree, alone and through the store: whatever is appended, a thread runs from the root to the tip."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from engine.chat.records import AnswerEnd, AnswerStart, Question, Role, Status
from engine.chat.store import Store
from engine.chat.tree import Node, Tree
from tests.engine.chat.support import fresh

nodes = st.lists(
    st.tuples(st.integers(0, 12), st.one_of(st.none(), st.integers(0, 12)), st.sampled_from(["user", "assistant"])),
    max_size=12,
    unique_by=lambda node: node[0],
)


@given(nodes, st.integers(0, 12))
def test_any_links_make_a_tree(links: list[tuple[int, int | None, str]], tip: int) -> None:
    tree = Tree.of([Node(str(id_), None if parent is None else str(parent), role) for id_, parent, role in links])
    order = [str(id_) for id_, _, _ in links]
    assert list(tree.parents) == order
    end = tree.tip(str(tip))
    path = tree.path(end)
    assert (path[-1] if path else None) == end
    assert len(set(path)) == len(path)
    for id_ in order:
        parent = tree.parents[id_]
        assert parent is None or order.index(parent) < order.index(id_)
        assert id_ in tree.versions(id_)
        assert tree.path(tree.newest_leaf(id_))[: len(tree.path(id_))] == tree.path(id_)
        written = next(str(p) if p is not None else None for i, p, _ in links if str(i) == id_)
        assert (id_ in tree.relinked) == (
            parent != written or (written is not None and written not in order[: order.index(id_)])
        )


def test_deep_trees_need_no_deep_stack() -> None:
    count = 20_000
    tree = Tree.of([Node(str(n), str(n - 1) if n else None, "user") for n in range(count)])
    assert len(tree.path(str(count - 1))) == count
    assert tree.newest_leaf("0") == str(count - 1)


ENDS = [Status.DONE, Status.STOPPED, Status.FAILED]


class Conversations(RuleBasedStateMachine):
    """A store beside a plain dictionary that says what must be in it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.store = Store.open(Path(self.folder.name) / "chat.sqlite3")
        self.store._db.execute("PRAGMA synchronous = OFF")
        self.parents: dict[str, str | None] = {}
        self.texts: dict[str, str] = {}
        self.roles: dict[str, Role] = {}
        self.tip: str | None = None

    def path(self, end: str | None) -> list[str]:
        found: list[str] = []
        while end is not None:
            found.insert(0, end)
            end = self.parents[end]
        return found

    def add(self, id_: str, parent: str | None, role: Role, text: str) -> None:
        self.parents[id_], self.roles[id_], self.texts[id_] = parent, role, text

    @rule(text=st.text(alphabet="ab ", max_size=5))
    def ask(self, text: str) -> None:
        question, answer = fresh("q"), fresh("a")
        self.store.ask("c", Question(id=question, text=text), AnswerStart(id=answer))
        self.add(question, self.tip, Role.USER, text)
        self.add(answer, question, Role.ASSISTANT, "")
        self.tip = answer

    @precondition(lambda self: self.parents)
    @rule(data=st.data())
    def retry(self, data: st.DataObject) -> None:
        target = data.draw(st.sampled_from(sorted(self.parents)))
        answer = fresh("a")
        self.store.retry("c", target, AnswerStart(id=answer))
        parent = target if self.roles[target] is Role.USER else self.parents[target]
        self.add(answer, parent, Role.ASSISTANT, "")
        self.tip = answer

    @precondition(lambda self: self.parents)
    @rule(data=st.data(), step=st.integers(-2, 2))
    def switch(self, data: st.DataObject, step: int) -> None:
        target = data.draw(st.sampled_from(self.path(self.tip)))
        thread = self.store.show_version("c", target, step)
        self.tip = thread.messages[-1].id
        position = len(self.path(target)) - 1
        chosen = thread.messages[position]
        versions = [
            i for i, p in self.parents.items() if p == self.parents[target] and self.roles[i] == self.roles[target]
        ]
        wanted = min(max(versions.index(target) + step, 0), len(versions) - 1)
        assert (chosen.id, chosen.version, chosen.versions) == (versions[wanted], wanted + 1, len(versions))
        assert self.tip not in self.parents.values()

    @precondition(lambda self: self.tip is not None)
    @rule(
        text=st.text(alphabet="xyz", max_size=5), status=st.sampled_from([Status.DONE, Status.STOPPED, Status.FAILED])
    )
    def end(self, text: str, status: Status) -> None:
        assert self.tip is not None
        self.store.save_text(self.tip, text[:2])
        self.store.end(AnswerEnd(id=self.tip, text=text, status=status))
        self.texts[self.tip] = text

    @invariant()
    def thread_runs_from_root_to_tip(self) -> None:
        thread = self.store.thread("c")
        if self.tip is None:
            assert thread is None
            return
        assert thread is not None
        assert [m.id for m in thread.messages] == self.path(self.tip)
        assert [m.text for m in thread.messages] == [self.texts[m.id] for m in thread.messages]
        assert [m.parent for m in thread.messages] == [self.parents[m.id] for m in thread.messages]
        assert not any(m.problem for m in thread.messages)
        stored = self.store._db.execute("SELECT count(*) FROM message").fetchone()[0]
        assert stored == len(self.parents)

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()


TestConversations = Conversations.TestCase
TestConversations.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)

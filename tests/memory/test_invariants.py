"""What must always hold (DESIGN), stated once; the machine looks for the case that breaks it."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from memory.compaction import CompactionPlan
from memory.queue import TieredQueue
from memory.rebuild import rebuild
from memory.store import CONVERSATION, MemoryStore
from memory.values import NewEvent
from memory.verify import verify
from tests.memory.summarizers import cites_everything_at_once, honest

TEXTS = st.one_of(
    st.text(max_size=200),
    st.sampled_from(
        [
            "",
            "ok",
            "You must never call the staging database from a test.\nAnd keep it short.",
            "word " * 300,
            "記憶は決して失われない。" * 20,
            "x" * 3_000,
            "\x00\ud800 [bold] \x1b[31m",
        ]
    ),
)

REPLIES = st.one_of(
    st.none(),
    st.text(max_size=300),
    st.sampled_from(
        ["- all of it [1-9999]", "- one [1]\n- two [2]\n- none [77]", "-", "- [1]", "1. first [1, 2; 3-4]."]
    ),
)


class Memory(RuleBasedStateMachine):
    """A queue over a store, used in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="otto-invariants-"))
        self.written: dict[int, NewEvent] = {}
        self.plan: CompactionPlan | None = None

    @initialize(x=st.integers(60, 400), y=st.integers(120, 900), reabstract=st.booleans())
    def open(self, x: int, y: int, reabstract: bool) -> None:
        self.reabstract = reabstract
        self.budgets = (x, y)
        self.store = MemoryStore(self.folder / "tape.db")
        self.queue = self._queue()

    def _queue(self) -> TieredQueue:
        x, y = self.budgets
        return TieredQueue(
            self.store, x_budget=x, y_budget=y, restore=True, reabstract=self.reabstract, auto_compact=False
        )

    @rule(text=TEXTS)
    def the_person_speaks(self, text: str) -> None:
        self._append(NewEvent(text=text, role="user", source="person"))

    @rule(text=TEXTS)
    def the_model_answers(self, text: str) -> None:
        self._append(NewEvent(text=text, role="assistant", source="model"))

    @rule(text=TEXTS, kind=st.sampled_from(["tool", "document", "note"]))
    def something_else_is_put_down(self, text: str, kind: str) -> None:
        self._append(NewEvent(text=text, role="tool", source="ls", kind=kind))

    def _append(self, new: NewEvent) -> None:
        # A made-up id would differ from run to run, and the machine could not play a case again.
        event = self.queue.append(replace(new, id=f"e{len(self.written)}"))
        assert event.seq not in self.written
        self.written[event.seq] = new

    @rule()
    def a_compaction_begins(self) -> None:
        self.plan = self.queue.plan_compaction()

    @precondition(lambda self: self.plan is not None)
    @rule(replies=st.lists(REPLIES, max_size=3))
    def any_reply_comes_back(self, replies: list[str | None]) -> None:
        assert self.plan is not None
        self.queue.apply_compaction(self.plan, replies, made_by="any")
        self.plan = None

    @precondition(lambda self: self.plan is not None)
    @rule(summarize=st.sampled_from([honest, cites_everything_at_once]))
    def a_good_reply_comes_back(self, summarize: object) -> None:
        assert self.plan is not None
        replies = [honest(prompt) for prompt in self.plan.prompts]
        self.queue.apply_compaction(self.plan, replies, made_by="good")
        self.plan = None

    @rule()
    def it_is_compacted_by_excerpts(self) -> None:
        self.queue.compact_by_excerpts("because")

    @rule(x=st.integers(60, 400), y=st.integers(120, 900))
    def the_budgets_change(self, x: int, y: int) -> None:
        self.budgets = (x, y)
        self.queue.set_budgets(x, y)

    @rule()
    def the_process_starts_anew(self) -> None:
        before = (self.queue.current_view(), self.queue.generation)
        self.store.close()
        self.store = MemoryStore(self.folder / "tape.db")
        self.queue = self._queue()
        self.plan = None
        assert (self.queue.current_view(), self.queue.generation) == before

    @rule()
    def the_derived_tables_are_rebuilt(self) -> None:
        before = (self.store.pending(CONVERSATION), self.store.bullets(CONVERSATION))
        rebuild(self.store)
        assert (self.store.pending(CONVERSATION), self.store.bullets(CONVERSATION)) == before

    @invariant()
    def everything_holds(self) -> None:
        if not hasattr(self, "queue"):
            return
        report = verify(self.store)
        assert report.ok, [check for check in report.checks if not check.ok]

    @invariant()
    def nothing_is_lost(self) -> None:
        if not hasattr(self, "queue"):
            return
        events = self.store.events()
        assert [event.seq for event in events] == sorted(self.written)
        for event in events:
            said = self.written[event.seq].text
            assert len(event.text) == len(said)
            assert "\0" in said or "\ud800" in said or event.text == said

    @invariant()
    def the_view_fits(self) -> None:
        if not hasattr(self, "queue"):
            return
        recent = self.queue.recent_items
        newest = sum(item.tokens for item in recent if item.turn == recent[-1].turn)
        assert self.queue.current_view().tokens <= self.queue.x_budget + self.queue.y_budget + newest

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
        shutil.rmtree(self.folder)


TestMemory = Memory.TestCase
TestMemory.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)


@pytest.mark.slow
def test_memory_for_long() -> None:
    run_state_machine_as_test(
        Memory,
        settings=settings(
            max_examples=1_000, stateful_step_count=60, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )

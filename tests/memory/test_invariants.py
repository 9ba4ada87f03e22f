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
from memory.ledger_fold import read_state
from memory.observations import record_drops, record_observations, record_reflections
from memory.queue import TieredQueue
from memory.rebuild import rebuild
from memory.store import CONVERSATION, MemoryStore
from memory.values import TIERED_KINDS, CompactionMode, NewEvent
from memory.verify import verify
from tests.memory.ledgers import concluded, contents, observed, relevances
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

MODES: st.SearchStrategy[CompactionMode] = st.sampled_from(["auto", "ledger", "ledger", "summarize"])

POOLS = st.sampled_from([40, 120, 20_000])

PICKS = st.lists(st.integers(0, 10_000), min_size=1, max_size=4)


class Memory(RuleBasedStateMachine):
    """A queue over a store, used in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="otto-invariants-"))
        self.written: dict[int, NewEvent] = {}
        self.tiered: list[int] = []
        """Numbers in the ids of the events that can be observed."""
        self.plan: CompactionPlan | None = None

    @initialize(x=st.integers(60, 400), y=st.integers(120, 900), reabstract=st.booleans(), mode=MODES, pool_max=POOLS)
    def open(self, x: int, y: int, reabstract: bool, mode: CompactionMode, pool_max: int) -> None:
        self.reabstract = reabstract
        self.budgets = (x, y)
        self.mode: CompactionMode = mode
        self.pool_max = pool_max
        self.store = MemoryStore(self.folder / "tape.db")
        self.queue = self._queue()

    def _queue(self) -> TieredQueue:
        x, y = self.budgets
        return TieredQueue(
            self.store,
            x_budget=x,
            y_budget=y,
            restore=True,
            reabstract=self.reabstract,
            auto_compact=False,
            mode=self.mode,
            pool_max_tokens=self.pool_max,
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

    @rule(text=TEXTS, arguments=TEXTS, summary=st.one_of(st.none(), TEXTS), tool=st.sampled_from(["recall_id", "ls"]))
    def the_model_calls_a_tool(self, text: str, arguments: str, summary: str | None, tool: str) -> None:
        """Without a summary the call gets no answer."""
        call = f"e{len(self.written)}"
        meta = {"call": call, "round": 1}
        self._append(NewEvent(text=arguments, role="assistant", source=tool, kind="tool", meta=meta))
        if summary is not None:
            meta = {"call": call, "summary": summary}
            self._append(NewEvent(text=text, role="tool", source=tool, kind="tool", refs=(call,), meta=meta))

    @rule(count=st.integers(2, 6), words=st.integers(1, 40))
    def some_turns_pass(self, count: int, words: int) -> None:
        for number in range(count):
            self._append(NewEvent(text=f"Question {number}: {'why ' * words}?", role="user", source="person"))
            self._append(NewEvent(text=f"Answer {number}: {'so ' * words}.", role="assistant", source="model"))

    def _append(self, new: NewEvent) -> None:
        # A made-up id would differ from run to run, and the machine could not play a case again.
        event = self.queue.append(replace(new, id=f"e{len(self.written)}"))
        assert event.seq not in self.written
        if new.kind != "note":
            self.tiered.append(len(self.written))
        self.written[event.seq] = new

    @precondition(lambda self: self.tiered)
    @rule(content=contents, relevance=relevances, picks=PICKS)
    def something_is_observed(self, content: str, relevance: str, picks: list[int]) -> None:
        sources = [f"e{self.tiered[pick % len(self.tiered)]}" for pick in picks]
        made = observed(content, *sources, relevance=relevance)
        record_observations(self.store, [made], covers=max(self.written))

    @precondition(lambda self: self.tiered)
    @rule(passed_over=st.integers(0, 3), relevance=relevances)
    def an_observer_takes_notes(self, passed_over: int, relevance: str) -> None:
        """Of all that is new, but for some that it passes over."""
        after = read_state(self.store).observed_through
        events = [event for event in self.store.events(after=after, kinds=TIERED_KINDS) if event.seq % 4 != passed_over]
        pairs = [events[at : at + 2] for at in range(0, len(events), 2)]
        made = [observed(f"About {pair[0].id}", *(one.id for one in pair), relevance=relevance) for pair in pairs]
        record_observations(self.store, made, covers=max(self.written))

    @precondition(lambda self: not read_state(self.store).empty)
    @rule(content=st.integers(0, 9), picks=PICKS)
    def something_is_concluded(self, content: int, picks: list[int]) -> None:
        state = read_state(self.store)
        known = [*state.observations.values(), *state.dropped.values()]
        supports = [known[pick % len(known)] for pick in picks]
        record_reflections(self.store, [concluded(f"Rule {content}.", *supports)], covers=max(self.written))

    @precondition(lambda self: bool(read_state(self.store).observations))
    @rule(picks=PICKS)
    def anything_at_all_is_dropped(self, picks: list[int]) -> None:
        live = list(read_state(self.store).observations)
        record_drops(self.store, [live[pick % len(live)] for pick in picks], covers=max(self.written))

    @rule(mode=MODES, pool_max=POOLS)
    def the_way_of_compacting_changes(self, mode: CompactionMode, pool_max: int) -> None:
        self.mode, self.pool_max = mode, pool_max
        self.queue.mode, self.queue.pool_max_tokens = mode, pool_max

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
    def it_is_compacted(self) -> None:
        plan = self.queue.plan_compaction()
        if plan is not None:
            self.queue.apply_compaction(plan, [honest(prompt) for prompt in plan.prompts], made_by="good")

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
@pytest.mark.timeout(7_200)
def test_memory_for_long() -> None:
    run_state_machine_as_test(
        Memory,
        settings=settings(
            max_examples=1_000, stateful_step_count=60, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )

"""What a compaction shows of the ledger: it adds to what stands there until a full fold lays it out anew."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from memory.ledger_fold import batches, fold
from memory.observations import Observation, Reflection
from memory.projection import Projection, project
from memory.store import LedgerEntry
from memory.tier_ledger import CompactionMark
from tests.memory.ledgers import concluded, drops_entry, observations, observations_entry, observed, reflections_entry

NEVER_FULL = sys.maxsize
ALWAYS_FULL = 0


@dataclass
class History:
    """A ledger as it comes about: events, entries and compactions in any order."""

    events: int = 0
    through: int = 0
    n: int = 0
    entries: list[LedgerEntry] = field(default_factory=list)
    marks: list[CompactionMark] = field(default_factory=list)
    shown: list[Projection] = field(default_factory=list)

    def hear(self, count: int = 1) -> None:
        self.events += count

    def observe(self, *made: Observation) -> None:
        self.n += 1
        self.entries.append(observations_entry(self.n, *made, covers=self.events))

    def reflect(self, *made: Reflection) -> None:
        self.n += 1
        self.entries.append(reflections_entry(self.n, *made, covers=self.events))

    def drop(self, *ids: str) -> None:
        self.n += 1
        self.entries.append(drops_entry(self.n, *ids, covers=self.events))

    def compact(self, through: int, pool_max: int = NEVER_FULL) -> Projection:
        self.through = max(self.through, through)
        projection = self.project(pool_max=pool_max)
        self.marks.append(CompactionMark(projection.seen, self.through, "ledger", projection.full))
        self.shown.append(projection)
        return projection

    def project(self, *, pool_max: int) -> Projection:
        numbers = {f"e{seq}": seq for seq in range(1, self.events + 1)}
        return project(batches(self.entries), self.marks, numbers, through=self.through, pool_max=pool_max)

    @property
    def observed(self) -> list[Observation]:
        return [made for batch in batches(self.entries) for made in batch.observations]


@st.composite
def histories(draw: st.DrawFn, *, drops: bool = True, punctual: bool = False) -> History:
    """Any history; with ``punctual``, what is compacted has been observed and reflected on before."""
    history = History()
    kinds = ["hear", "observe", "observe", "reflect", "compact", *(["drop"] if drops else [])]
    for kind in draw(st.lists(st.sampled_from(kinds), max_size=25)):
        first = history.through + 1 if punctual else 1
        live = [*fold(history.entries).observations.values()]
        known = [made for made in live if _last(made) >= first] if punctual else history.observed
        if kind == "hear" or not history.events:
            history.hear(draw(st.integers(1, 4)))
        elif kind == "observe" and first <= history.events:
            named = [f"e{seq}" for seq in range(first, history.events + 1)]
            history.observe(*draw(st.lists(observations(named), min_size=1, max_size=3)))
        elif kind == "reflect" and known:
            supports = draw(st.lists(st.sampled_from(known), min_size=1, max_size=3))
            history.reflect(concluded(f"Rule {draw(st.integers(0, 5))}.", *supports))
        elif kind == "drop" and history.observed:
            history.drop(*draw(st.lists(st.sampled_from([one.id for one in history.observed]), min_size=1, max_size=3)))
        elif kind == "compact":
            history.compact(draw(st.integers(0, history.events)), draw(st.sampled_from([NEVER_FULL, 60])))
    return history


def _last(made: Observation) -> int:
    return max(int(source[1:]) for source in made.sources)


def ids(projection: Projection) -> list[str]:
    return [shown.record.id for shown in projection.records]


@given(histories())
@settings(deadline=None, max_examples=150)
def test_between_full_folds_what_is_shown_only_grows_at_its_end(history: History) -> None:
    for before, after in zip(history.shown, history.shown[1:], strict=False):
        if not after.full:
            assert after.records[: len(before.records)] == before.records


@given(histories())
@settings(deadline=None, max_examples=100)
def test_projecting_twice_gives_the_same(history: History) -> None:
    assert history.project(pool_max=NEVER_FULL) == history.project(pool_max=NEVER_FULL)


@given(histories())
@settings(deadline=None, max_examples=100)
def test_nothing_is_shown_that_rests_on_what_still_stands_raw(history: History) -> None:
    for pool_max in (NEVER_FULL, ALWAYS_FULL):
        assert all(seq <= history.through for seq in history.project(pool_max=pool_max).cited)


@given(histories())
@settings(deadline=None, max_examples=150)
def test_a_full_fold_of_all_there_is_shows_the_ledgers_truth(history: History) -> None:
    history.hear()
    history.through = history.events
    state = fold(history.entries)
    assert set(ids(history.project(pool_max=ALWAYS_FULL))) == state.observations.keys() | state.reflections.keys()


@given(histories(drops=False, punctual=True))
@settings(deadline=None, max_examples=150)
def test_adding_gives_what_a_full_fold_gives_where_nothing_was_dropped_or_late(history: History) -> None:
    assert history.project(pool_max=NEVER_FULL).records == history.project(pool_max=ALWAYS_FULL).records


@given(histories())
@settings(deadline=None, max_examples=150)
def test_a_full_fold_right_after_another_changes_nothing(history: History) -> None:
    first = history.compact(history.through, ALWAYS_FULL)
    assert history.project(pool_max=NEVER_FULL).records == first.records
    assert history.project(pool_max=ALWAYS_FULL).records == first.records


def test_the_first_compaction_is_a_full_fold() -> None:
    history = History(events=4)
    a, b = observed("A", "e1"), observed("B", "e2")
    history.observe(a, b)
    history.reflect(concluded("R", a))
    history.drop(b.id)
    shown = history.compact(4)
    assert shown.full
    assert set(ids(shown)) == {a.id, concluded("R", a).id}


def test_a_drop_waits_for_a_full_fold() -> None:
    history = History(events=4)
    a, b = observed("A", "e1"), observed("B", "e2")
    history.observe(a, b)
    history.compact(2)
    history.drop(a.id)
    assert ids(history.compact(3)) == [a.id, b.id]
    assert ids(history.compact(4, pool_max=1)) == [b.id]
    assert ids(history.compact(4)) == [b.id]


def test_the_pool_is_full_at_exactly_its_size() -> None:
    history = History(events=4)
    a, b = observed("A", "e1"), observed("B", "e2")
    history.observe(a, b)
    history.compact(2)
    assert not history.project(pool_max=a.tokens + b.tokens + 1).full
    assert history.project(pool_max=a.tokens + b.tokens).full


def test_what_still_stands_raw_is_shown_once_it_is_compacted() -> None:
    history = History(events=6)
    a, across = observed("A", "e1"), observed("Across", "e1", "e5")
    history.observe(across, a)
    assert ids(history.compact(3)) == [a.id]
    assert ids(history.compact(5)) == [a.id, across.id]


def test_a_reflection_on_what_was_compacted_before_waits_for_a_full_fold() -> None:
    history = History(events=6)
    a, b = observed("A", "e1"), observed("B", "e5")
    history.observe(a, b)
    history.compact(2)
    late, punctual = concluded("Late", a), concluded("Punctual", a, b)
    history.reflect(late, punctual)
    assert set(ids(history.compact(5))) == {a.id, b.id, punctual.id}
    assert set(ids(history.compact(6, pool_max=1))) == {a.id, b.id, punctual.id, late.id}


def test_observations_of_what_was_compacted_before_call_for_a_full_fold() -> None:
    history = History(events=6)
    history.observe(observed("A", "e3"))
    history.compact(4)
    late = observed("Late", "e1")
    history.observe(late)
    shown = history.compact(5)
    assert shown.full
    assert ids(shown)[0] == late.id
    assert not history.compact(6).full


def test_a_compaction_without_the_ledger_is_followed_by_a_full_fold() -> None:
    history = History(events=6)
    history.observe(observed("A", "e1"))
    history.compact(2)
    assert not history.project(pool_max=NEVER_FULL).full
    history.marks.append(CompactionMark(history.n, 3, "summarize", False))
    history.through = 4
    assert history.project(pool_max=NEVER_FULL).full


def test_a_dropped_text_that_is_observed_again_is_shown_with_its_new_sources() -> None:
    history = History(events=6)
    history.observe(observed("A", "e1"))
    history.drop(observed("A").id)
    history.observe(observed("A", "e4"))
    (shown,) = history.compact(6).records
    assert shown.seqs == (4,)


def test_sources_that_lead_nowhere_are_passed_over() -> None:
    history = History(events=3)
    history.observe(observed("A", "e2", "gone"), observed("Nothing", "gone"))
    shown = history.compact(3)
    assert [(one.record.content, one.seqs) for one in shown.records] == [("A", (2,))]


def test_a_reflection_leads_to_the_events_of_all_that_supports_it() -> None:
    history = History(events=6)
    a, b = observed("A", "e4", "e1"), observed("B", "e2")
    history.observe(a, b)
    rule = concluded("R", a, b)
    history.reflect(rule)
    history.drop(a.id, b.id)
    (shown,) = history.compact(6).records
    assert (shown.record, shown.seqs) == (rule, (1, 2, 4))


def test_a_ledger_with_nothing_yet_on_what_is_compacted_is_empty_and_one_with_drops_only_is_not() -> None:
    history = History(events=6)
    history.observe(observed("A", "e5"))
    history.through = 4
    assert history.project(pool_max=NEVER_FULL).empty
    history.drop(observed("A").id)
    history.through = 6
    assert not history.project(pool_max=NEVER_FULL).empty
    assert history.project(pool_max=NEVER_FULL).records == ()

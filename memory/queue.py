"""``TieredQueue``: the live tiers X and Y over one tape (seed 000; DESIGN, "The live view").

X holds the newest turns word for word. When it overflows, its oldest whole turns move to Y. When Y overflows, its raw
part is compacted into bullets and one generation is counted. One thread uses a queue at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from memory import compaction, tier_ledger
from memory.budgets import X_BUDGET, Y_BUDGET, check_budgets, note_budgets
from memory.compaction import REABSTRACT, CompactionPlan, Summarize
from memory.errors import OttoError
from memory.fitting import BULLETS_SHARE, UNPROTECTED_SHARE
from memory.live_view import total_tokens, view_of
from memory.next_generation import EXCERPTS, NextGeneration, next_generation
from memory.projection import POOL_MAX_TOKENS, Projection, read_projection
from memory.render import left_out_line
from memory.standing import new_item
from memory.store import CONVERSATION, MemoryStore
from memory.tier import RawTier
from memory.tokens import count_tokens
from memory.values import (
    MAIN_THREAD,
    TIERED_KINDS,
    Bullet,
    Compaction,
    CompactionMode,
    Demotion,
    EmbeddingState,
    Event,
    Item,
    MemorySnapshot,
    NewEvent,
    View,
    Voices,
)

HARD_CEILING = 2.0
"""Y at this many times its budget is compacted by excerpts at once, whatever the summariser is doing."""


class TieredQueue:
    """The live view of one namespace of a store.

    Args:
        summarize: answers a prompt with numbered, cited bullets; needed by ``compact`` only.
        restore: rebuild X, Y's raw overflow, bullets and generation from the store; otherwise start empty.
        protect: carry what the person said word for word (off: the type-blind policy of the evaluation).
        auto_compact: compact inside ``append`` as soon as Y overflows. A session turns this off and compacts behind
            the conversation.
        mode: where a compaction takes its bullets from; with an empty ledger always from the summariser.
        pool_max_tokens: observations of this size in the view have the ledger folded in full; no more than a small Y
            has room for.
        alter: fit restored tiers to the budgets at once (off for a look that must not change the file).

    Raises:
        ValueError: a budget is below ``MIN_X_BUDGET`` or ``MIN_Y_BUDGET``.
    """

    def __init__(
        self,
        store: MemoryStore,
        kind: str = CONVERSATION,
        *,
        summarize: Summarize | None = None,
        x_budget: int = X_BUDGET,
        y_budget: int = Y_BUDGET,
        restore: bool = False,
        protect: bool = True,
        reabstract: bool = REABSTRACT,
        auto_compact: bool = True,
        summarizer_name: str = "summarize",
        mode: CompactionMode = "auto",
        pool_max_tokens: int = POOL_MAX_TOKENS,
        alter: bool = True,
    ) -> None:
        check_budgets(x_budget, y_budget)
        self.store = store
        self.kind = kind
        self.x_budget = x_budget
        self.y_budget = y_budget
        self.mode: CompactionMode = mode
        self.pool_max_tokens = pool_max_tokens
        self.on_demotion: Callable[[Demotion], None] | None = None
        self.on_compaction: Callable[[Compaction], None] | None = None
        self._summarize = summarize
        self._summarizer_name = summarizer_name
        self._protect = protect
        self._reabstract = reabstract
        self._auto_compact = auto_compact
        self._x = RawTier()
        self._y = RawTier()
        self._bullets: list[Bullet] = []
        self._bullet_tokens = 0
        self._generation = 0
        self._hindrance: str | None = None
        self._heard: tuple[tuple[str, ...], Mapping[str, Voices]] = ((), {})
        if restore:
            self._restore()
        if alter and not store.read_only:
            self.set_budgets(x_budget, y_budget)

    # -- reading -----------------------------------------------------------------------------------------------

    @property
    def generation(self) -> int:
        return self._generation

    @property
    def thread(self) -> str:
        """Where this queue's events stand on the tape: its namespace."""
        return MAIN_THREAD if self.kind == CONVERSATION else self.kind

    @property
    def recent_items(self) -> list[Item]:
        """X, oldest first."""
        return self._x.items

    @property
    def bullets(self) -> list[Bullet]:
        return list(self._bullets)

    @property
    def overflow(self) -> list[Item]:
        """Y's raw part, oldest first."""
        return self._y.items

    @property
    def x_tokens(self) -> int:
        return self._x.tokens

    @property
    def y_tokens(self) -> int:
        return self._y.tokens + self._bullet_tokens

    @property
    def needs_compaction(self) -> bool:
        return self.y_tokens > self.y_budget

    def earlier_view(self) -> View:
        """Everything older than X, within Y's budget: raw items that wait for a compaction may be left out."""
        return view_of(self._bullets, self._y.items, (), self.y_budget)

    def current_view(self) -> View:
        """What a prompt reads: bullets, Y's raw overflow, X. Never more than both budgets and the newest turn."""
        return view_of(self._bullets, self._y.items, self._x.items, self.y_budget)

    def snapshot(
        self,
        *,
        embedding: EmbeddingState | None = None,
        compacting: bool = False,
        notice: str | None = None,
    ) -> MemorySnapshot:
        counts = self.store.counts()
        return MemorySnapshot(
            generation=self._generation,
            x_tokens=self.x_tokens,
            x_budget=self.x_budget,
            y_tokens=self.y_tokens,
            y_budget=self.y_budget,
            recent=tuple(self._x),
            overflow=tuple(self._y),
            bullets=tuple(self._bullets),
            turns=counts.turns,
            events=counts.events,
            chunks=counts.chunks,
            embedding=embedding or EmbeddingState(None, 0, counts.chunks),
            compacting=compacting,
            notice=" ".join(filter(None, (notice, self._hindrance))) or None,
            voices=self._voices(),
        )

    def _voices(self) -> Mapping[str, Voices]:
        """Read again only when the bullets have changed."""
        ids = tuple(bullet.id for bullet in self._bullets)
        if ids != self._heard[0]:
            self._heard = (ids, self.store.voices(self.kind))
        return self._heard[1]

    # -- writing -----------------------------------------------------------------------------------------------

    def append(self, new: NewEvent) -> Event:
        """Put an event on the tape and, if its kind stands in tiers, into X; demote what X no longer holds.

        One transaction. An event that is on the tape already is returned as it is. If Y then has to be compacted and
        that cannot be written, the snapshot's notice says so: the event is on the tape.

        Raises:
            EventConflict, StoreUnavailable, StoreReadOnly: the event is not on the tape.
            ValueError: its role, kind or time makes no sense.
        """
        prepared = self.store.prepare(_in_thread(new, self.thread))
        with self.store.transaction():
            event, is_new = self.store.write(prepared)
            if not is_new or event.kind not in TIERED_KINDS:
                return event
            item = new_item(event, self._turn_of(event), self.x_budget)
            self.store.add_pending(self.kind, item)
            if item.spans is not None:
                self.store.record(self.kind, tier_ledger.HELD, tier_ledger.held(event.seq, item.spans))
            moving = self._overdue(item.tokens, item.turn)
            demotion = self._mirror_demotion(moving)
        self._x.add([item])
        self._move(moving, demotion)
        self._relieve()
        return event

    def demote(self) -> Demotion | None:
        """Move X's oldest whole turns to Y until X fits its budget; the newest turn always stays."""
        newest = self._x.newest_turn
        moving = [] if newest is None else self._overdue(0, newest)
        with self.store.transaction():
            demotion = self._mirror_demotion(moving)
        self._move(moving, demotion)
        return demotion

    def set_budgets(self, x_budget: int, y_budget: int) -> None:
        """Change both budgets, as when the model changes, and make the tiers fit them.

        Raises:
            ValueError: a budget is too small.
        """
        check_budgets(x_budget, y_budget)
        self.x_budget = x_budget
        self.y_budget = y_budget
        self.demote()
        self._relieve()
        note_budgets(self.store, self.kind, x_budget, y_budget)

    # -- compaction --------------------------------------------------------------------------------------------

    def plan_compaction(self, *, prompt_tokens: int = compaction.PROMPT_TOKENS) -> CompactionPlan | None:
        """What a compaction of Y would do now; None when Y has nothing raw."""
        if not self._y:
            return None
        return self._plan(prompt_tokens)

    def apply_compaction(
        self,
        plan: CompactionPlan,
        replies: Sequence[str | None],
        *,
        made_by: str,
        seconds: float = 0.0,
        failure: str | None = None,
    ) -> Compaction | None:
        """Swap in what ``plan`` and the summariser's ``replies`` come to, in one transaction.

        None when the queue has been compacted since the plan was made; the plan is then of no use.
        """
        if plan.generation != self._generation:
            return None
        return self.swap_in(self.work_out(plan, replies, made_by=made_by, seconds=seconds, failure=failure))

    def work_out(
        self,
        plan: CompactionPlan,
        replies: Sequence[str | None],
        *,
        made_by: str,
        seconds: float = 0.0,
        failure: str | None = None,
    ) -> NextGeneration:
        """The long part of ``apply_compaction``: what there is to swap in. Changes nothing; any thread may do it."""
        return next_generation(
            self.store, plan, replies, y_budget=self.y_budget, made_by=made_by, seconds=seconds, failure=failure
        )

    def swap_in(self, next: NextGeneration) -> Compaction | None:
        """The short part: one transaction. None when the queue was compacted, or its budget changed, meanwhile."""
        if next.plan.generation != self._generation or next.y_budget != self.y_budget:
            return None
        before = set(self._bullets)
        kept = before.intersection(next.bullets)
        removed = list(before - kept)
        added = [bullet for bullet in next.bullets if bullet not in kept]
        with self.store.transaction():
            self.store.replace_bullets(self.kind, [bullet.id for bullet in removed], added)
            self.store.clear_pending(self.kind, next.plan.through)
            entry = tier_ledger.compacted(next.done, removed, added, seen=next.plan.seen)
            self.store.record(self.kind, tier_ledger.COMPACTED, entry)
        self._bullets = list(next.bullets)
        self._bullet_tokens = next.done.tokens_after
        self._y = RawTier(item for item in self._y if item.event.seq > next.plan.through)
        self._generation = next.done.generation
        self._hindrance = None
        if self.on_compaction is not None:
            self.on_compaction(next.done)
        return next.done

    def compact(self) -> Compaction | None:
        """Plan, ask the injected ``summarize``, swap in. A summariser that raises costs nothing but its bullets.

        Raises:
            ValueError: no ``summarize`` was given, and the ledger does not cover all that is raw in Y.
        """
        plan = self.plan_compaction()
        if plan is None:
            return None
        started = time.monotonic()
        if plan.prompts and self._summarize is None:
            raise ValueError("this queue was made without a summarize callable")
        replies, failure = compaction.ask(plan.prompts, self._summarize)
        seconds = time.monotonic() - started
        return self.apply_compaction(plan, replies, made_by=self._summarizer_name, seconds=seconds, failure=failure)

    def compact_by_excerpts(self, reason: str) -> Compaction:
        """Compact with no summariser: every item that one would have read keeps an excerpt of its own words.

        What the ledger covers is left to the ledger.
        """
        plan = self._plan(compaction.PROMPT_TOKENS)
        done = self.swap_in(self.work_out(plan, (), made_by=EXCERPTS, failure=reason))
        assert done is not None, "nobody else compacts this queue meanwhile"
        return done

    # -- inside ------------------------------------------------------------------------------------------------

    def _restore(self) -> None:
        items = self.store.pending(self.kind)
        self._x = RawTier(item for item in items if item.tier == "x")
        self._y = RawTier(item for item in items if item.tier == "y")
        self._bullets = self.store.bullets(self.kind)
        self._bullet_tokens = total_tokens(self._bullets)
        self._generation = self.store.generation(self.kind)

    def _turn_of(self, event: Event) -> int:
        """The turn that a new event belongs to: what the person says opens one."""
        if event.protected:
            return event.seq
        newest = self._x.newest_turn
        return newest if newest is not None else self.store.open_turn(self.thread, event.seq)

    def _overdue(self, more: int, newest_turn: int) -> list[Item]:
        """What must leave X when ``more`` tokens come into it."""
        excess = self._x.tokens + more - self.x_budget
        return self._x.oldest_turns(excess, newest_turn) if excess > 0 else []

    def _mirror_demotion(self, moving: Sequence[Item]) -> Demotion | None:
        """Write down that these items move to Y."""
        if not moving:
            return None
        demotion = Demotion(tuple(item.event.seq for item in moving), total_tokens(moving))
        self.store.demote_pending(self.kind, demotion.seqs)
        entry = tier_ledger.demoted(demotion.seqs[-1], demotion.tokens)
        self.store.record(self.kind, tier_ledger.DEMOTED, entry)
        return demotion

    def _move(self, moving: Sequence[Item], demotion: Demotion | None) -> None:
        """Move what has been written down."""
        if demotion is None:
            return
        self._x.drop_oldest(len(moving))
        self._y.add(replace(item, tier="y") for item in moving)
        if self.on_demotion is not None:
            self.on_demotion(demotion)

    def _relieve(self) -> None:
        """Compact where Y must not wait: at once with a summariser of its own, else only at the hard ceiling."""
        try:
            # Beside the bullets there must be room to say that something waits for a compaction.
            if self._bullet_tokens + count_tokens(left_out_line(len(self._y))) > self.y_budget:
                self.compact_by_excerpts("the bullets alone were over the budget")
            if not self.needs_compaction:
                return
            if self._auto_compact and self._summarize is not None:
                self.compact()
            elif self.y_tokens > HARD_CEILING * self.y_budget:
                self.compact_by_excerpts("Y passed its hard ceiling before a summary was ready")
        except OttoError as error:
            # What was said is on the tape already, and the view leaves out what does not fit.
            self._hindrance = f"The memory could not be compacted, so it waits for the next turn. {error}"

    def _plan(self, prompt_tokens: int) -> CompactionPlan:
        return compaction.plan(
            mode=self.mode,
            projection=None if self.mode == "summarize" else self._projection(),
            generation=self._generation,
            raw=self._y.items,
            bullets=self._bullets,
            protect=self._protect,
            reabstract=self._reabstract,
            prompt_tokens=prompt_tokens,
        )

    def _projection(self) -> Projection:
        """What the ledger shows of everything that has left X."""
        gone = [bullet.seqs[-1] for bullet in self._bullets] + [item.event.seq for item in self._y]
        through = max(gone, default=0)
        room = int(self.y_budget * BULLETS_SHARE * UNPROTECTED_SHARE)
        return read_projection(self.store, self.kind, through=through, pool_max=min(self.pool_max_tokens, room))


def _in_thread(new: NewEvent, thread: str) -> NewEvent:
    if new.thread == thread:
        return new
    return replace(new, thread=thread)

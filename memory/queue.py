"""``TieredQueue``: the live tiers X and Y over one tape (seed 000; DESIGN, "The live view").

X holds the newest turns word for word. When it overflows, its oldest whole turns move to Y. When Y overflows, its raw
part is compacted into bullets and one generation is counted. One thread uses a queue at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from memory import compaction, tier_ledger
from memory.budgets import X_BUDGET, Y_BUDGET, check_budgets, note_budgets
from memory.compaction import REABSTRACT, CompactionPlan
from memory.excerpt import both_ends
from memory.fitting import BULLETS_SHARE, UNPROTECTED_SHARE, fit
from memory.ledger_compaction import LEDGER
from memory.live_view import total_tokens, view_of
from memory.projection import POOL_MAX_TOKENS, Projection, read_projection
from memory.render import held_text, left_out_line
from memory.store import CONVERSATION, MemoryStore
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

HELD_SHARE = 0.5
"""Of X's budget, what an excerpt of an event larger than X may hold."""

EXCERPTS = "excerpts"
"""Who made a compaction that no summariser made."""

Summarize = Callable[[str], str]


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
        self._x: list[Item] = []
        self._y: list[Item] = []
        self._bullets: list[Bullet] = []
        self._generation = 0
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
        return list(self._x)

    @property
    def bullets(self) -> list[Bullet]:
        return list(self._bullets)

    @property
    def overflow(self) -> list[Item]:
        """Y's raw part, oldest first."""
        return list(self._y)

    @property
    def x_tokens(self) -> int:
        return total_tokens(self._x)

    @property
    def y_tokens(self) -> int:
        return total_tokens(self._y) + total_tokens(self._bullets)

    @property
    def needs_compaction(self) -> bool:
        return self.y_tokens > self.y_budget

    def earlier_view(self) -> View:
        """Everything older than X, within Y's budget: raw items that wait for a compaction may be left out."""
        return view_of(self._bullets, self._y, (), self.y_budget)

    def current_view(self) -> View:
        """What a prompt reads: bullets, Y's raw overflow, X. Never more than both budgets and the newest turn."""
        return view_of(self._bullets, self._y, self._x, self.y_budget)

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
            notice=notice,
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

        One transaction. An event that is on the tape already is returned as it is.
        """
        with self.store.transaction():
            event, is_new = self.store.write(_in_thread(new, self.thread))
            if not is_new or event.kind not in TIERED_KINDS:
                return event
            item = self._item(event)
            self.store.add_pending(self.kind, item)
            if item.spans is not None:
                self.store.record(self.kind, tier_ledger.HELD, tier_ledger.held(event.seq, item.spans))
            x, y, demotion = self._demoted([*self._x, item], self._y)
        self._x, self._y = x, y
        self._tell_demotion(demotion)
        self._relieve()
        return event

    def demote(self) -> Demotion | None:
        """Move X's oldest whole turns to Y until X fits its budget; the newest turn always stays."""
        with self.store.transaction():
            x, y, demotion = self._demoted(self._x, self._y)
        self._x, self._y = x, y
        self._tell_demotion(demotion)
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
        outcome = compaction.build(plan, replies, self._hashes_of(plan))
        answered = sum(reply is not None for reply in replies)
        return self._swap_in(
            plan,
            outcome.bullets,
            uncited=outcome.uncited,
            made_by=made_by if answered else _made_without_a_model(plan),
            model_calls=answered,
            seconds=seconds,
            failure=failure or outcome.failure,
        )

    def compact(self) -> Compaction | None:
        """Plan, ask the injected ``summarize``, swap in. A summariser that raises costs nothing but its bullets.

        Raises:
            ValueError: no ``summarize`` was given, and the ledger does not cover all that is raw in Y.
        """
        plan = self.plan_compaction()
        if plan is None:
            return None
        started = time.monotonic()
        replies, failure = self._ask(plan.prompts)
        seconds = time.monotonic() - started
        return self.apply_compaction(plan, replies, made_by=self._summarizer_name, seconds=seconds, failure=failure)

    def compact_by_excerpts(self, reason: str) -> Compaction:
        """Compact with no summariser: every item that one would have read keeps an excerpt of its own words.

        What the ledger covers is left to the ledger.
        """
        plan = self._plan(compaction.PROMPT_TOKENS)
        outcome = compaction.build(plan, (), self._hashes_of(plan))
        return self._swap_in(
            plan,
            outcome.bullets,
            uncited=outcome.uncited,
            made_by=_made_without_a_model(plan),
            model_calls=0,
            seconds=0.0,
            failure=reason,
        )

    # -- inside ------------------------------------------------------------------------------------------------

    def _restore(self) -> None:
        items = self.store.pending(self.kind)
        self._x = [item for item in items if item.tier == "x"]
        self._y = [item for item in items if item.tier == "y"]
        self._bullets = self.store.bullets(self.kind)
        self._generation = self.store.generation(self.kind)

    def _item(self, event: Event) -> Item:
        opens_turn = event.protected or not self._x
        turn = event.seq if opens_turn else self._x[-1].turn
        tokens = count_tokens(event.text)
        if tokens <= self.x_budget:
            return Item(event, "x", turn, tokens)
        spans = both_ends(event.text, int(self.x_budget * HELD_SHARE))
        return Item(event, "x", turn, count_tokens(held_text(event, spans)), spans)

    def _demoted(self, x: list[Item], y: list[Item]) -> tuple[list[Item], list[Item], Demotion | None]:
        """X and Y after whole turns have moved, already mirrored in the store."""
        turns = [list(items) for _, items in groupby(x, key=lambda item: item.turn)]
        excess = total_tokens(x) - self.x_budget
        moving: list[Item] = []
        for turn in turns[:-1]:
            if excess <= 0:
                break
            moving += turn
            excess -= total_tokens(turn)
        if not moving:
            return x, y, None
        seqs = tuple(item.event.seq for item in moving)
        tokens = total_tokens(moving)
        self.store.demote_pending(self.kind, seqs)
        self.store.record(self.kind, tier_ledger.DEMOTED, tier_ledger.demoted(seqs[-1], tokens))
        moved = [Item(item.event, "y", item.turn, item.tokens, item.spans) for item in moving]
        return x[len(moving) :], [*y, *moved], Demotion(seqs, tokens)

    def _relieve(self) -> None:
        """Compact where Y must not wait: at once with a summariser of its own, else only at the hard ceiling."""
        # Beside the bullets there must be room to say that something waits for a compaction.
        if total_tokens(self._bullets) + count_tokens(left_out_line(len(self._y))) > self.y_budget:
            self.compact_by_excerpts("the bullets alone were over the budget")
        if not self.needs_compaction:
            return
        if self._auto_compact and self._summarize is not None:
            self.compact()
        elif self.y_tokens > HARD_CEILING * self.y_budget:
            self.compact_by_excerpts("Y passed its hard ceiling before a summary was ready")

    def _plan(self, prompt_tokens: int) -> CompactionPlan:
        return compaction.plan(
            mode=self.mode,
            projection=None if self.mode == "summarize" else self._projection(),
            generation=self._generation,
            raw=self._y,
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

    def _ask(self, prompts: Sequence[str]) -> tuple[list[str | None], str | None]:
        """The summariser's replies, and why one is missing."""
        if prompts and self._summarize is None:
            raise ValueError("this queue was made without a summarize callable")
        replies: list[str | None] = []
        failure = None
        for prompt in prompts:
            try:
                replies.append(self._summarize(prompt) if self._summarize else None)
            except Exception as error:  # whatever a summariser raises, the items stay reachable
                replies.append(None)
                failure = f"the summariser failed: {error}"
        return replies, failure

    def _hashes_of(self, plan: CompactionPlan) -> Callable[[int], tuple[str, ...]]:
        seqs = {item.event.seq for item in plan.raw}
        seqs.update(seq for bullet in self._bullets for seq in bullet.seqs)
        hashes = {seq: tuple(chunk.hash for chunk in chunks) for seq, chunks in self.store.chunks_of(seqs).items()}
        return lambda seq: hashes.get(seq, ())

    def _swap_in(
        self,
        plan: CompactionPlan,
        bullets: Iterable[Bullet],
        *,
        uncited: int,
        made_by: str,
        model_calls: int,
        seconds: float,
        failure: str | None,
    ) -> Compaction:
        generation = plan.generation + 1
        fitted = fit(
            tuple(bullets),
            int(self.y_budget * BULLETS_SHARE),
            generation=generation,
            event_at=self.store.event,
            hashes_of=self._hashes_of(plan),
        )
        still_raw = [item for item in self._y if item.event.seq > plan.through]
        done = Compaction(
            generation=generation,
            items_in=plan.items_in,
            bullets_out=len(fitted),
            uncited=uncited,
            tokens_before=plan.tokens_before,
            tokens_after=total_tokens(fitted),
            seconds=seconds,
            made_by=made_by,
            model_calls=model_calls,
            through=plan.through,
            failure=failure,
            mode=plan.mode,
            full_fold=plan.projection is not None and plan.projection.full,
        )
        before = set(self._bullets)
        kept = before.intersection(fitted)
        removed = [bullet.id for bullet in before - kept]
        added = [bullet for bullet in fitted if bullet not in kept]
        with self.store.transaction():
            self.store.replace_bullets(self.kind, removed, added)
            self.store.clear_pending(self.kind, plan.through)
            self.store.record(self.kind, tier_ledger.COMPACTED, tier_ledger.compacted(done, removed, added))
        self._bullets = fitted
        self._y = still_raw
        self._generation = generation
        if self.on_compaction is not None:
            self.on_compaction(done)
        return done

    def _tell_demotion(self, demotion: Demotion | None) -> None:
        if demotion is not None and self.on_demotion is not None:
            self.on_demotion(demotion)


def _made_without_a_model(plan: CompactionPlan) -> str:
    return EXCERPTS if plan.projection is None else LEDGER


def _in_thread(new: NewEvent, thread: str) -> NewEvent:
    if new.thread == thread:
        return new
    return replace(new, thread=thread)

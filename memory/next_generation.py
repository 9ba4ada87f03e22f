"""What a compaction is about to swap in: the next generation's bullets, made to fit, and its event line.

Reads the tape and changes nothing, so it may be worked out on any thread while the conversation goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory import compaction
from memory.bullet_making import HashesOf
from memory.compaction import CompactionPlan
from memory.fitting import BULLETS_SHARE, fit
from memory.ledger_compaction import LEDGER
from memory.live_view import total_tokens
from memory.store import MemoryStore
from memory.values import Bullet, Compaction

EXCERPTS = "excerpts"
"""Who made a compaction that no summariser made."""


@dataclass(frozen=True, slots=True)
class NextGeneration:
    """A compaction, worked out."""

    plan: CompactionPlan
    y_budget: int
    """What the bullets were made to fit."""
    bullets: tuple[Bullet, ...]
    done: Compaction


def next_generation(
    store: MemoryStore,
    plan: CompactionPlan,
    replies: Sequence[str | None],
    *,
    y_budget: int,
    made_by: str,
    seconds: float,
    failure: str | None,
) -> NextGeneration:
    """What ``plan`` and the summariser's ``replies`` come to."""
    hashes_of = _hashes_of(store, plan)
    outcome = compaction.build(plan, replies, hashes_of)
    generation = plan.generation + 1
    budget = int(y_budget * BULLETS_SHARE)
    bullets = fit(outcome.bullets, budget, generation=generation, event_at=store.event, hashes_of=hashes_of)
    answered = sum(reply is not None for reply in replies)
    without_a_model = EXCERPTS if plan.projection is None else LEDGER
    done = Compaction(
        generation=generation,
        items_in=plan.items_in,
        bullets_out=len(bullets),
        uncited=outcome.uncited,
        tokens_before=plan.tokens_before,
        tokens_after=total_tokens(bullets),
        seconds=seconds,
        made_by=made_by if answered else without_a_model,
        model_calls=answered,
        through=plan.through,
        failure=failure or outcome.failure,
        mode=plan.mode,
        full_fold=plan.projection is not None and plan.projection.full,
    )
    return NextGeneration(plan, y_budget, tuple(bullets), done)


def _hashes_of(store: MemoryStore, plan: CompactionPlan) -> HashesOf:
    seqs = {item.event.seq for item in plan.raw}
    seqs.update(seq for bullet in plan.before for seq in bullet.seqs)
    hashes = {seq: tuple(chunk.hash for chunk in chunks) for seq, chunks in store.chunks_of(seqs).items()}
    return lambda seq: hashes.get(seq, ())

"""Snapshots of a memory with something of everything in it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from memory.ledger_fold import LedgerState
from memory.observations import Observation, observation, observation_text, reflection
from memory.values import Bullet, Compaction, EmbeddingState, Item, MemorySnapshot, Voices
from sessions.observing.clocks import Gauge
from sessions.observing.status import LedgerStatus
from tests.screens.fakes import NOW, chunk_hash, event, event_id


def item(seq: int, text: str, *, role: str = "user", tier: str = "x", tokens: int = 40, ago: float = 5) -> Item:
    """One raw item, said ``ago`` minutes before now."""
    at = (NOW - timedelta(minutes=ago)).isoformat()
    said = event(seq, role, text, t_event=at, source="person" if role == "user" else "anthropic/claude-sonnet-4-5")
    return Item(said, "x" if tier == "x" else "y", seq, tokens)


def bullet(
    number: int, text: str, *, refs: int = 3, generation: int = 1, protected: bool = False, form: str = "summary"
) -> Bullet:
    return Bullet(
        id=event_id(-number),
        text=text,
        hash_refs=tuple(chunk_hash(seq) for seq in range(number, number + refs)),
        seqs=tuple(range(number, number + refs)),
        generation=generation,
        protected=protected,
        form=form,  # type: ignore[arg-type]
        tokens=18 + refs,
    )


def compaction(generation: int, *, failure: str | None = None) -> Compaction:
    return Compaction(
        generation=generation,
        items_in=14 + generation,
        bullets_out=6,
        uncited=generation % 3,
        tokens_before=61_000,
        tokens_after=22_000 + generation,
        seconds=1.8,
        made_by="openai/gpt-4o-mini",
        model_calls=1,
        through=40,
        failure=failure,
    )


def garden(*, notice: str | None = None, compacting: bool = False) -> MemorySnapshot:
    """Three generations into planning a garden."""
    recent = (
        item(31, "Which of the two catalogues has the cheaper seed potatoes, and until when?", tokens=312, ago=190),
        item(32, "The northern one, until the end of the month.", role="assistant", tokens=1_288, ago=189),
        item(33, "Please keep the deadline of 14 May for the seed order, whatever else moves.", tokens=64, ago=12),
        item(34, "Noted: 14 May stands.", role="assistant", tokens=20, ago=11),
    )
    overflow = (
        item(21, "How deep do raised beds have to be for carrots?", tier="y", tokens=40, ago=2_900),
        item(22, "Thirty centimetres of loose soil.", role="assistant", tier="y", tokens=410, ago=2_899),
    )
    bullets = (
        bullet(1, "Keep the budget below 400 euros.", refs=1, protected=True, form="whole"),
        bullet(2, "The north side has heavy clay; Sam measured it twice.", refs=12, generation=2),
        bullet(14, "Sam wants the paths one metre wide.", refs=1, generation=3, protected=True, form="excerpt"),
        bullet(15, "Older talk about seeds, pots and tools.", refs=237, generation=3, form="group"),
    )
    spoken = (("you",), ("you", "openai/gpt-4o-mini"), ("you",), ("openai/gpt-4o-mini", "read_file"))
    times = (NOW - timedelta(days=days) for days in (7, 6, 4, 3))
    return MemorySnapshot(
        generation=3,
        x_tokens=12_310,
        x_budget=24_000,
        y_tokens=61_210,
        y_budget=80_000,
        recent=recent,
        overflow=overflow,
        bullets=bullets,
        turns=210,
        events=420,
        chunks=812,
        embedding=EmbeddingState("fastembed:BAAI/bge-small-en-v1.5", 700, 112),
        compacting=compacting,
        notice=notice,
        voices={
            bullet.id: Voices(names, at.isoformat()) for bullet, names, at in zip(bullets, spoken, times, strict=True)
        },
    )


def noted(**fields: Any) -> LedgerStatus:
    """A ledger of the garden: one conclusion, three live notes of which one is not in view yet, and a dropped one."""
    budget = _note("The budget stays below 400 euros.", "critical", 1)
    clay = _note("The north side has heavy clay.", "high", 3, 4)
    paths = _note("Paths are one metre wide.", "medium", 5)
    slugs = _note("Slugs were talked about.", "low", 7)
    rule = reflection("The garden is planned around heavy clay.", supports=[clay.id, slugs.id])
    state = LedgerState(
        observations={made.id: made for made in (budget, clay, paths)},
        dropped={slugs.id: slugs},
        reflections={rule.id: rule},
        observed_through=30,
        reflected_through=12,
        dropped_through=12,
    )
    shown = tuple(
        replace(bullet(number, observation_text(made), form="observation"), id=made.id)
        for number, made in enumerate((budget, clay, slugs), start=1)
    )
    defaults: dict[str, Any] = {
        "state": state,
        "shown": shown,
        "mode": "auto",
        "observe": Gauge(4_000, 10_000),
        "reflect": Gauge(21_000, 20_000),
        "compact": Gauge(40_500, 81_000),
        "pool": Gauge(60, 20_000),
        "live_pool": Gauge(58, 10_000),
    }
    return LedgerStatus(**{**defaults, **fields})


def _note(content: str, relevance: str, *seqs: int) -> Observation:
    return observation(
        content, timestamp="2026-03-02 09:00", relevance=relevance, sources=[event_id(seq) for seq in seqs]
    )

"""Making bullets: from an event's own words, a summariser's sentence, a record of the ledger, or as a count of many."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from memory.excerpt import join_spans, leading, salient, whole
from memory.ids import content_id
from memory.json_text import dump
from memory.observations import Observation, Reflection, observation_text
from memory.ranges import pack
from memory.render import bullet_tokens
from memory.tool_events import is_of_model, line_of_event
from memory.values import Bullet, BulletForm, Event, Span

EXCERPT_TOKENS = 60
"""The most that an excerpt of an uncited or shortened item holds."""

HashesOf = Callable[[int], tuple[str, ...]]
"""The chunk hashes of an event, by ``seq``."""


def said(event: Event, generation: int, hashes_of: HashesOf, *, limit: int | None = None) -> Bullet:
    """What the person said, word for word: whole, or the weightiest sentences where ``limit`` tokens are given."""
    spans = whole(event.text) if limit is None else salient(event.text, limit)
    return _quote(event, spans, generation, hashes_of, protected=True)


def excerpt(event: Event, generation: int, hashes_of: HashesOf) -> Bullet:
    """The start of an event that no citation covered: it keeps the words that recall ranks on.

    Of a tool's output the line says more than its first words do.
    """
    if is_of_model(event):
        return summary(line_of_event(event), (event.seq,), generation, hashes_of)
    return _quote(event, leading(event.text, EXCERPT_TOKENS), generation, hashes_of, protected=False)


def summary(text: str, seqs: Iterable[int], generation: int, hashes_of: HashesOf) -> Bullet:
    """A summariser's sentence and everything that it cites."""
    numbers = tuple(sorted(set(seqs)))
    id = content_id("summary", text, dump(pack(numbers)))
    return _bullet(id, text, numbers, generation, hashes_of, protected=False, form="summary")


def record(made: Observation | Reflection, seqs: tuple[int, ...], generation: int, hashes_of: HashesOf) -> Bullet:
    """A record of the ledger under its own id, with the events that it rests on, in time order."""
    form: BulletForm = "observation" if isinstance(made, Observation) else "reflection"
    text = observation_text(made) if isinstance(made, Observation) else made.content
    return _bullet(made.id, text, seqs, generation, hashes_of, protected=False, form=form)


def group(members: Iterable[Bullet], generation: int, hashes_of: HashesOf, *, protected: bool) -> Bullet:
    """One counted line for bullets whose own lines no longer fit; everything behind them stays behind it."""
    return group_of((seq for member in members for seq in member.seqs), generation, hashes_of, protected=protected)


def group_of(seqs: Iterable[int], generation: int, hashes_of: HashesOf, *, protected: bool) -> Bullet:
    """One counted line for these events."""
    numbers = tuple(sorted(set(seqs)))
    what = "messages from the person" if protected else "items"
    text = f"({len(numbers)} earlier {what}, #{numbers[0]}-#{numbers[-1]}; recall_memory finds them)"
    id = content_id("group", str(protected), dump(pack(numbers)))
    return _bullet(id, text, numbers, generation, hashes_of, protected=protected, form="group")


def shortened(bullet: Bullet, event: Event, limit: int) -> Bullet:
    """A protected bullet with fewer of the same words."""
    spans = salient(event.text, limit)
    form: BulletForm = "whole" if spans == whole(event.text) else "excerpt"
    text = join_spans(event.text, spans)
    tokens = bullet_tokens(text, bullet.id, protected=True, form=form)
    return replace(bullet, text=text, spans=spans, form=form, tokens=tokens)


def _quote(event: Event, spans: tuple[Span, ...], generation: int, hashes_of: HashesOf, *, protected: bool) -> Bullet:
    id = content_id("said" if protected else "excerpt", event.thread, event.id)
    form: BulletForm = "whole" if spans == whole(event.text) else "excerpt"
    text = join_spans(event.text, spans)
    return _bullet(id, text, (event.seq,), generation, hashes_of, protected=protected, form=form, spans=spans)


def _bullet(
    id: str,
    text: str,
    seqs: tuple[int, ...],
    generation: int,
    hashes_of: HashesOf,
    *,
    protected: bool,
    form: BulletForm,
    spans: tuple[Span, ...] = (),
) -> Bullet:
    return Bullet(
        id=id,
        text=text,
        hash_refs=tuple(hash for seq in seqs for hash in hashes_of(seq)),
        seqs=seqs,
        generation=generation,
        protected=protected,
        form=form,
        tokens=bullet_tokens(text, id, protected=protected, form=form),
        spans=spans,
    )

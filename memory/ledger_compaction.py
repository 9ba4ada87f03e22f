"""The ledger's part in a compaction: records become bullets under their own ids, and nothing loses its way back.

Deterministic and without a model. ``memory/compaction.py`` puts this together with what the person said and what a
summariser has read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memory.bullet_making import HashesOf, group_of, record
from memory.projection import Projection
from memory.values import RECORD_FORMS, Bullet, Item

LEDGER = "ledger"
"""Who made a compaction that took its bullets from the ledger and asked no model."""


def carried(bullets: Iterable[Bullet], projection: Projection) -> list[Bullet]:
    """The bullets that stay as they are: all but the ledger's own records, which are shown anew.

    In a full fold, excerpts of items that records cover by now have done their duty and go too.
    """
    cited = projection.cited if projection.full else frozenset()
    return [
        bullet
        for bullet in bullets
        if not (bullet.form in RECORD_FORMS and bullet.id in projection.known)
        and not (bullet.form == "excerpt" and not bullet.protected and cited.issuperset(bullet.seqs))
    ]


def uncovered(raw: Iterable[Item], projection: Projection) -> list[Item]:
    """The raw items that no record cites."""
    cited = projection.cited
    return [item for item in raw if item.event.seq not in cited]


def shown(
    projection: Projection,
    before: Sequence[Bullet],
    taken: Iterable[Bullet],
    generation: int,
    hashes_of: HashesOf,
) -> list[Bullet]:
    """A bullet for each record: the one that stands for it already, or a new one.

    Args:
        before: the live bullets.
        taken: bullets whose ids are not free; a record with such an id is left to ``strays``.
    """
    standing = {bullet.id: bullet for bullet in before if bullet.form in RECORD_FORMS}
    ids = {bullet.id for bullet in taken}
    bullets: list[Bullet] = []
    for one in projection.records:
        made = record(one.record, one.seqs, generation, hashes_of)
        old = standing.get(made.id)
        if made.id not in ids:
            ids.add(made.id)
            bullets.append(old if old is not None and _says_the_same(old, made) else made)
    return bullets


def strays(before: Iterable[int], bullets: Sequence[Bullet], generation: int, hashes_of: HashesOf) -> list[Bullet]:
    """``bullets`` with a way back to every event of ``before``: what they do not lead to joins a counted line.

    That is what only a dropped observation led to.
    """
    lost = set(before).difference(seq for bullet in bullets for seq in bullet.seqs)
    if not lost:
        return list(bullets)
    groups = [bullet for bullet in bullets if bullet.form == "group" and not bullet.protected]
    lost.update(seq for bullet in groups for seq in bullet.seqs)
    gone = {bullet.id for bullet in groups}
    kept = [bullet for bullet in bullets if bullet.id not in gone]
    return [*kept, group_of(lost, generation, hashes_of, protected=False)]


def _says_the_same(old: Bullet, new: Bullet) -> bool:
    return (old.text, old.seqs, old.form) == (new.text, new.seqs, new.form)

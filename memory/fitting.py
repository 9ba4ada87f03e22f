"""Making bullets fit: what is shortened or folded first when Y's bullets have outgrown their share.

Nothing that the person said is paraphrased on the way: it is whole, then a word-for-word excerpt, then a member of a
counted group; whatever goes last is what demands, names and decides (``memory/excerpt.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from memory.bullet_making import EXCERPT_TOKENS, HashesOf, group, shortened
from memory.bullet_rows import in_order
from memory.excerpt import salience
from memory.observations import RELEVANCES, Relevance, relevance_in
from memory.values import Bullet, Event

BULLETS_SHARE = 0.5
"""Of Y's budget, what bullets may hold after a compaction; the rest is room for the next overflow."""

UNPROTECTED_SHARE = 0.5
"""Of that, what is left to bullets that are not the person's words, where room is short at first."""

SHORT_TOKENS = 25
"""The second, tighter excerpt."""

_COMMON: Final[Relevance] = "medium"


def fit(
    bullets: Sequence[Bullet],
    budget: int,
    *,
    generation: int,
    event_at: Callable[[int], Event],
    hashes_of: HashesOf,
) -> list[Bullet]:
    """``bullets`` within ``budget`` tokens, in reading order. Every event behind them stays behind one of them."""
    room = _Room(bullets, budget, generation, event_at, hashes_of)
    room.fold_unprotected(keep=int(budget * UNPROTECTED_SHARE))
    room.shorten_protected(EXCERPT_TOKENS)
    room.fold_unprotected(keep=budget // 4)
    room.shorten_protected(SHORT_TOKENS)
    room.fold_protected()
    room.fold_unprotected(keep=0)
    return in_order(room.bullets)


class _Room:
    """The bullets on their way to fitting. Each step stops as soon as they fit."""

    def __init__(
        self,
        bullets: Sequence[Bullet],
        budget: int,
        generation: int,
        event_at: Callable[[int], Event],
        hashes_of: HashesOf,
    ) -> None:
        self.bullets = in_order(bullets)
        self._budget = budget
        self._generation = generation
        self._event_at = event_at
        self._hashes_of = hashes_of

    def fold_unprotected(self, *, keep: int) -> None:
        """Fold unprotected bullets until all fits or they hold ``keep`` tokens: the least relevant, then the oldest."""
        candidates = [bullet for bullet in self.bullets if not bullet.protected and bullet.form != "group"]
        candidates.sort(key=_relevance)
        self._fold(candidates, protected=False, keep=keep)

    def fold_protected(self) -> None:
        """Fold what the person said that matters least, oldest first."""
        candidates = [bullet for bullet in self.bullets if bullet.protected and bullet.form != "group"]
        weights = {bullet.id: salience(bullet.text) for bullet in candidates}
        candidates.sort(key=lambda bullet: (weights[bullet.id], bullet.seqs))
        self._fold(candidates, protected=True, keep=0)

    def shorten_protected(self, limit: int) -> None:
        """Shorten the oldest of what the person said to word-for-word excerpts of ``limit`` tokens."""
        excess = self._excess()
        for place, bullet in enumerate(self.bullets):
            if excess <= 0:
                return
            if bullet.protected and bullet.form != "group" and bullet.tokens > limit:
                shorter = shortened(bullet, self._event_at(bullet.seqs[0]), limit)
                if shorter.tokens < bullet.tokens:
                    excess -= bullet.tokens - shorter.tokens
                    self.bullets[place] = shorter

    def _fold(self, candidates: Sequence[Bullet], *, protected: bool, keep: int) -> None:
        excess = self._excess()
        held = sum(bullet.tokens for bullet in candidates)
        if excess <= 0 or held <= keep:
            return
        existing = [b for b in self.bullets if b.form == "group" and b.protected == protected]
        # A first group costs a line of its own; count it before deciding how many to fold.
        if not existing:
            excess += group(candidates, self._generation, self._hashes_of, protected=protected).tokens
        folded: list[Bullet] = []
        for bullet in candidates:
            if excess <= 0 or held <= keep:
                break
            folded.append(bullet)
            excess -= bullet.tokens
            held -= bullet.tokens
        if not folded:
            return
        gone = {bullet.id for bullet in (*existing, *folded)}
        merged = group((*existing, *folded), self._generation, self._hashes_of, protected=protected)
        self.bullets = in_order([*(b for b in self.bullets if b.id not in gone), merged])

    def _excess(self) -> int:
        return sum(bullet.tokens for bullet in self.bullets) - self._budget


def _relevance(bullet: Bullet) -> int:
    """Summaries and excerpts matter as much as the common observation does; reflections are the last to go."""
    if bullet.form == "reflection":
        return len(RELEVANCES)
    told = relevance_in(bullet.text) if bullet.form == "observation" else None
    return RELEVANCES.index(told or _COMMON)

"""Tapes of any length with made-up words and vectors, through the real schema: what recall is timed on."""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import TYPE_CHECKING

from memory.store import CONVERSATION, MemoryStore
from memory.values import Bullet, NewEvent
from memory.vectors import embed_waiting

if TYPE_CHECKING:
    from memory.embeddings import Vector

DIMENSIONS = 384

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

VOCABULARY = 20_000
COMMONEST = 50
"""Words so frequent that a question would not be asked by them: stop words are left out of real ones."""

SYLLABLES = ("ka", "lo", "mi", "ne", "ru", "sta", "vel", "dor", "fin", "gra", "hul", "bre")
ENDINGS = ("", "n", "s", "t", "rk")

WORDS_SAID = (8, 30)
WORDS_ASKED = (3, 7)
BEHIND_ONE_BULLET = 20
AT_A_TIME = 5_000
"""Events written in one transaction."""


class Words:
    """Words as often as in a language: the n-th commonest one n-th as often as the commonest (Zipf)."""

    def __init__(self, seed: int = 11) -> None:
        self.dice = random.Random(seed)
        made: dict[str, None] = {}
        while len(made) < VOCABULARY:
            syllables = self.dice.choices(SYLLABLES, k=self.dice.randint(2, 4))
            made["".join(syllables) + self.dice.choice(ENDINGS)] = None
        self._words = list(made)
        self._sums = list(accumulate(1 / (rank + 1) for rank in range(VOCABULARY)))

    def said(self) -> str:
        """What one turn says."""
        return " ".join(self._any() for _ in range(self.dice.randint(*WORDS_SAID)))

    def asked(self, said: str) -> str:
        """A question in words of what was said, those that everything holds left out."""
        telling = [word for word in said.split() if word not in self._words[:COMMONEST]] or said.split()
        return " ".join(self.dice.choices(telling, k=self.dice.randint(*WORDS_ASKED)))

    def _any(self) -> str:
        return self._words[bisect(self._sums, self.dice.random() * self._sums[-1])]


class RandomVectors:
    """An embedder without a model: any text's vector is a new random one of unit length."""

    stamp = f"random:{DIMENSIONS}"
    dimensions = DIMENSIONS
    threshold = None
    sure = None

    def __init__(self, seed: int = 11) -> None:
        import numpy as np

        self._dice = np.random.default_rng(seed)

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        import numpy as np

        rows = self._dice.standard_normal((len(texts), DIMENSIONS), np.float32)
        unit: Vector = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    def embed_query(self, text: str) -> Vector:
        row: Vector = self.embed_passages([text])[0]
        return row


def grow(store: MemoryStore, words: Words, chunks: int) -> None:
    """Say more, until the tape has so many chunks or a few more, all of them with a vector and behind bullets."""
    while (missing := chunks - store.counts().chunks) > 0:
        number = store.counts().events
        prepared = [store.prepare(_turn(words, number + place)) for place in range(min(AT_A_TIME, missing))]
        with store.transaction():
            seqs = [store.write(each)[0].seq for each in prepared]
            store.replace_bullets(CONVERSATION, (), _bullets(seqs))
    embed_waiting(store, RandomVectors(chunks), batch=1_000)


def _turn(words: Words, number: int) -> NewEvent:
    return NewEvent(
        text=words.said(),
        role="assistant" if number % 2 else "user",
        source="model" if number % 2 else "person",
        t_event=(START + timedelta(minutes=number)).isoformat(),
    )


def _bullets(seqs: Sequence[int]) -> list[Bullet]:
    behind = [tuple(seqs[start : start + BEHIND_ONE_BULLET]) for start in range(0, len(seqs), BEHIND_ONE_BULLET)]
    return [
        Bullet(
            id=f"{refs[0]:012x}",
            text=f"What was said from {refs[0]} on.",
            hash_refs=(),
            seqs=refs,
            generation=1,
            protected=False,
            form="summary",
            tokens=10,
        )
        for refs in behind
    ]

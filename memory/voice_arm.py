"""Who said it: a question that names one speaker is mostly about what that speaker said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.candidates import Candidates
from memory.word_index import WordIndex
from memory.words import STOP_WORDS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memory.ranking import Mask, Scores

LEAST_SAID = 3
"""Chunks that must bear a name before it counts as a speaker's: a single ``Note:`` is none."""

PRONOUN_WEIGHT = 0.3
"""What "I said" and "you said" count beside a name: they are sure about who spoke, but rarer about whom."""

OWN_WORDS = ('"i"', '"my"', '"me"', '"mine"', '"we"', '"our"', '"us"')
OWN_WEIGHT = 0.17
"""What a speaker says of themselves counts more than what they answer to others."""

YOU = "you"
"""What ``memory.values.speaker_of`` calls the person."""

_SAYING = (
    r"(?:\w+ )?(?:say|said|tell|told|ask(?:ed)?|mention(?:ed)?|write|wrote|want(?:ed)?|decided?|prefer(?:red)?"
    r"|suggest(?:ed)?|recommend(?:ed)?|proposed?|answer(?:ed)?)"
)
_BY_PERSON = re.compile(rf"\bI {_SAYING}\b|\bthe (?:user|person) {_SAYING}\b", re.IGNORECASE)
_BY_MODEL = re.compile(rf"\b(?:you|the (?:assistant|model)) {_SAYING}\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_][\w.-]*")


@dataclass(frozen=True)
class Voice:
    """1 for what the one speaker that the question names said, who may be named in the text (``Ada: ...``) or by the
    tape, and a little more where it is about "I" or "my"; less where the question says only "I said" or "you said";
    else 0."""

    index: WordIndex
    name: str = "speaker"

    def scores(self, question: str, candidates: Candidates) -> Scores:
        import numpy as np

        scores = np.zeros(len(candidates), np.float32)
        named = _named(question, candidates)
        if named is not None:
            scores[named] = 1.0
            for posting in self.index.find_kept(" OR ".join(OWN_WORDS), candidates):
                scores[posting.places[named[posting.places]]] += OWN_WEIGHT
            return scores
        names = candidates.speaker_names
        person = names.index(YOU) if YOU in names else -1
        by_person, by_model = _BY_PERSON.search(question), _BY_MODEL.search(question)
        if (by_person is None) != (by_model is None):
            said = candidates.speakers == person
            scores[said if by_person else ~said] = PRONOUN_WEIGHT
        return scores


def _named(question: str, candidates: Candidates) -> Mask | None:
    """What the one speaker said whom the question names; None where it names none, or several."""
    names = candidates.speaker_names
    voices = voices_of(candidates)
    said_by: dict[int, Mask] = {}
    for place in _places_named(question, names):
        said = voices == place
        if int(said.sum()) >= LEAST_SAID:
            said_by[place] = said
    return next(iter(said_by.values())) if len(said_by) == 1 else None


def voices_of(candidates: Candidates) -> NDArray[np.int32]:
    """The label of each where its text has one, else its speaker; places in ``speaker_names``, -1 for nobody."""
    import numpy as np

    return np.where(candidates.labels >= 0, candidates.labels, candidates.speakers)


def _places_named(question: str, names: tuple[str, ...]) -> Iterator[int]:
    asked = {word.casefold() for word in _words(question)} - STOP_WORDS
    folded = question.casefold()
    for place, name in enumerate(names):
        first = name.split(" ", 1)[0].casefold()
        if name.casefold() != YOU and (first in asked or (" " in name and name.casefold() in folded)):
            yield place


def _words(question: str) -> Iterator[str]:
    for word in _WORD.findall(re.sub(r"['’]s\b", " ", question)):
        yield word.rstrip(".-")

"""How much a sentence matters once room is short: a rule laid down for good outlasts what is asked for once.

Words are counted, nothing is understood: "never", "every" or "must" most likely bind later turns; what decides or moves
something most likely changes them; a question, or an order to do something now, is done by the next turn. Measured by
``memory/compaction_bench.py``.
"""

from __future__ import annotations

import re

LASTING_POINTS = 8
BOUNDING_POINTS = 4
DECIDING_POINTS = 3
WISHING_POINTS = 1

MOST_MARKS = 3
"""More words of one sort in a sentence add nothing."""

ASKING_DIVISOR = 3
"""A question keeps this part of its weight; an order to do something now keeps it of all but its lasting words."""


def _any_of(*alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(alternatives)})\b", re.IGNORECASE)


_LASTING = _any_of(
    r"never|always|every|must(?:n't)?|nothing (?!to|for)\w+|nobody|no one|ha(?:s|ve|d) to|not even|not an? \w+ more"
    r"|from now on|rules?|constraints?|requirements?|forbidden|not allowed|may not|under no"
    r"|no \w+(?: \w+)? (?:may|can|is|are|goes|leaves)",
    # German, French, Spanish and Portuguese, Italian, Dutch, Polish.
    r"niemals|immer|jede[rsnm]?|muss|müssen|keine?[rsnm]?|jamais|toujours|chaque|doit|doivent|aucune?|nunca|siempre"
    r"|sempre|cada|deben?|devem?|ning[uú]n|ogni|devono|nooit|altijd|moet(?:en)?|nigdy|zawsze|każd[yae]|musi"
    r"|żad(?:en|na|ne)",
)
_LASTING_UNSPACED = re.compile(r"必须|必須|绝不|决不|不得|不能|总是|每次|只能|必ず|決して|常に|禁止|항상|절대|반드시")
_BOUNDING = _any_of(
    r"only|unless|until|each|stays?|cannot|shall|required|at (?:most|least)|no (?:more|less|later|earlier|newer|older)"
    r"|limits?|nur|darf|dürfen|seulement|s[oó]lo|alleen|tylko"
)
_DECIDING = _any_of(
    r"decid\w+|decision|moves?|moved|instead|forget|agreed?|switch\w*|chang\w+|postponed?|deadline|due|budget|called"
    r"|names?|important|remember|secret|exactly|rather|without|goes? into"
)
_WISHING = _any_of(
    r"should(?:n't)?|don't|do not|does not|doesn't|want|needs?|prefer|keep|use|correct\w*|wrong|not|before|after"
)
_PARTICULAR = re.compile(r"\d|`|\"|“|«|「|https?:|[/\\]\w|\w_\w|[a-z][A-Z]|(?<=\w )[A-ZÀ-ÞА-Я]\w")
_QUESTION = re.compile(r"[?？]\W*$")
_ORDER = re.compile(
    r"^\W*(?:(?:and|then|also|now|ok|okay|so|but|please)\b\W*)*"
    r"(?:please|let's|let me|add|check|do|don't|explain|find|fix|give|help|list|look|make|merge|open|print|put|read"
    r"|remove|rename|run|send|show|sort|tell|test|try|undo|use|write)\b",
    re.IGNORECASE,
)


def weight(sentence: str) -> int:
    """Zero for nothing at all; a lasting rule has 8 or more, small talk 2 or less."""
    lasting = LASTING_POINTS * (_marks(_LASTING, sentence) + _marks(_LASTING_UNSPACED, sentence))
    passing = (
        BOUNDING_POINTS * _marks(_BOUNDING, sentence)
        + DECIDING_POINTS * _marks(_DECIDING, sentence)
        + WISHING_POINTS * _marks(_WISHING, sentence)
        + min(3, len(_PARTICULAR.findall(sentence)))
        + min(2, len(sentence) // 25)
    )
    if _QUESTION.search(sentence):
        return (lasting + passing) // ASKING_DIVISOR
    if _ORDER.search(sentence):
        return lasting + passing // ASKING_DIVISOR
    return lasting + passing


def _marks(words: re.Pattern[str], sentence: str) -> int:
    return min(MOST_MARKS, len({found.lower() for found in words.findall(sentence)}))

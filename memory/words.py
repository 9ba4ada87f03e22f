"""Making text of any script searchable by FTS5.

SQLite's tokenizer knows words only where spaces or signs part them, and the letters of an old Unicode. So
both what is indexed and what is asked pass through here first: scripts without spaces are set apart character
by character, identifiers are split while kept whole too, and what SQLite may not know as a letter is spelled
in hex.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

MAX_QUERY_TERMS = 64
"""Most terms in a query. Of a longer question the longest words are asked for, as they tend to be the
rarest."""

_MAX_QUESTION = 20_000
_MAX_WORD = 64

# Scripts whose words no space parts, and Hangul, whose particles stick to the words: Thai to Myanmar, Khmer,
# kana, Bopomofo, Han, Yi, Hangul, and the Han of the higher planes.
_UNSPACED = (
    "\u0e01-\u0e2f\u0e30-\u0e33\u0e40-\u0e46\u0e81-\u0edf\u1000-\u109f\u1780-\u17d3\u1950-\u19df"
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_PICTURES = "\u2600-\u27bf\U0001f000-\U0001faff"
_LETTER = rf"[^\W_{_UNSPACED}]"
_UNIT = re.compile(
    rf"(?P<apart>[{_UNSPACED}{_PICTURES}])|(?P<name>{_LETTER}+(?:[-_./\\:@]+{_LETTER}+)*)",
)
_STEP = re.compile(r"[./\\:@]+")
_PART = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\WA-Za-z\d_]+")
_MOST_HUMPS = 6
_POSSESSIVE = re.compile(r"(?<=\w)['’]s\b", re.IGNORECASE)

# Accents, Hebrew points, Arabic vowel signs and the Arabic stretching line.
_MARKS = re.compile(
    "[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u200c\u200d]+"
)
_LETTER_VARIANTS = str.maketrans("أإآٱىةکیёς", "ااااىهكيеσ")
_PREFIXED = re.compile("^(?:(?:[وفبك]?ال|لل)(?=[\u0620-\u064a]{3})|[הובכלמש](?=[\u05d0-\u05ea]{3}))")
"""Articles and prepositions that Arabic and Hebrew write as one with the word."""
_INFLECTED = re.compile("[\u0370-\u058f\u05d0-\u05ea\u0620-\u064a\u0671-\u06d3\u10a0-\u10ff]{5,}")
"""Words of alphabets for which SQLite has no stemmer."""

STOP_WORDS = frozenset(
    """
    a about after again all also am an and any are as at be because been before being but by can could did do
    does doing done during each else for from further get got had has have having he her here hers him his how
    i if in into is it its just like may me might more most must my no nor not of off on once only or other
    our ours out over own please same shall she should so some such t than that the their them then there
    these they this those through to too under until up upon us very was we were what when where which while
    who whom whose why will with would you your yours d ll m re s ve don didn doesn isn wasn won
    """.split()  # noqa: SIM905 - a paragraph reads better than a list
)


def index_words(text: str) -> str:
    """Return the words of ``text``, parted by spaces, as they go into the FTS5 index. Never raises."""
    words: list[str] = []
    for apart, name in _units(text):
        words.extend((_spelled(apart),) if apart else _name_words(name))
    return " ".join(words)


def match_query(question: str) -> str:
    """Return an FTS5 query that matches any word of ``question``; ``""`` if it holds no word. Never raises.

    Words of scripts without spaces are asked for as pairs of neighbouring characters. English stop words are
    left out unless there is nothing else.
    """
    return " OR ".join(match_terms(question))


def match_terms(question: str) -> list[str]:
    """Return what ``match_query`` asks for, each word or pair of characters as an FTS5 query of its own."""
    terms: dict[str, int] = {}
    stops: dict[str, int] = {}
    run: list[str] = []
    for apart, name in _units(question[:_MAX_QUESTION]):
        if apart:
            run.append(_spelled(apart))
            continue
        _add_pairs(run, terms)
        for word in _name_words(name):
            (stops if word in STOP_WORDS else terms)[_term(word)] = len(word)
    _add_pairs(run, terms)
    chosen = terms or stops
    if len(chosen) > MAX_QUERY_TERMS:
        longest = set(sorted(chosen, key=lambda term: (-chosen[term], term))[:MAX_QUERY_TERMS])
        chosen = {term: length for term, length in chosen.items() if term in longest}
    return list(chosen)


def _units(text: str) -> Iterator[tuple[str, str]]:
    """Yield (character set apart, "") or ("", name), and an empty pair for what stands between."""
    text = _folded(text)
    end = 0
    for match in _UNIT.finditer(text):
        if match.start() > end:
            yield "", ""
        end = match.end()
        yield match["apart"] or "", match["name"] or ""


def _folded(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_LETTER_VARIANTS)
        text = unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFD", text)))
    return _POSSESSIVE.sub("", text)


def _name_words(name: str) -> list[str]:
    """Return the parts of a word, an identifier, a path or an error code, then the whole without signs."""
    if not name:
        return []
    if name.isascii() and name.isalpha() and (len(name) == 1 or name[1:].islower()):
        return [name[:_MAX_WORD].lower()]
    words: list[str] = []
    wholes: list[str] = []
    for step in _STEP.split(name):
        parts = _PART.findall(step)
        for part in parts:
            humps = _humps(part)
            words += humps
            wholes += [part] if len(humps) > 1 else []
        wholes += ["".join(parts)] if len(parts) > 1 else []
    wholes.append("".join(_PART.findall(name)))
    words += [_PREFIXED.sub("", word) for word in words if _PREFIXED.match(word)]
    known = set(words)
    words += dict.fromkeys(whole for whole in wholes if whole not in known)
    return [_spelled(word[:_MAX_WORD].casefold()) for word in words]


def _humps(part: str) -> list[str]:
    humps = _CAMEL.findall(part)
    return humps if 1 < len(humps) <= _MOST_HUMPS and "".join(humps) == part else [part]


def _spelled(word: str) -> str:
    """Return ``word`` with every letter that SQLite may not know replaced by its number in hex."""
    if word.isascii():
        return word
    return "".join(letter if letter.isascii() or _known(letter) else f"u{ord(letter):x}u" for letter in word)


def _known(letter: str) -> bool:
    # A letter of Unicode 3.2 is a letter to every SQLite.
    return letter <= "\uffff" and unicodedata.ucd_3_2_0.category(letter)[0] in "LN"


def _term(word: str) -> str:
    # Endings change most in these alphabets, so a long word is asked for by its beginning.
    if _INFLECTED.fullmatch(word):
        return f'"{word[: max(4, len(word) - 2)]}"*'
    return f'"{word}"'


def _add_pairs(run: list[str], terms: dict[str, int]) -> None:
    if len(run) == 1:
        terms[f'"{run[0]}"'] = 1
    for left, right in pairwise(run):
        terms[f'"{left} {right}"'] = 2
    run.clear()

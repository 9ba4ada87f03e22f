"""Ledgers for tests: entries as a store would hold them, and strategies that make up any."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hypothesis import strategies as st

from memory.json_text import dump, load
from memory.observations import DROPS, OBSERVATIONS, REFLECTIONS, Observation, Reflection, observation, reflection
from memory.store import CONVERSATION, LedgerEntry

WORDS = ("bed", "kale", "water", "dawn", "frost", "seeds")

MINUTE = "2026-03-02 09:00"


def observed(content: str, *sources: str, relevance: str = "medium", at: str = MINUTE) -> Observation:
    return observation(content, timestamp=at, relevance=relevance, sources=sources or ("e1",))


def concluded(content: str, *supports: Observation) -> Reflection:
    return reflection(content, supports=[made.id for made in supports])


def observations_entry(n: int, *made: Observation, covers: int = 1) -> LedgerEntry:
    return _entry(n, OBSERVATIONS, {"observations": [_plain(one) for one in made], "covers": covers})


def reflections_entry(n: int, *made: Reflection, covers: int = 1) -> LedgerEntry:
    return _entry(n, REFLECTIONS, {"reflections": [_plain(one) for one in made], "covers": covers})


def drops_entry(n: int, *ids: str, covers: int = 1) -> LedgerEntry:
    return _entry(n, DROPS, {"ids": list(ids), "covers": covers})


def _entry(n: int, name: str, data: dict[str, Any]) -> LedgerEntry:
    # Through JSON, as a store reads it back.
    return LedgerEntry(n, CONVERSATION, name, "2026-03-02T09:00:00+00:00", load(dump({**data, "at": data["covers"]})))


def _plain(made: Observation | Reflection) -> dict[str, Any]:
    return {name: getattr(made, name) for name in made.__dataclass_fields__}


contents = st.one_of(
    st.sampled_from([f"The {one} needs {other}." for one in WORDS for other in WORDS[:2]]),
    st.text(min_size=1, max_size=40).filter(lambda text: bool(text.strip())),
)

relevances = st.sampled_from(["low", "medium", "high", "critical"])


def observations(sources: Sequence[str]) -> st.SearchStrategy[Observation]:
    return st.builds(
        lambda content, relevance, named: observed(content, *named, relevance=relevance),
        contents,
        relevances,
        st.lists(st.sampled_from(sources), min_size=1, max_size=4),
    )


@st.composite
def entries(draw: st.DrawFn, *, events: int = 12) -> list[LedgerEntry]:
    """Any ledger: repeated texts, drops of what is known and of what is not, and entries that are not sound."""
    made: list[LedgerEntry] = []
    known: list[Observation] = []
    for n in range(1, draw(st.integers(0, 12)) + 1):
        covers = draw(st.integers(1, events))
        kind = draw(st.sampled_from(["observe", "observe", "reflect", "drop", "broken"]))
        if kind == "observe" or not known:
            batch = draw(st.lists(observations([f"e{seq}" for seq in range(1, covers + 1)]), min_size=1, max_size=4))
            known += batch
            made.append(observations_entry(n, *batch, covers=covers))
        elif kind == "reflect":
            supports = draw(st.lists(st.sampled_from(known), min_size=1, max_size=3))
            content = draw(st.sampled_from([f"Rule {number}." for number in range(6)]))
            made.append(reflections_entry(n, concluded(content, *supports), covers=covers))
        elif kind == "drop":
            ids = draw(st.lists(st.sampled_from([*(one.id for one in known), "0" * 12]), min_size=1, max_size=3))
            made.append(drops_entry(n, *ids, covers=covers))
        else:
            made.append(broken(n, draw(st.sampled_from([OBSERVATIONS, REFLECTIONS, DROPS])), known))
    return made


def broken(n: int, name: str, known: Iterable[Observation]) -> LedgerEntry:
    """An entry whose last record is not sound, so that none of it may count."""
    whole = [_plain(one) for one in known]
    data: dict[str, Any] = {
        OBSERVATIONS: {"observations": [*whole, {"id": "f" * 12}], "covers": 1},
        REFLECTIONS: {"reflections": [{"id": "f" * 12, "content": "two\nlines", "supports": ["f" * 12]}], "covers": 1},
        DROPS: {"ids": [*(one["id"] for one in whole), "no id"], "covers": 1},
    }
    return _entry(n, name, data[name])

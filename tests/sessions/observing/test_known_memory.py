"""However large the memory has become, a worker's prompt holds only so much of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memory.observations import RELEVANCES, observation_line
from memory.tokens import count_tokens
from sessions.observing.known_memory import NOTHING, known_memory
from tests.sessions.observing.ledgers import concluded, observed, state_of


def many(count: int, *, words: str = "says that the port of the service was moved and tested") -> list[str]:
    return [f"Note {number} {words}." for number in range(count)]


def test_a_small_memory_is_told_whole_in_the_order_of_the_ledger() -> None:
    notes = [observed(text, relevance=RELEVANCES[place % 4]) for place, text in enumerate(many(9))]
    rule = concluded("Ports are tested before they move.", *notes[:2])
    known = known_memory(state_of(notes, [rule]), 1_000)
    assert known.observations == tuple(made.id for made in notes)
    assert known.text == "\n".join(
        [
            "## Conclusions so far",
            f"[{rule.id}] Ports are tested before they move.",
            "",
            "## Observations so far",
            *map(observation_line, notes),
        ]
    )
    assert known.tokens == count_tokens(known.text)


def test_an_empty_memory_says_so() -> None:
    assert known_memory(state_of(), 100).text == NOTHING


@pytest.mark.parametrize("budget", [128, 1_000, 5_000])
def test_a_very_large_memory_is_cut_to_its_budget(budget: int) -> None:
    notes = [observed(text, relevance=RELEVANCES[place % 4]) for place, text in enumerate(many(3_000))]
    rules = [concluded(f"Rule {number} of the house.", notes[number]) for number in range(500)]
    known = known_memory(state_of(notes, rules), budget)
    assert known.tokens <= budget
    assert known.tokens > budget // 3
    assert "more are not shown here" in known.text


def test_what_matters_most_stays_and_of_that_the_newest() -> None:
    notes = [observed(text, relevance="critical" if place % 10 == 0 else "low") for place, text in enumerate(many(400))]
    known = known_memory(state_of(notes), 600)
    shown = [made for made in notes if made.id in known.observations]
    assert {made.relevance for made in shown} == {"critical"}
    assert [made.id for made in shown] == list(known.observations)
    assert shown[-1] == notes[390]
    assert notes[0] not in shown


def test_a_record_that_claims_to_cost_nothing_is_counted_anew() -> None:
    notes = [replace(observed(text), tokens=0) for text in many(60, words="x" * 3_000)]
    assert known_memory(state_of(notes), 2_000).tokens <= 2_000


def test_the_newest_conclusions_stay_where_observations_need_the_room() -> None:
    notes = [observed(text) for text in many(200)]
    rules = [concluded(f"Rule {number} of the house, to be kept.", notes[number]) for number in range(100)]
    known = known_memory(state_of(notes, rules), 1_000)
    assert rules[-1].content in known.text
    assert rules[0].content not in known.text
    assert known.observations

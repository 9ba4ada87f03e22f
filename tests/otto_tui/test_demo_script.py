"""The demo's conversation is what its head says it is."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from otto_tui.demo_script import DemoScript, Said, load_script


@pytest.fixture(scope="module")
def script() -> DemoScript:
    return load_script()


def test_it_is_long_and_spans_weeks(script: DemoScript) -> None:
    assert len(script.turns) >= 150
    assert (script.turns[-1].at - script.turns[0].at).days >= 28
    assert all(turn.at.utcoffset() is not None for turn in script.turns)
    assert all(before.at < after.at for before, after in pairwise(script.turns))


def test_no_message_is_said_twice(script: DemoScript) -> None:
    counts = Counter(turn.you for turn in script.turns)
    assert [text for text, count in counts.items() if count > 1] == []


def test_what_is_planted_stands_in_its_turn_word_for_word(script: DemoScript) -> None:
    assert len(script.planted) >= 8
    for planted in script.planted:
        assert planted.words in script.turns[planted.turn - 1].you


def test_it_is_said_once_only(script: DemoScript) -> None:
    everything = "\n".join(f"{turn.you}\n{turn.otto}" for turn in script.turns)
    assert [planted.words for planted in script.planted if everything.count(planted.words) != 1] == []


def test_decisions_change(script: DemoScript) -> None:
    changed = [planted for planted in script.planted if planted.instead_of is not None]
    assert len(changed) >= 3
    for planted in changed:
        before = planted.instead_of
        assert isinstance(before, Said)
        assert before.turn < planted.turn
        assert before.words in script.turns[before.turn - 1].you


def test_lengths_vary(script: DemoScript) -> None:
    lengths = sorted(len(turn.you) for turn in script.turns)
    assert lengths[10] < 40
    assert lengths[-10] > 250
    assert sum("```" in turn.you for turn in script.turns) >= 5
    assert sum("```" in turn.otto for turn in script.turns) >= 5


def test_events_have_the_same_ids_every_time(script: DemoScript) -> None:
    events = list(script.events())
    assert events == list(script.events())
    assert len({event.id for event in events}) == 2 * len(script.turns)

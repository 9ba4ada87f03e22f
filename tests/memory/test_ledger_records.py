"""Records: their ids, their lines, and what is no record."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.ledger_fold import read_state
from memory.observations import (
    MOST_CHARACTERS,
    RELEVANCES,
    InvalidRecord,
    drops_in,
    observation,
    observation_line,
    observation_text,
    observations_in,
    record_drops,
    record_observations,
    record_reflections,
    reflection,
    reflection_line,
    reflections_in,
    relevance_in,
)
from memory.store import MemoryStore
from memory.tokens import count_tokens
from memory.values import NewEvent
from tests.memory.ledgers import MINUTE, concluded, observed

ANY_TEXT = st.text(min_size=1).filter(lambda text: bool(text.strip()))


def test_an_id_is_the_start_of_the_sha256_of_the_content() -> None:
    assert observed("The kale needs water.").id == hashlib.sha256(b"The kale needs water.").hexdigest()[:12]
    assert concluded("  Kale first. \n", observed("x")).id == hashlib.sha256(b"Kale first.").hexdigest()[:12]


def test_an_id_depends_on_nothing_but_the_content() -> None:
    one = observation("Same", timestamp="2026-03-02 09:00", relevance="low", sources=["a"])
    other = observation("Same", timestamp="2027-01-01 00:00", relevance="critical", sources=["b", "c"])
    assert one.id == other.id == reflection("Same", supports=[one.id]).id


def test_ids_are_the_same_in_every_process() -> None:
    contents = ["The kale needs water.", "深圳 \N{BUG} é", "x" * 20_000, "tab\tand\nline", "\0 \ud800 half"]
    script = (
        "import json, sys\n"
        "from memory.observations import observation\n"
        "make = lambda text: observation(text, timestamp='2026-03-02 09:00', relevance='low', sources=['e'])\n"
        "print(json.dumps([make(text).id for text in json.load(sys.stdin)]))"
    )
    for seed in ("0", "1"):
        ran = subprocess.run(
            [sys.executable, "-c", script],
            input=json.dumps(contents),
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[2])},
            capture_output=True,
            text=True,
            check=True,
        )
        assert json.loads(ran.stdout) == [observed(text).id for text in contents]


def test_what_is_too_long_is_cut_and_says_so() -> None:
    made = observed("a" * (MOST_CHARACTERS + 1_234))
    assert made.content == "a" * MOST_CHARACTERS + " … [1,234 characters cut]"
    assert observed("a" * MOST_CHARACTERS).content == "a" * MOST_CHARACTERS


def test_a_line_tells_id_time_relevance_and_content_on_one_line() -> None:
    made = observed("The kale\nneeds   water.", relevance="high")
    assert observation_line(made) == f"[{made.id}] {MINUTE} [high] The kale needs water."
    assert made.tokens == count_tokens(observation_line(made))
    rule = concluded("Kale first.", made)
    assert reflection_line(rule) == f"[{rule.id}] Kale first."
    assert rule.tokens == count_tokens(reflection_line(rule))


@given(ANY_TEXT, st.sampled_from(RELEVANCES))
@settings(deadline=None)
def test_a_text_tells_its_relevance(content: str, relevance: str) -> None:
    assert relevance_in(observation_text(observed(content, relevance=relevance))) == relevance


def test_a_text_that_is_no_observation_has_no_relevance() -> None:
    assert relevance_in("[critical] He said 2026-03-02 09:00 [low] things") is None


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"content": " \n"}, "says nothing"),
        ({"timestamp": "yesterday"}, "timestamp"),
        ({"timestamp": "2026-13-02 09:00"}, "timestamp"),
        ({"timestamp": "2026-03-02T09:00"}, "timestamp"),
        ({"relevance": "vital"}, "relevance is not one of low, medium, high, critical"),
        ({"sources": []}, "sources"),
        ({"sources": [""]}, "sources"),
    ],
)
def test_what_is_no_observation_is_refused_with_the_reason(changes: dict[str, Any], why: str) -> None:
    fields = {"content": "Fine", "timestamp": MINUTE, "relevance": "low", "sources": ["e1"]}
    with pytest.raises(InvalidRecord, match=why):
        observation(**{**fields, **changes})


@pytest.mark.parametrize(
    ("content", "supports", "why"),
    [
        ("   ", ["0" * 12], "says nothing"),
        ("one\ntwo", ["0" * 12], "more than one line"),
        ("one\rtwo", ["0" * 12], "more than one line"),
        ("Fine", [], "supports"),
        ("Fine", ["not hex"], "supports"),
    ],
)
def test_what_is_no_reflection_is_refused_with_the_reason(content: str, supports: list[str], why: str) -> None:
    with pytest.raises(InvalidRecord, match=why):
        reflection(content, supports=supports)


def test_sources_and_supports_are_named_once_each() -> None:
    assert observed("x", "e2", "e1", "e2").sources == ("e2", "e1")
    one = observed("y")
    assert concluded("z", one, one).supports == (one.id,)


@given(ANY_TEXT, st.sampled_from(RELEVANCES), st.lists(ANY_TEXT, min_size=1, max_size=3))
@settings(deadline=None, max_examples=40)
def test_whatever_is_recorded_reads_back(content: str, relevance: str, sources: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder, MemoryStore(Path(folder) / "tape.db") as store:
        store.append(NewEvent(text="hello", role="user"))
        made = observed(content, *sources, relevance=relevance)
        record_observations(store, [made], covers=1)
        rule = concluded("It holds.", made)
        record_reflections(store, [rule], covers=1)
        state = read_state(store)
        assert list(state.observations.values()) == [made]
        assert list(state.reflections.values()) == [rule]
        record_drops(store, [made.id], covers=1)
        assert list(read_state(store).dropped.values()) == [made]
        assert read_state(store).ignored == ()


def test_an_empty_batch_records_nothing(tmp_path: Path) -> None:
    with MemoryStore(tmp_path / "tape.db") as store:
        assert record_observations(store, [], covers=1) is None
        assert record_reflections(store, [], covers=1) is None
        assert record_drops(store, [], covers=1) is None
        assert store.ledger() == []


GOOD = {"id": observed("Fine").id, "content": "Fine", "timestamp": MINUTE, "relevance": "low", "sources": ["e1"]}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"id": "0" * 12}, r"observations\[1\]: id does not derive from the content"),
        ({"id": observed("Fine").id.upper() + "x"}, "id is not 12 hex digits"),
        ({"id": 5}, "id is not 12 hex digits"),
        ({"content": None}, "content is not text"),
        ({"sources": "e1"}, "sources is not a list of ids"),
        ({"sources": [1]}, "sources is not a list of ids"),
        ({"tokens": -1}, "tokens is not a count"),
        ({"tokens": True}, "tokens is not a count"),
        ({"tokens": 1.5}, "tokens is not a count"),
    ],
)
def test_one_record_that_is_not_sound_makes_its_entry_so(changes: dict[str, Any], why: str) -> None:
    good = {**GOOD, "tokens": 9}
    with pytest.raises(InvalidRecord, match=why):
        observations_in({"observations": [good, {**good, **changes}], "covers": 3})


@pytest.mark.parametrize("covers", [None, 0, -1, "3", True, 1.0])
def test_an_entry_must_say_what_it_covers(covers: object) -> None:
    for read, key in ((observations_in, "observations"), (reflections_in, "reflections"), (drops_in, "ids")):
        with pytest.raises(InvalidRecord, match="covers"):
            read({key: ["0" * 12], "covers": covers})


@pytest.mark.parametrize("found", [None, [], {}, "0" * 12])
def test_an_entry_must_hold_something(found: object) -> None:
    for read, key in ((observations_in, "observations"), (reflections_in, "reflections"), (drops_in, "ids")):
        with pytest.raises(InvalidRecord, match="not a list with at least one entry"):
            read({key: found, "covers": 1})

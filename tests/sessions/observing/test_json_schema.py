"""What a model sends is held against the schema that it was given."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.observing.json_schema import objects_in, parsed, problem_with
from sessions.observing.record_schemas import DROPS_SCHEMA, OBSERVATIONS_SCHEMA, REFLECTIONS_SCHEMA
from tests.sessions.observing.note_takers import note

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["observations", "content", "sources", "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)


def test_what_the_schema_describes_holds() -> None:
    assert problem_with({"observations": [note("a", "e1")]}, OBSERVATIONS_SCHEMA) is None
    assert problem_with({"observations": []}, OBSERVATIONS_SCHEMA) is None
    assert problem_with({"ids": ["a"], "reason": "old", "more": 1}, DROPS_SCHEMA) is None


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], "the arguments must be of type object"),
        ({}, "the arguments has no observations"),
        ({"observations": "x"}, "observations must be of type array"),
        ({"observations": [1]}, "number 1 of observations must be of type object"),
        ({"observations": [note("a")]}, "sources must not be empty"),
        ({"observations": [note("  ", "e")]}, "content must not be empty"),
        (
            {"observations": [note("a", "e", relevance="urgent")]},
            "relevance must be one of low, medium, high, critical",
        ),
        ({"observations": [{"content": "a"}]}, "number 1 of observations has no timestamp"),
        ({"observations": [note("a", "e") | {"sources": [5]}]}, "number 1 of sources must be of type string"),
    ],
)
def test_what_is_wrong_is_said(value: Any, said: str) -> None:
    assert problem_with(value, OBSERVATIONS_SCHEMA) == said


@given(_JSON)
def test_no_value_breaks_the_check(value: Any) -> None:
    for schema in (OBSERVATIONS_SCHEMA, REFLECTIONS_SCHEMA, DROPS_SCHEMA):
        problem = problem_with(value, schema)
        assert problem is None or problem.strip()


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"a": ' * 50_000, "\x00", "NaN", "nothing here"])
def test_no_text_breaks_the_reading(text: str) -> None:
    parsed(text)
    list(objects_in(text))


def test_objects_are_found_among_other_words() -> None:
    text = 'Sure! ```json\n{"a": {"b": 1}}\n``` and {"c": 2}, {broken'
    assert list(objects_in(text)) == [{"a": {"b": 1}}, {"c": 2}]


def test_of_a_list_that_was_cut_short_the_whole_objects_are_found() -> None:
    whole = json.dumps({"observations": [note("a", "e1"), note("b", "e2"), note("c", "e3")]})
    cut = whole[: whole.rindex("{") + 10]
    assert [found["content"] for found in objects_in(cut)] == ["a", "b"]

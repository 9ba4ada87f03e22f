"""Names are of fixed shape; derived ones depend on content alone."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from memory.ids import chunk_hash, content_id, new_event_id

any_text = st.text(st.characters())


def test_event_ids_are_twelve_hex_digits_and_differ() -> None:
    ids = {new_event_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(re.fullmatch("[0-9a-f]{12}", id) for id in ids)


@given(st.lists(any_text), st.lists(any_text))
def test_content_ids_differ_exactly_when_the_parts_do(a: list[str], b: list[str]) -> None:
    assert re.fullmatch("[0-9a-f]{12}", content_id(*a))
    assert (content_id(*a) == content_id(*b)) == (a == b)


def test_parts_are_not_run_together() -> None:
    assert content_id("ab", "c") != content_id("a", "bc") != content_id("abc")
    assert content_id("a", "") != content_id("a")


@given(any_text, any_text, st.integers(0, 10**9), any_text)
def test_chunk_hashes_depend_on_event_place_and_words(thread: str, id: str, start: int, text: str) -> None:
    name = chunk_hash(thread, id, start, text)
    assert re.fullmatch("[0-9a-f]{16}", name)
    assert name == chunk_hash(thread, id, start, text)
    assert name != chunk_hash(thread, id, start + 1, text)
    assert name != chunk_hash(thread, id, start, text + "!")
    assert name != chunk_hash(thread, id + "0", start, text)

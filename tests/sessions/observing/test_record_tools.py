"""Which records of a model's calls are taken, and what it is told of the others."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.ledger_fold import LedgerState
from memory.observations import MOST_CHARACTERS
from memory.values import Event
from sessions.observing.record_tools import (
    MOST_RECORDS,
    DropRecorder,
    ObservationRecorder,
    RecordingTool,
    ReflectionRecorder,
)
from tests.sessions.observing.ledgers import concluded, observed, state_of
from tests.sessions.observing.note_takers import note


def event(seq: int, id: str) -> Event:
    return Event(
        seq=seq,
        id=id,
        thread="main",
        source="person",
        role="user",
        kind="message",
        t_event=f"2026-03-02T09:{seq:02}:00+00:00",
        t_ingest="2026-03-02T10:00:00+00:00",
        text="said",
    )


ENTRIES = {f"e{seq}": event(seq, f"e{seq}") for seq in range(1, 6)}


def observer(state: LedgerState | None = None) -> ObservationRecorder:
    return ObservationRecorder(ENTRIES, state or LedgerState())


def record(recorder: ObservationRecorder, *notes: dict[str, Any]) -> str:
    return recorder.tool.call(json.dumps({"observations": notes}))


def test_what_is_sound_is_taken_with_its_sources_in_the_order_of_the_tape() -> None:
    recorder = observer()
    receipt = record(recorder, note("Port 4000 it is.", "e4", "[entry e2]", "[e4]", relevance="high"))
    assert receipt == "Added 1, known already 0, rejected 0; 1 in this run."
    (made,) = recorder.observations
    assert (made.content, made.sources, made.relevance) == ("Port 4000 it is.", ("e2", "e4"), "high")
    assert recorder.read_through == 4


def test_a_source_that_does_not_exist_costs_its_own_note_only() -> None:
    recorder = observer()
    receipt = record(recorder, note("Made up.", "e1", "e99"), note("Said.", "e1"))
    assert receipt == (
        "Added 1, known already 0, rejected 1; 1 in this run. Rejected: number 1: no entry has the id e99."
    )
    assert [made.content for made in recorder.observations] == ["Said."]


def test_the_same_text_is_recorded_once_in_a_run_and_once_in_the_ledger() -> None:
    recorder = observer(state_of([observed("Known.")]))
    assert "Added 1, known already 2" in record(recorder, note("Known.", "e1"), note("New.", "e1"), note("New.", "e2"))
    assert "Added 0, known already 1" in record(recorder, note(" New.\n", "e3"))
    assert [made.content for made in recorder.observations] == ["New."]
    assert not recorder.tool.was_garbage


def test_what_was_dropped_may_be_observed_again() -> None:
    recorder = observer(state_of(dropped=[observed("Back again.")]))
    record(recorder, note("Back again.", "e1"))
    assert len(recorder.observations) == 1


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("2026-03-02 09:30", "2026-03-02 09:30"),
        ("2026-03-02T09:30:11Z", "2026-03-02 09:30"),
        ("yesterday", "2026-03-02 09:03"),
        ("2026-13-40 09:30", "2026-03-02 09:03"),
    ],
)
def test_a_time_that_is_none_becomes_that_of_the_newest_source(given: str, kept: str) -> None:
    recorder = observer()
    record(recorder, note("Said.", "e1", "e3", timestamp=given))
    assert recorder.observations[0].timestamp == kept


def test_a_note_is_one_line_and_not_longer_than_the_ledger_takes() -> None:
    recorder = observer()
    record(recorder, note("one\n\ntwo\u2028three", "e1"), note("x" * 20_000, "e1"))
    short, long = recorder.observations
    assert short.content == "one two three"
    assert len(long.content) < MOST_CHARACTERS + 50


@pytest.mark.parametrize(
    "arguments", ["", "null", "[]", "{", '{"observations": {}}', '{"notes": []}', "\x00", "[" * 100_000]
)
def test_garbage_is_answered_with_what_was_wanted(arguments: str) -> None:
    recorder = observer()
    assert recorder.tool.call(arguments) == (
        "Nothing was recorded: the arguments must be a JSON object with the list observations."
    )
    assert recorder.tool.was_garbage


def test_nothing_on_purpose_is_no_garbage() -> None:
    recorder = observer()
    assert record(recorder) == "Added 0, known already 0, rejected 0; 0 in this run."
    assert not recorder.tool.was_garbage


def test_only_so_many_records_are_taken_and_only_so_many_rejections_explained() -> None:
    recorder = observer()
    receipt = record(recorder, *(note(f"Note {number}.", "e1") for number in range(MOST_RECORDS + 20)))
    assert len(recorder.observations) == MOST_RECORDS
    assert "; and 12 more." in receipt
    assert len(receipt) < 2_000


def test_reflections_rest_on_live_observations_only() -> None:
    live, gone, hidden = observed("Live."), observed("Gone."), observed("Not shown.")
    state = state_of([live, hidden], dropped=[gone])
    recorder = ReflectionRecorder(state, [live.id])
    receipt = recorder.tool.call(
        json.dumps(
            {
                "reflections": [
                    {"content": "Cites what was dropped.", "supports": [live.id, gone.id]},
                    {"content": "Cites nothing known.", "supports": ["0123456789ab"]},
                    {"content": "Cites what it did not see.", "supports": [hidden.id]},
                    {"content": "Two\nlines.", "supports": [live.id]},
                    {"content": " Sound. ", "supports": [live.id, live.id]},
                ]
            }
        )
    )
    assert "Added 1, known already 0, rejected 4" in receipt
    assert f"number 1: the observation {gone.id} has been retired" in receipt
    assert "number 4: content has more than one line" in receipt
    (made,) = recorder.reflections
    assert (made.content, made.supports) == ("Sound.", (live.id,))


def test_a_conclusion_that_stands_already_is_not_recorded_again() -> None:
    live = observed("Live.")
    recorder = ReflectionRecorder(state_of([live], [concluded("Known.", live)]), [live.id])
    recorder.tool.call(json.dumps({"reflections": [{"content": "Known.", "supports": [live.id]}]}))
    assert recorder.reflections == ()
    assert not recorder.tool.was_garbage


def test_proposals_to_drop_are_gathered_over_calls() -> None:
    recorder = DropRecorder(["aaaaaaaaaaaa", "bbbbbbbbbbbb"])
    recorder.tool.call(json.dumps({"ids": ["aaaaaaaaaaaa", "cccccccccccc"], "reason": "old"}))
    receipt = recorder.tool.call(json.dumps({"ids": ["[bbbbbbbbbbbb]", "aaaaaaaaaaaa"]}))
    assert recorder.proposed == ("aaaaaaaaaaaa", "bbbbbbbbbbbb")
    assert receipt.startswith("Added 1, known already 1, rejected 0")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["observations", "reflections", "ids", "content", "sources", "supports", "timestamp"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(st.text(max_size=60) | _JSON.map(json.dumps) | st.lists(_JSON).map(lambda n: json.dumps({"observations": n})))
def test_no_call_breaks_a_recorder(arguments: str) -> None:
    tools: list[RecordingTool] = [
        observer().tool,
        ReflectionRecorder(state_of([observed("Live.")]), []).tool,
        DropRecorder(["a"]).tool,
    ]
    for tool in tools:
        assert tool.call(arguments).endswith(".")

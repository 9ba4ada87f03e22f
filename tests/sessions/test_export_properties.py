"""Whatever was said, an export brings it back; whatever is done to an export, an import is whole or refused."""

from __future__ import annotations

import copy
import json
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.queue import TieredQueue
from memory.store import MemoryStore
from memory.values import NewEvent
from memory.verify import verify
from sessions import tapes
from sessions.errors import ImportRefused
from sessions.export import export
from sessions.importing import import_file
from sessions.options import Options
from sessions.rows import SessionRow
from tests.sessions.made_sessions import conversation, made, options_for, short_summary

ID = "20260302-garden"

texts = st.one_of(
    st.text(max_size=80),
    st.text(alphabet=st.characters(codec="utf-8"), max_size=300),
    st.sampled_from(
        ["", " ", "\0", "\ud800", "a\x1b]52;c;aGk=\x07b", "漢字" * 200, "word " * 400, "```\nopen", "_" * 30]
    ),
)

metas = st.fixed_dictionaries(
    {},
    optional={
        "model": st.just("fake/model"),
        "cost": st.one_of(st.none(), st.floats(0, 10), st.integers(0, 3)),
        "partial": st.sampled_from(["stopped", "failed", "length", "interrupted"]),
        "usage": st.fixed_dictionaries({"prompt_tokens": st.integers(0, 9), "completion_tokens": st.integers(0, 9)}),
        "retry": st.just(True),
        "more": st.recursive(
            st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
            max_leaves=5,
        ),
    },
)

events = st.builds(
    lambda said, text, meta: NewEvent(text=text, role=said[0], kind=said[1], source=said[2], meta=meta),
    st.sampled_from(
        [
            ("user", "message", "person"),
            ("assistant", "message", "fake/model"),
            ("tool", "tool", "sensor"),
            ("tool", "note", "recall_memory"),
            ("user", "document", "notes.txt"),
            ("user", "retract", "person"),
        ]
    ),
    texts,
    metas,
)

summarisers = st.sampled_from(
    [
        short_summary,
        lambda prompt: "- \0odd\ud800 \x1b[1m [1]",
        lambda prompt: "",
        lambda prompt: "- all of it [1-999999]",
        lambda prompt: "no list, sorry " * 50,
    ]
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    said=st.lists(events, min_size=1, max_size=40),
    x_budget=st.integers(50, 300),
    y_budget=st.integers(100, 400),
    summarise=summarisers,
    tape=st.booleans(),
)
def test_any_session_comes_back_byte_for_byte(
    said: list[NewEvent], x_budget: int, y_budget: int, summarise: Any, tape: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        here, there = options_for(Path(folder, "here")), options_for(Path(folder, "there"))
        path = tapes.tape_path(here.home, ID)
        with MemoryStore(path, now=here.now) as store:
            queue = TieredQueue(store, summarize=summarise, x_budget=x_budget, y_budget=y_budget)
            queue.append(NewEvent(text="Begin", role="user", source="person"))
            for event in said:
                queue.append(event)
            summary = tapes.summary_of(store, ID)
        assert summary is not None
        first = written(here, summary.row, Path(folder, "first.json"), tape)
        row = import_file(there, Path(folder, "first.json"))
        assert written(there, row, Path(folder, "second.json"), tape) == first
        with MemoryStore(tapes.tape_path(there.home, row.id), read_only=True) as store:
            assert verify(store).ok, verify(store)


def written(options: Options, row: SessionRow, path: Path, tape: bool) -> bytes:
    return export(options, row, path, format="json", tape=tape, overwrite=True).read_bytes()


@cache
def sound_document(tape: bool) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        options = options_for(Path(folder, "home"))
        row = made(options, ID, conversation(24, words="daily"), x_budget=100, y_budget=500)
        return json.loads(written(options, row, Path(folder, "a.json"), tape))


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if path:
        yield path
    if isinstance(value, dict):
        for key, part in value.items():
            yield from places(part, (*path, key))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from places(part, (*path, number))


@cache
def all_places(tape: bool) -> list[tuple[str | int, ...]]:
    return list(places(sound_document(tape)))


junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 60),
    st.sampled_from(
        [2**31, 2**63, -(2**63), 10**30, 0.5, 1e308, "", "x", "\0", "\ud800", "main", "message", "2026-03-02"]
    ),
    st.text(max_size=10),
    st.lists(st.integers(0, 50), max_size=3),
    st.just([[0, 5]]),
    st.just({}),
    st.just({"at": 3}),
)


def alter(document: Any, place: tuple[str | int, ...], how: str, value: Any) -> None:
    parent = document
    for step in place[:-1]:
        parent = parent[step]
    last = place[-1]
    old = parent[last]
    if how == "delete":
        del parent[last]
    elif how == "nudge" and isinstance(old, int):
        parent[last] = old + (1 if value else -1)
    elif how == "nudge" and isinstance(old, str):
        parent[last] = old + "x" if value else old[:-1]
    elif how == "nudge" and isinstance(old, list) and old:
        parent[last] = old[::-1] if value else old[:-1]
    elif how == "repeat" and isinstance(parent, list):
        parent.insert(int(last), copy.deepcopy(old))
    elif how == "add" and isinstance(old, dict):
        old["surprise"] = copy.deepcopy(value)
    else:
        parent[last] = copy.deepcopy(value)


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), tape=st.booleans())
def test_an_altered_export_is_imported_whole_or_refused_with_a_path(data: st.DataObject, tape: bool) -> None:
    document = copy.deepcopy(sound_document(tape))
    for _ in range(data.draw(st.integers(1, 2))):
        place = data.draw(st.sampled_from(all_places(tape)))
        how = data.draw(st.sampled_from(["delete", "nudge", "replace", "repeat", "add"]))
        try:
            alter(document, place, how, data.draw(junk))
        except (KeyError, IndexError, TypeError):
            # The first change took away the place of the second.
            continue
    with tempfile.TemporaryDirectory() as folder:
        options = options_for(Path(folder, "home"))
        path = Path(folder, "altered.json")
        path.write_text(json.dumps(document))
        try:
            row = import_file(options, path)
        except ImportRefused as refusal:
            said = str(refusal)
            assert ": " in said, said
            assert "\n" not in said
            assert not [file for file in options.home.rglob("*") if file.is_file()]
        else:
            with MemoryStore(tapes.tape_path(options.home, row.id), read_only=True) as store:
                assert verify(store).ok, verify(store)
            again = written(options, row, Path(folder, "again.json"), "tape" in document)
            # With other budgets the tiers are cut anew.
            if document["budgets"] == sound_document(tape)["budgets"]:
                assert json.loads(again) == document


def test_the_altered_document_has_several_generations_all_sorts_of_bullets_and_both_tiers() -> None:
    document = sound_document(True)
    assert document["generation"] > 1
    assert {bullet["form"] for bullet in document["bullets"]} >= {"whole", "summary", "group"}
    assert {event["tier"] for event in document["recent"]} == {"x", "y"}
    assert {entry["entry"] for entry in document["tape"]["ledger"]} >= {"demoted", "compacted"}


@pytest.mark.parametrize("tape", [False, True])
def test_every_key_of_an_export_is_needed(tape: bool, tmp_path: Path) -> None:
    options = options_for(tmp_path / "home")
    free = {("tape",), ("format",), ("version",)}
    for place in all_places(tape):
        # What is kept as it is may hold anything: extras of events, and of the ledger what no fold reads.
        if not isinstance(place[-1], str) or "meta" in place or "data" in place or place in free:
            continue
        if any(isinstance(step, int) and step > 1 for step in place):
            continue
        document = copy.deepcopy(sound_document(tape))
        alter(document, place, "delete", None)
        (tmp_path / "a.json").write_text(json.dumps(document))
        with pytest.raises(ImportRefused, match="is missing"):
            import_file(options, tmp_path / "a.json")


def test_the_manual_names_every_key_of_an_export() -> None:
    manual = (Path(__file__).parents[2] / "docs" / "export.md").read_text()
    keys = {step for place in all_places(True) if "meta" not in place and "data" not in place for step in place}
    for key in keys:
        assert isinstance(key, int) or f"`{key}`" in manual, key

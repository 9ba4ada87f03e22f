"""``otto status``, ``view`` and ``recall`` tell what the ledger holds, what of it is shown, and what it rests on."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memory.observations import (
    Observation,
    Reflection,
    observation,
    record_drops,
    record_observations,
    record_reflections,
    reflection,
)
from memory.queue import TieredQueue
from memory.store import MemoryStore
from sessions.options import Options
from sessions.tapes import tape_path
from tests.otto_tui.processes import here
from tests.sessions.made_sessions import conversation, made, options_for

ID = "20260302-beans1"
AT = "2026-03-02 09:30"


@pytest.fixture
def options(tmp_path: Path) -> Options:
    options = options_for(tmp_path / "home")
    made(options, ID, conversation(6), y_budget=5_000)
    return options


class Recorded:
    """Three notes and a conclusion: one note and the conclusion came after the compaction, and one note was dropped."""

    water: Observation
    frost: Observation
    seeds: Observation
    rule: Reflection


@pytest.fixture
def recorded(options: Options) -> Recorded:
    notes = Recorded()
    with closing(MemoryStore(tape_path(options.home, ID), now=options.now)) as store:
        queue = TieredQueue(store, x_budget=120, y_budget=5_000, restore=True, mode="ledger", auto_compact=False)
        ids = [event.id for event in store.events(kinds=["message"])]
        notes.water = _note("Bed 1 gets 1 litre.", "high", ids[:2])
        notes.frost = _note("Frost was [bold]looked[/] into.", "low", ids[2:3])
        notes.seeds = _note("Seeds are here.", "critical", [*ids[:1], "gone"])
        record_observations(store, [notes.water, notes.frost], covers=3)
        plan = queue.plan_compaction()
        assert plan is not None
        assert queue.apply_compaction(plan, [], made_by="ledger") is not None
        notes.rule = reflection("Water is counted.", supports=[notes.water.id, notes.frost.id])
        record_observations(store, [notes.seeds], covers=4)
        record_reflections(store, [notes.rule], covers=4)
        record_drops(store, [notes.frost.id], covers=4)
    return notes


def _note(content: str, relevance: str, sources: list[str]) -> Observation:
    return observation(content, timestamp=AT, relevance=relevance, sources=sources)


def text(options: Options, *args: str) -> str:
    done = here(*args, home=options.home)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def value(options: Options, *args: str) -> Any:
    return json.loads(text(options, *args, "--json"))


def test_status_tells_counts_drift_and_clocks(options: Options, recorded: Recorded) -> None:
    ledger = value(options, "status", ID)["ledger"]
    assert ledger["observations"] == {"recorded": 3, "dropped": 1, "active": 2, "visible": 2}
    assert ledger["reflections"] == {"recorded": 1, "visible": 0}
    assert ledger["drift"] == {
        "observations_to_come": [recorded.seeds.id],
        "observations_gone": [recorded.frost.id],
        "reflections_to_come": [recorded.rule.id],
    }
    assert ledger["through"] == {"observed": 4, "reflected": 4, "dropped": 4}
    for clock in ("observe", "reflect", "compact"):
        assert ledger[clock]["left"] == ledger[clock]["threshold"] - ledger[clock]["tokens"]
    assert (ledger["observe"]["threshold"], ledger["reflect"]["threshold"]) == (10_000, 20_000)
    assert (ledger["mode"], ledger["running"], ledger["errors"], ledger["passive"]) == ("auto", None, {}, False)
    shown = text(options, "status", ID).splitlines()
    assert "ledger      3 observations recorded, 1 dropped, 2 active, 2 visible; 1 reflection, 0 visible" in shown
    assert "drift       1 observation and 1 reflection to come, 1 dropped observation still in view" in shown
    tokens, left = ledger["observe"]["tokens"], ledger["observe"]["left"]
    assert f"observer    {tokens:,} of 10,000 tokens, {left:,} to go" in shown
    assert "workers     The session is open for reading only, so nothing is recorded here" in shown


def test_status_of_a_session_without_a_ledger(options: Options) -> None:
    assert value(options, "status", ID)["ledger"]["observations"]["recorded"] == 0
    assert "drift       none" in text(options, "status", ID).splitlines()


def test_passive_is_said(options: Options) -> None:
    done = here("status", ID, home=options.home, environ={"OTTO_PASSIVE": "1"})
    assert "workers     passive: nothing is recorded on its own" in done.stdout.decode().splitlines()


def test_full_is_the_truth_at_the_tip(options: Options, recorded: Recorded) -> None:
    full = value(options, "view", ID, "--full")
    assert [made["id"] for made in full["reflections"]] == [recorded.rule.id]
    assert [made["id"] for made in full["observations"]] == [recorded.water.id, recorded.seeds.id]
    assert full["observations"][0]["relevance"] == "high"
    assert text(options, "view", ID, "--full").splitlines() == [
        "--- 1 reflection",
        f"[{recorded.rule.id}] Water is counted.",
        "--- 2 observations",
        f"[{recorded.water.id}] {AT} [high] Bed 1 gets 1 litre.",
        f"[{recorded.seeds.id}] {AT} [critical] Seeds are here.",
    ]


def test_diff_marks_what_the_view_lacks_and_what_it_alone_has(options: Options, recorded: Recorded) -> None:
    lines = text(options, "view", ID, "--diff").splitlines()
    assert lines == [
        f"+ [{recorded.rule.id}] Water is counted.",
        f"  [{recorded.water.id}] {AT} [high] Bed 1 gets 1 litre.",
        f"+ [{recorded.seeds.id}] {AT} [critical] Seeds are here.",
        f"- [{recorded.frost.id}] {AT} [low] Frost was [bold]looked[/] into.",
        "Drift: 1 observation and 1 reflection to come, 1 dropped observation still in view."
        " + is in the ledger only, - in the view only.",
    ]
    assert [line["sign"] for line in value(options, "view", ID, "--diff")] == ["+", "", "+", "-"]


@pytest.mark.parametrize("flag", ["--full", "--diff"])
def test_an_empty_ledger_is_a_sentence(options: Options, flag: str) -> None:
    assert text(options, "view", ID, flag) == "The ledger holds nothing yet.\n"


def test_an_observation_leads_to_its_words(options: Options, recorded: Recorded) -> None:
    lines = text(options, "recall", ID, "--id", recorded.water.id).splitlines()
    heading = f"Observation {recorded.water.id}, {AT}, high, active, 2 sources: Bed 1 gets 1 litre."
    assert heading in lines
    assert any(line.startswith("Question 1: bed 1 must get exactly 1 litres") for line in lines)
    found = value(options, "recall", ID, "--id", recorded.water.id)
    assert (found["found_as"], len(found["items"]), found["missing"]) == ("observation", 2, [])
    assert [(made["id"], made["dropped"]) for made in found["observations"]] == [(recorded.water.id, False)]


def test_a_dropped_observation_and_a_lost_source_are_said(options: Options, recorded: Recorded) -> None:
    shown = text(options, "recall", ID, "--id", recorded.frost.id)
    assert f"Observation {recorded.frost.id}, {AT}, low, dropped, kept in full, 1 source:" in shown
    assert "[bold]looked[/]" in shown
    assert "Named as a source and not to be found: gone." in text(options, "recall", ID, "--id", recorded.seeds.id)


def test_a_reflection_leads_to_its_observations_and_their_words(options: Options, recorded: Recorded) -> None:
    found = value(options, "recall", ID, "--id", recorded.rule.id)
    assert (found["found_as"], len(found["items"])) == ("reflection", 3)
    assert {made["id"]: made["dropped"] for made in found["observations"]} == {
        recorded.water.id: False,
        recorded.frost.id: True,
    }
    shown = text(options, "recall", ID, "--id", recorded.rule.id)
    assert f"Reflection {recorded.rule.id}, rests on 2 observations: Water is counted." in shown
    assert "Question 2: bed 2" in shown

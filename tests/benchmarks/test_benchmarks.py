"""The benchmarks measure what they say, with real processes and sessions; how fast is not a question for a test."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks.app_timing import keystrokes, resume, running
from benchmarks.context_tier import predicted_cuts
from benchmarks.context_tier import run as tool_turn
from benchmarks.first_paint import BARE, OTTO, Program, first_paint
from benchmarks.long_sessions import make_session
from benchmarks.ratios import ratio, tell
from benchmarks.stuck_observer import enter_times
from benchmarks.turn_cost import turn_times
from memory.store import MemoryStore
from memory.verify import verify
from sessions import tapes


def test_a_ratio_is_that_of_medians() -> None:
    made = ratio("name", [0.003, 0.002, 0.9], [0.002, 0.001, 0.002], target=2.0)
    assert (made.ours, made.theirs, made.value) == (3.0, 2.0, 1.5)


def test_json_is_a_flat_object_of_name_to_ratio(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmark", "--json"])
    tell(lambda: [ratio("one", [2.0], [1.0], target=3.0), ratio("two", [1.0], [4.0], target=3.0)], None)
    assert json.loads(capsys.readouterr().out) == {"one": 2.0, "two": 0.25}


def test_the_table_says_what_is_over_its_target(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmark"])
    tell(lambda: [ratio("one", [2.0], [1.0], target=1.5), ratio("two", [1.0], [1.0], target=1.5)], None)
    over, well = capsys.readouterr().out.splitlines()
    assert over.endswith("over the target")
    assert well.endswith("ok")


@pytest.mark.parametrize("program", [BARE, OTTO], ids=["bare", "otto"])
def test_a_program_paints_in_a_terminal(program: Program) -> None:
    assert first_paint(program) > 0


def test_a_made_session_is_a_sound_one(tmp_path: Path) -> None:
    id = make_session(tmp_path, 60)
    with MemoryStore(tapes.tape_path(tmp_path, id)) as store:
        assert store.counts().turns == 60
        assert [check for check in verify(store).checks if not check.ok] == []


async def test_keys_are_painted_and_sessions_opened(tmp_path: Path) -> None:
    id = make_session(tmp_path, 40)
    async with running(tmp_path) as (app, paints):
        assert len(await keystrokes(app, paints, 5)) == 5
        assert await resume(app, id) > 0
        assert app.chat.conversation is not None
        assert app.chat.conversation.session.id == id


async def test_turns_are_timed_beside_a_compaction_and_alone(tmp_path: Path) -> None:
    beside, alone = await turn_times(tmp_path, 4, y_budget=2_000)
    assert len(beside) == len(alone) == 4
    assert min(beside + alone) > 0


async def test_the_way_to_the_model_is_timed_beside_an_observer_that_hangs_and_alone(tmp_path: Path) -> None:
    beside, alone = await enter_times(tmp_path, 4)
    assert len(beside) == len(alone) == 4
    assert min(beside + alone) > 0


async def test_a_tool_heavy_turn_is_measured_as_its_vendor_sees_it(tmp_path: Path) -> None:
    (tmp_path / "on").mkdir()
    (tmp_path / "off").mkdir()
    cut = await tool_turn(tmp_path / "on", 10, 20_000, eviction=True)
    whole = await tool_turn(tmp_path / "off", 10, 20_000, eviction=False)
    assert cut.requests == 11
    assert cut.breaks == cut.predicted == cut.counted > 0
    assert (whole.requests, whole.breaks, whole.predicted, whole.counted) == (11, 0, 0, 0)
    assert cut.sizes[-1].printed == whole.sizes[-1].printed > 200_000
    assert cut.sizes[-1].bytes < 160_000 < whole.sizes[-1].bytes
    assert cut.kept < whole.kept < 1
    assert 0.5 < whole.identical < 1


def test_the_chunky_rule_cuts_when_the_threshold_is_passed_anew() -> None:
    assert predicted_cuts([20] * 120, 160, 6) == 38
    assert predicted_cuts([4] * 120, 160, 6) == 3
    assert predicted_cuts([20] * 120, 10**9, 6) == 0

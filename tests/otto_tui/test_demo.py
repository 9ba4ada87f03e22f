"""The headless demo: compactions happen, every planted thing is kept, and the file passes every check."""

from __future__ import annotations

import json

import pytest

from otto_tui.demo import DemoReport, run_demo_headless
from otto_tui.demo_script import load_script


@pytest.fixture(scope="module")
def told() -> list[str]:
    return []


@pytest.fixture(scope="module")
def report(told: list[str]) -> DemoReport:
    return run_demo_headless(say=told.append)


def test_it_compacts_several_times_and_all_checks_hold(report: DemoReport) -> None:
    assert report.turns == len(load_script().turns)
    assert len(report.generations) >= 4
    assert [one.done.generation for one in report.generations] == list(range(1, len(report.generations) + 1))
    assert report.generations[0].turn < 50
    assert all(one.done.tokens_after < one.done.tokens_before for one in report.generations)
    assert [check for check in report.verify.checks if not check.ok] == []


def test_every_planted_thing_is_in_view_and_is_recalled(report: DemoReport) -> None:
    assert [answer.planted.words for answer in report.answers if not answer.in_view] == []
    assert [answer.planted.question for answer in report.answers if not answer.recalled] == []
    assert report.kept == len(report.answers)
    assert report.ok


def test_recall_finds_the_changed_decisions_too(report: DemoReport) -> None:
    changed = [answer for answer in report.answers if answer.recalled_before is not None]
    assert len(changed) >= 3
    assert [answer.planted.instead_of for answer in changed if not answer.recalled_before] == []


def test_the_story_is_told_generation_by_generation(report: DemoReport, told: list[str]) -> None:
    story = "\n".join(told)
    assert all(f"generation {one.done.generation}:" in story for one in report.generations)
    assert all(answer.planted.words in story for answer in report.answers)
    assert all(check.name in story for check in report.verify.checks)


def test_the_json_shape(report: DemoReport) -> None:
    shape = json.loads(json.dumps(report.as_json()))
    assert shape["ok"] is True
    assert shape["turns"] == report.turns
    assert shape["planted"] == shape["kept"] == len(report.answers)
    assert shape["generations"][0]["generation"] == 1
    assert shape["verify"]["ok"] is True
    assert {"name", "ok", "rows"} <= set(shape["verify"]["checks"][0])


def test_smaller_budgets_lose_words_from_the_view_and_the_report_says_so(report: DemoReport) -> None:
    cramped = run_demo_headless(x_budget=200, y_budget=600)
    assert len(cramped.generations) > len(report.generations)
    assert cramped.verify.ok
    assert cramped.kept < len(cramped.answers)
    assert not cramped.ok

"""The evaluation behind ``otto eval-compaction``: what the person laid down survives, and the arms differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.bench_conversation import CONSTRAINTS, conversation
from memory.compaction_bench import POLICIES, TURNS, Policy, Row, evaluate, format_table

DOCS = Path(__file__).parents[2] / "docs" / "memory.md"

PROTECTED = [policy for policy in POLICIES if policy.protect]
TYPE_BLIND = [policy for policy in POLICIES if not policy.protect]


def test_the_conversation_is_the_same_each_time_and_has_each_constraint_once() -> None:
    first, second = list(conversation(120)), list(conversation(120))
    assert first == second
    assert len(first) == 240
    said = "\n".join(event.text for event in first if event.role == "user")
    reported = "\n".join(event.text for event in first if event.role == "assistant")
    assert all(said.count(constraint) == 1 for constraint in CONSTRAINTS)
    assert not any(constraint in reported for constraint in CONSTRAINTS)


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return evaluate(turns=(120, 400))


def test_protected_keeps_every_constraint_at_each_length_and_budget(rows: list[Row]) -> None:
    protected = [row for row in rows if row.policy in {policy.name for policy in PROTECTED}]
    assert len(protected) == 6
    assert [row.kept for row in protected] == [8] * 6, [row.lost for row in protected]


@pytest.mark.parametrize(
    "policy", [policy for policy in PROTECTED if policy.reabstract], ids=lambda policy: policy.name
)
def test_protected_keeps_every_constraint_of_2000_turns(policy: Policy) -> None:
    (row,) = evaluate(turns=(2_000,), policies=[policy])
    assert row.kept == 8, row.lost
    assert row.generations > 50


def test_type_blind_loses_constraints_and_more_so_with_time(rows: list[Row]) -> None:
    kept = {(row.policy, row.turns): row.kept for row in rows}
    assert all(kept[policy.name, 120] < 7 for policy in TYPE_BLIND), kept
    assert all(kept[policy.name, 400] < 5 for policy in TYPE_BLIND), kept
    assert all(kept[policy.name, 400] <= kept[policy.name, 120] for policy in TYPE_BLIND)
    assert kept["type-blind, tight budget", 400] < kept["type-blind", 400]


def test_the_table_in_the_docs_is_what_is_measured(rows: list[Row]) -> None:
    _compare_with_the_docs(rows)


@pytest.mark.slow
def test_the_last_column_in_the_docs_is_what_is_measured() -> None:
    _compare_with_the_docs(evaluate(turns=(2_000,)))


def _compare_with_the_docs(rows: list[Row]) -> None:
    lines = DOCS.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "/8 |" in line]
    written = {(policy, turns): kept for policy, *counts in cells for turns, kept in zip(TURNS, counts, strict=True)}
    assert len(written) == len(POLICIES) * len(TURNS)
    measured = {(row.policy, row.turns): f"{row.kept}/{row.planted}" for row in rows}
    assert {key: written[key] for key in measured} == measured


def test_a_row_counts_its_generations_and_calls() -> None:
    (row,) = evaluate(turns=(120,), policies=[POLICIES[0]])
    shape = row.as_json()
    assert {"policy", "turns", "budget", "kept", "planted", "generations", "model_calls"} <= set(shape)
    assert shape["planted"] == 8
    assert shape["generations"] == shape["model_calls"] > 0
    assert len(shape["lost"]) == 8 - shape["kept"]


def test_budgets_that_compact_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="Nothing was compacted in 12 turns"):
        evaluate(turns=(12,), x_budget=24_000, y_budget=80_000)


def test_the_table_has_a_line_a_policy_and_a_column_a_length() -> None:
    rows = [Row("protected", 120, 4_000, 8, 8, 4, 4, ()), Row("protected", 2_000, 4_000, 7, 8, 90, 90, ("one",))]
    head, line = format_table(rows).splitlines()
    assert head.split() == ["policy", "120", "turns", "2,000", "turns"]
    assert line.split() == ["protected", "8/8", "7/8"]

"""The evaluation behind ``otto eval-compaction``: what the person laid down survives, and the arms differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.bench_conversation import CONSTRAINTS, conversation
from memory.compaction_bench import (
    MODES,
    POLICIES,
    TURNS,
    Policy,
    Row,
    evaluate,
    format_costs,
    format_rows,
    format_table,
)

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


@pytest.fixture(scope="module")
def mode_rows() -> list[Row]:
    return evaluate(turns=(120, 400), policies=MODES)


def test_every_way_of_compacting_keeps_every_constraint(mode_rows: list[Row]) -> None:
    assert len(mode_rows) == 6
    assert [row.kept for row in mode_rows] == [8] * 6, [row.lost for row in mode_rows]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ledger", "auto"])
def test_the_ledger_keeps_every_constraint_of_2000_turns(name: str) -> None:
    (row,) = evaluate(turns=(2_000,), policies=[policy for policy in MODES if policy.name == name])
    assert row.kept == 8, row.lost
    assert row.generations > 50
    assert (row.model_calls == 0) == (name == "ledger")


def test_what_each_way_of_compacting_takes_is_counted(mode_rows: list[Row]) -> None:
    rows = {(row.policy, row.turns): row for row in mode_rows}
    for turns in (120, 400):
        summarize, ledger, auto = (rows[name, turns] for name in ("summarize", "ledger", "auto"))
        assert summarize.model_calls == summarize.generations
        assert (summarize.worker_calls, summarize.worker_tokens) == (0, 0)
        assert (ledger.model_calls, ledger.model_tokens) == (0, 0)
        assert ledger.worker_calls > 0
        assert (auto.worker_calls, auto.worker_tokens) == (ledger.worker_calls, ledger.worker_tokens)
        # The summariser reads only what no note covers, and never a summary again.
        assert 0 < auto.model_tokens < summarize.model_tokens / 1.5


def test_the_stand_in_workers_lose_what_workers_lose() -> None:
    """Their notes are in nobody's exact words, so that no constraint is kept by a note."""
    (row,) = evaluate(turns=(400,), policies=[Policy("ledger, type-blind", protect=False, mode="ledger")])
    assert row.kept == 0


def test_the_tables_in_the_docs_are_what_is_measured(rows: list[Row], mode_rows: list[Row]) -> None:
    _compare_with_the_docs([*rows, *mode_rows])


@pytest.mark.slow
def test_the_last_column_in_the_docs_is_what_is_measured() -> None:
    _compare_with_the_docs(evaluate(turns=(2_000,), policies=[*POLICIES, *MODES]))


def _compare_with_the_docs(rows: list[Row]) -> None:
    lines = DOCS.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "/8 |" in line]
    kept = [line for line in cells if len(line) == 1 + len(TURNS)]
    written = {(policy, turns): [count] for policy, *counts in kept for turns, count in zip(TURNS, counts, strict=True)}
    assert len(written) == len(POLICIES) * len(TURNS)
    costs = {(line[0], int(line[1].replace(",", ""))): line[2:] for line in cells if line not in kept}
    assert len(costs) == len(MODES) * len(TURNS)
    modes = {policy.name for policy in MODES}
    for row in rows:
        if row.policy in modes:
            _, shown = (line.split("  ") for line in format_costs([row]).splitlines())
            assert costs[row.policy, row.turns] == [cell.strip() for cell in shown if cell][2:]
        else:
            assert written[row.policy, row.turns] == [f"{row.kept}/{row.planted}"]


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


def test_the_table_of_costs_has_a_line_a_policy_and_length() -> None:
    row = Row("ledger", 2_000, 4_000, 8, 8, 90, 0, (), worker_calls=1_234, worker_tokens=56_789)
    head, line = format_costs([row]).splitlines()
    assert head.split() == [
        "policy",
        "turns",
        "kept",
        "compactions",
        "summarizer",
        "calls",
        "tokens",
        "worker",
        "calls",
        "tokens",
    ]
    assert line.split() == ["ledger", "2,000", "8/8", "90", "0", "0", "1,234", "56,789"]


def test_what_is_printed_has_a_table_for_what_was_measured_and_no_other() -> None:
    kept, costs = Row("protected", 120, 4_000, 8, 8, 4, 4, ()), Row("auto", 120, 4_000, 8, 8, 4, 4, ())
    assert format_rows([kept]) == format_table([kept])
    assert format_rows([costs]) == format_costs([costs])
    assert format_rows([kept, costs]) == f"{format_table([kept])}\n\n{format_costs([costs])}"

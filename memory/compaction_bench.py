"""Does compaction keep what the person laid down? The evaluation of seed 000, "Type-aware compaction".

Eight constraints are planted through a synthetic conversation, each in the middle of small talk and everyday requests;
the replies are reports of work. Every policy replays the same conversation through a real ``TieredQueue`` with the
summariser of ``memory/gist.py`` and the workers of ``memory/bench_workers.py``, so that the policy is measured and not
the model of the day. A constraint is kept when its exact words stand in ``current_view()`` at the end.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory import budgets
from memory.bench_conversation import CONSTRAINTS, conversation
from memory.bench_workers import BenchWorkers, Cadence
from memory.budgets import MIN_X_BUDGET, MIN_Y_BUDGET
from memory.gist import gist
from memory.projection import POOL_MAX_TOKENS
from memory.queue import TieredQueue
from memory.render import item_text, line_of
from memory.store import MemoryStore
from memory.tokens import count_tokens
from memory.values import CompactionMode, View

TURNS = (120, 400, 2_000)

X_BUDGET = 800
Y_BUDGET = 3_200
"""Tokens. Small enough that 120 turns are compacted several times."""

_START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

TIGHT = 0.4
"""The tight budget, as a share of the other."""

OBSERVE_AFTER = 10_000
REFLECT_AFTER = 20_000
READING_CAP = 60_000
"""The defaults of the workers' thresholds and of what one reads at once, in tokens (seed 003, section 3)."""


@dataclass(frozen=True, slots=True)
class Policy:
    """One arm of the evaluation."""

    name: str
    protect: bool
    tight: bool = False
    reabstract: bool = True
    mode: CompactionMode = "summarize"


POLICIES = (
    Policy("type-blind", protect=False),
    Policy("type-blind, tight budget", protect=False, tight=True),
    Policy("type-blind, abstract once", protect=False, reabstract=False),
    Policy("protected", protect=True),
    Policy("protected, tight budget", protect=True, tight=True),
    Policy("protected, abstract once", protect=True, reabstract=False),
)


MODES = (
    Policy("summarize", protect=True),
    Policy("ledger", protect=True, mode="ledger"),
    Policy("auto", protect=True, mode="auto"),
)
"""Where bullets come from, side by side. What the person said is protected in all of them."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one policy kept of one conversation."""

    policy: str
    turns: int
    budget: int
    """X and Y together, in tokens."""
    kept: int
    planted: int
    generations: int
    model_calls: int
    """Requests to the summariser, made at the moment of pressure."""
    lost: tuple[str, ...]
    """The constraints whose words are no longer in the view."""
    model_tokens: int = 0
    """Of the summariser's prompts and replies."""
    worker_calls: int = 0
    """Requests by observer, reflector and dropper, made ahead of time."""
    worker_tokens: int = 0
    """Of the workers' prompts and replies."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def evaluate(
    *,
    turns: Sequence[int] = TURNS,
    x_budget: int = X_BUDGET,
    y_budget: int = Y_BUDGET,
    policies: Sequence[Policy] = POLICIES,
    progress: Callable[[Row], None] | None = None,
) -> list[Row]:
    """Replay every policy over conversations of each length; deterministic, some seconds for the longest.

    Raises:
        ValueError: the budgets are smaller than a queue allows, or so large that nothing is ever compacted.
    """
    rows: list[Row] = []
    for policy in policies:
        share = TIGHT if policy.tight else 1.0
        x, y = max(MIN_X_BUDGET, int(x_budget * share)), max(MIN_Y_BUDGET, int(y_budget * share))
        for length in turns:
            row = _replay(policy, length, x, y)
            if not row.generations:
                raise ValueError(
                    f"Nothing was compacted in {length} turns at budgets of {x} and {y} tokens, so"
                    " there is nothing to measure; give smaller budgets."
                )
            rows.append(row)
            if progress is not None:
                progress(row)
    return rows


def format_rows(rows: Sequence[Row]) -> str:
    """What was kept under each of ``POLICIES``, and below what each of ``MODES`` took; either where there are rows."""
    modes = {policy.name for policy in MODES}
    kept = [row for row in rows if row.policy not in modes]
    costs = [row for row in rows if row.policy in modes]
    tables = [format_table(kept)] if kept else []
    return "\n\n".join([*tables, format_costs(costs)] if costs else tables)


def format_table(rows: Sequence[Row]) -> str:
    """One line a policy, one column a length, as the seed prints it."""
    lengths = sorted({row.turns for row in rows})
    found = {(row.policy, row.turns): f"{row.kept}/{row.planted}" for row in rows}
    policies = list(dict.fromkeys(row.policy for row in rows))
    width = max(len(name) for name in (*policies, "policy"))
    heads = [f"{length:,} turns" for length in lengths]
    lines = ["  ".join(["policy".ljust(width), *heads])]
    for policy in policies:
        cells = [found.get((policy, length), "-").rjust(len(head)) for length, head in zip(lengths, heads, strict=True)]
        lines.append("  ".join([policy.ljust(width), *cells]))
    return "\n".join(lines)


def format_costs(rows: Sequence[Row]) -> str:
    """One line a policy and length: what was kept, and what it took in calls and tokens."""
    heads = ("policy", "turns", "kept", "compactions", "summarizer calls", "tokens", "worker calls", "tokens")
    table = [heads, *(_costs(row) for row in rows)]
    widths = [max(len(line[column]) for line in table) for column in range(len(heads))]
    return "\n".join(
        "  ".join(
            [line[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True))]
        )
        for line in table
    )


def _costs(row: Row) -> tuple[str, ...]:
    counts = (row.generations, row.model_calls, row.model_tokens, row.worker_calls, row.worker_tokens)
    return (row.policy, f"{row.turns:,}", f"{row.kept}/{row.planted}", *(f"{count:,}" for count in counts))


def view_text(view: View) -> str:
    """The words of a view, as a prompt carries them."""
    return "\n".join(_parts(view))


def cadence_of(x_budget: int, y_budget: int) -> Cadence:
    """The workers' thresholds by default, scaled as these budgets are to the default ones."""
    share = (x_budget + y_budget) / (budgets.X_BUDGET + budgets.Y_BUDGET)
    return Cadence(
        observe_after=max(1, int(OBSERVE_AFTER * share)),
        reflect_after=max(1, int(REFLECT_AFTER * share)),
        pool_target=max(1, int(POOL_MAX_TOKENS * share) // 2),
        most_known=int(READING_CAP * share) // 2,
    )


def _replay(policy: Policy, turns: int, x_budget: int, y_budget: int) -> Row:
    calls = tokens = 0

    def summarize(prompt: str) -> str:
        nonlocal calls, tokens
        reply = gist(prompt)
        calls += 1
        tokens += count_tokens(prompt) + count_tokens(reply)
        return reply

    with (
        tempfile.TemporaryDirectory(prefix="otto-eval-") as folder,
        MemoryStore(Path(folder) / "tape.db", now=lambda: _START) as store,
    ):
        cadence = cadence_of(x_budget, y_budget)
        workers = BenchWorkers(store, cadence)
        queue = TieredQueue(
            store,
            summarize=summarize,
            x_budget=x_budget,
            y_budget=y_budget,
            protect=policy.protect,
            reabstract=policy.reabstract,
            mode=policy.mode,
            pool_max_tokens=2 * cadence.pool_target,
        )
        for new in conversation(turns):
            event = queue.append(new)
            if policy.mode != "summarize":
                workers.hear(event)
        words = view_text(queue.current_view())
        lost = tuple(constraint for constraint in CONSTRAINTS if constraint not in words)
        return Row(
            policy=policy.name,
            turns=turns,
            budget=x_budget + y_budget,
            kept=len(CONSTRAINTS) - len(lost),
            planted=len(CONSTRAINTS),
            generations=queue.generation,
            model_calls=calls,
            lost=lost,
            model_tokens=tokens,
            worker_calls=workers.calls,
            worker_tokens=workers.tokens,
        )


def _parts(view: View) -> Iterator[str]:
    yield from map(line_of, view.bullets)
    yield from map(item_text, view.overflow)
    yield from map(item_text, view.recent)

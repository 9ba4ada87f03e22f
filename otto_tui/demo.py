"""``otto demo --headless``: a long conversation through small budgets, and what the memory still knows at the end.

The engine is the real one; only the summariser is the deterministic one of ``memory/gist.py``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memory.compaction_bench import view_text
from memory.gist import gist
from memory.queue import TieredQueue
from memory.retrieval import recall
from memory.store import CONVERSATION, MemoryStore
from memory.values import Compaction
from memory.verify import VerifyReport, verify
from otto_tui.demo_script import DemoScript, Planted, load_script


@dataclass(frozen=True, slots=True)
class Generation:
    """One compaction, and the turn that set it off."""

    turn: int
    done: Compaction


@dataclass(frozen=True, slots=True)
class Answer:
    """What has become of one planted thing."""

    planted: Planted
    in_view: bool
    """Its exact words stand in what the model reads next."""
    recalled: bool
    """Recall found its exact words by the question."""
    recalled_before: bool | None
    """Recall found what it replaced as well; None where it replaced nothing."""

    @property
    def kept(self) -> bool:
        return self.in_view and self.recalled


@dataclass(frozen=True, slots=True)
class DemoReport:
    """What a headless demo comes to."""

    turns: int
    generations: tuple[Generation, ...]
    answers: tuple[Answer, ...]
    verify: VerifyReport

    @property
    def kept(self) -> int:
        return sum(answer.kept for answer in self.answers)

    @property
    def ok(self) -> bool:
        return self.verify.ok and self.kept == len(self.answers)

    def as_json(self) -> dict[str, Any]:
        """The shape of ``otto demo --headless --json``."""
        return {
            "ok": self.ok,
            "turns": self.turns,
            "generations": [{"turn": one.turn, **asdict(one.done)} for one in self.generations],
            "planted": len(self.answers),
            "kept": self.kept,
            "answers": [
                {
                    "turn": answer.planted.turn,
                    "question": answer.planted.question,
                    "words": answer.planted.words,
                    "in_view": answer.in_view,
                    "recalled": answer.recalled,
                    "recalled_before": answer.recalled_before,
                }
                for answer in self.answers
            ],
            "verify": asdict(self.verify),
        }


def run_demo_headless(
    *,
    x_budget: int | None = None,
    y_budget: int | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> DemoReport:
    """Play the conversation and check everything; ``say`` is given each line of the story as it happens."""
    script = load_script()
    with (
        tempfile.TemporaryDirectory(prefix="otto-demo-") as folder,
        MemoryStore(Path(folder) / "demo.db", now=lambda: script.turns[-1].at) as store,
    ):
        queue = TieredQueue(
            store,
            summarize=gist,
            x_budget=x_budget or script.x_budget,
            y_budget=y_budget or script.y_budget,
            summarizer_name="gist",
        )
        _say_all(say, _opening(script, queue))
        generations = _play(script, queue, say)
        _say_all(say, _standing(queue))
        answers = _ask(script, queue)
        for answer in answers:
            _say_all(say, _answer_lines(answer))
        report = DemoReport(len(script.turns), tuple(generations), tuple(answers), verify(store))
        _say_all(say, _closing(report))
        return report


def _play(script: DemoScript, queue: TieredQueue, say: Callable[[str], None]) -> list[Generation]:
    generations: list[Generation] = []
    turn = 0

    def note(done: Compaction) -> None:
        generations.append(Generation(turn, done))
        say(_generation_line(generations[-1]))

    queue.on_compaction = note
    for place, event in enumerate(script.events()):
        turn = place // 2 + 1
        queue.append(event)
    return generations


def _ask(script: DemoScript, queue: TieredQueue) -> list[Answer]:
    words = view_text(queue.current_view())
    raw = "\n".join(item.event.text for item in (*queue.overflow, *queue.recent_items))
    answers: list[Answer] = []
    for planted in script.planted:
        found = "\n".join(item.text for item in recall(queue.store, CONVERSATION, planted.question).items)
        # Recall leaves out what stands in the view word for word already.
        known = f"{found}\n{raw}"
        before = planted.instead_of
        answers.append(
            Answer(
                planted=planted,
                in_view=planted.words in words,
                recalled=planted.words in known,
                recalled_before=None if before is None else before.words in known,
            )
        )
    return answers


# -- the story, line by line -----------------------------------------------------------------------------------------


def _opening(script: DemoScript, queue: TieredQueue) -> Iterator[str]:
    first, last = script.turns[0].at, script.turns[-1].at
    yield f"{script.title}: {len(script.turns)} turns, {first:%d %B} to {last:%d %B %Y}."
    yield f"Budgets: X {queue.x_budget:,} tokens word for word, Y {queue.y_budget:,} tokens of what is older."
    yield ""


def _generation_line(one: Generation) -> str:
    done = one.done
    return (
        f"turn {one.turn:>3}  generation {done.generation}: {done.items_in} items became {done.bullets_out} bullets,"
        f" {done.tokens_before:,} -> {done.tokens_after:,} tokens in Y, {done.uncited} uncited"
    )


def _standing(queue: TieredQueue) -> Iterator[str]:
    protected = sum(bullet.protected for bullet in queue.bullets)
    yield ""
    yield f"X  {queue.x_tokens:>6,} of {queue.x_budget:,} tokens, {len(queue.recent_items)} items word for word"
    yield (
        f"Y  {queue.y_tokens:>6,} of {queue.y_budget:,} tokens, {len(queue.overflow)} items word for word and"
        f" {len(queue.bullets)} bullets, {protected} of them the person's own words"
    )
    yield ""


def _answer_lines(answer: Answer) -> Iterator[str]:
    planted = answer.planted
    marks = f"{'view' if answer.in_view else '-':<4} {'recall' if answer.recalled else '-':<6}"
    yield f"turn {planted.turn:>3}  {marks}  {planted.question}"
    yield f"{'':>23}{planted.words}"
    if planted.instead_of is not None:
        found = "" if answer.recalled_before else ", which recall did not find"
        yield f"{'':>23}(until then, since turn {planted.instead_of.turn}: {planted.instead_of.words}{found})"


def _closing(report: DemoReport) -> Iterator[str]:
    yield ""
    yield (
        f"{report.kept} of {len(report.answers)} planted things are still there word for word,"
        f" after {len(report.generations)} compactions."
    )
    for check in report.verify.checks:
        yield f"{'ok    ' if check.ok else 'BROKEN'}  {check.name}"
        yield from (f"          {row}" for row in check.rows)


def _say_all(say: Callable[[str], None], lines: Iterator[str]) -> None:
    for line in lines:
        say(line)

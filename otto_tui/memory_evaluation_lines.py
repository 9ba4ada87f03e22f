"""What ``otto eval-memory`` prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from otto_tui.figures import figures, percent

if TYPE_CHECKING:
    from memory.recall_evaluation import Report
    from memory.recall_scores import Answered, Returned, Row

SHOWN_UNRESOLVED = 8
"""More than so many are counted only."""

SEEDS_NOTE = (
    "The seed's questions are asked: those of which an evidence entry is a turn's id as it is written. Its names for"
    " 1, 3 and 4 are not those of the benchmark's authors."
)


@dataclass(frozen=True, slots=True)
class Printed:
    """A report, and what of it was asked for."""

    report: Report
    sets: Mapping[str, Sequence[str]]
    """Conversations, by what a set of them is called."""
    seeds_own: bool
    """The setting is the seed's, so that its figures stand beside."""
    show_items: str | None
    more: bool
    """Print an object with everything as JSON, and not the rows alone."""

    def as_json(self) -> Any:
        """The rows; with ``more`` an object that has them under ``rows``."""
        rows = [row.as_json() for row in self.report.rows]
        if not self.more:
            return rows
        evidence = self.report.evidence
        return {
            "rows": rows,
            "adversarial": [_adversarial_json(row) for row in self.report.rows],
            "evidence": {
                "resolved": evidence.turns,
                "unresolved": list(evidence.unresolved),
                "beyond": evidence.beyond,
                "asked": evidence.questions,
                "not_asked": evidence.without,
            },
            "store": {str(n): {"questions": k.questions, "share": k.share} for n, k in self.report.kept.items()},
            "replays": [_replay_json(each) for each in self.report.replays],
            "knobs": [
                {"arm": table.arm, "embedder": table.embedder, "rows": [row.as_json() for row in table.rows]}
                for table in self.report.knobs
            ],
            "summarizers": [row.as_json() for row in self.report.summarizers],
            "items": [_item_json(each) for each in self._shown()],
        }

    def as_text(self) -> str:
        return "\n\n".join(self._parts())

    def _parts(self) -> Iterator[str]:
        yield "\n".join(_replays(self.report))
        yield "\n".join(_evidence(self.report))
        for label, names in self.sets.items():
            about = [row for row in self.report.rows if row.conversations == tuple(names)]
            title = f"{label.capitalize()}: conversation{'s' if len(names) > 1 else ''} {', '.join(names)}"
            yield _table(title, about)
            yield _categories(title, list(_widest(about)), self.report)
            if any(row.adversarial.questions for row in about):
                yield _adversarial(title, about)
        if self.seeds_own:
            yield from map(_seeds_categories, _widest(self.report.rows))
            yield SEEDS_NOTE
        for knobs in self.report.knobs:
            yield figures(
                f"Pieces and neighbours: {knobs.arm}, {knobs.embedder}; no limit of tokens",
                ("pieces", "neighbours", "any", "mean", "all", "characters", "seed's any", "seed's characters"),
                [
                    (
                        "all" if row.knobs.chunks is None else str(row.knobs.chunks),
                        str(row.knobs.neighbours),
                        percent(row.coverage),
                        percent(row.mean),
                        percent(row.all),
                        f"{row.characters:,.0f}",
                        percent(row.knobs.seed_coverage),
                        f"{row.knobs.seed_characters:,}",
                    )
                    for row in knobs.rows
                ],
            )
        if self.report.summarizers:
            yield figures(
                "Summarisers: what can be found behind their bullets",
                ("summariser", "compactions", "pieces reachable", "any", "mean", "all"),
                [
                    (
                        row.summarizer,
                        f"{row.generations:,}",
                        f"{row.reachable:,} / {row.chunks:,}",
                        percent(row.any),
                        percent(row.mean),
                        percent(row.all),
                    )
                    for row in self.report.summarizers
                ],
            )
        yield from map(_item, self._shown())

    def _shown(self) -> Iterator[Answered]:
        """Of the first arm and embedder at the largest budget: all, or those whose evidence did not come back whole."""
        for each in self.report.answers:
            whole = all(_largest(each).found) and each.asked.evidence
            if self.show_items == "all" or (self.show_items and not whole and not _adversarial_one(each)):
                yield each


def _replays(report: Report) -> Iterator[str]:
    for each in report.replays:
        facts, setting = each.facts, each.setting
        failed = f", {facts.failures:,} of them without a summary" if facts.failures else ""
        yield (
            f"Conversation {each.talk.name}: {len(each.turns):,} turns, budgets {setting.x_budget:,} (X) and"
            f" {setting.y_budget:,} (Y), {facts.generations:,} compactions by {setting.summarizer}{failed};"
            f" {facts.reachable:,} of {facts.chunks:,} pieces stand behind a bullet."
        )


def _evidence(report: Report) -> Iterator[str]:
    evidence = report.evidence
    yield (
        f"Evidence: {evidence.turns:,} turns are named and found, {len(evidence.unresolved):,} cannot be resolved"
        + (f" ({', '.join(evidence.unresolved[:SHOWN_UNRESOLVED])})" if evidence.unresolved else "")
        + (f", {evidence.beyond:,} were not replayed" if evidence.beyond else "")
        + f". {evidence.questions:,} questions are asked; {evidence.without:,} are not, since they name no turn"
        + (" that was replayed." if evidence.beyond else ".")
    )


def _table(title: str, rows: Sequence[Row]) -> str:
    depths = tuple(rows[0].at)
    heads: tuple[str, ...] = ("arm", "embedder", "budget", "any", "mean", "all", "tokens", "p95")
    heads += (*(f"best {depth}" for depth in depths), "embed ms", "rank ms")
    return figures(
        f"{title}, {rows[0].coverage.questions:,} questions",
        heads,
        [
            (
                row.arm,
                row.embedder,
                f"{row.budget:,}",
                percent(row.coverage.any),
                percent(row.coverage.mean),
                percent(row.coverage.all),
                f"{row.tokens_mean:,.0f}",
                f"{row.tokens_p95:,.0f}",
                *(f"{row.at[depth]:.3f}" for depth in depths),
                f"{row.ms_embed_p50:.1f}",
                f"{row.ms_rank_p50:.1f}",
            )
            for row in rows
        ],
    )


def _categories(title: str, rows: Sequence[Row], report: Report) -> str:
    from memory.locomo import CATEGORIES

    return figures(
        f"{title}, by category at {rows[0].budget:,} tokens",
        ("arm", "embedder", "category", "n", "store", "any", "mean", "all"),
        [
            (
                row.arm,
                row.embedder,
                f"{number} {CATEGORIES[number]}",
                str(each.questions),
                percent(report.kept[number].share),
                percent(each.any),
                percent(each.mean),
                percent(each.all),
            )
            for row in rows
            for number, each in row.by_category.items()
            if each.questions
        ],
    )


def _adversarial(title: str, rows: Sequence[Row]) -> str:
    """These questions have no answer: the less comes back, the better."""
    return figures(
        f"{title}, category 5 adversarial: {rows[0].adversarial.questions:,} questions about what was not said so",
        ("arm", "embedder", "budget", "nothing returned", "pieces", "tokens"),
        [
            (
                row.arm,
                row.embedder,
                f"{row.budget:,}",
                percent(row.adversarial.nothing),
                f"{row.adversarial.items_mean:.1f}",
                f"{row.adversarial.tokens_mean:,.0f}",
            )
            for row in rows
        ],
    )


def _widest(rows: Sequence[Row]) -> Iterator[Row]:
    budget = max(row.budget for row in rows)
    return (row for row in rows if row.budget == budget)


def _seeds_categories(row: Row) -> str:
    from memory.seed_tables import SEED_NAMES, SEED_QUESTIONS, SEED_RECALLED, SEED_RECALLED_OVERALL

    lines = [
        (
            f"{number} {name}",
            str(row.by_category[number].questions),
            percent(row.by_category[number].any),
            str(SEED_QUESTIONS[number]),
            percent(SEED_RECALLED[number]),
        )
        for number, name in SEED_NAMES.items()
    ]
    overall = row.coverage
    lines.append(
        (
            "overall",
            str(overall.questions),
            percent(overall.any),
            str(sum(SEED_QUESTIONS.values())),
            percent(SEED_RECALLED_OVERALL),
        )
    )
    title = f"As the seed counts and names them: {row.arm}, {row.embedder}, {row.budget:,} tokens"
    return figures(title, ("category", "n", "recalled", "seed's n", "seed's recalled"), lines)


def _largest(each: Answered) -> Returned:
    return each.by_budget[max(each.by_budget)]


def _adversarial_one(each: Answered) -> bool:
    from memory.locomo import ADVERSARIAL

    return each.category == ADVERSARIAL


def _item(each: Answered) -> str:
    from memory.locomo import CATEGORIES, words_of

    question, returned = each.asked.question, _largest(each)
    lines = [
        f"{each.conversation}, {each.category} {CATEGORIES[each.category]}: {question.text}",
        f"  answer: {question.answer or '(none)'}",
    ]
    for turn, found in zip(each.asked.evidence, returned.found, strict=True):
        lines.append(f"  {'found ' if found else 'MISSED'} {turn.id} {words_of(turn)}")
    lines.append(f"  returned {returned.pieces} pieces, {returned.tokens:,} tokens:")
    for item in returned.items:
        how = "beside" if item.neighbour else f"{item.score:.3f}"
        lines.append(f"    {how:>7} {item.id} {' '.join(item.text.split())}")
    return "\n".join(lines)


def _item_json(each: Answered) -> dict[str, Any]:
    from memory.locomo import words_of

    question, returned = each.asked.question, _largest(each)
    return {
        "conversation": each.conversation,
        "category": each.category,
        "question": question.text,
        "answer": question.answer,
        "evidence": [
            {"id": turn.id, "text": words_of(turn), "found": found}
            for turn, found in zip(each.asked.evidence, returned.found, strict=True)
        ],
        "tokens": returned.tokens,
        "returned": [
            {"id": item.id, "text": item.text, "score": item.score, "neighbour": item.neighbour}
            for item in returned.items
        ],
    }


def _replay_json(each: Any) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "conversation": each.talk.name,
        "turns": len(each.turns),
        "x_budget": each.setting.x_budget,
        "y_budget": each.setting.y_budget,
        "summarizer": each.setting.summarizer,
        **asdict(each.facts),
    }


def _adversarial_json(row: Row) -> dict[str, Any]:
    return {
        "arm": row.arm,
        "embedder": row.embedder,
        "budget": row.budget,
        "conversations": list(row.conversations),
        **row.adversarial.as_json(),
    }

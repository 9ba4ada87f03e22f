"""The JSON that commands print. Keys may be added; none changes or goes away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from otto_tui.ledger_shapes import observation_shape, reflection_shape

if TYPE_CHECKING:
    from memory.values import Compaction, Event, MemorySnapshot, RecalledSource, RecallResult
    from memory.verify import VerifyReport
    from sessions.rows import SessionRow


def session_shape(row: SessionRow) -> dict[str, Any]:
    """One row of ``otto sessions --json``. ``snippet`` comes with a search, ``notice`` with an import."""
    shape: dict[str, Any] = {
        "id": row.id,
        "title": row.title,
        "workspace": row.workspace,
        "turns": row.turns,
        "created": row.created,
        "updated": row.updated,
        "parent": row.parent,
    }
    extras = {"snippet": row.snippet, "notice": row.notice}
    return shape | {key: value for key, value in extras.items() if value is not None}


def status_shape(id: str, title: str, memory: MemorySnapshot) -> dict[str, Any]:
    """``otto status --json``."""
    return {
        "id": id,
        "title": title,
        "turns": memory.turns,
        "events": memory.events,
        "generation": memory.generation,
        "x": {"tokens": memory.x_tokens, "budget": memory.x_budget, "items": len(memory.recent)},
        "y": {
            "tokens": memory.y_tokens,
            "budget": memory.y_budget,
            "raw_items": len(memory.overflow),
            "bullets": len(memory.bullets),
            "protected": sum(bullet.protected for bullet in memory.bullets),
        },
        "chunks": memory.chunks,
        "embedding": asdict(memory.embedding),
        "compacting": memory.compacting,
        "notice": memory.notice,
    }


def recall_shape(result: RecallResult) -> dict[str, Any]:
    """``otto recall ID QUESTION --json``."""
    return {
        "ranked_by": result.ranked_by,
        "tokens": result.tokens,
        "items": [
            {
                "seq": item.seq,
                "id": item.id,
                "speaker": item.speaker,
                "kind": item.kind,
                "t_event": item.t_event,
                "text": item.text,
                "score": item.score,
                "neighbour": item.neighbour,
                "chunk": item.chunk,
            }
            for item in result.items
        ],
        "warning": result.warning,
    }


def source_shape(source: RecalledSource, tokens: int) -> dict[str, Any]:
    """``otto recall ID --id HEX --json``: as for a question, with what was found and where it stands."""
    return {
        "ranked_by": "id",
        "tokens": tokens,
        "items": [_event_shape(event) for event in source.events],
        "warning": None,
        "id": source.id,
        "found_as": source.found_as,
        "standing": source.standing,
        "span": [source.chunk.start, source.chunk.end] if source.chunk else None,
        "bullet": source.bullet.text if source.bullet else None,
        "observations": [
            observation_shape(made) | {"dropped": made.id in source.dropped} for made in source.observations
        ],
        "reflections": [reflection_shape(made) for made in source.reflections],
        "missing": list(source.missing),
        "collision": source.collision,
    }


def verify_shape(report: VerifyReport) -> dict[str, Any]:
    """``otto verify ID --json``; with ``all``, each check also names its ``session``."""
    return {
        "ok": report.ok,
        "checks": [{"name": check.name, "ok": check.ok, "rows": list(check.rows)} for check in report.checks],
    }


def compaction_shape(compaction: Compaction) -> dict[str, Any]:
    """A ``compaction`` line of ``otto chat --json``, without its type."""
    return asdict(compaction)


def usage_shape(prompt_tokens: int | None, completion_tokens: int | None, cost: float | None) -> Mapping[str, Any]:
    """The ``usage`` of a ``turn`` line; what the vendor did not say is null."""
    return {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens, "cost": cost}


def _event_shape(event: Event) -> dict[str, Any]:
    return {
        "seq": event.seq,
        "id": event.id,
        "speaker": event.speaker,
        "kind": event.kind,
        "t_event": event.t_event,
        "text": event.text,
        "score": 1.0,
        "neighbour": False,
    }

"""What the tiers write to the ledger, and how it reads back. The live tiers are a fold of these entries.

``held`` (an event stands as an excerpt), ``demoted`` (X ends where Y begins), ``compacted`` (bullets in and out), and
``imported`` (the tiers of a session that came without its ledger).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from memory.ranges import pack, unpack
from memory.values import Bullet, Compaction, CompactionMode, Span

HELD = "held"
DEMOTED = "demoted"
COMPACTED = "compacted"
IMPORTED = "imported"

FEW = 4
"""Events. So many are written down rather than inherited."""


@dataclass(frozen=True, slots=True)
class CompactionMark:
    """When a queue was compacted, and how."""

    seen: int
    """The number of the newest ledger entry that it took into account; others may have come while it was made."""
    through: int
    """The ``seq`` up to which everything had been compacted then."""
    mode: CompactionMode
    full_fold: bool


def held(seq: int, spans: Sequence[Span]) -> dict[str, Any]:
    return {"seq": seq, "spans": [list(span) for span in spans]}


def demoted(through: int, tokens: int) -> dict[str, Any]:
    """Every tiered event up to ``through`` has left X."""
    return {"through": through, "tokens": tokens}


def compacted(
    done: Compaction, removed: Sequence[Bullet], added: Iterable[Bullet], *, seen: int | None = None
) -> dict[str, Any]:
    """Every tiered event up to ``through`` has left Y's raw part; these bullets went and came.

    Args:
        seen: the number of the newest ledger entry whose records were taken into account; None where none were.
    """
    return {
        **asdict(done),
        "seen": seen,
        "removed": sorted(bullet.id for bullet in removed),
        "added": [bullet_entry(bullet, removed) for bullet in added],
    }


def compaction_of(data: Mapping[str, Any]) -> Compaction:
    """The event line of a ``compacted`` entry; older entries do not say how it was made."""
    return Compaction(**{name: data[name] for name in Compaction.__dataclass_fields__ if name in data})


def imported(
    *,
    generation: int,
    demoted_through: int,
    compacted_through: int,
    bullets: Iterable[Bullet],
    held: Mapping[int, Sequence[Span]],
) -> dict[str, Any]:
    """The tiers of a session whose ledger did not come along, as one entry to fold from."""
    return {
        "generation": generation,
        "demoted_through": demoted_through,
        "compacted_through": compacted_through,
        "bullets": [bullet_entry(bullet) for bullet in bullets],
        "held": [{"seq": seq, "spans": [list(span) for span in spans]} for seq, spans in sorted(held.items())],
    }


def bullet_entry(bullet: Bullet, gone: Sequence[Bullet] = ()) -> dict[str, Any]:
    """A bullet without the words and hashes that follow from the tape.

    Where it stands for all that bullets stood for that are ``gone`` now, it names those and only what it adds to them:
    a ledger that wrote down all numbers each time would grow with the square of the conversation.
    """
    heirlooms, own = _inheritance(bullet.seqs, gone)
    entry = {
        "id": bullet.id,
        "form": bullet.form,
        "generation": bullet.generation,
        "protected": bullet.protected,
        "text": None if bullet.spans else bullet.text,
        "spans": [list(span) for span in bullet.spans],
        "seqs": pack(own),
    }
    return {**entry, "inherits": heirlooms} if heirlooms else entry


def _inheritance(seqs: Sequence[int], gone: Sequence[Bullet]) -> tuple[list[str], Collection[int]]:
    """The ids of the largest bullets whose events are all among ``seqs``, and the numbers that these leave."""
    if len(seqs) <= FEW:
        return [], seqs
    every, left = frozenset(seqs), set(seqs)
    ids: list[str] = []
    for bullet in sorted(gone, key=lambda bullet: (-len(bullet.seqs), bullet.id)):
        if len(bullet.seqs) <= FEW:
            break
        if bullet.seqs[0] in every and every.issuperset(bullet.seqs) and not left.isdisjoint(bullet.seqs):
            ids.append(bullet.id)
            left.difference_update(bullet.seqs)
    return ids, left


def inherited(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """The ids of the bullets, live until now, whose events this one stands for too."""
    return tuple(entry.get("inherits", ()))


def bullet_seqs(entry: Mapping[str, Any]) -> tuple[int, ...]:
    """The events that it names itself; ``memory/bullet_fold.py`` knows all that it stands for."""
    return unpack(entry["seqs"])


def bullet_spans(entry: Mapping[str, Any]) -> tuple[Span, ...]:
    return tuple((start, end) for start, end in entry["spans"])


def flaw_in(entry: str, data: Mapping[str, Any]) -> str | None:
    """Why an entry with this name cannot be folded; None when it can, or is not one of the tiers'."""
    try:
        if entry == HELD:
            _ = data["seq"] + 0, bullet_spans(data)
        elif entry == DEMOTED:
            _ = data["through"] + 0
        elif entry == COMPACTED:
            _ = compaction_of(data), data["generation"] + data["through"], list(data["removed"])
            _read_bullets(data["added"])
        elif entry == IMPORTED:
            _ = data["generation"] + data["demoted_through"] + data["compacted_through"]
            _ = [(held["seq"] + 0, bullet_spans(held)) for held in data["held"]]
            _read_bullets(data["bullets"])
    except (LookupError, TypeError, ValueError) as error:
        return f"cannot be folded ({type(error).__name__}: {error})"
    return None


def _read_bullets(entries: Iterable[Mapping[str, Any]]) -> None:
    for entry in entries:
        _ = (*bullet_seqs(entry), *inherited(entry))[0], bullet_spans(entry)
        _ = entry["id"] + entry["form"], entry["generation"] + 0
        _ = entry["protected"], entry["text"]

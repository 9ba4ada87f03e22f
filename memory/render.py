"""How memory is written into a prompt: one line a bullet, each with the id that leads back to the exact words."""

from __future__ import annotations

from memory.excerpt import join_spans
from memory.tokens import count_tokens
from memory.tool_events import is_of_model, stub
from memory.values import Bullet, Event, Item, Span


def bullet_line(text: str, id: str, *, protected: bool, form: str) -> str:
    """``- [id] text``. What the person said stands as it was said; everything else is on one line."""
    if form == "group":
        return f"- [{id}] {text}"
    if protected:
        return f"- [{id}] The person said: {text}"
    return f"- [{id}] {' '.join(text.split())}"


def line_of(bullet: Bullet) -> str:
    return bullet_line(bullet.text, bullet.id, protected=bullet.protected, form=bullet.form)


def bullet_tokens(text: str, id: str, *, protected: bool, form: str) -> int:
    """What a bullet costs in the view, its id and line break included."""
    return count_tokens(bullet_line(text, id, protected=protected, form=form)) + 1


def held_text(event: Event, spans: tuple[Span, ...] | None) -> str:
    """What stands in the view for an event: all of it, or an excerpt or a line that says how to get the rest."""
    if spans is None:
        return event.text
    if not spans and is_of_model(event):
        return stub(event)
    return (
        f"[Excerpt of {len(event.text):,} characters; the whole is kept: recall_id {event.id}]\n"
        f"{join_spans(event.text, spans)}"
    )


def item_text(item: Item) -> str:
    return held_text(item.event, item.spans)


def left_out_line(items: int) -> str:
    """Stands for raw items that wait for a compaction and do not fit meanwhile."""
    return f"({items} earlier items are being compacted; recall_memory finds their exact words.)"

"""The line at the top: which session, which model, how full its memory is, and what it has cost."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from memory.values import MemorySnapshot
from screens.wording import brief
from sessions.display import one_line

SEPARATOR = "  ·  "
NEARLY_FULL = 0.9


class ChatHeader(Widget):
    """Title on the left; model, X and Y against their budgets, and cost on the right."""

    title = reactive("")
    model = reactive("")
    memory: reactive[MemorySnapshot | None] = reactive(None)
    cost: reactive[float | None] = reactive(0.0)
    """US dollars; None when a price is not known."""
    read_only = reactive(False)

    def render(self) -> Content:
        width = self.content_size.width
        model = one_line(self.model, 40)
        right = self._right(model)
        if cell_len(right.plain) > width * 2 // 3:
            right = self._right(one_line(model.rpartition("/")[2], 20))
        title = one_line(self.title, max(width - cell_len(right.plain) - 3, 8))
        gap = width - cell_len(title) - cell_len(right.plain)
        return Content.assemble((title, "bold"), " " * max(gap, 1), right)

    def _right(self, model: str) -> Content:
        parts = [Content(model), *self._tiers(), Content(priced(self.cost))]
        if self.read_only:
            parts.insert(0, Content.styled("read-only", "$text-warning"))
        return Content(SEPARATOR).join([part for part in parts if part.plain])

    def _tiers(self) -> list[Content]:
        memory = self.memory
        if memory is None:
            return []
        return [
            _tier("X", memory.x_tokens, memory.x_budget),
            _tier("Y", memory.y_tokens, memory.y_budget),
        ]


def priced(cost: float | None) -> str:
    """Dollars in as many digits as they need; ``$?`` when a price is not known."""
    if cost is None:
        return "$?"
    if cost == 0:
        return "$0"
    return f"${cost:.4f}" if cost < 0.1 else f"${cost:.2f}"


def _tier(letter: str, tokens: int, budget: int) -> Content:
    full = tokens >= budget * NEARLY_FULL
    amount = f"{brief(tokens)}/{_budget(budget)}"
    return Content.assemble((letter, "bold"), " ", (amount, "$text-warning" if full else ""))


def _budget(tokens: int) -> str:
    """A round budget without its zero decimal: ``24k``."""
    return f"{tokens // 1000}k" if tokens >= 1000 and tokens % 1000 == 0 else brief(tokens)

"""One raw tier: items in order, and what they cost together, without counting them again at every turn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memory.live_view import total_tokens
from memory.values import Item


class RawTier:
    """X, or Y's raw overflow. Oldest first."""

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._items = list(items)
        self.tokens = total_tokens(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items)

    @property
    def items(self) -> list[Item]:
        return list(self._items)

    @property
    def newest_turn(self) -> int | None:
        """The turn of the newest item."""
        return self._items[-1].turn if self._items else None

    def add(self, items: Iterable[Item]) -> None:
        added = list(items)
        self._items += added
        self.tokens += total_tokens(added)

    def drop_oldest(self, count: int) -> None:
        self.tokens -= total_tokens(self._items[:count])
        del self._items[:count]

    def oldest_turns(self, excess: int, newest_turn: int) -> list[Item]:
        """The oldest whole turns that hold at least ``excess`` tokens; the newest turn is never among them."""
        taken: list[Item] = []
        for item in self._items:
            begins_turn = not taken or item.turn != taken[-1].turn
            if item.turn == newest_turn or (begins_turn and excess <= 0):
                break
            taken.append(item)
            excess -= item.tokens
        return taken

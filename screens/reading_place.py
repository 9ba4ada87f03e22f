"""Keeps what is being read where it is on the screen while blocks come and go above it."""

from __future__ import annotations

from textual.widget import Widget


class ReadingPlace:
    """A place in a scrolling widget, tied to one of its children instead of to a number of lines."""

    def __init__(self, scrolled: Widget) -> None:
        self._scrolled = scrolled
        self._held: Widget | None = None
        self._offset = 0
        self.shift = 0
        """Lines by which the held child has moved down since ``hold``."""

    @property
    def holding(self) -> bool:
        return self._held is not None

    def hold(self, child: Widget) -> None:
        """From now on ``child`` stays where it is on the screen."""
        self._held = child
        self._offset = child.virtual_region.y - round(self._scrolled.scroll_y)
        self.shift = 0
        self._top = child.virtual_region.y

    def restore(self) -> None:
        """Scroll so that the held child is where it was; to be called whenever the layout has changed."""
        if self._held is None or not self._held.is_attached:
            return
        top = self._held.virtual_region.y
        self.shift = top - self._top
        self._scrolled.scroll_to(y=top - self._offset, animate=False, immediate=True)

    def let_go(self) -> None:
        self.restore()
        self._held = None

"""Where the person writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea

from screens.attached import half_typed
from screens.commands import suggested
from screens.draft import Chip, Draft, chip_at, chip_for, deserves_chip, pasted, unshown
from screens.history import PromptHistory
from screens.path_list import PathOffer
from screens.terminal_keys import XTERM_NEWLINE_KEYS

LARGEST_EDITED = 500_000
"""Characters of a paste that may be expanded in the prompt; above it editing would crawl."""


NEWLINE_KEYS = ("ctrl+j", "alt+enter", "shift+enter")


class Prompt(TextArea):
    """A text that grows up to ten lines. Enter sends; a large paste stands as a chip; up and down walk history."""

    BINDING_GROUP_TITLE = "Prompt"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "Send", show=False),
        Binding(",".join(NEWLINE_KEYS), "newline", "New line", show=False),
        Binding("pageup", "screen.page_up", "Page up in the transcript", show=False),
        Binding("pagedown", "screen.page_down", "Page down in the transcript", show=False),
        Binding("ctrl+home", "screen.to_start", "To the first turn", show=False),
        Binding("ctrl+end", "screen.to_end", "To the newest turn", show=False),
        Binding("tab", "complete", "Complete a command or a path, or expand a paste", show=False),
    ]

    class Submitted(Message):
        """The person wants this sent, and the prompt is empty again. Whoever cannot take it gives it back."""

        def __init__(self, draft: Draft) -> None:
            self.draft = draft
            super().__init__()

    class NotExpanded(Message):
        """A paste is too long to be edited here, or holds what cannot be shown; it is sent whole all the same."""

    class OfferChanged(Message):
        """Other paths are offered, or none."""

    class ScrolledBeyond(Message):
        """The wheel turned over the prompt, which has nothing to scroll itself."""

        def __init__(self, lines: int) -> None:
            self.lines = lines
            super().__init__()

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(
            id=id,
            soft_wrap=True,
            show_line_numbers=False,
            tab_behavior="focus",
            highlight_cursor_line=False,
            compact=True,
            placeholder="Write to the model",
        )
        self.border_title = "shell"
        self.history_of_prompts = PromptHistory()
        self._pastes: dict[int, str] = {}
        self.offer: PathOffer | None = None
        """Paths that the one at the cursor may become."""
        self._declined: tuple[int, int] | None = None
        """Where a path begins for which the person wants no offer."""
        self._take_first = False
        """Tab was pressed before there was an offer."""

    # what stands in it

    @property
    def draft(self) -> Draft:
        return Draft(self.text, dict(self._pastes))

    def show(self, draft: Draft) -> None:
        """Replace what stands in the prompt; undo cannot bring that back."""
        self._pastes = dict(draft.pastes)
        self.load_text(draft.text)
        self.move_cursor(self.document.end)

    def remember(self, draft: Draft) -> None:
        """A prompt was taken: up brings it back."""
        self.history_of_prompts.add(draft)

    def give_back(self, draft: Draft) -> None:
        """Put a prompt that was not sent before whatever was typed since."""
        typed = self.draft
        pastes = {**draft.pastes}
        text = draft.text
        if not typed.blank:
            text = f"{draft.text}\n{typed.whole}"
        self.show(Draft(text, pastes))

    def insert_quotation(self, text: str) -> None:
        """Add ``text`` as a quotation on lines of its own, ready for a question below it."""
        quoted = "".join(f"> {line}\n" for line in text.splitlines() or [""])
        before = "\n" if self.cursor_location[1] > 0 else ""
        self._insert(f"{before}{quoted}\n" if not deserves_chip(quoted) else f"{before}{self._chip(quoted)}\n")
        self.focus()

    def type_in(self, character: str) -> None:
        """Take a key that was pressed elsewhere."""
        self.focus()
        self._insert(character)

    def forget(self) -> None:
        """Empty the prompt; undo and the history bring it back."""
        self.history_of_prompts.add(self.draft)
        self.clear()

    # keys

    async def _on_key(self, event: events.Key) -> None:
        # Not priority bindings: those are run at once, before keys that were typed earlier and still wait here.
        offered = self.offer is not None
        if event.key in ("enter", *NEWLINE_KEYS, *XTERM_NEWLINE_KEYS) or (event.key == "escape" and offered):
            event.stop()
            event.prevent_default()
            if event.key == "escape":
                self._decline()
            elif event.key == "enter":
                self.action_submit()
            else:
                self.action_newline()

    def action_submit(self) -> None:
        if self.offer is not None and self.offer.typed == self.half_typed != self.offer.chosen:
            self.take(self.offer.chosen)
            return
        row, column = self.cursor_location
        if self.document.get_line(row)[:column].endswith("\\"):
            self.replace("\n", (row, column - 1), (row, column), maintain_selection_offset=False)
            return
        draft = self.draft
        if not draft.blank:
            # Emptied at once, so that what is typed next is never taken for a part of it.
            self.show(Draft(""))
            self.post_message(self.Submitted(draft))

    def action_newline(self) -> None:
        self._insert("\n")

    def action_complete(self) -> None:
        """Complete a slash command or a path, expand the paste under the cursor, or move on to the next widget."""
        commands = suggested(self.text)
        chip = self.chip
        if self.half_typed is not None:
            self._complete_path()
        elif commands:
            self.load_text(f"/{commands[0].name} ")
            self.move_cursor(self.document.end)
        elif chip is not None:
            self._expand(chip)
        else:
            self.screen.focus_next()

    def action_cursor_up(self, select: bool = False) -> None:
        if self._choose(-1):
            return
        if select or not self._on_first_line or not self._show_from_history(older=True):
            super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        if self._choose(1):
            return
        if select or not self._on_last_line or not self._show_from_history(older=False):
            super().action_cursor_down(select)

    def action_delete_left(self) -> None:
        """Delete one character, or the whole of a chip."""
        chip = self.chip
        row, column = self.cursor_location
        if self.selection.is_empty and chip is not None and chip.start < column:
            self.delete((row, chip.start), (row, chip.end))
        else:
            super().action_delete_left()

    @property
    def _on_first_line(self) -> bool:
        return self.navigator.is_first_wrapped_line(self.cursor_location)

    @property
    def _on_last_line(self) -> bool:
        return self.navigator.is_last_wrapped_line(self.cursor_location)

    # paths

    @property
    def half_typed(self) -> str | None:
        """What stands between an ``@`` and the cursor, which may become a path."""
        row, column = self.cursor_location
        return half_typed(self.document.get_line(row)[:column]) if self.selection.is_empty else None

    @property
    def wants_paths(self) -> bool:
        """Paths should be looked up for ``half_typed``."""
        return self.half_typed is not None and self._path_begins != self._declined

    def offer_paths(self, typed: str, paths: Sequence[str]) -> None:
        """These paths were found for ``typed``."""
        if typed != self.half_typed or not self.wants_paths:
            return
        if self._take_first and paths:
            self.take(paths[0])
            return
        self._take_first = False
        self._offer(PathOffer(typed, paths) if paths else None)

    def withdraw_paths(self) -> None:
        """There is no path at the cursor any more."""
        self._declined, self._take_first = None, False
        self._offer(None)

    def take(self, path: str) -> None:
        """Put ``path`` in the place of what is typed of it."""
        from sessions.workspace.mentions import as_mention

        begins = self._path_begins
        if begins is None:
            return
        self._take_first = False
        mention = as_mention(path)
        # A folder is gone on with, so that its quote stays open.
        mention = mention.removesuffix('"') if path.endswith("/") else f"{mention} "
        self._offer(None)
        self._insert_between(mention, begins, self.cursor_location)

    def _complete_path(self) -> None:
        if self.offer is not None and self.offer.typed == self.half_typed:
            self.take(self.offer.chosen)
        else:
            self._take_first = True

    def _choose(self, step: int) -> bool:
        if self.offer is None:
            return False
        self._offer(self.offer.moved(step))
        return True

    def _decline(self) -> None:
        self._declined = self._path_begins
        self._offer(None)

    def _offer(self, offer: PathOffer | None) -> None:
        if offer != self.offer:
            self.offer = offer
            self.post_message(self.OfferChanged())

    @property
    def _path_begins(self) -> tuple[int, int] | None:
        typed = self.half_typed
        row, column = self.cursor_location
        return None if typed is None else (row, column - len(typed))

    # pastes

    @property
    def chip(self) -> Chip | None:
        """The chip under the cursor."""
        row, column = self.cursor_location
        return chip_at(self.document.get_line(row), column, self._pastes)

    async def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        self.paste(event.text)

    def paste(self, text: str) -> None:
        """Insert what the terminal pasted; much of it, or what cannot be shown, as a chip."""
        text = pasted(text)
        self._insert(self._chip(text) if deserves_chip(text) else text)

    def _chip(self, text: str) -> str:
        number = max(self._pastes, default=0) + 1
        self._pastes[number] = text
        return chip_for(number, text)

    def _expand(self, chip: Chip) -> None:
        text = self._pastes[chip.number]
        if len(text) > LARGEST_EDITED or unshown(text):
            self.post_message(self.NotExpanded())
            return
        row = self.cursor_location[0]
        self.replace(text, (row, chip.start), (row, chip.end), maintain_selection_offset=False)

    def _insert(self, text: str) -> None:
        self._insert_between(text, *self.selection)

    def _insert_between(self, text: str, start: tuple[int, int], end: tuple[int, int]) -> None:
        result = self.replace(text, start, end, maintain_selection_offset=False)
        self.move_cursor(result.end_location)

    def _show_from_history(self, *, older: bool) -> bool:
        found = self.history_of_prompts.older(self.draft) if older else self.history_of_prompts.newer()
        if found is None:
            return False
        self.show(self._chipped(found))
        return True

    def _chipped(self, draft: Draft) -> Draft:
        """A long prompt that comes back from the history file stands as a chip again."""
        if draft.pastes or not deserves_chip(draft.text):
            return draft
        return Draft(chip_for(1, draft.text), {1: draft.text})

    # the wheel

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._scroll_beyond(event, -3)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._scroll_beyond(event, 3)

    def _scroll_beyond(self, event: events.MouseEvent, lines: int) -> None:
        if self.max_scroll_y == 0:
            event.stop()
            self.post_message(self.ScrolledBeyond(lines))

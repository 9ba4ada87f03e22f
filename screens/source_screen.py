"""The exact words behind a bullet, an item, a record of the ledger or something recalled."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Footer, Static

from memory.values import Event, RecalledSource
from screens.messages import OpenInTranscript, Quote
from screens.passage import Block, Passage
from screens.record_words import missing_words, observation_heading, reflection_heading
from screens.wording import counted, moment_of
from sessions.display import displayable


class SourceScreen(ModalScreen[OpenInTranscript | Quote | None]):
    """Shows a ``RecalledSource`` whole. Closes with what the person wants done with it, if anything."""

    BINDING_GROUP_TITLE = "Exact words"
    CSS_PATH = "source_screen.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", "Close"),
        Binding("o", "open", "Transcript", tooltip="Show it in the transcript"),
        Binding("i", "insert", "Quote", tooltip="Quote it in the prompt"),
        Binding("c", "copy", "Copy"),
    ]

    def __init__(self, source: RecalledSource, *, now: datetime) -> None:
        super().__init__()
        self._source = source
        self._now = now

    def compose(self) -> ComposeResult:
        with Vertical(id="source"):
            yield Static(source_title(self._source), id="source-title", markup=False)
            yield Static(_standing(self._source), id="source-standing", markup=False)
            yield Passage(id="source-words")
            yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self._words.set_blocks(source_blocks(self._source, self._now))
        self._words.focus()

    @property
    def _words(self) -> Passage:
        return self.query_one("#source-words", Passage)

    @property
    def _event(self) -> Event | None:
        """The event whose words stand at the top."""
        if not self._source.events:
            return None
        before = _headings_before_events(self._source)
        return self._source.events[min(max(self._words.part - before, 0), len(self._source.events) - 1)]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("open", "insert", "copy"):
            return bool(self._source.events)
        return True

    def action_close(self) -> None:
        self.dismiss(None)

    def action_open(self) -> None:
        if self._event is not None:
            self.dismiss(OpenInTranscript(self._event.seq))

    def action_insert(self) -> None:
        if self._event is not None:
            self.dismiss(Quote(self._event.text))

    def action_copy(self) -> None:
        if self._event is not None:
            self.app.copy_to_clipboard(displayable(self._event.text))


def source_title(source: RecalledSource) -> str:
    if source.observations or source.reflections:
        title = f"{source.found_as.capitalize()} {source.id}, {counted(len(source.events), 'event')} behind it"
        return displayable(title, keep_newlines=False)
    if source.bullet is not None:
        bullet = source.bullet
        kept = ", protected" if bullet.protected else ""
        title = f"Bullet {bullet.id}: generation {bullet.generation}, {bullet.form}{kept}, "
        return displayable(title, keep_newlines=False) + f"{counted(len(source.events), 'event')} behind it"
    return displayable(f"{source.found_as.capitalize()} {source.id}", keep_newlines=False)


def source_blocks(source: RecalledSource, now: datetime) -> list[Block]:
    """What was found first (records, the bullet's line, a piece), then every event behind it, whole, in time order."""
    blocks = list(_record_blocks(source))
    if _shows_bullet(source) and source.bullet is not None:
        blocks += [Block("What the model reads", "y", heading=True), Block(displayable(source.bullet.text))]
        blocks.append(Block(""))
    if source.chunk is not None and _is_piece(source):
        found = source.events[0].text[source.chunk.start : source.chunk.end]
        blocks += [Block("The piece that was found", "y", heading=True), Block(displayable(found)), Block("")]
    for event in source.events:
        mark = " · protected" if event.protected else ""
        said = f"{displayable(event.speaker, keep_newlines=False)} · {moment_of(event.t_event, now)}"
        kind = "" if event.kind == "message" else f" · {displayable(event.kind, keep_newlines=False)}"
        blocks.append(Block(f"no. {event.seq} · {said}{kind}{mark}", "x", heading=True))
        blocks.append(Block(displayable(event.text)))
        blocks.append(Block(""))
    return blocks[:-1]


def _record_blocks(source: RecalledSource) -> Iterator[Block]:
    if source.collision:
        yield Block(displayable(source.collision), "warning", label="! ")
        yield Block("")
    for reflection in source.reflections:
        yield Block(displayable(reflection_heading(reflection), keep_newlines=False), "y", heading=True)
        yield Block(displayable(reflection.content))
        yield Block("")
    for observation in source.observations:
        heading = displayable(observation_heading(observation, source), keep_newlines=False)
        yield Block(heading, "y", heading=True)
        yield Block(displayable(observation.content), "struck" if observation.id in source.dropped else "plain")
        yield Block("")
    if source.missing:
        yield Block(displayable(missing_words(source)), "warning", label="! ")
        yield Block("")


def _shows_bullet(source: RecalledSource) -> bool:
    """A bullet that stands for a record says no more than the record."""
    return source.bullet is not None and not (source.observations or source.reflections)


def _standing(source: RecalledSource) -> str:
    lines = [f"Stands now: {displayable(source.standing, keep_newlines=False)}"] if source.standing else []
    if len(source.events) > 1:
        lines.append("Keys n and p go from one event to the next.")
    return "\n".join(lines)


def _is_piece(source: RecalledSource) -> bool:
    """Whether the chunk is less than the whole of its event."""
    if source.chunk is None or not source.events:
        return False
    return source.chunk.end - source.chunk.start < len(source.events[0].text)


def _headings_before_events(source: RecalledSource) -> int:
    records = len(source.reflections) + len(source.observations)
    return records + int(_shows_bullet(source)) + int(_is_piece(source))

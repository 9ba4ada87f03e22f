"""Every key, every slash command, and what the words on the screen mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.dom import DOMNode
from textual.screen import ModalScreen
from textual.widgets import Footer, Static

from screens.key_table import KeyGroup, key_groups
from screens.passage import Block, Passage
from sessions.display import displayable

WORDS = (
    (
        "tape",
        "Everything that was ever said in this session, as it was said. The model reads a part of it that fits; "
        "nothing is lost.",
    ),
    ("X", "The newest turns, word for word. When X is full, its oldest turns move to Y."),
    ("Y", "What is older: first still word for word, then as bullets, once Y is full and is compacted."),
    ("bullet", "One line that stands for older turns. Open it to read the exact words behind it."),
    (
        "protected",
        "What you said yourself. It is carried word for word, however often Y is compacted, and is never given to a "
        "model to be put in other words.",
    ),
    ("excerpt", "Pieces, word for word, of something that is too long to be carried whole."),
    ("generation", "How many compactions there have been. Each runs behind the conversation."),
    ("uncited", "Items that a summary left out. Each gets a bullet of its own, so that it can still be found."),
    (
        "tool",
        "Something that the model may do: read files, run a command that you allow, ask a server. Each call is a line "
        "in the transcript that opens.",
    ),
    (
        "cut",
        "When tools have printed much in one turn, the oldest results give way to one line each. The tape keeps all of "
        "it, and recall finds it.",
    ),
    ("recall", "Finds the exact words behind the bullets again: by question or by id, for you and for the model."),
)


_KEYS_WIDTH, _NAMES_WIDTH = 14, 16


class HelpScreen(ModalScreen[None]):
    """Help for the app as it is: keys come from the bindings of every open screen, then from ``also``.

    ``commands`` are slash commands as pairs: how to write one, and what it does.
    """

    BINDING_GROUP_TITLE = "Help"
    CSS_PATH = "help_screen.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,f1", "close", "Close")]

    def __init__(
        self, *, commands: Sequence[tuple[str, str]] = (), also: Iterable[type[DOMNode]] | None = None
    ) -> None:
        super().__init__()
        self._commands = commands
        self._also = also

    def compose(self) -> ComposeResult:
        with Vertical(id="help"):
            yield Static("Help", id="help-title", markup=False)
            yield Passage(id="help-text")
            yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        text = self.query_one(Passage)
        text.set_blocks(help_blocks(self._groups(), self._commands))
        text.focus()

    def action_close(self) -> None:
        self.dismiss(None)

    def _groups(self) -> list[KeyGroup]:
        nodes: list[DOMNode] = []
        for screen in reversed(self.app.screen_stack):
            if screen is not self:
                nodes += [screen, *screen.walk_children()]
        nodes.append(self.app)
        also = parts_with_keys() if self._also is None else self._also
        return key_groups(nodes, also, self.app.get_key_display, self.app._keymap)


def parts_with_keys() -> tuple[type[DOMNode], ...]:
    """The parts that bind keys and may not be on a screen when help is asked for."""
    from screens.approval_modal import ApprovalModal
    from screens.inspector import InspectorPanel
    from screens.recall_panel import RecallPanel
    from screens.row_list import RowList
    from screens.sessions_screen import SessionsScreen
    from screens.source_screen import SourceScreen
    from screens.tools_screen import ToolsScreen

    return (InspectorPanel, RecallPanel, SessionsScreen, ToolsScreen, ApprovalModal, SourceScreen, RowList, Passage)


def help_blocks(groups: Sequence[KeyGroup], commands: Sequence[tuple[str, str]]) -> list[Block]:
    """Keys by the part they work in, then commands, then words."""
    blocks: list[Block] = []
    for group in groups:
        blocks += _section(group.title, group.keys, _KEYS_WIDTH)
    if commands:
        blocks += _section("Commands, typed in the prompt", commands)
    blocks += _section("Words", WORDS)
    return blocks[:-1]


def _section(title: str, entries: Sequence[tuple[str, str]], room: int = _NAMES_WIDTH) -> list[Block]:
    blocks = [Block(displayable(title, keep_newlines=False), "strong", heading=True)]
    for name, what in entries:
        shown, told = displayable(name, keep_newlines=False), displayable(what)
        if len(shown) + 2 > room:
            blocks += [Block(shown, "x"), Block(told, indent=room)]
        else:
            blocks.append(Block(told, label=f"{shown:<{room}}", label_tone="x"))
    return [*blocks, Block("")]

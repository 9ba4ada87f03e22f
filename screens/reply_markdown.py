"""Markdown as a model writes it, drawn without losing a character of it and without surprises."""

from __future__ import annotations

from markdown_it import MarkdownIt
from textual.content import Content
from textual.widgets import Markdown
from textual.widgets.markdown import MarkdownBlock, MarkdownFence

from screens.long_reply import HIGHLIGHTED
from sessions.display import displayable


class ReplyFence(MarkdownFence):
    """A block of code. A very long one stays in one colour."""

    @classmethod
    def highlight(cls, code: str, language: str, ansi: bool = False, dark: bool = False) -> Content:
        if len(code) > HIGHLIGHTED:
            return Content(code)
        return super().highlight(code, language, ansi, dark)


class ReplyMarkdown(Markdown):
    """A reply, or a piece of one. Tags stay visible as text, and nothing is fetched or opened by itself."""

    DEFAULT_CSS = """
    ReplyMarkdown {
        padding: 0;
        height: auto;
        layout: stream;
        background: transparent;
        MarkdownFence { margin: 0 0 1 0; background: $foreground 5%; }
        MarkdownH1, MarkdownH2 { margin: 1 0 1 0; content-align: left middle; text-style: bold; }
        MarkdownH3, MarkdownH4, MarkdownH5, MarkdownH6 { margin: 1 0 1 0; }
    }
    """

    def __init__(self, text: str = "") -> None:
        super().__init__(displayable(text), parser_factory=_parser, open_links=False)

    async def redraw(self) -> None:
        """Draw it anew from the whole source, which puts right what appending could not know."""
        await self.update(self.source)

    def get_block_class(self, block_name: str) -> type[MarkdownBlock]:
        return ReplyFence if block_name in ("fence", "code_block") else super().get_block_class(block_name)


def _parser() -> MarkdownIt:
    """Tags and pictures are not Markdown here: a dropped ``<T>`` would change what the model said."""
    return MarkdownIt("gfm-like", {"html": False}).disable("image")

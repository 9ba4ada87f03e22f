"""What the panels ask of the chat screen around them."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message


@dataclass
class OpenInTranscript(Message):
    """Show this event in the transcript."""

    seq: int


@dataclass
class Quote(Message):
    """Put this text into the prompt as a quotation. The text is raw, without quote marks."""

    text: str

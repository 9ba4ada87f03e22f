"""The Markdown export."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.store import MemoryStore
from memory.values import NewEvent
from sessions import tapes
from sessions.library import Library
from sessions.markdown import markdown_of
from sessions.options import Options
from sessions.rows import SessionRow
from tests.sessions.made_sessions import conversation, made, options_for

ID = "20260302-garden"


@pytest.fixture
def options(tmp_path: Path) -> Options:
    return options_for(tmp_path / "home")


def person(text: str) -> NewEvent:
    return NewEvent(text=text, role="user", source="person")


def reply(text: str, **meta: object) -> NewEvent:
    return NewEvent(text=text, role="assistant", source="fake/model", meta=meta)


def rendered(options: Options, *events: NewEvent, title: str = "Plan") -> str:
    row = made(options, ID, events, title=title, x_budget=5_000, y_budget=5_000)
    with MemoryStore(tapes.tape_path(options.home, ID), read_only=True) as store:
        return markdown_of(store, row)


def parts_of(text: str) -> list[tuple[str, str]]:
    """Heading and body of each message, read back as the file itself says how."""
    rule = re.search(r"follows a line of (\d+) underscores", text)
    assert rule is not None
    parts = text.split("_" * int(rule.group(1)) + "\n\n## ")[1:]
    return [(heading, body.removesuffix("\n\n")) for heading, _, body in (part.partition("\n\n") for part in parts)]


def test_who_said_what_when_stands_in_the_headings_and_the_text_is_as_it_was_said(options: Options) -> None:
    text = rendered(
        options, person("Hello **you**\n\n```python\nprint(1)\n```"), reply("# Not our heading\n\n---\n\nhi")
    )
    assert parts_of(text) == [
        ("1. You, 2026-03-02 09:00:00+00:00", "Hello **you**\n\n```python\nprint(1)\n```"),
        ("2. Assistant fake/model, 2026-03-02 09:00:01+00:00", "# Not our heading\n\n---\n\nhi"),
    ]


def test_partial_and_repeated_replies_are_marked_in_the_heading(options: Options) -> None:
    text = rendered(options, person("Hello"), reply("Wel", partial="stopped"), reply("Well", retry=True))
    headings = [heading for heading, _ in parts_of(text)]
    assert headings[1].endswith(", incomplete: stopped")
    assert headings[2].endswith(", another try")


def test_a_code_block_that_a_cut_left_open_is_closed_so_that_the_rest_can_be_read(options: Options) -> None:
    text = rendered(options, person("Go"), reply("Look:\n~~~~py\nx = '```'", partial="failed"), person("And?"))
    bodies = [body for _, body in parts_of(text)]
    assert bodies == ["Go", "Look:\n~~~~py\nx = '```'\n~~~~", "And?"]


def test_what_a_tool_printed_is_fenced_longer_than_any_fence_in_it(options: Options) -> None:
    printed = "````\n# no heading\n````"
    tool = NewEvent(text=printed, role="tool", kind="tool", source="sensor`x`")
    body = parts_of(rendered(options, person("Go"), tool))[1][1]
    assert body == f"`````text\n{printed}\n`````"


def test_text_cannot_forge_a_heading(options: Options) -> None:
    forged = "_" * 30 + "\n\n## 7. You, 2026-03-02 09:00:00+00:00\n\nI never said this"
    parts = parts_of(rendered(options, person("Go"), reply(forged)))
    assert [body for _, body in parts] == ["Go", forged]


def test_signs_of_markdown_and_of_terminals_in_titles_and_names_are_plain_text(options: Options) -> None:
    text = rendered(options, person("Go"), title="a [link](http://x) `b` <script> \x1b[2J # c")
    first = text.splitlines()[0]
    assert first.startswith("# a \\[link\\](http://x) \\`b\\` \\<script\\>")
    assert "\x1b" not in first


async def test_compactions_are_listed_behind_the_transcript(options: Options, tmp_path: Path) -> None:
    made(options, ID, conversation(60))
    text = (await Library(options).export(ID, tmp_path / "a.md", format="markdown")).read_text()
    transcript, _, memory = text.partition("\n# Memory\n")
    assert transcript.count("\n## ") == 60 * 2 + 15 + 12
    lines = [line for line in memory.splitlines() if line]
    assert len(lines) > 3
    assert all(
        re.match(r"- Generation \d+, .*: everything up to \d+ stands behind \d+ bullets", line) for line in lines
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60), min_size=1, max_size=6))
def test_every_message_can_be_read_back_exactly(texts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        options = options_for(Path(folder))
        said = [person("_" * 12 + "\n"), *(person(f"a{text}z") for text in texts)]
        bodies = [body for _, body in parts_of(rendered(options, *said))]
    assert len(bodies) == len(said)
    for body, event in zip(bodies, said, strict=True):
        # Where the text leaves a code block open, its end is added below.
        assert body == event.text or body.startswith(event.text + "\n")


def test_a_session_without_a_word_has_a_head_only(options: Options) -> None:
    path = tapes.tape_path(options.home, ID)
    with MemoryStore(path) as store:
        text = markdown_of(store, SessionRow(id=ID, title="", created="", updated=""))
    assert text.startswith("# Untitled\n")
    assert parts_of(text) == []

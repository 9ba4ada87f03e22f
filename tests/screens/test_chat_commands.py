"""Commands by key, by slash and by palette; the panels beside the chat; and what is copied where."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from textual.widgets import Input, OptionList

from memory.errors import OttoError
from otto_tui.app import OttoApp
from screens.chat import ChatScreen
from screens.chat_commands import ChatCommands
from screens.clipboard import FALLBACK_NAME, LARGEST, terminal_takes, tmux_passthrough
from screens.commands import COMMANDS, UnknownCommand, asked_for, suggested
from screens.inspector import InspectorPanel
from screens.link_screen import LinkScreen
from screens.messages import OpenInTranscript, Quote
from screens.model_picker import ModelPicker
from screens.recall_panel import RecallPanel
from screens.records_screen import RecordsScreen
from screens.sessions_screen import SessionsScreen
from tests.screens.chat_stage import MIDDLE, chat_of, chatting, screen_text, settled, told, until
from tests.screens.fakes import FakeSession, conversation, event
from tests.screens.memories import noted


def test_every_command_can_be_carried_out() -> None:
    carried_out = {name for name in vars(ChatCommands) if not name.startswith("_")} - {"run"}
    assert {command.name for command in COMMANDS} == carried_out


def test_no_key_is_bound_twice() -> None:
    keys = [key for command in COMMANDS for key in command.keys.split(",") if key]
    assert len(keys) == len(set(keys))


def test_only_a_lone_word_after_the_slash_is_a_command() -> None:
    asked = asked_for("/export notes.md ")
    assert asked is not None
    assert (asked.command.name, asked.argument) == ("export", "notes.md")
    for prompt in ("/etc/hosts is wrong", "what about /new", " /new", "/home", "5/6"):
        try:
            assert asked_for(prompt) is None or prompt == "/home"
        except UnknownCommand:
            assert prompt == "/home"


def test_the_beginning_of_a_command_suggests_it() -> None:
    assert [command.name for command in suggested("/re")] == ["recall", "resume", "retry", "rename"]
    assert len(suggested("/")) == len(COMMANDS)
    assert suggested("/re x") == []
    assert suggested("re") == []


async def test_an_unknown_command_is_said_and_stays_in_the_prompt(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"/nope", "enter")
        await until(pilot, lambda: any("There is no command /nope" in said for said in told(pilot)))
        assert chat_of(pilot).prompt.text == "/nope"
        assert session.sent == []


async def test_commands_show_under_the_prompt_and_tab_completes(tmp_path: Path) -> None:
    async with chatting(FakeSession(home=tmp_path), home=tmp_path) as pilot:
        await pilot.press(*"/ren")
        await until(pilot, lambda: "/rename" in screen_text(pilot))
        await pilot.press("tab")
        assert chat_of(pilot).prompt.text == "/rename "
        await until(pilot, lambda: "Give this session another title." in screen_text(pilot))


async def test_rename_with_a_title_renames_at_once(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"/rename Beds and beans", "enter")
        await until(pilot, lambda: "Beds and beans" in screen_text(pilot).splitlines()[0])
        assert session.title == "Beds and beans"


async def test_compact_now_is_a_key(tmp_path: Path) -> None:
    session = FakeSession(conversation(3), home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press("f7")
        await until(pilot, lambda: ("compact_now", None) in session.calls)


async def test_a_command_that_fails_is_one_sentence(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        session.next_failure = OttoError("That model [x] is unknown.")
        await pilot.press(*"/model nope", "enter")
        await until(pilot, lambda: "That model [x] is unknown." in told(pilot))


async def test_the_model_is_chosen_from_what_is_at_hand_or_typed(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press("f8")
        await until(pilot, lambda: isinstance(pilot.app.screen, ModelPicker))
        await until(pilot, lambda: pilot.app.screen.query_one(OptionList).option_count == 1)
        await pilot.press("enter")
        await until(pilot, lambda: ("set_model", "offline") in session.calls)
        await pilot.press("f8")
        await until(pilot, lambda: isinstance(pilot.app.screen, ModelPicker))
        pilot.app.screen.query_one(Input).value = "openai/[x]"
        await until(pilot, lambda: pilot.app.screen.query_one(OptionList).option_count == 1)
        await pilot.press("enter")
        await until(pilot, lambda: ("set_model", "openai/[x]") in session.calls)


async def test_export_names_the_file(tmp_path: Path) -> None:
    session = FakeSession(conversation(2), home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*f"/export {tmp_path}/out.md", "enter")
        await until(pilot, lambda: f"Exported to {tmp_path}/out.md" in told(pilot))


async def test_status_stays_in_the_transcript(tmp_path: Path) -> None:
    async with chatting(FakeSession(conversation(2), home=tmp_path), home=tmp_path) as pilot:
        await pilot.press(*"/status", "enter")
        await until(pilot, lambda: "2 turns, 4 events, generation 0" in screen_text(pilot))
        await until(pilot, lambda: "observer    0 of 10,000 tokens, 10,000 to go" in screen_text(pilot))


async def test_the_theme_key_turns_light_and_back(tmp_path: Path) -> None:
    async with chatting(FakeSession(home=tmp_path), home=tmp_path, theme="textual-dark") as pilot:
        await pilot.press("f10")
        await until(pilot, lambda: pilot.app.theme == "textual-light")
        await pilot.press("f10")
        await until(pilot, lambda: pilot.app.theme == "textual-dark")


async def test_a_theme_that_does_not_exist_is_said(tmp_path: Path) -> None:
    async with chatting(FakeSession(home=tmp_path), home=tmp_path, theme="nosuch") as pilot:
        assert "There is no theme nosuch" in screen_text(pilot)


async def test_notices_of_the_start_stay_on_the_screen(tmp_path: Path) -> None:
    notice = "[memory] x_budget must be a number; 24,000 is used."
    async with chatting(FakeSession(home=tmp_path), home=tmp_path, notices=[notice], size=MIDDLE) as pilot:
        assert notice in screen_text(pilot)


async def test_the_palette_has_every_command(tmp_path: Path) -> None:
    async with chatting(FakeSession(home=tmp_path), home=tmp_path) as pilot:
        titles = {command.title for command in pilot.app.get_system_commands(pilot.app.screen)}
        assert titles == {command.title for command in COMMANDS}


# panels


async def test_a_wide_terminal_has_the_memory_beside_the_chat(tmp_path: Path) -> None:
    async with chatting(FakeSession(conversation(3), home=tmp_path), home=tmp_path, size=MIDDLE) as pilot:
        chat = chat_of(pilot)
        await until(pilot, lambda: chat.query(InspectorPanel))
        await until(pilot, lambda: chat.query_one(InspectorPanel).region.width > 30)
        assert chat.transcript.region.width > 60
        assert chat.prompt.has_focus
        await pilot.press("f2")
        await until(pilot, lambda: chat.transcript.region.width > 110)


async def test_on_a_narrow_terminal_panels_take_the_place_of_the_chat(tmp_path: Path) -> None:
    async with chatting(FakeSession(conversation(3), home=tmp_path), home=tmp_path) as pilot:
        chat = chat_of(pilot)
        assert not chat.query(InspectorPanel)
        await pilot.press("f2")
        await until(pilot, lambda: chat.query(InspectorPanel) and chat.query_one(InspectorPanel).region.width == 80)
        assert chat.transcript.region.width == 0
        await pilot.press("escape")
        await until(pilot, lambda: chat.transcript.region.width > 70)
        await until(pilot, lambda: chat.prompt.has_focus)


async def test_tabs_are_pressed_with_the_mouse(tmp_path: Path) -> None:
    async with chatting(FakeSession(conversation(3), home=tmp_path), home=tmp_path) as pilot:
        chat = chat_of(pilot)
        await pilot.click("#tab-recall")
        await until(pilot, lambda: chat.query(RecallPanel) and chat.query_one(RecallPanel).region.width == 80)
        await pilot.click("#tab-chat")
        await until(pilot, lambda: chat.transcript.region.width > 70)


async def test_a_terminal_that_changes_its_width_keeps_what_was_shown(tmp_path: Path) -> None:
    async with chatting(FakeSession(conversation(3), home=tmp_path), home=tmp_path, size=MIDDLE) as pilot:
        chat = chat_of(pilot)
        await until(pilot, lambda: chat.query(InspectorPanel))
        await pilot.resize_terminal(80, 24)
        await until(
            pilot, lambda: chat.transcript.region.width > 70 and chat.query_one(InspectorPanel).region.width == 0
        )
        await pilot.resize_terminal(200, 50)
        await until(pilot, lambda: chat.query_one(InspectorPanel).region.width > 30)


async def test_what_recall_found_opens_in_the_transcript(tmp_path: Path) -> None:
    async with chatting(FakeSession(conversation(500), home=tmp_path), home=tmp_path) as pilot:
        chat = chat_of(pilot)
        await pilot.press("f3")
        await until(pilot, lambda: chat.query(RecallPanel))
        await settled(pilot)
        chat.query_one(RecallPanel).post_message(OpenInTranscript(101))
        await until(pilot, lambda: "Question 51:" in screen_text(pilot))


async def test_a_quotation_goes_into_the_prompt(tmp_path: Path) -> None:
    async with chatting(FakeSession(home=tmp_path), home=tmp_path) as pilot:
        chat = chat_of(pilot)
        await pilot.press(*"hm")
        chat.post_message(Quote("one\ntwo"))
        await until(pilot, lambda: chat.prompt.text == "hm\n> one\n> two\n\n")
        assert chat.prompt.has_focus


async def test_recall_with_a_question_answers_it(tmp_path: Path) -> None:
    session = FakeSession(conversation(5), home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"/recall bed 3", "enter")
        await until(pilot, lambda: ("recall", "bed 3") in session.calls)


async def test_view_turns_to_what_the_model_reads(tmp_path: Path) -> None:
    async with chatting(FakeSession(conversation(2), home=tmp_path), home=tmp_path) as pilot:
        await pilot.press(*"/view", "enter")
        await until(pilot, lambda: "You are Otto." in screen_text(pilot))


async def test_view_full_and_view_diff_show_the_ledger(tmp_path: Path) -> None:
    session = FakeSession(conversation(2), home=tmp_path)
    session.scripted_ledger = noted()
    async with chatting(session, home=tmp_path) as pilot:
        titles = {"full": "The ledger, as it is now", "diff": "Drift: 1 observation and 1 reflection"}
        for word in titles:
            await pilot.press(*f"/view {word}", "enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, RecordsScreen))
            await settled(pilot)
            assert titles[word] in screen_text(pilot)
            await pilot.press("escape")
            await until(pilot, lambda: isinstance(pilot.app.screen, ChatScreen))
        await pilot.press(*"/view half", "enter")
        await until(pilot, lambda: any(said.startswith("Type /view, /view full") for said in told(pilot)))


async def test_every_full_screen_opens_and_goes_back(tmp_path: Path) -> None:
    async with chatting(FakeSession(conversation(2), home=tmp_path), home=tmp_path) as pilot:
        for key in ("f1", "f4", "f8", "f9"):
            await pilot.press(key)
            await until(pilot, lambda: not isinstance(pilot.app.screen, ChatScreen))
            await settled(pilot)
            await pilot.press("escape")
            await until(pilot, lambda: isinstance(pilot.app.screen, ChatScreen))


async def test_a_session_chosen_from_the_list_opens(tmp_path: Path) -> None:
    first, second = FakeSession(home=tmp_path, id="aaaa"), FakeSession(home=tmp_path, id="bbbb", title="Second")
    async with chatting(second, first, home=tmp_path) as pilot:
        await pilot.press("f4")
        await until(pilot, lambda: isinstance(pilot.app.screen, SessionsScreen))
        pilot.app.screen.dismiss("bbbb")
        await until(pilot, lambda: "Second" in screen_text(pilot))


# copying and links


async def test_the_last_reply_is_copied(tmp_path: Path) -> None:
    async with chatting(FakeSession(conversation(2), home=tmp_path), home=tmp_path) as pilot:
        await pilot.press("f6")
        await until(pilot, lambda: "Answer 2: in bed 2 grow **beans**" in pilot.app.clipboard)
        assert any("to the terminal's clipboard" in said for said in told(pilot))


async def test_what_the_terminal_cannot_take_is_in_a_file_that_is_named(tmp_path: Path) -> None:
    reply = "x" * (LARGEST + 1)
    session = FakeSession([event(1, "user", "?"), event(2, "assistant", reply)], home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press("f6")
        await until(pilot, lambda: any(FALLBACK_NAME in said for said in told(pilot)))
        assert (tmp_path / FALLBACK_NAME).read_text() == reply
        assert (tmp_path / FALLBACK_NAME).stat().st_mode & 0o777 == 0o600


def test_tmux_gets_the_sequence_wrapped() -> None:
    sequence = tmux_passthrough("words [x]\x1b")
    assert sequence.startswith("\x1bPtmux;\x1b\x1b]52;c;")
    assert sequence.endswith("\x07\x1b\\")
    assert base64.b64decode(sequence[len("\x1bPtmux;\x1b\x1b]52;c;") : -3]) == b"words [x]\x1b"


@pytest.mark.parametrize(
    ("environ", "takes"),
    [
        ({}, True),
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "linux"}, False),
        ({"TERM_PROGRAM": "Apple_Terminal"}, False),
    ],
)
def test_terminals_without_osc52_are_known(environ: dict[str, str], takes: bool) -> None:
    assert terminal_takes("x", environ) == takes


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that would have gone to the browser."""
    addresses: list[str] = []

    def note(app: OttoApp, url: str, *, new_tab: bool = True) -> None:
        addresses.append(url)

    monkeypatch.setattr(OttoApp, "open_url", note)
    return addresses


async def test_a_link_is_shown_before_anything_opens(tmp_path: Path, opened: list[str]) -> None:
    said = "[click](https://example.org/[x])"
    session = FakeSession([event(1, "user", "?"), event(2, "assistant", said)], home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.click(".reply MarkdownParagraph", offset=(2, 0))
        await until(pilot, lambda: isinstance(pilot.app.screen, LinkScreen))
        assert opened == []
        await pilot.press("o")
        await until(pilot, lambda: opened == ["https://example.org/[x]"])


async def test_only_web_addresses_can_be_opened(tmp_path: Path, opened: list[str]) -> None:
    async with chatting(FakeSession(home=tmp_path), home=tmp_path) as pilot:
        await pilot.app.push_screen(LinkScreen("file:///etc/passwd"))
        await pilot.press("o")
        await pilot.pause()
        assert isinstance(pilot.app.screen, LinkScreen)
        assert opened == []

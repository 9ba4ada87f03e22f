"""The chat: what is said shows, what comes in shows, and every key does what it says."""

from __future__ import annotations

import asyncio
from pathlib import Path

from memory.errors import StoreUnavailable
from screens.blocks import FailureBlock, FoldLine, NoticeBlock, SaidBlock
from screens.draft import Draft
from screens.header import ChatHeader
from screens.reply_block import ReplyBlock
from screens.status_line import StatusLine
from screens.tool_block import ToolBlock
from sessions.events import Compacting, Notice, Thinking, ToolCalled, ToolUsed
from tests.screens.chat_stage import MIDDLE, chat_of, chatting, screen_text, settled, until
from tests.screens.fakes import FakeSession, Reply, conversation, event


def gate() -> asyncio.Event:
    return asyncio.Event()


async def test_what_is_typed_and_entered_is_sent_and_the_reply_shows(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    session.replies.append(Reply(["In bed 3 ", "grow **beans**."]))
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"hello", "enter")
        await until(pilot, lambda: "In bed 3 grow beans." in screen_text(pilot))
        assert session.sent == ["hello"]
        assert "hello" in screen_text(pilot)
        assert chat_of(pilot).prompt.text == ""


async def test_a_reply_shows_while_it_comes_in(tmp_path: Path) -> None:
    session, held = FakeSession(home=tmp_path), gate()
    session.replies.append(Reply(["The first half ", held, "and the second."]))
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: "The first half" in screen_text(pilot))
        assert "and the second" not in screen_text(pilot)
        held.set()
        await until(pilot, lambda: "The first half and the second." in screen_text(pilot))


async def test_escape_stops_a_reply_and_what_came_is_kept_and_marked(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    session.replies.append(Reply(["The first half ", gate()]))
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: "The first half" in screen_text(pilot))
        await pilot.press("escape")
        await until(pilot, lambda: "stopped here" in screen_text(pilot))
        assert "The first half" in screen_text(pilot)
        assert "ctrl+r asks again" in screen_text(pilot)


async def test_a_failure_is_one_sentence_and_one_key_asks_again(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    session.replies += [Reply([], error="fake/model is overloaded. Try again in 5 s."), Reply(["Here it is."])]
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: "fake/model is overloaded" in screen_text(pilot))
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "Here it is." in screen_text(pilot))
        assert ("retry", None) in session.calls
        assert not chat_of(pilot).query(FailureBlock)


async def test_retry_is_a_press_of_the_line_under_the_failure_too(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    session.replies += [Reply(["Half"], error="The stream was cut."), Reply(["Whole"])]
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: chat_of(pilot).query(".failure .retry"))
        await pilot.pause()
        await pilot.click(".failure .retry")
        await until(pilot, lambda: "Whole" in screen_text(pilot))


async def test_a_tool_is_one_line_that_opens(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    called = ToolCalled("c1", "recall_memory", '{"question": "kale?"}')
    used = ToolUsed("recall_memory", called.arguments, "3 passages about kale", "c1", text="Kale: bed 4.")
    session.replies.append(Reply([called, used, "Bed 4."]))
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: "Bed 4." in screen_text(pilot))
        assert "recall_memory  3 passages about kale" in screen_text(pilot)
        assert '{"question"' not in screen_text(pilot)
        chat_of(pilot).query_one(ToolBlock).children[0].focus()
        await pilot.press("enter")
        await until(pilot, lambda: '{"question": "kale?"}' in screen_text(pilot))


async def test_words_before_and_after_a_tool_stand_in_order(tmp_path: Path) -> None:
    session, held = FakeSession(home=tmp_path), gate()
    called, used = ToolCalled("c1", "recall_memory", "{}"), ToolUsed("recall_memory", "{}", "found", "c1")
    session.replies.append(Reply(["Let me look.", called, used, "It is bed 4.", held]))
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: "It is bed 4." in screen_text(pilot))
        text = screen_text(pilot)
        assert text.index("Let me look.") < text.index("recall_memory") < text.index("It is bed 4.")
        held.set()


async def test_a_prompt_entered_during_a_reply_waits_its_turn_and_shows(tmp_path: Path) -> None:
    session, held = FakeSession(home=tmp_path), gate()
    session.replies += [Reply(["one", held]), Reply(["two"])]
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"first", "enter")
        await until(pilot, lambda: "one" in screen_text(pilot))
        await pilot.press(*"second", "enter")
        await until(pilot, lambda: "queued, press to take back: second" in screen_text(pilot))
        assert session.sent == ["first"]
        held.set()
        await until(pilot, lambda: session.sent == ["first", "second"])
        await until(pilot, lambda: "queued" not in screen_text(pilot))


async def test_a_second_prompt_during_a_reply_stays_in_the_prompt(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    session.replies.append(Reply(["one", gate()]))
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"first", "enter")
        await until(pilot, lambda: chat_of(pilot).conversation.live is not None)  # type: ignore[union-attr]
        await pilot.press(*"second", "enter", *"third", "enter")
        await pilot.pause()
        assert chat_of(pilot).prompt.text == "third"


async def test_a_stop_gives_the_queued_prompt_back(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    session.replies.append(Reply(["one", gate()]))
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"first", "enter")
        await until(pilot, lambda: "one" in screen_text(pilot))
        await pilot.press(*"second", "enter", "escape")
        await until(pilot, lambda: chat_of(pilot).prompt.text == "second")
        assert session.sent == ["first"]


async def test_a_prompt_that_cannot_be_written_comes_back_with_the_reason(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        session.next_failure = StoreUnavailable("The disk is full. Make room and send again.")
        await pilot.press(*"hello", "enter")
        await until(pilot, lambda: "The disk is full." in screen_text(pilot))
        assert chat_of(pilot).prompt.text == "hello"
        assert session.sent == []


async def test_an_error_inside_otto_is_a_sentence_and_the_words_are_kept(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)

    async def broken(text: str) -> None:
        raise ZeroDivisionError("[/x] oops")

    session.send = broken  # type: ignore[assignment,method-assign]
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"hello", "enter")
        await until(pilot, lambda: "Otto itself failed (ZeroDivisionError: [/x] oops)" in screen_text(pilot))
        assert chat_of(pilot).prompt.text == "hello"


async def test_the_status_line_says_what_goes_on(tmp_path: Path) -> None:
    session, first, second = FakeSession(home=tmp_path), gate(), gate()
    session.replies.append(Reply([first, Thinking("hm"), second, "Done."]))
    async with chatting(session, home=tmp_path) as pilot:
        status = chat_of(pilot).query_one(StatusLine)
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: "waiting 0 s for fake/model, esc stops" in str(status.render()))
        first.set()
        await until(pilot, lambda: "fake/model is thinking" in str(status.render()))
        session.emit(Compacting(14, "fake/model"))
        await until(pilot, lambda: "compacting 14 items" in str(status.render()))
        second.set()
        await until(pilot, lambda: "esc stops" not in str(status.render()))


async def test_the_header_has_title_model_tiers_and_cost(tmp_path: Path) -> None:
    async with chatting(FakeSession(conversation(3), home=tmp_path), home=tmp_path) as pilot:
        header = chat_of(pilot).query_one(ChatHeader)
        await until(pilot, lambda: header.memory is not None)
        shown = header.render().plain
        assert shown.startswith("Planning the garden")
        assert "fake/model" in shown
        assert "X 81/24k" in shown
        assert "Y 0/80k" in shown
        assert shown.endswith("$0")


async def test_an_unknown_price_is_a_question_mark(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    session.replies.append(Reply(["x"], cost=None))
    async with chatting(session, home=tmp_path) as pilot:
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: chat_of(pilot).query_one(ChatHeader).render().plain.endswith("$?"))


async def test_the_fold_stands_where_the_verbatim_part_begins(tmp_path: Path) -> None:
    session = FakeSession(conversation(30), home=tmp_path, raw_events=20)
    async with chatting(session, home=tmp_path) as pilot:
        await until(pilot, lambda: chat_of(pilot).query(FoldLine))
        transcript = chat_of(pilot).transcript
        children = list(transcript.children)
        at = children.index(chat_of(pilot).query_one(FoldLine))
        below = children[at + 1]
        assert isinstance(below, SaidBlock)
        assert below.seq == 41
        assert "the model now reads 1 bullet of them" in str(chat_of(pilot).query_one(FoldLine).render())


async def test_warnings_stay_in_the_transcript(tmp_path: Path) -> None:
    session = FakeSession(home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        session.emit(Notice("The summariser failed three times; excerpts are used instead."))
        await until(pilot, lambda: chat_of(pilot).query(NoticeBlock))
        assert "The summariser failed three times" in screen_text(pilot)


async def test_offline_says_how_to_get_a_real_model(tmp_path: Path) -> None:
    async with chatting(FakeSession(home=tmp_path, model_name="offline"), home=tmp_path) as pilot:
        line = [row for row in screen_text(pilot).splitlines() if "offline: it only quotes" in row]
        assert len(line) == 1
        assert "OPENAI_API_KEY" in line[0]
        assert "F8" in line[0]


async def test_a_read_only_session_says_so_and_keeps_what_is_typed(tmp_path: Path) -> None:
    session = FakeSession(conversation(2), home=tmp_path, read_only=True)
    async with chatting(session, home=tmp_path) as pilot:
        assert "read-only: this session is open in another Otto" in screen_text(pilot)
        await pilot.press(*"hello", "enter")
        await pilot.pause()
        assert chat_of(pilot).prompt.text == "hello"
        assert session.sent == []


async def test_a_last_prompt_without_a_reply_can_be_asked_again(tmp_path: Path) -> None:
    session = FakeSession([*conversation(1), event(3, "user", "And now?")], home=tmp_path)
    session.can_retry = True
    async with chatting(session, home=tmp_path) as pilot:
        assert "There is no reply to this yet" in screen_text(pilot)
        await pilot.press("f5")
        await until(pilot, lambda: ("retry", None) in session.calls)
        await until(pilot, lambda: "There is no reply to this yet" not in screen_text(pilot))


async def test_an_interrupted_reply_says_so(tmp_path: Path) -> None:
    tape = [event(1, "user", "Go"), event(2, "assistant", "The first ha", meta={"partial": "interrupted"})]
    session = FakeSession(tape, home=tmp_path)
    session.can_retry = True
    async with chatting(session, home=tmp_path) as pilot:
        assert "interrupted here" in screen_text(pilot)
        assert "ctrl+r asks again" in screen_text(pilot)


async def test_markup_and_escapes_in_all_that_is_said_are_literal(tmp_path: Path) -> None:
    hostile = "[bold]x[/] [/nope] [0] \x1b]0;owned\x07 \x9b2J [link=http://e]go[/link]"
    session = FakeSession([event(1, "user", hostile)], home=tmp_path, title=hostile, model_name="m[/]")
    session.replies.append(Reply([hostile], error=hostile))
    async with chatting(session, home=tmp_path, size=MIDDLE) as pilot:
        session.emit(Notice(hostile))
        session.emit(Notice(hostile, "information"))
        await pilot.press(*"[/x]", "enter")
        await until(pilot, lambda: chat_of(pilot).query(FailureBlock))
        await settled(pilot)
        text = screen_text(pilot)
        assert "\x1b" not in text
        assert "\x9b" not in text
        assert text.count("[bold]x[/] [/nope] [0]") >= 4


async def test_nothing_a_reply_says_is_dropped_from_the_screen(tmp_path: Path) -> None:
    said = "Use <T> and <b>this</b>, a \\* b &amp; c, ![alt text](http://x/y.png), ~~gone~~, `a<b>`"
    session = FakeSession([event(1, "user", "?"), event(2, "assistant", said)], home=tmp_path)
    async with chatting(session, home=tmp_path, size=MIDDLE) as pilot:
        text = screen_text(pilot)
        assert "Use <T> and <b>this</b>, a * b & c, !alt text" in text
        assert "a<b>" in text


async def test_model_text_never_becomes_a_widget_per_turn_of_a_long_tape(tmp_path: Path) -> None:
    session = FakeSession(conversation(5_000), home=tmp_path)
    async with chatting(session, home=tmp_path) as pilot:
        chat = chat_of(pilot)
        assert len(chat.query(ReplyBlock)) == 30
        assert len(list(chat.walk_children())) < 1_000


async def test_a_held_prompt_goes_out_once_the_session_is_open(tmp_path: Path) -> None:
    from tests.screens.chat_stage import otto
    from tests.screens.fakes import FakeLibrary

    session, ready = FakeSession(home=tmp_path), gate()
    library = FakeLibrary.of(session)
    opened = library.open

    async def slow(id: str) -> FakeSession:
        await ready.wait()
        return await opened(id)

    library.open = slow  # type: ignore[method-assign]
    app = otto(library, tmp_path)
    async with app.run_test() as pilot:
        await pilot.press(*"early", "enter", *"later")
        await until(pilot, lambda: "queued, press to take back: early" in screen_text(pilot))
        ready.set()
        await until(pilot, lambda: session.sent == ["early"])
        assert app.chat.prompt.text == "later"
        assert app.chat.prompt.draft == Draft("later")

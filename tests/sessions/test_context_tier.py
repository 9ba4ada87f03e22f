"""The running transcript of a turn: bounded, rewritten in chunks, with each call and its result kept together."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.chat_model import Message, ToolCall
from sessions.context_tier import LONGEST_ARGUMENT, MOST_ARGUMENTS, ContextTier, Cut, Result, as_text

SEED: list[Message] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Look at all of it."}]
PRINTED = 20_000


def result(number: int, text: str | None = None, arguments: str = '{"path": "a.py"}') -> Result:
    call = ToolCall(f"c{number}", "read_file", arguments)
    said = f"{number}: ".ljust(PRINTED, "x") if text is None else text
    return Result(call, said, f"read number {number}", f"event-{number}", seq=2 * number + 1, call_seq=2 * number)


def one_round(tier: ContextTier, *results: Result) -> Cut | None:
    return tier.add("", [one.call for one in results], results)


def contents(messages: Sequence[Message]) -> list[str]:
    return [str(message["content"]) for message in messages if message["role"] == "tool"]


def size(messages: Sequence[Message]) -> int:
    return len(json.dumps(messages))


def transcripts(calls: int, **settings: int) -> Iterator[list[Message]]:
    tier = ContextTier(SEED, searchable=True, **settings)
    yield tier.request()
    for number in range(calls):
        one_round(tier, result(number))
        yield tier.request()


def test_the_transcript_stops_growing_with_the_number_of_calls() -> None:
    largest = {calls: max(map(size, transcripts(calls))) for calls in (10, 50, 120)}
    line = 400
    assert largest[50] - largest[10] <= 40 * line
    assert largest[120] - largest[50] <= 70 * line
    assert largest[120] < 160_000 + PRINTED + 120 * line
    assert 10 * largest[120] < 120 * PRINTED


def test_without_a_cut_it_grows_with_every_call() -> None:
    largest = {calls: max(map(size, transcripts(calls, loop_compact_at=10**9))) for calls in (10, 50, 120)}
    assert largest[120] > 120 * PRINTED > largest[50] > 50 * PRINTED > largest[10] > 10 * PRINTED


def test_what_stands_between_two_cuts_is_never_touched() -> None:
    """A cut comes when the threshold is passed anew: with 4 results of 20 KB kept, every fifth call from the ninth."""
    tier = ContextTier(SEED, searchable=True)
    cuts = [number for number in range(1, 121) if one_round(tier, result(number)) is not None]
    assert cuts == list(range(9, 121, 5))
    assert tier.status(running=True).cuts == len(cuts)


def test_a_break_is_counted_for_a_request_and_not_for_a_cut() -> None:
    tier = ContextTier(SEED, searchable=True)
    for number in range(30):
        one_round(tier, result(number))
    assert tier.status(running=True).prefix_breaks == 0
    tier.request()
    assert tier.status(running=True).prefix_breaks == 0
    for number in range(30, 40):
        one_round(tier, result(number))
    tier.request()
    tier.request()
    status = tier.status(running=False)
    assert (status.prefix_breaks, status.requests, status.calls) == (1, 3, 40)


def test_the_newest_results_stay_word_for_word_and_the_others_become_a_line() -> None:
    *_, last = transcripts(9)
    printed = contents(last)
    assert [len(text) == PRINTED for text in printed] == [False] * 5 + [True] * 4
    assert printed[0] == (
        "[read number 0] (20,000 characters, no longer shown here: recall_memory finds its exact words,"
        " recall_id event-0 shows it)"
    )


def test_a_line_says_that_the_output_can_be_searched_only_where_it_can() -> None:
    assert "recall" in ContextTier(searchable=True).stub(result(1))
    line = ContextTier(searchable=False).stub(result(1))
    assert "recall" not in line
    assert "call the tool again" in line


def test_fewer_stay_where_the_newest_alone_pass_the_threshold_but_one_always_does() -> None:
    tier = ContextTier(SEED, loop_compact_at=50_000)
    for number in range(6):
        one_round(tier, result(number))
    assert sum(len(text) > PRINTED / 2 for text in contents(tier.messages)) == 2
    one_round(tier, result(6, "y" * 90_000))
    assert [len(text) for text in contents(tier.messages) if len(text) > 1_000] == [90_000]


def test_results_that_the_model_has_not_read_yet_stay_together_while_they_fit() -> None:
    tier = ContextTier(SEED, loop_compact_at=170_000, keep_verbatim=2)
    one_round(tier, result(0), result(1))
    one_round(tier, *(result(number) for number in range(2, 10)))
    assert [len(text) > 1_000 for text in contents(tier.messages)] == [False] * 2 + [True] * 8


def test_a_result_that_is_shorter_than_its_line_stays() -> None:
    tier = ContextTier(SEED, loop_compact_at=1_000, keep_verbatim=1)
    one_round(tier, result(0, "ok"))
    assert one_round(tier, result(1, "y" * 2_000)) is None
    assert one_round(tier, result(2, "z" * 2_000)) is not None
    assert contents(tier.messages)[0] == "ok"
    assert tier.verbatim_events() == {0, 1, 2, 4, 5}
    assert tier.gone_events() == {3}


@pytest.mark.parametrize(
    "arguments",
    [
        json.dumps({"text": "w" * 5_000, "path": "a.py"}),
        json.dumps({"lines": ["a line of a file"] * 500}),
        json.dumps({"deep": [{"text": "ä" * 400}]}, ensure_ascii=False),
        '{"text": "' + "never ends " * 400,
        "[" * 5_000,
    ],
)
def test_long_arguments_of_evicted_calls_are_cut_and_stay_an_object(arguments: str) -> None:
    tier = ContextTier(SEED, loop_compact_at=1_000, keep_verbatim=1)
    one_round(tier, result(0, "y" * 900, arguments))
    before = tier.messages[2]["tool_calls"][0]["function"]["arguments"]
    assert isinstance(json.loads(before), dict)
    one_round(tier, result(1, "z" * 900, arguments))
    first, second = (tier.messages[place]["tool_calls"][0]["function"]["arguments"] for place in (2, 4))
    assert isinstance(json.loads(first), dict)
    assert len(first) <= MOST_ARGUMENTS
    assert len(first) < len(before)
    assert second == before
    assert tier.gone_events() == {0, 1}
    assert len(arguments) > LONGEST_ARGUMENT


def test_sizes_before_and_after_are_those_of_the_messages() -> None:
    tier = ContextTier(SEED, searchable=True)
    cut = None
    while cut is None:
        cut = one_round(tier, result(len(tier.messages)))
    status = tier.status(running=True)
    assert (cut.chars_before, cut.chars_after) == (status.chars_before, status.chars_after)
    assert cut.chars_after == characters(tier.messages)
    assert status.chars_before - status.chars_after == 9 * PRINTED - sum(map(len, contents(tier.messages)))
    assert (status.evicted, status.printed, status.standing) == (5, 9 * PRINTED, 4 * PRINTED)


def test_a_last_request_speaks_of_no_tools() -> None:
    tier = ContextTier(SEED)
    tier.add("Let me look.", [result(0).call], [result(0, "port = 4000")])
    messages = tier.closing("Answer now.")
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert messages[-1]["content"].endswith("port = 4000\n\nAnswer now.")
    assert all(set(message) == {"role", "content"} for message in messages)
    assert as_text([], "Answer now.") == [{"role": "user", "content": "Answer now."}]


def characters(messages: Sequence[Message]) -> int:
    """What the messages say, counted in another way than the tier does."""
    said = sum(len(message["content"] or "") for message in messages)
    called = [call["function"] for message in messages for call in message.get("tool_calls", ())]
    return said + sum(len(call["name"]) + len(call["arguments"]) for call in called)


_rounds = st.lists(
    st.tuples(st.lists(st.integers(0, 3_000), min_size=1, max_size=4), st.booleans()), min_size=1, max_size=25
)


@given(_rounds, st.integers(200, 6_000), st.integers(1, 5), st.booleans())
def test_whatever_tools_print(rounds: list[tuple[list[int], bool]], at: int, keep: int, searchable: bool) -> None:
    tier = ContextTier(SEED, loop_compact_at=at, keep_verbatim=keep, searchable=searchable)
    results: list[Result] = []
    requests: list[list[Message]] = [tier.request()]
    cuts: list[bool] = []
    for sizes, long_arguments in rounds:
        arguments = json.dumps({"text": "a" * (400 if long_arguments else 10)})
        made = [
            result(len(results) + n, f"{len(results) + n} " + "p" * size, arguments) for n, size in enumerate(sizes)
        ]
        results += made
        cuts.append(one_round(tier, *made) is not None)
        requests.append(tier.request())
        check_pairs(requests[-1], results)
        check_newest(requests[-1], results, at)
        check_size(requests[-1], results, tier, at)
        check_events(requests[-1], results, tier)
    # The prefix of a request is lost at a cut and never else; a cut in what was not sent yet loses nothing.
    lost = [then != now[: len(then)] for then, now in pairwise(requests)]
    assert all(cut for gone, cut in zip(lost, cuts, strict=True) if gone)
    status = tier.status(running=False)
    assert status.prefix_breaks == sum(lost)
    assert status.chars_after == characters(requests[-1])
    assert status.chars_before >= status.chars_after
    assert status.calls == len(results)


def check_pairs(messages: Sequence[Message], results: Sequence[Result]) -> None:
    """The seed stays; each call stands once, in order, and right after the calls of a round come their results."""
    assert list(messages[: len(SEED)]) == SEED
    waiting: list[str] = []
    answered: list[str] = []
    for message in messages[len(SEED) :]:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
            answered.append(message["tool_call_id"])
        else:
            assert not waiting
            waiting = [call["id"] for call in message["tool_calls"]]
            assert all(isinstance(json.loads(call["function"]["arguments"]), dict) for call in message["tool_calls"])
    assert not waiting
    assert answered == [one.call.id for one in results]


def check_newest(messages: Sequence[Message], results: Sequence[Result], at: int) -> None:
    printed = contents(messages)
    assert printed[-1] == results[-1].text
    assert all(
        text == one.text or text.startswith(f"[{one.summary}]") for text, one in zip(printed, results, strict=True)
    )
    if sum(len(one.text) for one in results) <= at:
        assert printed == [one.text for one in results]


def check_size(messages: Sequence[Message], results: Sequence[Result], tier: ContextTier, at: int) -> None:
    """Never more than the threshold, or the newest result where that alone is more, and a line for each other."""
    printed = contents(messages)
    longest = max(len(tier.stub(one)) for one in results)
    assert sum(map(len, printed)) <= max(at, len(results[-1].text)) + longest * len(results)


def check_events(messages: Sequence[Message], results: Sequence[Result], tier: ContextTier) -> None:
    """What is told to stand word for word does, and nothing else."""
    whole = {one.seq for text, one in zip(contents(messages), results, strict=True) if text == one.text}
    calls = [call for message in messages for call in message.get("tool_calls", ())]
    asked = {
        one.call_seq
        for call, one in zip(calls, results, strict=True)
        if call["function"]["arguments"] == one.call.arguments
    }
    assert tier.verbatim_events() == whole | asked
    every = {seq for one in results for seq in (one.seq, one.call_seq)}
    assert tier.gone_events() == every - tier.verbatim_events()

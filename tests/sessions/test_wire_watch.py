"""What came over the wire is seen for what it is, however it was cut on the way."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.tool_call_assembly import ToolCallAssembly
from sessions.wire_formats import FORMATS
from sessions.wire_watch import LARGEST_ERROR_BODY, Watch
from tests.vendors.replies import Asked, Failure, Reply, Said, ToolUse
from tests.vendors.wires import WIRES

VENDORS = tuple(WIRES)

ASKED = Asked("some-model", (Said("user", "hi"),), (), True)

TRICKY_TEXT = 'He said: {"finish_reason": "stop"}, "finishReason": "STOP", "done": true\n\ndata: [DONE]\n\n'


def watch_of(vendor: str, body: bytes, cuts: list[int] | None = None) -> Watch:
    watch = Watch(FORMATS[vendor])
    watch.answered(200, {"content-type": WIRES[vendor]().content_type})
    places = sorted({0, len(body), *(cut % (len(body) + 1) for cut in cuts or ())})
    for start, end in pairwise(places):
        watch.feed(body[start:end])
    return watch


def stream_of(vendor: str, reply: Reply) -> tuple[bytes, bytes]:
    """A stream without its end, and its end."""
    frames = WIRES[vendor]().frames(ASKED, reply)
    return frames.head + b"".join(frames.body), frames.tail


REPLIES = st.builds(
    Reply,
    st.sampled_from(["hello there", TRICKY_TEXT, "Grüße, 世界", ""]),
    thinking=st.sampled_from(["", "let me see"]),
    tools=st.sampled_from([(), (ToolUse("recall_memory", {"question": TRICKY_TEXT}),)]),
    usage=st.sampled_from(["counted", None]),
    quirks=st.booleans(),
)


@pytest.mark.parametrize("vendor", VENDORS)
@given(reply=REPLIES, cuts=st.lists(st.integers(0, 5_000), max_size=30))
def test_a_whole_stream_is_whole_wherever_it_is_cut_into_pieces(vendor: str, reply: Reply, cuts: list[int]) -> None:
    body, end = stream_of(vendor, reply)
    watch = watch_of(vendor, body + end, cuts)
    assert watch.whole
    assert not watch.garbled
    assert watch.error is None
    assert watch.counted == (reply.usage is not None)


@pytest.mark.parametrize("vendor", VENDORS)
@given(reply=REPLIES, cuts=st.lists(st.integers(0, 5_000), max_size=30))
def test_a_stream_without_its_end_is_never_whole(vendor: str, reply: Reply, cuts: list[int]) -> None:
    body, _ = stream_of(vendor, reply)
    watch = watch_of(vendor, body, cuts)
    assert not watch.whole
    assert not watch.garbled


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_frame_that_is_not_json_is_noticed(vendor: str) -> None:
    frames = WIRES[vendor]().frames(ASKED, Reply("hello"))
    assert watch_of(vendor, frames.head + frames.body[0] + frames.garbled + frames.tail).garbled


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_failure_reported_in_mid_stream_is_noticed(vendor: str) -> None:
    frames = WIRES[vendor]().frames(ASKED, Reply("hello"))
    assert watch_of(vendor, frames.head + frames.error).error


@pytest.mark.parametrize("vendor", VENDORS)
@given(garbage=st.binary(max_size=200))
def test_no_bytes_whatever_upset_the_watch(vendor: str, garbage: bytes) -> None:
    watch = watch_of(vendor, garbage + b"\n\n")
    assert watch.received == len(garbage) + 2


def test_of_an_error_response_only_the_beginning_is_kept() -> None:
    watch = Watch(FORMATS["openai"])
    watch.answered(500, {})
    for _ in range(100):
        watch.feed(b"x" * 10_000)
    assert watch.body == b"x" * LARGEST_ERROR_BODY


def test_a_compressed_body_is_not_guessed_at() -> None:
    watch = Watch(FORMATS["openai"])
    watch.answered(200, {"content-encoding": "gzip"})
    watch.feed(b"\x1f\x8b\x00\n\n")
    assert watch.opaque
    assert not watch.garbled


class _Fragment:
    """A piece of a tool call, shaped as litellm hands it over."""

    def __init__(self, index: int | None, id: str | None, name: str | None, arguments: str | None) -> None:
        self.index = index
        self.id = id
        self.function = self
        self.name = name
        self.arguments = arguments


def test_calls_that_all_have_the_index_0_are_told_apart_by_their_ids() -> None:
    assembly = ToolCallAssembly()
    for fragment in (
        _Fragment(0, "a", "recall_memory", '{"question":'),
        _Fragment(0, None, None, '"one"}'),
        _Fragment(0, "b", "recall_memory", '{"question":'),
        _Fragment(0, "b", None, '"two"}'),
    ):
        assembly.add(fragment)
    assert [(call.id, call.arguments) for call in assembly.calls()] == [
        ("a", '{"question":"one"}'),
        ("b", '{"question":"two"}'),
    ]


def test_a_call_without_id_index_or_arguments_is_still_a_call() -> None:
    assembly = ToolCallAssembly()
    assembly.add(_Fragment(None, None, "recall_memory", None))
    (call,) = assembly.calls()
    assert (call.name, call.arguments) == ("recall_memory", "{}")
    assert call.id


def test_a_fragment_that_never_got_a_name_is_no_call() -> None:
    assembly = ToolCallAssembly()
    assembly.add(_Fragment(0, "a", None, "{}"))
    assert assembly.calls() == []


@pytest.mark.parametrize("vendor", VENDORS)
def test_every_vendor_words_every_failure(vendor: str) -> None:
    wire = WIRES[vendor]()
    for kind in ("auth", "no_model", "rate", "server", "too_long", "refused", "no_credit"):
        assert wire.failure(ASKED, Failure(400, kind))

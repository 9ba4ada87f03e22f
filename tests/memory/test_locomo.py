"""LoCoMo's files are read in both layouts, with care for evidence that is written badly."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.locomo import LocomoUnreadable, load, read_evidence, words_of
from tests.memory.invented_talk import SESSIONS, TURNS_A_SESSION, as_list, invented_talk, write


def test_one_file_a_conversation(tmp_path: Path) -> None:
    (talk,) = load(write(tmp_path / "12.json", invented_talk()))
    assert talk.name == "12"
    assert talk.speakers == ("Ines", "Bo")
    assert len(talk.turns) == SESSIONS * TURNS_A_SESSION
    fourth = talk.turns[3]
    assert (fourth.id, fourth.speaker) == ("D1:4", "Bo")
    assert fourth.said_at == datetime(2021, 3, 1, 1, 8, tzinfo=UTC)
    assert words_of(fourth) == f"Bo: {fourth.text} [shares a photo of a shelf with number 104]"
    assert words_of(talk.turns[2]) == f"Ines: {talk.turns[2].text}"
    assert talk.turns[TURNS_A_SESSION].said_at == datetime(2021, 3, 2, 14, 5, tzinfo=UTC)


def test_the_list_of_all_says_the_same_under_other_names(tmp_path: Path) -> None:
    (alone,) = load(write(tmp_path / "12.json", invented_talk()))
    first, second = load(write(tmp_path / "locomo10.json", as_list(invented_talk(), invented_talk())))
    assert (first.name, second.name) == ("7", "8")
    for talk in (first, second):
        assert (talk.turns, talk.questions, talk.speakers) == (alone.turns, alone.questions, alone.speakers)


def test_a_folder_gives_all_its_files_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("100", "26", "3"):
        write(tmp_path / f"{name}.json", invented_talk())
    assert [talk.name for talk in load(tmp_path)] == ["3", "26", "100"]


def test_evidence_is_parsed_with_care_and_nothing_is_dropped(tmp_path: Path) -> None:
    (talk,) = load(write(tmp_path / "12.json", invented_talk()))
    assert [(each.evidence, each.unresolved, each.plain) for each in talk.questions] == [
        (("D2:3",), (), True),
        (("D1:1", "D4:2"), (), False),
        (("D5:11",), ("D",), True),
        (("D3:6", "D3:8"), ("D9:17",), True),
        ((), (), False),
        (("D1:2",), (), True),
    ]
    assert [each.category for each in talk.questions] == [4, 1, 2, 3, 3, 5]
    assert talk.questions[0].answer == "the chisel"
    assert talk.questions[5].answer == ""


@pytest.mark.parametrize(
    ("written", "known", "unknown"),
    [
        (["D1:03"], ("D1:3",), ()),
        (["D1:3 D2:4,D1:3"], ("D1:3", "D2:4"), ()),
        (["(D1:3)", "d2:4."], ("D1:3", "D2:4"), ()),
        (["D:1:3"], ("D1:3",), ()),
        (["D1:3 and more"], ("D1:3",), ("and", "more")),
        (["D7:1", None, 5], (), ("D7:1", "None", "5")),
        ("D1:3", ("D1:3",), ()),
        (None, (), ()),
        ([], (), ()),
    ],
)
def test_ways_in_which_evidence_is_written(written: object, known: tuple[str, ...], unknown: tuple[str, ...]) -> None:
    assert read_evidence(written, {"D1:3", "D2:4"}) == (known, unknown)


@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), max_size=8), st.sampled_from(["; ", ", ", " ", "  "])
)
def test_every_id_in_one_string_is_either_known_or_not(pairs: list[tuple[int, int]], between: str) -> None:
    ids = {f"D{session}:{place}" for session, place in pairs}
    kept = {id for id in ids if len(id) % 2}
    known, unknown = read_evidence([between.join(f"D{session}:0{place}" for session, place in pairs)], kept)
    assert set(known) == kept
    assert len(unknown) == len(ids - kept)


def test_two_turns_with_one_id_are_both_there(tmp_path: Path) -> None:
    talk = invented_talk()
    talk["session_1"][1]["dia_id"] = "D1:1"
    (read,) = load(write(tmp_path / "1.json", talk))
    assert [turn.id for turn in read.turns[:3]] == ["D1:1", "D1:1#2", "D1:3"]


def _without(key: str) -> Callable[[dict[str, Any]], object]:
    return lambda talk: {name: value for name, value in talk.items() if name != key}


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (_without("qa"), "qa"),
        (_without("session_2_date_time"), "session_2_date_time"),
        (lambda talk: {"qa": talk["qa"]}, "session_1"),
        (lambda talk: talk | {"session_2_date_time": "yesterday"}, "yesterday"),
        (lambda talk: talk | {"qa": [{"question": "?", "category": 9, "evidence": []}]}, "category 9"),
        (lambda talk: [1, 2], "int"),
        (lambda talk: "words", "str"),
    ],
)
def test_what_is_not_in_the_format_is_one_sentence(
    tmp_path: Path, spoil: Callable[[dict[str, Any]], object], named: str
) -> None:
    file = write(tmp_path / "12.json", spoil(invented_talk()))
    with pytest.raises(LocomoUnreadable) as caught:
        load(file)
    assert str(file) in str(caught.value)
    assert named in str(caught.value)


def test_a_file_that_is_not_there_or_is_no_json(tmp_path: Path) -> None:
    with pytest.raises(LocomoUnreadable, match="No such file"):
        load(tmp_path / "none.json")
    (tmp_path / "words.json").write_text("words")
    with pytest.raises(LocomoUnreadable, match="not JSON"):
        load(tmp_path / "words.json")
    (tmp_path / "empty").mkdir()
    with pytest.raises(LocomoUnreadable, match=r"no \*\.json"):
        load(tmp_path / "empty")


def test_the_invented_talk_is_json() -> None:
    assert json.loads(json.dumps(invented_talk())) == invented_talk()

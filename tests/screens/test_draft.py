"""Chips in a prompt, and prompts that come back."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from screens.draft import Draft, chip_at, chip_for, deserves_chip, pasted
from screens.history import FILE_NAME, LONGEST_KEPT, PromptHistory, read_history, write_history

texts = st.text(st.characters(codec="utf-8"), max_size=300)


@given(texts, texts, texts)
def test_what_a_chip_stands_for_is_sent_exactly(before: str, inside: str, after: str) -> None:
    draft = Draft(f"{before}{chip_for(1, inside)}{after}", {1: inside})
    if "[Pasted #1" not in before + after:
        assert draft.whole == before + inside + after


@given(texts)
def test_a_chip_inside_a_paste_is_not_expanded_again(text: str) -> None:
    inside = f"{text}[Pasted #1: 9 lines]"
    assert Draft(chip_for(1, inside), {1: inside}).whole == inside


def test_a_chip_is_found_from_both_of_its_ends() -> None:
    line, pastes = "ab [Pasted #2: 50 lines] cd", {2: "x"}
    assert [chip_at(line, column, pastes) is not None for column in (2, 3, 10, 24, 25)] == [
        False,
        True,
        True,
        True,
        False,
    ]
    assert chip_at(line, 10, {1: "x"}) is None


def test_small_plain_pastes_are_not_chips() -> None:
    assert not deserves_chip("a\n" * 39)
    assert deserves_chip("a\n" * 40)
    assert not deserves_chip("é" * 2_048)
    assert deserves_chip("é" * 2_049)
    assert deserves_chip("a\x1b[31mb")
    assert not deserves_chip("שלום\tمرحبا 👩‍👩‍👧")


def test_line_ends_of_every_kind_become_newlines() -> None:
    assert pasted("a\r\nb\rc\nd") == "a\nb\nc\nd"


def test_the_history_goes_back_and_forth_and_keeps_what_was_being_written() -> None:
    history = PromptHistory()
    history.load(["old"])
    history.add(Draft("one"))
    history.add(Draft("one"))
    assert history.older(Draft("now")) == Draft("one")
    assert history.older(Draft("one")) == Draft("old")
    assert history.older(Draft("old")) is None
    assert history.newer() == Draft("one")
    assert history.newer() == Draft("now")
    assert history.newer() is None


@given(st.lists(st.text(max_size=50).filter(str.strip), max_size=20))
def test_walking_to_the_oldest_and_back_ends_where_it_began(prompts: list[str]) -> None:
    history = PromptHistory()
    for prompt in prompts:
        history.add(Draft(prompt))
    walked = 0
    while history.older(Draft("unsent")) is not None:
        walked += 1
    last: Draft | None = None
    for _ in range(walked):
        last = history.newer()
    assert last == (Draft("unsent") if walked else None)


def test_a_history_with_broken_lines_gives_the_good_ones(tmp_path: Path) -> None:
    write_history(tmp_path, "line 1\nline 2", "t")
    with (tmp_path / FILE_NAME).open("ab") as file:
        file.write(b'{"text": 3}\n[]\n\xff\xfe\nnull\n{"text": "cut')
    with (tmp_path / FILE_NAME).open("ab") as file:
        file.write(b"\n")
    write_history(tmp_path, "after", "t")
    assert read_history(tmp_path) == ["line 1\nline 2", "after"]


def test_a_huge_prompt_is_not_written_to_the_history(tmp_path: Path) -> None:
    write_history(tmp_path, "x" * (LONGEST_KEPT + 1), "t")
    assert read_history(tmp_path) == []


def test_lone_surrogates_survive_the_history(tmp_path: Path) -> None:
    write_history(tmp_path, "a\ud800b", "t")
    assert read_history(tmp_path) == ["a\ud800b"]

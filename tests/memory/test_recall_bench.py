"""The engine of ``otto eval-memory``: what it replays, what it counts, and what it does not do twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from memory.bench_summarizers import CANNED, SUMMARIZERS, summarizer
from memory.candidates import behind_bullets
from memory.errors import EmbeddingUnavailable, OttoError, StoreUnavailable
from memory.locomo import ADVERSARIAL, Talk, load, words_of
from memory.recall_bench import NothingCompacted, Setting, asked_of, embedded, in_store, replay
from memory.recall_evaluation import NO_EMBEDDER, NothingAsked, Report, Wanted, evaluate
from memory.recall_scores import DEPTHS, Asking, ask, found
from memory.store import CONVERSATION, MemoryStore
from memory.values import RecallItem
from memory.vector_cache import VectorCache
from memory.vectors import embedding_state
from memory.verify import verify
from tests.memory.embedders import BrokenEmbedder, TinyEmbedder
from tests.memory.invented_talk import invented_talk, write

SMALL = Setting(60, 200)


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Talk:
    (read,) = load(write(tmp_path_factory.mktemp("talk") / "12.json", invented_talk()))
    return read


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the replay of ``SMALL`` is kept for all tests."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture(scope="module")
def report(talk: Talk, folder: Path) -> Report:
    return evaluate(
        Wanted(
            talks=[talk, replace(talk, name="13")],
            sets=[("12", "13"), ("13",)],
            setting=SMALL,
            summarize=summarizer(CANNED),
            embedders=[None, TinyEmbedder()],
            arms=[None],
            budgets=(100, 3_000),
            folder=folder,
            knobs=True,
            keep_items=True,
        )
    )


def no_model(prompt: str) -> str:
    raise AssertionError("this replay was made before")


def test_everything_said_has_left_the_view_at_the_end(talk: Talk, folder: Path) -> None:
    replayed = replay(talk, SMALL, summarizer(CANNED), folder)
    assert replayed.facts.generations > 3
    assert replayed.facts.reachable == replayed.facts.chunks == len(talk.turns)
    with MemoryStore(replayed.path, read_only=True) as store:
        said = {event.id: event.text for event in store.events()}
        assert {id: text for id, text in said.items() if id != "closing"} == {
            turn.id: words_of(turn) for turn in talk.turns
        }
        assert in_store(store, talk.turns) == {turn.id for turn in talk.turns}
        assert len(behind_bullets(store, CONVERSATION)) == len(talk.turns)
    with MemoryStore(replayed.path, read_only=True) as store:
        assert verify(store).ok


def test_a_replay_is_taken_up_and_not_made_again(talk: Talk, folder: Path) -> None:
    first = replay(talk, SMALL, summarizer(CANNED), folder)
    assert replay(talk, SMALL, no_model, folder) == first
    with pytest.raises(OttoError, match="The summariser failed"):
        replay(talk, replace(SMALL, y_budget=201), no_model, folder)
    with pytest.raises(OttoError, match="The summariser failed"):
        replay(talk, replace(SMALL, summarizer="another"), no_model, folder)


def test_an_interrupted_replay_is_made_again(talk: Talk, tmp_path: Path) -> None:
    def pulled_out(label: str, done: int, total: int) -> None:
        if done == 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        replay(talk, SMALL, summarizer(CANNED), tmp_path, pulled_out)
    assert not list(tmp_path.glob("*.db"))
    whole = replay(talk, SMALL, summarizer(CANNED), tmp_path)
    assert whole.facts.chunks == len(talk.turns)


def test_a_summariser_that_fails_now_and_then_is_counted(talk: Talk, tmp_path: Path) -> None:
    calls = iter(range(1, 1_000))

    def flaky(prompt: str) -> str:
        if next(calls) % 3 == 0:
            raise RuntimeError("busy")
        return summarizer(CANNED)(prompt)

    facts = replay(talk, SMALL, flaky, tmp_path).facts
    assert 0 < facts.failures < facts.model_calls
    assert facts.reachable == facts.chunks


def test_budgets_that_are_too_large_are_named(talk: Talk, tmp_path: Path) -> None:
    with pytest.raises(NothingCompacted, match=r"24,000 \(X\) and 80,000 \(Y\).*--x-budget 200 --y-budget 400"):
        replay(talk, Setting(24_000, 80_000), no_model, tmp_path)
    with pytest.raises(NothingCompacted):
        replay(talk, Setting(24_000, 80_000), no_model, tmp_path)


@pytest.mark.parametrize("name", SUMMARIZERS)
def test_whatever_a_summariser_cites_all_is_reachable(talk: Talk, tmp_path: Path, name: str) -> None:
    facts = replay(talk, replace(SMALL, summarizer=name), summarizer(name), tmp_path).facts
    assert facts.reachable == facts.chunks == len(talk.turns)
    assert facts.generations > 3


def test_summarisers_cite_what_their_names_say() -> None:
    prompt = "Rules [1].\n\nItems:\n" + "\n".join(f"[{n}] Word {n}.\n  [99] not an item" for n in range(1, 21))
    cited = {name: {int(n) for n in _cited(summarizer(name)(prompt))} for name in SUMMARIZERS}
    assert cited["cites every item"] == set(range(1, 21))
    assert len(cited["cites ~70% of items"]) == 14
    assert cited["cites none"] == set()


def _cited(reply: str) -> Iterator[str]:
    for line in reply.splitlines():
        yield from line.partition("[")[2].rstrip("]").replace(",", " ").split()


def test_questions_are_asked_whose_evidence_was_replayed(talk: Talk) -> None:
    assert [len(each.evidence) for each in asked_of(talk)] == [1, 2, 1, 2, 1]
    first = asked_of(talk, turns=30)
    assert [(each.question.category, len(each.evidence)) for each in first] == [(4, 1), (1, 1), (3, 1), (5, 1)]
    assert [each.question.category for each in asked_of(talk, turns=30, plain=True)] == [4, 3, 5]


def test_rows_sum_up_each_set_apart(report: Report) -> None:
    names = [(row.embedder, row.conversations, row.budget) for row in report.rows]
    assert names == [
        (embedder, conversations, budget)
        for embedder in (NO_EMBEDDER, "tiny:a")
        for conversations in (("12", "13"), ("13",))
        for budget in (100, 3_000)
    ]
    for row in report.rows:
        assert row.coverage.questions == 4 * len(row.conversations)
        assert sum(each.questions for each in row.by_category.values()) == row.coverage.questions
        assert 0 <= row.coverage.all <= row.coverage.mean <= row.coverage.any <= 1
        assert 0 < row.tokens_mean <= row.tokens_p95 <= row.budget
        assert list(row.at) == list(DEPTHS)
        assert 0 <= row.at[5] <= row.at[10] <= row.at[20] <= 1
        assert row.ms_rank_p50 > 0
        assert (row.ms_embed_p50 > 0) == (row.embedder != NO_EMBEDDER)
    # Two conversations of the same words have the same figures as one.
    assert report.rows[1].coverage.any == report.rows[3].coverage.any


def test_recall_finds_numbers_that_are_asked_for(report: Report) -> None:
    wide = report.rows[1]
    assert wide.coverage.any == 1.0
    assert wide.by_category[4].all == 1.0
    assert report.rows[0].coverage.mean < wide.coverage.mean
    assert wide.at[20] > 0.8


def test_adversarial_questions_are_told_apart(report: Report) -> None:
    row = report.rows[0]
    assert ADVERSARIAL not in row.by_category
    assert row.adversarial.questions == 2
    assert row.adversarial.tokens_mean <= row.budget
    assert 0 <= row.adversarial.nothing <= 1


def test_evidence_is_counted(report: Report) -> None:
    evidence = report.evidence
    assert (evidence.turns, evidence.questions, evidence.without, evidence.beyond) == (12, 8, 2, 0)
    assert evidence.unresolved == ("12: D", "12: D9:17", "13: D", "13: D9:17")
    assert all(kept.share == 1.0 for kept in report.kept.values())
    assert {number: kept.questions for number, kept in report.kept.items()} == {1: 2, 2: 2, 3: 2, 4: 2, 5: 2}


def test_more_pieces_and_neighbours_never_find_less(report: Report) -> None:
    for table in report.knobs:
        shares = [row.mean for row in table.rows]
        assert shares == sorted(shares)
        assert shares[-1] == 1.0
        characters = [row.characters for row in table.rows]
        assert characters == sorted(characters)


def test_what_came_back_is_kept_once_to_be_read(report: Report) -> None:
    assert len(report.answers) == 10
    for each in report.answers:
        assert each.by_budget[100].items == ()
        assert len(each.by_budget[3_000].items) == each.by_budget[3_000].pieces > 0


def test_only_exact_words_of_the_turn_itself_count(talk: Talk) -> None:
    asked = asked_of(talk)[1]
    whole = [_item(turn.id, words_of(turn)) for turn in asked.evidence]
    assert found(asked, whole) == (True, True)
    assert found(asked, [replace(whole[0], text=whole[0].text[:-1]), whole[1]]) == (False, True)
    assert found(asked, [replace(whole[0], id="D5:5"), whole[1]]) == (False, True)
    halves = [replace(whole[0], text=whole[0].text[:9]), replace(whole[0], text=whole[0].text[9:])]
    assert found(asked, halves) == (True, False)
    assert found(asked, []) == (False, False)


def _item(id: str, text: str) -> RecallItem:
    return RecallItem(1, id, "c", "Ines", "message", "2021-03-01T01:05:00+00:00", text, 1.0, False)


def test_each_text_is_embedded_once(talk: Talk, folder: Path) -> None:
    replayed = replay(talk, SMALL, no_model, folder)
    counting = TinyEmbedder("tiny:once")
    path = embedded(replayed, counting)
    assert counting.passages >= len(talk.turns)
    made = counting.passages
    assert embedded(replayed, counting) == path
    assert counting.passages == made
    with MemoryStore(path, read_only=True) as store:
        assert embedding_state(store).waiting == 0
    with MemoryStore(replayed.path, read_only=True) as store:
        assert embedding_state(store).stamp is None


def test_an_embedder_that_fails_is_never_measured_as_if_it_had_not(talk: Talk, folder: Path) -> None:
    with pytest.raises(EmbeddingUnavailable, match="The model is away"):
        _measure(talk, folder, BrokenEmbedder("tiny:broken"))
    # Its passages come, its questions do not: recall answers by keyword, which is not what was to be measured.
    with pytest.raises(EmbeddingUnavailable, match="The model is away"):
        _measure(talk, folder, BrokenEmbedder("tiny:half", after=10_000))


def test_nothing_to_ask_is_refused(talk: Talk, folder: Path) -> None:
    with pytest.raises(NothingAsked):
        _measure(replace(talk, questions=talk.questions[4:]), folder, TinyEmbedder())


def test_a_folder_that_cannot_be_written_is_named(talk: Talk, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("memory.recall_bench.shutil.copyfile", full)
    with pytest.raises(StoreUnavailable, match="No space left on device"):
        _measure(talk, folder, TinyEmbedder("tiny:full"))


def _measure(talk: Talk, folder: Path, embedder: TinyEmbedder) -> Report:
    return evaluate(
        Wanted(
            talks=[talk],
            sets=[("12",)],
            setting=SMALL,
            summarize=no_model,
            embedders=[embedder],
            arms=[None],
            budgets=(600,),
            folder=folder,
        )
    )


def test_a_long_turn_counts_as_one_of_the_best_turns(tmp_path: Path, talk: Talk) -> None:
    long = " ".join(f"kettle {n} of copper with a lid that fits, bought on a market far away." for n in range(40))
    turns = list(talk.turns)
    turns[5] = replace(turns[5], text=long)
    replayed = replay(replace(talk, turns=tuple(turns)), SMALL, summarizer(CANNED), tmp_path)
    assert replayed.facts.chunks > len(turns)
    question = replace(talk.questions[0], text="copper kettle lid shelf", evidence=(turns[5].id, "D3:3"))
    (asked,) = asked_of(replace(talk, turns=tuple(turns), questions=(question,)))
    with MemoryStore(replayed.path, read_only=True) as store:
        returned = ask(Asking(store, None, None, VectorCache()), asked, token_budget=3_000)
    assert returned.found[0]

"""Every arm under its name: what it ranks by, and that nothing is out of reach for any of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from memory.arms import ARMS, WITH_EMBEDDER, WITHOUT_EMBEDDER
from memory.candidates import Candidates, of_event_kind
from memory.cross_encoder import CrossEncoder
from memory.date_arm import SaidThen
from memory.dense_arms import Dense
from memory.diversity import Diverse
from memory.errors import EmbeddingUnavailable
from memory.feedback_arm import Feedback
from memory.ranking import best_first
from memory.retrieval import recall, recall_chunks
from memory.store import CONVERSATION, MemoryStore
from memory.values import Bullet, NewEvent
from memory.vectors import embed_waiting
from memory.voice_arm import Voice
from memory.word_arms import NearWords
from memory.word_index import WordIndex
from tests.memory.embedders import TinyEmbedder
from tests.memory.tiny_onnx import write_cross_encoder

FOUND_BY_WORDS = [name for name, builder in ARMS.items() if not builder.everything]
SAID = [
    "The staging password rotates every Tuesday.",
    "我们决定下周在深圳开会。",
    "来週の会議は東京で行います。",
    "Мы перенесли встречу из-за отпуска бухгалтера.",
    "قررنا تأجيل الإطلاق إلى أكتوبر",
    "Le déjeuner à l'école coûte quatre euros.",
    "The build fails with ERR_CONNECTION_REFUSED in src/net/http_client.py:88.",
    "parseHTTPResponse2 raises TS2345.",
]
ASKED = {
    "staging password": 0,
    "深圳": 1,
    "東京の会議": 2,
    "бухгалтер": 3,
    "الاطلاق": 4,
    "dejeuner ecole": 5,
    "err_connection_refused": 6,
    "src/net/http_client.py": 6,
    "TS2345": 7,
    "parse_http_response2": 7,
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(tmp_path / "s.db") as opened:
        yield opened


@pytest.fixture(scope="module")
def reranker(tmp_path_factory: pytest.TempPathFactory) -> CrossEncoder:
    """For arms that need one."""
    folder = write_cross_encoder(tmp_path_factory.mktemp("models") / "m", {"the": 1.0})
    return CrossEncoder(None, folder=folder, environ={})


def say(store: MemoryStore, texts: list[str], *, bullet: str = "all", **more: str) -> None:
    """Put texts on the tape behind one bullet."""
    said = [
        store.append(NewEvent(text=text, role="user" if n % 2 == 0 else "assistant", source="model", **more)).seq  # type: ignore[arg-type]
        for n, text in enumerate(texts)
    ]
    store.replace_bullets(CONVERSATION, (), [Bullet(bullet, bullet, (), tuple(said), 1, False, "summary", 1)])


def conversation(store: MemoryStore) -> Candidates:
    return of_event_kind(store, "message")


@pytest.mark.parametrize("name", FOUND_BY_WORDS)
def test_words_of_any_script_are_found_with_every_arm(store: MemoryStore, name: str, reranker: CrossEncoder) -> None:
    filler = [f"Small talk number {n} about the weather." for n in range(40)]
    say(store, [text for n, text in enumerate(SAID) for text in (text, *filler[4 * n : 4 * n + 4])])
    embed_waiting(store, TinyEmbedder())
    for embedder in (TinyEmbedder(threshold=0.99), None):
        if embedder is None and ARMS[name].needs_embedder:
            continue
        for question, number in ASKED.items():
            # A threshold that nothing passes does not hide what shares a word.
            result = recall(store, CONVERSATION, question, embedder=embedder, reranker=reranker, arm=name, window=0)
            assert SAID[number] in {item.text for item in result.items}, (name, question)


def test_every_arm_says_what_it_is() -> None:
    assert len({builder.what for builder in ARMS.values()}) == len(ARMS)
    assert ARMS[WITH_EMBEDDER].needs_embedder
    assert not ARMS[WITHOUT_EMBEDDER].needs_embedder


@pytest.mark.parametrize("name", ARMS)
def test_an_arm_that_needs_an_embedder_never_becomes_another_one(store: MemoryStore, name: str) -> None:
    say(store, SAID)
    if ARMS[name].needs_embedder:
        with pytest.raises(EmbeddingUnavailable, match="needs an embedding model"):
            recall(store, CONVERSATION, "password", arm=name)
    elif ARMS[name].needs_reranker:
        with pytest.raises(EmbeddingUnavailable, match="No cross-encoder is set"):
            recall(store, CONVERSATION, "password", arm=name)
    else:
        assert recall(store, CONVERSATION, "password", arm=name).items


def test_an_unknown_arm_is_refused_with_those_that_there_are(store: MemoryStore) -> None:
    with pytest.raises(ValueError, match="'shipped'"):
        recall(store, CONVERSATION, "password", arm="best")
    with pytest.raises(ValueError, match="'shipped'"):
        recall_chunks(store, "tool", "password", arm="best")


def test_what_was_never_said_is_answered_with_nothing(store: MemoryStore) -> None:
    say(store, SAID)
    embedder = TinyEmbedder(threshold=0.6)
    embed_waiting(store, embedder)
    assert recall(store, CONVERSATION, "zebra giraffe", embedder=embedder).items == ()


def test_a_place_where_several_words_meet_beats_one_word_said_often(store: MemoryStore) -> None:
    texts = ["tea"] * 3 + [f"filler {n}" for n in range(9)] + ["harbour", "tea", "dawn"] + ["more"] * 9
    say(store, texts)
    candidates = conversation(store)
    scores = NearWords(WordIndex(store)).scores("tea harbour dawn", candidates)
    assert best_first(scores)[0] == texts.index("harbour") + 1
    assert not NearWords(WordIndex(store)).scores("?!", candidates).any()


def test_a_named_speaker_goes_first(store: MemoryStore) -> None:
    say(store, [f"{name}: the boat number {n} is red" for n in range(8) for name in ("Ada", "Ben Okri")])
    candidates = conversation(store)
    voice = Voice(WordIndex(store))
    assert [place % 2 for place in best_first(voice.scores("What is Ada's boat?", candidates))[:8]] == [0] * 8
    assert [place % 2 for place in best_first(voice.scores("what did ben see", candidates))[:8]] == [1] * 8
    assert not voice.scores("What do Ada and Ben share?", candidates).any()
    assert not voice.scores("Is it red?", candidates).any()


def test_who_said_it_may_be_asked_as_i_and_you(store: MemoryStore) -> None:
    say(store, ["the boat is red", "the boat is blue"] * 4)
    voice = Voice(WordIndex(store))
    candidates = conversation(store)
    assert list(voice.scores("what did I say about the boat", candidates) > 0) == [True, False] * 4
    assert list(voice.scores("which boat did you recommend", candidates) > 0) == [False, True] * 4


def test_what_was_said_on_the_day_goes_first_and_soon_after_next(store: MemoryStore) -> None:
    for month, number in ((4, 1), (5, 8), (5, 12), (7, 1)):
        say(store, ["the boat"], bullet=f"b{month}{number}", t_event=f"2023-{month:02}-{number:02}T09:00:00+00:00")
    scores = SaidThen().scores("Which boat on 8 May 2023?", conversation(store))
    assert list(scores) == [0, 2, 1, 0]
    # The day alone is reason enough to come back.
    found = recall(store, CONVERSATION, "what happened on 1 July 2023", window=0).items
    assert [item.t_event[:10] for item in found][-1] == "2023-07-01"


def test_a_second_pass_finds_what_shares_words_with_what_the_first_found(store: MemoryStore) -> None:
    texts = [f"nothing to see here {n}" for n in range(60)]
    texts[5] = "our trips: the ferry to Lundy"
    texts[25] = "again trips, a ferry and Lundy"
    texts[50] = "Lundy by ferry was cold"
    say(store, texts)
    candidates = conversation(store)
    index = WordIndex(store)
    first = NearWords(index)
    assert first.scores("which trips", candidates)[50] == 0
    second = Feedback(store, index, first).scores("which trips", candidates)
    assert set(best_first(second)[:3]) == {5, 25, 50}
    assert not Feedback(store, index, first).scores("zebra", candidates).any()


def test_a_diverse_arm_takes_what_is_new_before_what_repeats() -> None:
    embedder = TinyEmbedder()
    texts = ["harbour dawn", "harbour dawn", "lighthouse keeper", "filler"]
    dense = Dense(embedder, embedder.embed_passages(texts), np.array([0, 1, 2, -1], np.intp))
    candidates = Candidates((1, 2, 3, 4), ("a", "b", "c", "d"), (1, 2, 3, 4), (1,) * 4)

    @dataclass(frozen=True)
    class Fixed:
        name: str = "fixed"

        def scores(self, question: str, candidates: Candidates) -> NDArray[np.float32]:
            return np.array([1.0, 0.9, 0.6, -3.0], np.float32)

    assert list(best_first(Diverse(Fixed(), dense).scores("", candidates))) == [0, 2, 1, 3]
    assert list(best_first(Diverse(Fixed(), dense, cost=0.0).scores("", candidates))) == [0, 1, 2, 3]

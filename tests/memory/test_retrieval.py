"""Recall by question: exact words, never what is in view, never more than the budget, never an error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.embeddings import Embedder
from memory.queue import TieredQueue
from memory.retrieval import PROCEDURAL_CHUNKS, recall, recall_chunks
from memory.store import CONVERSATION, MemoryStore
from memory.tokens import count_tokens
from memory.values import NewEvent, RecallResult
from memory.vector_cache import VectorCache
from memory.vectors import embed_waiting, reembed
from tests.memory.embedders import BrokenEmbedder, TinyEmbedder, every_embedder, make_embedder
from tests.memory.summarizers import honest

SMALL_TALK = ["How are you?", "Fine, thanks.", "And the weather?", "It rains again."]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(tmp_path / "abc.db") as opened:
        yield opened


@pytest.fixture(params=["without", *every_embedder()])
def embedder(request: pytest.FixtureRequest, tmp_path: Path) -> Embedder | None:
    return None if request.param == "without" else make_embedder(request.param, tmp_path)


def talk(
    store: MemoryStore, texts: Sequence[str], *, x_budget: int = 60, y_budget: int = 150, filler: int = 40
) -> TieredQueue:
    """Say ``texts``, then enough small talk that they leave the raw view."""
    queue = TieredQueue(store, summarize=honest, x_budget=x_budget, y_budget=y_budget)
    for number, text in enumerate([*texts, *(f"{SMALL_TALK[n % 4]} ({n})" for n in range(filler))]):
        role = "user" if number % 2 == 0 else "assistant"
        queue.append(NewEvent(text=text, role=role, source="person" if role == "user" else "model", id=f"e{number}"))
    return queue


def ask(store: MemoryStore, question: str, embedder: Embedder | None = None, **more: object) -> RecallResult:
    if embedder is not None:
        embed_waiting(store, embedder)
    return recall(store, CONVERSATION, question, embedder=embedder, **more)  # type: ignore[arg-type]


def best(result: RecallResult) -> str:
    return max((item for item in result.items if not item.neighbour), key=lambda item: item.score).text


PLANTED = [
    "The staging database password rotates every Tuesday at nine.",
    "Noted, I will remind you on Tuesdays.",
    "我们决定下周在深圳开会，预算是三万元。",
    "好的，已经记下来了。",
    "来週の会議は東京オフィスで行います。",
    "かしこまりました。",
    "Мы перенесли встречу на среду из-за отпуска бухгалтера.",
    "Хорошо.",
    "قررنا تأجيل الإطلاق إلى أكتوبر",
    "حسنا",
    "Le déjeuner à l'école coûte quatre euros.",
    "D'accord.",
    "The build fails with ERR_CONNECTION_REFUSED in src/net/http_client.py:88.",
    "parseHTTPResponse2 retries five times before it raises TS2345.",
]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When does the staging password rotate?", PLANTED[0]),
        ("深圳会议的预算", PLANTED[2]),
        ("東京の会議", PLANTED[4]),
        ("Когда встреча с бухгалтером?", PLANTED[6]),
        ("متى الاطلاق", PLANTED[8]),
        ("dejeuner ecole", PLANTED[10]),
        ("err_connection_refused", PLANTED[12]),
        ("http_client.py", PLANTED[12]),
        ("TS2345", PLANTED[13]),
        ("parse_http_response2", PLANTED[13]),
    ],
)
def test_exact_words_of_any_script_come_back_first(
    store: MemoryStore, embedder: Embedder | None, question: str, answer: str
) -> None:
    talk(store, PLANTED)
    result = ask(store, question, embedder)
    assert best(result) == answer
    assert result.ranked_by == ("bm25+recency" if embedder is None else "dense+bm25")


@pytest.mark.parametrize("name", every_embedder())
def test_meaning_is_found_without_a_shared_word(store: MemoryStore, tmp_path: Path, name: str) -> None:
    # To the tiny model words that begin alike mean alike; to the keyword index these share no stem.
    said, question = {
        "tiny": ("Our photographer arrives.", "photosynthesis"),
        "minilm": ("My cat had kittens.", "young pets, feline babies"),
    }[name]
    talk(store, [said, "I see."])
    assert best(ask(store, question, make_embedder(name, tmp_path))) == said


def test_results_are_exact_dated_attributed_and_in_time_order(store: MemoryStore, embedder: Embedder | None) -> None:
    talk(store, PLANTED)
    result = ask(store, "Tuesday staging password TS2345 parse", embedder)
    assert [item.seq for item in result.items] == sorted(item.seq for item in result.items)
    for item in result.items:
        event = store.event(item.seq)
        chunk = store.chunk(item.chunk)
        assert chunk is not None
        assert chunk.seq == item.seq
        assert item.text == event.text[chunk.start : chunk.end]
        assert (item.id, item.t_event, item.kind) == (event.id, event.t_event, "message")
        assert item.speaker == ("you" if event.role == "user" else "model")
    assert result.tokens >= sum(count_tokens(item.text) for item in result.items)


def test_what_stands_raw_in_the_view_is_not_returned(store: MemoryStore, embedder: Embedder | None) -> None:
    queue = talk(store, ["The code word is heliotrope.", "Understood."], filler=30)
    queue.append(NewEvent(text="Say heliotrope again.", role="user"))
    view = queue.current_view()
    raw = {item.event.seq for item in (*view.recent, *view.overflow)}
    result = ask(store, "heliotrope", embedder)
    found = {item.seq for item in result.items}
    assert 1 in found
    assert not found & raw


def test_nothing_that_left_the_view_is_out_of_reach(store: MemoryStore, embedder: Embedder | None) -> None:
    queue = talk(store, [f"Fact {n}: the value of parameter q{n} is {n * 17}." for n in range(60)])
    view = queue.current_view()
    raw = {item.event.seq for item in (*view.recent, *view.overflow)}
    for number in range(60):
        if number + 1 not in raw:
            found = ask(store, f"parameter q{number}", embedder, max_chunks=5, window=0)
            assert number + 1 in {item.seq for item in found.items}


def test_items_left_out_of_the_view_for_now_are_found(store: MemoryStore) -> None:
    queue = TieredQueue(store, x_budget=60, y_budget=100, auto_compact=False)
    left_out: tuple[int, ...] = ()
    while not left_out:
        number = store.counts().events
        queue.append(NewEvent(text=f"Item {number} concerns widget w{number} and its paint.", role="user"))
        left_out = tuple(item.event.seq for item in queue.current_view().left_out)
    asked = f"widget w{left_out[0] - 1}"
    assert not ask(store, asked).items
    found = ask(store, asked, left_out=left_out)
    assert left_out[0] in {item.seq for item in found.items}
    assert {item.seq for item in found.items} <= set(left_out)


def test_of_an_event_held_as_an_excerpt_the_hidden_part_is_found(store: MemoryStore, embedder: Embedder | None) -> None:
    paragraphs = [f"Paragraph {n} talks about crate c{n} in some detail, at some length.\n\n" for n in range(120)]
    queue = TieredQueue(store, summarize=honest, x_budget=200, y_budget=400)
    queue.append(NewEvent(text="".join(paragraphs), role="user", id="big"))
    (item,) = queue.recent_items
    assert item.spans is not None
    result = ask(store, "crate c60", embedder)
    assert any("crate c60 " in found.text for found in result.items)
    shown = "".join(item.event.text[start:end] for start, end in item.spans)
    assert not any(found.text in shown for found in result.items)


def test_notes_and_recalls_are_never_found(store: MemoryStore, embedder: Embedder | None) -> None:
    queue = talk(store, ["The tide table is in drawer nine.", "Good."])
    store.append(NewEvent(text="drawer nine tide table", role="system", kind="note", refs=("e0",)))
    talk_on = [NewEvent(text=f"and {n}", role="user") for n in range(20)]
    for event in talk_on:
        queue.append(event)
    result = ask(store, "drawer nine tide table", embedder)
    assert {item.kind for item in result.items} == {"message"}
    assert best(result) == "The tide table is in drawer nine."


def test_neighbours_come_along_and_are_marked(store: MemoryStore) -> None:
    talk(store, ["Alpha.", "Beta.", "The zebra answer.", "Gamma.", "Delta.", "Epsilon."])
    result = ask(store, "zebra", window=2, max_chunks=1)
    assert [(item.text, item.neighbour) for item in result.items] == [
        ("Alpha.", True),
        ("Beta.", True),
        ("The zebra answer.", False),
        ("Gamma.", True),
        ("Delta.", True),
    ]
    assert [item.text for item in ask(store, "zebra", window=0, max_chunks=1).items] == ["The zebra answer."]


def test_the_narrow_policy_returns_little(store: MemoryStore, embedder: Embedder | None) -> None:
    talk(store, [f"Fact {n}: the parameter is {n}." for n in range(60)])
    wide, narrow = ask(store, "fact parameter", embedder), ask(store, "fact parameter", embedder, narrow=True)
    assert sum(not item.neighbour for item in narrow.items) <= PROCEDURAL_CHUNKS
    assert narrow.tokens < wide.tokens
    assert len(narrow.bullets) <= 1


@pytest.mark.parametrize("budget", [-5, 0, 1, 2, 7, 40, 200, 1000])
def test_the_budget_always_holds(store: MemoryStore, embedder: Embedder | None, budget: int) -> None:
    talk(store, ["A long story. " + "The dragon slept in the cave for many winters. " * 60, "Oh.", *PLANTED])
    result = ask(store, "dragon in the cave, staging password", embedder, token_budget=budget)
    spent = sum(count_tokens(item.text) for item in result.items) + sum(bullet.tokens for bullet in result.bullets)
    assert spent == result.tokens <= max(budget, 0)


def test_one_hit_larger_than_the_budget_is_returned_in_part(store: MemoryStore) -> None:
    text = "The dragon Smaragd slept in the cave for many winters and nobody dared to wake it."
    talk(store, [text, "Oh."])
    (item,) = ask(store, "dragon Smaragd", token_budget=8, max_chunks=1, window=0).items
    assert item.text
    assert item.text in text
    assert count_tokens(item.text) <= 8


def test_when_the_budget_binds_hits_come_before_neighbours_that_say_less(store: MemoryStore) -> None:
    texts = [text for n in range(12) for text in (f"The falcon record number {n}.", "Filler one.", "Filler two.")]
    talk(store, texts)
    each = count_tokens("The falcon record number 1.")
    result = ask(store, "falcon record", token_budget=20 * each, top_k=0)
    assert sum("falcon" in item.text for item in result.items) == 12
    assert any(item.neighbour for item in result.items)


QUERIES = [
    "",
    "   \n\t ",
    "?!…",
    '"',
    "NEAR(a b, 3) AND NOT ((",
    "'; DROP TABLE chunks; --",
    "a\x00b\x00",
    "\ud800\udfff lone",
    "\x1b[31mred\x1b[0m [bold]markup[/bold]",
    "🎉",
    "*" * 5000,
]


@pytest.mark.parametrize("query", QUERIES)
def test_any_query_is_answered(store: MemoryStore, embedder: Embedder | None, query: str) -> None:
    talk(store, PLANTED)
    result = ask(store, query, embedder)
    assert result.tokens <= 3000
    assert result.items or result.ranked_by == "dense+bm25"


def test_a_query_of_a_megabyte_is_answered(store: MemoryStore, embedder: Embedder | None) -> None:
    talk(store, PLANTED)
    query = "ERR_CONNECTION_REFUSED in http_client.py " + "und so weiter " * 75_000
    assert best(ask(store, query, embedder)) == PLANTED[12]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    query=st.text(st.characters()), budget=st.integers(-1, 400), chunks=st.integers(-1, 30), window=st.integers(0, 4)
)
def test_no_query_or_setting_raises_or_overspends(
    tmp_path_factory: pytest.TempPathFactory, query: str, budget: int, chunks: int, window: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.db"
    with MemoryStore(path) as store:
        if store.counts().events == 0:
            talk(store, PLANTED)
        for embedder in (None, TinyEmbedder(threshold=0.3)):
            result = ask(store, query, embedder, token_budget=budget, max_chunks=chunks, window=window)
            assert sum(count_tokens(item.text) for item in result.items) <= max(0, budget)


def test_an_empty_store_recalls_nothing(store: MemoryStore, embedder: Embedder | None) -> None:
    result = ask(store, "anything", embedder)
    assert (result.items, result.tokens) == ((), 0)


def test_without_a_matching_word_the_newest_come_back(store: MemoryStore) -> None:
    talk(store, [f"Line {n}." for n in range(30)])
    result = ask(store, "xylophone", max_chunks=3, window=0)
    assert result.ranked_by == "recency"
    newest = max(seq for bullet in store.bullets(CONVERSATION) for seq in bullet.seqs)
    assert [item.seq for item in result.items] == [newest - 2, newest - 1, newest]


def test_of_equal_keyword_hits_the_newer_comes_first(store: MemoryStore) -> None:
    talk(store, ["The lamp is red.", "Ok.", "So.", "Well.", "The lamp is red.", "Ok."])
    (item,) = ask(store, "lamp", max_chunks=1, window=0).items
    assert item.seq == 5


def test_the_warning_says_that_there_is_no_embedder(store: MemoryStore) -> None:
    talk(store, PLANTED)
    assert "No embedding model is in use" in str(ask(store, "password").warning)
    assert ask(store, "password", TinyEmbedder()).warning is None


def test_another_models_vectors_are_never_ranked_and_the_warning_names_the_fix(store: MemoryStore) -> None:
    talk(store, PLANTED)
    embed_waiting(store, TinyEmbedder("tiny:a"))
    other = TinyEmbedder("tiny:b")
    result = recall(store, CONVERSATION, "staging password", embedder=other)
    assert result.ranked_by == "bm25+recency"
    assert best(result) == PLANTED[0]
    assert "tiny:a" in str(result.warning)
    assert "tiny:b" in str(result.warning)
    assert "otto sessions --reembed abc" in str(result.warning)
    reembed(store, other)
    mended = recall(store, CONVERSATION, "staging password", embedder=other)
    assert (mended.ranked_by, mended.warning) == ("dense+bm25", None)


def test_a_model_that_fails_degrades_with_a_warning(store: MemoryStore) -> None:
    talk(store, PLANTED)
    embed_waiting(store, TinyEmbedder())
    result = recall(store, CONVERSATION, "staging password", embedder=BrokenEmbedder())
    assert result.ranked_by == "bm25+recency"
    assert best(result) == PLANTED[0]
    assert "The model is away" in str(result.warning)


def test_text_that_is_not_embedded_yet_is_found_by_keyword(store: MemoryStore) -> None:
    embedder = TinyEmbedder()
    talk(store, PLANTED)
    nothing = recall(store, CONVERSATION, "staging password", embedder=embedder)
    assert nothing.ranked_by == "bm25+recency"
    assert "No text of this session has been embedded yet" in str(nothing.warning)
    embed_waiting(store, embedder, batch=4, stop=iter([False, True]).__next__)
    some = recall(store, CONVERSATION, "TS2345", embedder=embedder)
    assert some.ranked_by == "dense+bm25"
    assert best(some) == PLANTED[13]
    assert "are not embedded yet" in str(some.warning)


def test_damaged_vectors_degrade_with_the_fix(store: MemoryStore) -> None:
    talk(store, PLANTED)
    embed_waiting(store, TinyEmbedder())
    with store.transaction() as db:
        db.execute("UPDATE vectors SET vector = x'00' WHERE hash = (SELECT min(hash) FROM vectors)")
    result = recall(store, CONVERSATION, "staging password", embedder=TinyEmbedder())
    assert best(result) == PLANTED[0]
    assert "otto sessions --reembed abc" in str(result.warning)


def test_a_chunk_that_is_nothing_like_the_question_is_no_hit(store: MemoryStore) -> None:
    talk(store, ["The harbour opens at dawn.", "Yes."])
    strict = ask(store, "harbour opening", TinyEmbedder(threshold=0.6), window=0)
    assert [item.text for item in strict.items] == ["The harbour opens at dawn."]
    assert len(ask(store, "harbour opening", TinyEmbedder(), window=0).items) > 1


def test_a_cache_changes_nothing_but_time(store: MemoryStore, embedder: Embedder | None) -> None:
    cache = VectorCache()
    talk(store, PLANTED)
    for question in ("password", "深圳"):
        assert ask(store, question, embedder, cache=cache) == ask(store, question, embedder)


def test_summaries_behind_the_hits_are_named(store: MemoryStore) -> None:
    talk(store, [f"Report {n}: the sensor s{n} was calibrated." for n in range(40)])
    result = ask(store, "sensor s5 calibrated")
    hits = {item.seq for item in result.items}
    assert result.bullets
    assert all(hits & set(bullet.seqs) for bullet in result.bullets)
    assert ask(store, "sensor s5 calibrated", top_k=0).bullets == ()


def test_namespaces_never_mix(store: MemoryStore) -> None:
    for kind in ("message", "scratch"):
        queue = TieredQueue(store, kind, summarize=honest, x_budget=60, y_budget=100)
        for number in range(30):
            queue.append(NewEvent(text=f"The {kind} gauge reads {number}.", role="user", thread=queue.thread))
    for kind in ("message", "scratch"):
        assert all(kind in item.text for item in recall(store, kind, "gauge reads").items)


def test_tool_output_is_searched_directly_and_alone(store: MemoryStore, embedder: Embedder | None) -> None:
    queue = TieredQueue(store, summarize=honest, x_budget=60, y_budget=120)
    for number in range(30):
        queue.append(NewEvent(text=f"Run step {number} of the deploy.", role="user"))
        queue.append(NewEvent(text=f"deploy log {number}: exit status {number}", role="tool", kind="tool", source="sh"))
    if embedder is not None:
        embed_waiting(store, embedder)
    view = queue.current_view()
    raw = {item.event.seq for item in (*view.recent, *view.overflow)}
    result = recall_chunks(store, "tool", "deploy log exit status 7", embedder=embedder, max_chunks=4)
    assert {item.kind for item in result.items} == {"tool"}
    assert "deploy log 7: exit status 7" in {item.text for item in result.items}
    assert not any(item.neighbour for item in result.items)
    assert not {item.seq for item in result.items} & raw


def test_neighbours_of_tool_output_are_of_the_same_output(store: MemoryStore) -> None:
    log = "".join(f"line {n} of the log mentions unit u{n} at some length and ends\n" for n in range(60))
    store.append(NewEvent(text="unrelated", role="tool", kind="tool"))
    store.append(NewEvent(text=log, role="tool", kind="tool"))
    result = recall_chunks(store, "tool", "unit u0", max_chunks=1, window=2)
    assert {item.seq for item in result.items} == {2}
    assert [item.neighbour for item in result.items] == [False, True, True]

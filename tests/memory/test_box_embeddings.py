"""The embedder that Otto carries: it is there at once, reads anything, and says when it cannot be read itself."""

from __future__ import annotations

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import memory
from memory.box_embeddings import ROWS, SCALES, UNKNOWN, VOCABULARY, BoxEmbedder
from memory.embeddings import Embedder
from memory.errors import EmbeddingUnavailable
from memory.retrieval import recall
from memory.store import CONVERSATION, MemoryStore
from memory.values import Bullet, NewEvent
from memory.vectors import embed_waiting
from tests.memory.embedders import MINILM

BOX = Path(memory.__file__).parent / "box"

LARGEST = 8_000_000
"""Bytes that the embedder may add to the package."""

PAIRS = [
    ("What pet does she have?", "We adopted a kitten from the shelter on Sunday."),
    ("How did the exam go?", "I passed the maths test with the best grade of my class."),
    ("Which database do we use?", "The service keeps its rows in PostgreSQL, not in SQLite."),
    ("When is the flight?", "Our plane leaves for Lisbon at half past six in the morning."),
    ("Why did the build fail?", "The compiler stopped: error C2065, undeclared identifier in parser.cpp."),
    ("What does he do for a living?", "Tom works as a carpenter and has his own workshop."),
    ("Is anyone ill?", "Grandmother caught a fever and stays in bed this week."),
    ("What will we eat?", "For dinner there is tomato soup with fresh bread."),
]


@pytest.fixture
def box() -> Embedder:
    return BoxEmbedder()


def copied(tmp_path: Path) -> Path:
    for name in (VOCABULARY, ROWS, SCALES):
        shutil.copyfile(BOX / name, tmp_path / name)
    return tmp_path


def test_what_is_about_the_same_is_most_alike(box: Embedder) -> None:
    questions = np.stack([box.embed_query(question) for question, _ in PAIRS])
    likeness = questions @ box.embed_passages([answer for _, answer in PAIRS]).T
    assert (likeness.argmax(axis=1) == np.arange(len(PAIRS))).sum() >= len(PAIRS) - 1


def test_rows_have_unit_length_and_do_not_depend_on_company_or_repetition(box: Embedder) -> None:
    texts = [answer for _, answer in PAIRS] * 40
    rows = box.embed_passages(texts)
    assert rows.shape == (len(texts), box.dimensions)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    for text, row in zip(texts[:8], rows, strict=False):
        assert np.array_equal(box.embed_passages([text])[0], row)
    assert np.array_equal(box.embed_query("soup with bread"), box.embed_query("Bread with soup soup"))
    assert box.embed_passages([]).shape == (0, box.dimensions)


def test_what_it_cannot_read_is_like_nothing(box: Embedder) -> None:
    rows = box.embed_passages(["", " \n\t", "🎉🎉", "\u0e01\u0e02", "a real sentence"])
    assert np.array_equal(rows[:4], np.zeros_like(rows[:4]))
    assert rows[4].any()


@pytest.mark.parametrize(
    "pair",
    [("日本語の本", "この本は日本語です"), ("русский язык", "Русский"), ("Málaga café", "malaga CAFE")],
    ids=["japanese", "russian", "accents"],
)
def test_other_scripts_share_letters_at_least(box: Embedder, pair: tuple[str, str]) -> None:
    one, other = box.embed_passages(pair)
    assert one @ other > 0.3


@given(st.lists(st.text(st.characters(), max_size=60), max_size=5))
def test_any_text_gets_a_vector_of_numbers(texts: list[str]) -> None:
    rows = BoxEmbedder().embed_passages(texts)
    lengths = np.linalg.norm(rows, axis=1)
    assert np.isfinite(rows).all()
    assert ((lengths == 0) | (np.abs(lengths - 1) < 1e-5)).all()


def test_a_very_long_question_is_read_by_its_beginning(box: Embedder) -> None:
    assert np.array_equal(box.embed_query("tomato soup " * 400), box.embed_query("tomato soup " * 40_000))


def test_many_threads_share_one(box: Embedder) -> None:
    texts = [answer for _, answer in PAIRS]
    expected = box.embed_passages(texts)
    with ThreadPoolExecutor(8) as pool:
        for rows in pool.map(lambda _: BoxEmbedder().embed_passages(texts), range(32)):
            assert np.array_equal(rows, expected)


def test_recall_ranks_with_it_where_no_word_is_shared(box: Embedder, tmp_path: Path) -> None:
    with MemoryStore(tmp_path / "s.db") as store:
        seqs = [store.append(NewEvent(text=answer, role="user")).seq for _, answer in PAIRS]
        bullet = Bullet("all", "all", (), tuple(seqs), 1, False, "summary", 1)
        store.replace_bullets(CONVERSATION, (), [bullet])
        embed_waiting(store, box)
        found = recall(store, CONVERSATION, "When is the flight?", embedder=box, max_chunks=1, window=0)
    assert found.warning is None
    assert [item.text for item in found.items] == [PAIRS[3][1]]


def test_it_is_small_and_says_where_it_comes_from() -> None:
    files = [path for path in BOX.iterdir() if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= LARGEST
    assert {path.name for path in files} == {VOCABULARY, ROWS, SCALES, "LICENSE", "NOTICE"}
    assert "Apache License" in (BOX / "LICENSE").read_text("utf-8")
    assert "all-MiniLM-L6-v2" in (BOX / "NOTICE").read_text("utf-8")


def test_the_stamp_stands_for_the_files(box: Embedder, tmp_path: Path) -> None:
    folder = copied(tmp_path)
    assert BoxEmbedder(folder).stamp == box.stamp
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    scales = np.load(other / SCALES)
    scales[7] *= 2
    np.save(other / SCALES, scales)
    assert BoxEmbedder(other).stamp != box.stamp
    assert box.stamp.startswith("box:")


@pytest.mark.parametrize("name", [VOCABULARY, ROWS, SCALES])
@pytest.mark.parametrize("damage", ["missing", "empty", "cut"])
def test_a_box_that_is_damaged_says_so(tmp_path: Path, name: str, damage: str) -> None:
    file = copied(tmp_path) / name
    content = file.read_bytes()
    file.unlink()
    if damage != "missing":
        file.write_bytes(b"" if damage == "empty" else content[: len(content) // 2])
    with pytest.raises(EmbeddingUnavailable, match=r"The embedder in the box cannot be read .*Install otto-tui again"):
        BoxEmbedder(tmp_path).embed_query("hello")


def test_files_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    (folder / VOCABULARY).write_text(f"{UNKNOWN}\none\n", encoding="utf-8")
    with pytest.raises(EmbeddingUnavailable, match="do not belong together"):
        _ = BoxEmbedder(folder).stamp


PARTED = {
    "Naïve ÀÉÎ don't": ["naive", "ae", "##i", "don", "'", "t"],
    "日本 привет": ["日", "本", "п", "##р", "##и", "##в", "##е", "##т"],
    "x_y /tmp/a.py 3.14": ["x", "_", "y", "/", "t", "##mp", "/", "a", ".", "p", "##y", "3", ".", "14"],
}


@pytest.mark.parametrize("text", PARTED)
def test_words_are_parted_as_the_model_that_it_comes_from_parts_them(text: str) -> None:
    from tokenizers import Tokenizer

    assert BoxEmbedder()._box.tokenizer.encode(text).tokens == PARTED[text]
    if MINILM.is_dir():
        theirs = Tokenizer.from_file(str(MINILM / "tokenizer.json"))
        theirs.no_padding()
        assert theirs.encode(text, add_special_tokens=False).tokens == PARTED[text]


def test_it_loads_no_model_and_nothing_before_it_is_asked() -> None:
    code = (
        "import sys\n"
        "from memory.box_embeddings import BoxEmbedder\n"
        "box = BoxEmbedder()\n"
        "print([m for m in ('numpy', 'tokenizers') if m in sys.modules])\n"
        "box.embed_query('hello')\n"
        "print([m for m in ('fastembed', 'onnxruntime', 'huggingface_hub', 'httpx', 'litellm') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[]", "[]"]

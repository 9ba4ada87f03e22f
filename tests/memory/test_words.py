"""Whatever was written in any script is found by its words, and no question is an error."""

from __future__ import annotations

import sqlite3
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.words import MAX_QUERY_TERMS, index_words, match_query

ARABIC_STRETCHING_LINE = "\u0640"


class Index:
    """An FTS5 table declared as the tape's is."""

    def __init__(self, *texts: str) -> None:
        self._db = sqlite3.connect(":memory:")
        self._db.execute(
            "CREATE VIRTUAL TABLE chunks_fts USING fts5"
            "(words, content='', tokenize='porter unicode61 remove_diacritics 2')"
        )
        self._db.executemany("INSERT INTO chunks_fts (words) VALUES (?)", ((index_words(t),) for t in texts))

    def find(self, question: str) -> list[int]:
        """Return the numbers, from 1, of the texts that match, best first."""
        query = match_query(question)
        if not query:
            return []
        rows = self._db.execute("SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ? ORDER BY rank", (query,))
        return [row[0] for row in rows]

    def indexed(self) -> set[int]:
        """Return the numbers of the texts of which the index holds a word at all."""
        self._db.execute("CREATE VIRTUAL TABLE words USING fts5vocab(chunks_fts, instance)")
        return {row[0] for row in self._db.execute("SELECT DISTINCT doc FROM words")}


HAYSTACK = [
    "我们决定下周在深圳开会，预算是三万元。",
    "来週の会議は東京オフィスで行います。",
    "データベースの移行はカナリアで確認した",
    "Мы перенесли встречу на среду из-за отпуска бухгалтера.",
    "اجتمعنا مع الفريق وقررنا تأجيل الإطلاق إلى أكتوبر",
    "הפגישה נדחתה ליום שלישי",
    "서울에서 고객을 만났습니다",
    "พรุ่งนี้ประชุมที่กรุงเทพ",
    "कल बैठक मुंबई में होगी",
    "Le déjeuner à l'école coûte 4€, déjà réservé à Besançon",
    "Die Größe der Straße wurde geändert",
    "Η συνάντηση έγινε στην Αθήνα",
    "call parseHTTPResponse2() in src/net/http_client.py:88",
    "it failed with ERR_CONNECTION_REFUSED (TS2345), exit code 0x80070005",
    "upgrade to v2.14.3-rc1 of @scope/left-pad on 2024-03-17",
    "wrote 'C:\\Users\\ana\\report.final.docx'",
    "party 🎉 tonight",
    "Caroline's painting of the sunrise",
]


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("深圳", 1),
        ("下周的会议在哪里开？预算", 1),
        ("東京", 2),
        ("ﾃﾞｰﾀﾍﾞｰｽ", 3),
        ("カナリア", 3),
        ("встреча", 4),
        ("БУХГАЛТЕР", 4),
        ("الاطلاق", 5),
        ("فريق", 5),
        ("الفَرِيق", 5),
        ("פגישה", 6),
        ("서울", 7),
        ("고객", 7),
        ("กรุงเทพ", 8),
        ("मुंबई", 9),
        ("dejeuner", 10),
        ("BESANCON", 10),
        ("de\u0301ja\u0300", 10),
        ("strasse", 11),
        ("GROSSE", 11),
        ("αθηνα", 12),
        ("ΣΥΝΑΝΤΗΣΗ", 12),
        ("parse_http_response2", 13),
        ("parsehttpresponse2", 13),
        ("http response", 13),
        ("http_client.py", 13),
        ("/src/net/http_client.py", 13),
        ("err_connection_refused", 14),
        ("connection refused", 14),
        ("TS2345", 14),
        ("0x80070005", 14),
        ("2.14.3", 15),
        ("left-pad", 15),
        ("leftpad", 15),
        ("2024-03-17", 15),
        ("report.final.docx", 16),
        ("🎉", 17),
        ("Caroline paintings", 18),
        ("sunrises", 18),
    ],
)
def test_text_of_any_script_is_found_first(question: str, place: int) -> None:
    assert Index(*HAYSTACK).find(question)[:1] == [place]


def test_every_letter_and_number_of_unicode_is_found() -> None:
    letters = [
        letter
        for letter in map(chr, range(sys.maxunicode + 1))
        if unicodedata.category(letter)[0] in "LN"
        and unicodedata.normalize("NFKC", letter).isalnum()
        and letter != ARABIC_STRETCHING_LINE
    ]
    assert len(letters) > 100_000
    index = Index(*letters)
    known = index.indexed()
    assert [hex(ord(letter)) for place, letter in enumerate(letters, 1) if place not in known] == []
    some = list(enumerate(letters, 1))[::41]
    assert [hex(ord(letter)) for place, letter in some if place not in index.find(letter)] == []


WORDS = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=12)


@given(st.lists(WORDS, min_size=1, max_size=8), st.data())
def test_any_word_finds_the_text_it_stands_in(words: list[str], data: st.DataObject) -> None:
    word = data.draw(st.sampled_from(words))
    assert Index(" ".join(words), "nothing of the kind").find(word)[:1] == [1]


@given(st.text(st.characters()))
def test_no_text_and_no_question_raises(text: str) -> None:
    text = text.replace("\x00", " ").encode(errors="replace").decode()
    Index(text).find(text)


@pytest.mark.parametrize(
    "question",
    [
        "",
        " \n\t",
        '"',
        '"unclosed AND (',
        "NEAR(a b, 3) NOT c OR * ^ -",
        "words:secret",
        "'; DROP TABLE chunks_fts; --",
        "a\x00b\x00",
        "\ud800 lone",
        "*" * 1000,
        "(" * 10_000,
        "?",
    ],
)
def test_search_syntax_is_only_text(question: str) -> None:
    Index("secret words: a b c", "lone").find(question)


def test_a_question_of_a_megabyte_is_cut_to_its_longest_words() -> None:
    query = match_query(" ".join(f"word{n:07d}" for n in range(90_000)))
    assert query.count(" OR ") == MAX_QUERY_TERMS - 1
    many = " ".join(f"w{n}" for n in range(500)) + " incomprehensibilities"
    assert Index("incomprehensibilities here", "other").find(many) == [1]


def test_stop_words_are_asked_for_only_when_there_is_nothing_else() -> None:
    index = Index("to be or not to be", "the deadline is Friday", "what is it")
    assert index.find("what is the deadline") == [2]
    assert 1 in index.find("to be or not to be")


def test_scripts_without_spaces_are_asked_for_in_pairs() -> None:
    index = Index("天津的人多", "今天天气好")
    assert index.find("天气") == [2]
    assert sorted(index.find("天")) == [1, 2]


@given(st.text())
def test_indexed_words_do_not_depend_on_what_was_indexed_before(text: str) -> None:
    assert index_words(text) == index_words(text)

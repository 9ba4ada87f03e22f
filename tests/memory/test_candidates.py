"""What recall may return, kept between recalls, is what the file says at that moment, whoever wrote it."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from datetime import date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from numpy.typing import NDArray

from memory.candidates import Candidates, behind_bullets, of_event_kind
from memory.chunking import split
from memory.columns import Columns
from memory.pending_rows import load_spans
from memory.queue import TieredQueue
from memory.rebuild import rebuild
from memory.store import CONVERSATION, MemoryStore
from memory.values import NewEvent
from tests.memory.summarizers import honest

OTHER_KIND = "scratch"

Row = tuple[int, str, int, int, str, str]
"""Row, hash, event, tokens, speaker and time of a candidate."""


def expected(path: Path, where: str, kind: str | None, left_out: frozenset[int] = frozenset()) -> list[Row]:
    """The candidates by another road: row by row, on a connection of its own."""
    db = sqlite3.connect(path)
    standing = {
        seq: load_spans(spans)
        for seq, spans in db.execute("SELECT seq, spans FROM pending WHERE ?1 IS NULL OR kind = ?1", (kind,))
        if seq not in left_out
    }
    members = {seq for (seq,) in db.execute(where, () if kind is None else {"kind": kind})} | left_out
    found = []
    for row, hash, seq, start, end, tokens, role, source, time in db.execute(
        "SELECT chunks.rowid, hash, seq, start, end, tokens, role, source, t_event FROM chunks JOIN events USING (seq)"
        " ORDER BY seq, start"
    ):
        spans = standing.get(seq, ())
        shown = spans is None or any(begin <= start and end <= stop for begin, stop in spans)
        if seq in members and not shown:
            found.append((row, hash, seq, tokens, "you" if role == "user" else source or role, time))
    db.close()
    return found


def expected_behind_bullets(path: Path, kind: str, left_out: frozenset[int] = frozenset()) -> list[Row]:
    where = (
        "SELECT seq FROM bullet_refs WHERE kind = :kind"
        " UNION SELECT seq FROM pending WHERE kind = :kind AND spans IS NOT NULL"
    )
    tools = {seq for _, _, seq, *_ in expected(path, "SELECT seq FROM events WHERE kind = 'tool'", "no such queue")}
    return [row for row in expected(path, where, kind, left_out) if row[2] not in tools]


def expected_tools(path: Path) -> list[Row]:
    """Without what only repeats the memory."""
    return expected(path, "SELECT seq FROM events WHERE kind = 'tool' AND source NOT LIKE 'recall_%'", None)


def check(candidates: Candidates, rows: list[Row]) -> None:
    assert [(row, hash, seq, tokens) for row, hash, seq, tokens, _, _ in rows] == list(
        zip(candidates.rows, candidates.hashes, candidates.seqs, candidates.tokens, strict=True)
    )
    assert [candidates.speaker_names[place] for place in candidates.speakers] == [speaker for *_, speaker, _ in rows]
    times = [datetime.fromisoformat(time) for *_, time in rows]
    assert [float(second) for second in candidates.said_at] == [time.timestamp() for time in times]
    assert [date.fromordinal(day) for day in candidates.days] == [time.date() for time in times]
    places = candidates.places_of(np.array([0, *(row for row, *_ in rows)], np.int64))
    assert list(places) == [-1, *range(len(rows))]


class Talking(RuleBasedStateMachine):
    """Any order of talking, compacting, rebuilding and recalling, by this process and beside it."""

    texts = st.sampled_from(["A short word.", "The harbour opens at dawn and closes late. " * 12, "x" * 900, ""])
    kinds = st.sampled_from(["message", "tool"])
    tools = st.sampled_from(["sh", "recall_memory", "recall_id"])

    @initialize()
    def open(self) -> None:
        self.folder = TemporaryDirectory()
        self.path = Path(self.folder.name) / "s.db"
        self.store = MemoryStore(self.path)
        self.beside = MemoryStore(self.path)
        self.left_out: frozenset[int] = frozenset()
        self._restore(self.store)

    def _restore(self, store: MemoryStore) -> None:
        self.queues = [
            TieredQueue(store, kind, summarize=honest, x_budget=60, y_budget=150, restore=True)
            for kind in (CONVERSATION, OTHER_KIND)
        ]

    @rule(text=texts, kind=kinds, role=st.sampled_from(["user", "assistant"]), which=st.integers(0, 1), tool=tools)
    def talk(self, text: str, kind: str, role: str, which: int, tool: str) -> None:
        queue = self.queues[which]
        offset = "+02:00" if role == "user" else "-11:30"
        queue.append(
            NewEvent(
                text=text,
                role="tool" if kind == "tool" else role,
                kind=kind,
                source=tool if kind == "tool" else f"m{which}",
                thread=queue.thread,
                t_event=f"2026-03-0{1 + which}T23:30:00{offset}",
            )
        )

    @rule(beside=st.booleans())
    def go_on_as_another_process(self, beside: bool) -> None:
        """What is read goes on through ``self.store``, whoever writes."""
        self._restore(self.beside if beside else self.store)

    @rule()
    def note(self) -> None:
        self.beside.append(NewEvent(text="A note.", role="system", kind="note"))

    @rule()
    def rebuild(self) -> None:
        rebuild(self.beside)
        self._restore(self.store)

    @rule(size=st.integers(20, 200))
    def cut_otherwise(self, size: int) -> None:
        """As an Otto of another version would make the chunks anew: the same events in other pieces."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("memory.chunk_rows.split", lambda text: split(text, size))
            rebuild(self.beside)
        self._restore(self.store)

    @rule(seqs=st.frozensets(st.integers(1, 12), max_size=3))
    def leave_out(self, seqs: frozenset[int]) -> None:
        there = {item.event.seq for item in self.store.pending(CONVERSATION)}
        self.left_out = seqs & there

    @rule()
    def forget_what_was_not_committed(self) -> None:
        with pytest.raises(KeyError), self.store.transaction() as db:
            self.store.append(NewEvent(text="Never said.", role="tool", kind="tool"))
            db.execute("DELETE FROM bullet_refs")
            assert len(behind_bullets(self.store, CONVERSATION, {1})) <= self.store.counts().chunks
            assert "Never said." in {self._words(hash) for hash in of_event_kind(self.store, "tool").hashes}
            raise KeyError

    def _words(self, hash: str) -> str:
        chunk = self.store.chunk(hash)
        assert chunk is not None
        return self.store.chunk_text(chunk)

    @rule()
    def recall_in_another_thread(self) -> None:
        thread = Thread(target=behind_bullets, args=(self.store, CONVERSATION))
        thread.start()
        thread.join()

    @invariant()
    def what_is_kept_is_what_is_there(self) -> None:
        for _ in range(2):
            check(behind_bullets(self.store, CONVERSATION), expected_behind_bullets(self.path, CONVERSATION))
        check(
            behind_bullets(self.store, CONVERSATION, self.left_out),
            expected_behind_bullets(self.path, CONVERSATION, self.left_out),
        )
        check(behind_bullets(self.store, OTHER_KIND), expected_behind_bullets(self.path, OTHER_KIND))
        check(of_event_kind(self.store, "tool"), expected_tools(self.path))

    def teardown(self) -> None:
        self.store.close()
        self.beside.close()
        self.folder.cleanup()


TestTalking = Talking.TestCase
TestTalking.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)


def fill(store: MemoryStore, turns: int = 90) -> TieredQueue:
    queue = TieredQueue(store, summarize=honest, x_budget=60, y_budget=150)
    for number in range(turns):
        queue.append(NewEvent(text=f"The gauge reads {number}.", role="user" if number % 2 else "assistant"))
    return queue


def test_what_has_not_changed_is_the_same_object_and_costs_one_look(tmp_path: Path) -> None:
    with MemoryStore(tmp_path / "s.db") as store:
        fill(store)
        first = behind_bullets(store, CONVERSATION)
        assert len(first) > 5
        asked: list[str] = []
        store.reader().set_trace_callback(asked.append)
        assert behind_bullets(store, CONVERSATION) is first
        assert asked == ["BEGIN", "PRAGMA data_version", "COMMIT"]
        store.append(NewEvent(text="Raw, and so no candidate.", role="user"))
        assert behind_bullets(store, CONVERSATION) is first
        assert not any("WHERE rowid > 0" in sql for sql in asked)


def test_another_process_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with MemoryStore(path) as store:
        fill(store)
        before = behind_bullets(store, CONVERSATION)
        code = (
            "import sys; from pathlib import Path; from memory.store import MemoryStore\n"
            "from memory.queue import TieredQueue; from memory.values import NewEvent\n"
            "from tests.memory.summarizers import honest\n"
            "with MemoryStore(Path(sys.argv[1])) as store:\n"
            "    queue = TieredQueue(store, summarize=honest, x_budget=60, y_budget=150, restore=True)\n"
            "    for number in range(30):\n"
            "        queue.append(NewEvent(text=f'Elsewhere it reads {number}.', role='user'))\n"
        )
        subprocess.run([sys.executable, "-c", code, str(path)], check=True, cwd=Path(__file__).parents[2], timeout=300)
        after = behind_bullets(store, CONVERSATION)
        assert len(after) > len(before)
        check(after, expected_behind_bullets(path, CONVERSATION))


def test_candidates_made_by_hand_know_no_speakers_and_no_times() -> None:
    candidates = Candidates((7, 3), ("a", "b"), (1, 2), (4, 4))
    assert list(candidates.speakers) == [-1, -1]
    assert np.isnan(candidates.said_at).all()
    assert list(candidates.days) == [0, 0]
    assert list(candidates.places_of(np.array([3, 7, 5]))) == [1, 0, -1]
    assert list(Candidates((), (), (), ()).places_of(np.array([3]))) == [-1]


def test_a_chunk_that_is_gone_is_no_candidate(tmp_path: Path) -> None:
    with MemoryStore(tmp_path / "s.db") as store:
        for number in range(4):
            store.append(NewEvent(text=f"Step {number}.", role="tool", kind="tool"))
        assert len(of_event_kind(store, "tool")) == 4
        with store.transaction() as db:
            db.execute("DELETE FROM chunks WHERE seq = 2")
        store.append(NewEvent(text="Step 4.", role="tool", kind="tool"))
        check(of_event_kind(store, "tool"), expected_tools(store.path))


def test_a_connection_notices_its_own_writes(tmp_path: Path) -> None:
    with MemoryStore(tmp_path / "s.db") as store:
        fill(store)
        with store.transaction() as db:
            writer = db

        def everything(db: sqlite3.Connection, columns: Columns) -> NDArray[np.bool_]:
            return np.ones(len(columns.chunks), np.bool_)

        before = store.columns.candidates(writer, "all", everything)
        store.append(NewEvent(text="One more.", role="user"))
        assert len(store.columns.candidates(writer, "all", everything)) == len(before) + 1

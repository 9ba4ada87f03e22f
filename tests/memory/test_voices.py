"""Who stands behind a bullet, and since when."""

from __future__ import annotations

from pathlib import Path

from memory.queue import TieredQueue
from memory.store import CONVERSATION, MemoryStore
from tests.memory.conversations import turns
from tests.memory.summarizers import honest


def test_a_snapshot_names_the_speakers_behind_each_bullet_and_the_newest_time(tmp_path: Path) -> None:
    with MemoryStore(tmp_path / "tape.db") as store:
        queue = TieredQueue(store, summarize=honest, x_budget=200, y_budget=400)
        for event in turns(60):
            queue.append(event)
        memory = queue.snapshot()
        assert memory.bullets
        assert set(memory.voices) == {bullet.id for bullet in memory.bullets}
        for bullet in memory.bullets:
            behind = store.events_at(bullet.seqs)
            voices = memory.voices[bullet.id]
            assert set(voices.speakers) == {event.speaker for event in behind}
            assert voices.speakers[0] == behind[0].speaker
            assert voices.newest == behind[-1].t_event


def test_voices_follow_a_compaction(tmp_path: Path) -> None:
    with MemoryStore(tmp_path / "tape.db") as store:
        queue = TieredQueue(store, summarize=honest, x_budget=200, y_budget=4_000, auto_compact=False)
        for event in turns(30):
            queue.append(event)
        assert queue.snapshot().voices == {}
        queue.compact()
        assert queue.snapshot().voices == store.voices(CONVERSATION) != {}

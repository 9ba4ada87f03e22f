"""Otto beside its peers: the arithmetic, the baselines, and what happens when a peer fails. Nothing is installed."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks import peer_child, peers
from benchmarks.peers import Line, PeerFailed, keyword_index, mean_shares, peer, questions_of
from memory.locomo import Question, Turn, load
from memory.recall_bench import Asked
from memory.recall_scores import DEPTHS

MONTH = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def turn(number: int, text: str = "words") -> Turn:
    return Turn(f"D1:{number}", "Ada", text, None, MONTH)


def at_every_depth(ids: list[str]) -> dict[int, list[str]]:
    return dict.fromkeys(DEPTHS, ids)


def talk_file(folder: Path) -> Path:
    """Sixty invented turns; each question asks for one of them by an inflected word and a number."""
    lines = [f"The {colour} kettles stood on shelf number {n}." for n, colour in enumerate(["red", "blue"] * 30)]
    turns = [{"speaker": "Ada" if n % 2 else "Ben", "dia_id": f"D1:{n}", "text": line} for n, line in enumerate(lines)]
    asked = [
        {"question": f"Which kettle stands on shelf {n}?", "answer": "It", "category": 4, "evidence": [f"D1:{n}"]}
        for n in range(0, 60, 7)
    ]
    adversarial = {"question": "Who is the king?", "category": 5, "evidence": ["D1:1"]}
    file = folder / "7.json"
    talk = {
        "speaker_a": "Ada",
        "speaker_b": "Ben",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": turns,
        "qa": [*asked, adversarial],
    }
    file.write_text(json.dumps(talk))
    return file


def test_a_share_is_of_the_evidence_among_the_first_so_many() -> None:
    two = Asked(Question("?", "", 1, ("D1:1", "D1:2"), ()), (turn(1), turn(2)))
    one = Asked(Question("?", "", 4, ("D1:9",), ()), (turn(9),))
    ranked = ["D1:1", *(f"D2:{n}" for n in range(6)), "D1:2"]
    shares = mean_shares([(two, at_every_depth(ranked)), (one, at_every_depth(["D1:9"]))])
    assert shares == {5: 0.75, 10: 1.0, 20: 1.0}
    nothing = mean_shares([(one, at_every_depth([]))])
    assert nothing == {5: 0.0, 10: 0.0, 20: 0.0}


def test_adversarial_questions_are_not_asked(tmp_path: Path) -> None:
    (talk,) = load(talk_file(tmp_path))
    assert len(questions_of(talk)) == 9


def test_stemming_finds_what_is_inflected(tmp_path: Path) -> None:
    file = talk_file(tmp_path)
    said = json.loads(file.read_text())
    said["qa"] = [{"question": "kettle painted", "answer": "", "category": 4, "evidence": ["D1:5"]}]
    said["session_1"][5]["text"] = "She paints her kettles."
    file.write_text(json.dumps(said))
    (talk,) = load(file)
    assert keyword_index([talk], "stemmed", peers.STEMMED).shares[5] == 1.0
    assert keyword_index([talk], "unstemmed", peers.UNSTEMMED).shares[5] == 0.0


def test_the_command_sets_otto_beside_the_baselines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["peers", "--data", str(talk_file(tmp_path)), "--without-peers"]
    monkeypatch.setattr(sys, "argv", [*command, "--json"])
    assert peers.main() == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["conversations"], report["questions"]) == (["7"], 9)
    rows = {row["name"]: row for row in report["rows"]}
    assert list(rows) == [
        "FTS5, porter, any word",
        "BM25, no stemming",
        "Otto, no embedder",
        "Otto, embedder in the box",
    ]
    for row in rows.values():
        assert 0 <= row["at_5"] <= row["at_10"] <= row["at_20"] <= 1
    assert rows["FTS5, porter, any word"]["at_5"] > 0.9
    assert rows["Otto, no embedder"]["at_5"] > 0.9


def test_a_file_that_is_missing_and_a_conversation_that_is_not_there_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["peers", "--data", str(tmp_path / "none.json"), "--without-peers"])
    assert peers.main() == 1
    assert "Traceback" not in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["peers", "--data", str(talk_file(tmp_path)), "--conversation", "99"])
    with pytest.raises(SystemExit) as left:
        peers.main()
    assert left.value.code == 2


def stand_in(folder: Path, package: str, source: str) -> dict[str, str]:
    """An environment in which a package of this name is what ``source`` says."""
    folder.mkdir()
    (folder / f"{package}.py").write_text(source)
    return {"PYTHONPATH": str(folder)}


AGENTRECALL = """
print("noise that is no part of the answer")
class Record:
    def __init__(self, id): self.id = id
class Memory:
    def __init__(self, path): self.words = []
    def __enter__(self): return self
    def __exit__(self, *_): pass
    def add(self, words):
        self.words.append(words)
        return Record(len(self.words))
    def search(self, question, k):
        return [Record(n) for n, words in enumerate(self.words, 1) if set(question.split()) & set(words.split())][:k]
"""

ACTRONE = """
from contextlib import asynccontextmanager
class Entry:
    def __init__(self, id): self.id = id
class Manager:
    def __init__(self): self.words = []
    async def inject_memory(self, agent_id, words):
        self.words.append(words)
        return str(len(self.words))
    async def search_memories(self, agent_id, question, limit):
        return [Entry(str(n)) for n, words in enumerate(self.words, 1) if question in words][:limit]
@asynccontextmanager
async def create_memory_manager():
    yield Manager()
"""


@pytest.mark.parametrize(
    ("package", "source", "ask"),
    [("agentrecall", AGENTRECALL, peer_child.agentrecall), ("actrone_memory", ACTRONE, peer_child.actrone_memory)],
)
def test_each_peer_is_asked_as_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, source: str, ask: object
) -> None:
    monkeypatch.syspath_prepend(stand_in(tmp_path / "p", package, source)["PYTHONPATH"])
    monkeypatch.delitem(sys.modules, package, raising=False)
    talk = {"turns": [["D1:1", "red kettle"], ["D1:2", "blue kettle"], ["D1:3", "tea"]], "questions": ["kettle"]}
    assert callable(ask)
    assert ask(talk, [1, 5]) == [{"1": ["D1:1"], "5": ["D1:1", "D1:2"]}]
    monkeypatch.delitem(sys.modules, package, raising=False)


def test_a_peer_that_fails_is_named_with_what_it_said(tmp_path: Path) -> None:
    (talk,) = load(talk_file(tmp_path))
    with pytest.raises(PeerFailed, match=r"^actrone-memory did not answer: ModuleNotFoundError: No module named"):
        peer([talk], "actrone-memory", Path(sys.executable))


def test_what_cannot_be_installed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = subprocess.CompletedProcess([], 1, "", "Looking up\nERROR: No network.\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(PeerFailed, match=r"could not be installed into .*: ERROR: No network\. .*--without-peers"):
        peers.install(tmp_path / "env")


def test_a_line_is_a_row() -> None:
    assert Line("x", {5: 0.5, 10: 2 / 3, 20: 1.0}).as_json() == {
        "name": "x",
        "at_5": 0.5,
        "at_10": 0.6667,
        "at_20": 1.0,
    }

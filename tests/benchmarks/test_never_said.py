"""The benchmark of silence tells questions that have an answer apart from those that have none."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def conversation() -> dict[str, object]:
    lines = [f"The {colour} kettle stands on shelf {n}." for n, colour in enumerate(["red", "blue"] * 60)]
    speakers = ["Ada", "Ben"] * 60
    turns = [
        {"speaker": speaker, "dia_id": f"D1:{n}", "text": line}
        for n, (speaker, line) in enumerate(zip(speakers, lines, strict=True), 1)
    ]
    asked = [{"question": f"What stands on shelf {n}?", "category": 4, "evidence": [f"D1:{n + 1}"]} for n in range(5)]
    swapped = {"question": "What did Ben say of the red kettle?", "category": 5, "evidence": ["D1:1"]}
    never = {"question": "Which zebra won the lottery?", "category": 5, "evidence": []}
    return {"session_1": turns, "session_1_date_time": "9:00 am on 2 March, 2026", "qa": [*asked, swapped, never]}


def run(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.never_said", *args],
        capture_output=True,
        text=True,
        check=False,
        cwd=REPOSITORY,
        timeout=300,
    )


def test_silence_is_counted_for_each_kind_of_question(tmp_path: Path) -> None:
    file = tmp_path / "talk.json"
    file.write_text(json.dumps(conversation()))
    done = run(str(file), "--json")
    assert done.returncode == 0, done.stderr
    rows = {row["kind"]: row for row in json.loads(done.stdout)}
    assert {kind: row["questions"] for kind, row in rows.items()} == {
        "with an answer": 5,
        "adversarial": 1,
        "never said": 1,
    }
    assert (rows["with an answer"]["silent"], rows["adversarial"]["silent"], rows["never said"]["silent"]) == (0, 0, 1)
    assert (rows["with an answer"]["wordless"], rows["never said"]["wordless"]) == (0, 1)
    assert rows["never said"]["likeness"][2] < rows["with an answer"]["likeness"][0]


def test_without_an_embedder_there_is_nothing_to_count(tmp_path: Path) -> None:
    file = tmp_path / "talk.json"
    file.write_text(json.dumps(conversation()))
    done = run(str(file), "--embedder", "none")
    assert done.returncode == 2
    assert "never silent" in done.stderr

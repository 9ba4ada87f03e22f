"""The benchmark of ranking arms runs on a conversation in LoCoMo's format and counts what it should."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.memory.tiny_onnx import write_model

REPOSITORY = Path(__file__).parents[2]


def conversation() -> dict[str, object]:
    """Forty invented turns; each question asks for one of them by its words."""
    lines = [f"The {colour} kettle stands on shelf {n}." for n, colour in enumerate(["red", "blue"] * 20)]
    turns = [{"speaker": "Ada", "dia_id": f"D1:{n}", "text": line} for n, line in enumerate(lines)]
    asked = [{"question": f"What stands on shelf {n}?", "category": 4, "evidence": [f"D1:{n}"]} for n in range(40)]
    malformed = {"question": "Which?", "category": 1, "evidence": ["D1:3; D1:4", "D9:9"]}
    adversarial = {"question": "Who is the king?", "category": 5, "evidence": ["D1:1"]}
    return {"session_1": turns, "session_1_date_time": "now", "qa": [*asked, malformed, adversarial, {**adversarial}]}


def test_each_arm_is_measured_over_the_questions_that_have_answers(tmp_path: Path) -> None:
    file = tmp_path / "talk.json"
    file.write_text(json.dumps(conversation()))
    model = write_model(tmp_path / "model")
    command = [sys.executable, "-m", "benchmarks.recall_arms", str(file), "--model", str(model), "--json"]
    done = subprocess.run(
        [*command, "--chunks", "3"], capture_output=True, text=True, check=True, cwd=REPOSITORY, timeout=300
    )
    report = json.loads(done.stdout)
    assert report["questions"] == 41
    arms = report["arms"]
    assert arms["bm25"]["whole"] > 0.9
    assert arms["recency"]["whole"] < 0.2
    assert all(0 <= arm["whole"] <= arm["parts"] <= 1 for arm in arms.values())
    assert all(0 < arm["tokens"] <= 3000 for arm in arms.values())

"""``otto status``, ``view``, ``recall`` and ``verify``: looking into a session without touching it."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from sessions.options import Options
from sessions.tapes import tape_path
from tests.otto_tui.processes import here
from tests.sessions.made_sessions import conversation, made, options_for

ID = "20260302-beans1"


@pytest.fixture
def options(tmp_path: Path) -> Options:
    options = options_for(tmp_path / "home")
    made(options, ID, conversation(30))
    return options


def text(options: Options, *args: str) -> str:
    done = here(*args, home=options.home)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def value(options: Options, *args: str) -> Any:
    return json.loads(text(options, *args, "--json"))


def test_status(options: Options) -> None:
    status = value(options, "status", "last")
    assert set(status) >= {"id", "turns", "events", "generation", "x", "y", "chunks", "embedding", "compacting"}
    assert set(status["x"]) >= {"tokens", "budget", "items"}
    assert set(status["y"]) >= {"tokens", "budget", "raw_items", "bullets", "protected"}
    assert set(status["embedding"]) >= {"stamp", "embedded", "waiting"}
    assert (status["id"], status["turns"], status["compacting"]) == (ID, 30, False)
    assert status["generation"] >= 3
    assert 0 < status["y"]["protected"] <= status["y"]["bullets"]
    assert status["embedding"]["stamp"] is None
    shown = text(options, "status", "2026")
    assert f"generation  {status['generation']}" in shown
    assert f"{status['y']['bullets']} bullets ({status['y']['protected']} in your own words)" in shown


def test_view_is_what_a_request_carries(options: Options) -> None:
    messages = value(options, "view", "last")
    assert messages[0]["role"] == "system"
    assert all({"role", "content"} <= set(message) for message in messages)
    carried = "\n".join(str(message["content"]) for message in messages)
    assert carried.count("must get exactly") >= 1
    assert "Question 30:" in carried
    shown = text(options, "view", "last")
    assert shown.startswith("--- system\n")
    assert "\n--- user\n" in shown


def test_recall_by_question(options: Options) -> None:
    found = value(options, "recall", "last", "how", "many", "litres", "for", "bed", "3?")
    assert set(found) >= {"ranked_by", "tokens", "items"}
    assert set(found["items"][0]) >= {"seq", "id", "speaker", "kind", "t_event", "text", "score", "neighbour"}
    assert any("bed 3 must get exactly 3 litres" in item["text"] for item in found["items"])
    assert [item["seq"] for item in found["items"]] == sorted(item["seq"] for item in found["items"])
    shown = text(options, "recall", "last", "how many litres for bed 3?")
    assert "bed 3 must get exactly 3 litres" in shown
    assert f"ranked by {found['ranked_by']}." in shown.splitlines()[-1]


def test_recall_where_nothing_has_left_the_view(options: Options) -> None:
    made(options, "20260303-kale22", conversation(1), x_budget=5_000, y_budget=5_000)
    assert value(options, "recall", "last", "bed 1")["items"] == []
    assert text(options, "recall", "last", "bed 1").startswith("Nothing was found.")


def test_recall_by_id(options: Options) -> None:
    item = value(options, "recall", "last", "bed 3 litres")["items"][0]
    by_event = value(options, "recall", "last", "--id", item["id"])
    assert (by_event["found_as"], by_event["ranked_by"]) == ("event", "id")
    assert by_event["items"][0]["text"].find(item["text"]) >= 0
    by_chunk = value(options, "recall", "last", "--id", item["chunk"])
    assert by_chunk["found_as"] == "chunk"
    start, end = by_chunk["span"]
    assert by_chunk["items"][0]["text"][start:end] == item["text"]
    assert item["text"] in text(options, "recall", "last", "--id", item["chunk"])
    done = here("recall", "last", "--id", "ffffffffffff", home=options.home)
    assert done.returncode == 1
    assert done.stderr.startswith(b"Error: ")


def test_verify(options: Options) -> None:
    made(options, "20260303-kale22", conversation(2))
    report = value(options, "verify", ID)
    assert report["ok"] is True
    assert all(check == {"name": check["name"], "ok": True, "rows": []} for check in report["checks"])
    every = value(options, "verify", "all")
    assert {check["session"] for check in every["checks"]} == {ID, "20260303-kale22"}
    assert len(every["checks"]) == 2 * len(report["checks"])
    assert f"All {len(report['checks'])} checks hold." in text(options, "verify", "all")


@pytest.fixture
def broken(options: Options) -> Options:
    db = sqlite3.connect(tape_path(options.home, ID))
    with db:
        db.execute("DELETE FROM bullet_refs WHERE seq = 3")
    db.close()
    made(options, "20260303-kale22", conversation(2))
    return options


def test_verify_names_the_rows_that_are_wrong(broken: Options) -> None:
    done = here("verify", ID, "--json", home=broken.home)
    assert done.returncode == 1
    report = json.loads(done.stdout)
    wrong = [check for check in report["checks"] if not check["ok"]]
    assert report["ok"] is False
    assert any("3" in row for check in wrong for row in check["rows"])
    shown = here("verify", "all", home=broken.home)
    assert shown.returncode == 1
    assert b"BROKEN" in shown.stdout
    assert b"20260303-kale22:" in shown.stdout
    assert here("verify", "20260303", home=broken.home).returncode == 0


def test_verify_of_a_damaged_file(options: Options) -> None:
    tape_path(options.home, ID).write_bytes(b"not a database at all, but long enough to be looked at" * 100)
    made(options, "20260303-kale22", conversation(2))
    for args in (["verify", ID], ["verify", "all"]):
        done = here(*args, "--json", home=options.home)
        report = json.loads(done.stdout)
        assert (done.returncode, report["ok"]) == (1, False)
        (wrong,) = [check for check in report["checks"] if not check["ok"]]
        assert wrong["name"] == "the file opens"
    done = here("status", ID, home=options.home)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    "args", [("status", "last"), ("view", "last"), ("recall", "last", "beds"), ("verify", "last"), ("sessions",)]
)
def test_looking_changes_nothing(options: Options, args: tuple[str, ...]) -> None:
    # With budgets so small, a session that was opened for writing would begin to compact.
    small = {"OTTO_MEMORY__X_BUDGET": "50", "OTTO_MEMORY__Y_BUDGET": "100"}
    before = {path: path.read_bytes() for path in options.home.rglob("*.db")}
    assert here(*args, home=options.home, environ=small).returncode == 0
    assert {path: path.read_bytes() for path in options.home.rglob("*.db")} == before


@pytest.mark.parametrize("args", [("status", "x"), ("view", "x"), ("recall", "x", "y"), ("verify", "x")])
def test_an_unknown_session_is_a_sentence(tmp_path: Path, args: tuple[str, ...]) -> None:
    done = here(*args, home=tmp_path / "home")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b'Error: There is no session "x".')
    assert not (tmp_path / "home").exists()

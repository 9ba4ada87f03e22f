"""The debug log: sizes, times and decisions, no keys, no words unless asked for, and never in the way."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from memory.observations import OBSERVATIONS
from sessions.chat_model import ModelError
from sessions.observing import debug_log
from sessions.observing.debug_log import DebugLog, log_file
from sessions.options import LedgerSettings, Options, Provider
from tests.sessions.observing.conversations import options_for, talking
from tests.sessions.observing.note_takers import NoteTaker

KEY = "sk-loopback-0123456789"
ODD_KEY = "correct horse battery"


def logged(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def options_with_keys(home: Path, **ledger: bool) -> Options:
    return Options(
        home=home,
        environ={"OPENAI_API_KEY": KEY, "SERVER": ODD_KEY, "PATH": "/usr/bin"},
        providers={"local": Provider("local", "http://127.0.0.1:1/v1", "SERVER")},
        ledger=LedgerSettings(debug_log=True, **ledger),
    )


async def test_it_is_off_unless_asked_for(tmp_path: Path) -> None:
    async with talking(options_for(tmp_path)) as talk:
        await talk.say(10)
    assert not (tmp_path / "logs").exists()


async def test_each_run_is_told_with_its_sizes_and_what_was_decided(tmp_path: Path) -> None:
    async with talking(options_for(tmp_path, ledger={"debug_log": True})) as talk:
        await talk.say(30)
        path = log_file(tmp_path, talk.session.id)
        memory = talk.session._memory
        assert memory is not None
        batches = await memory.run(memory.store.ledger, "message", OBSERVATIONS)
    lines = logged(path)
    done = [line for line in lines if line["what"] == "done" and line["stage"] == "observe"]
    assert [(line["recorded"], line["covers"]) for line in done] == [
        (len(batch.data["observations"]), batch.data["covers"]) for batch in batches
    ]
    assert all(line["requests"] == 2 and line["prompt_tokens"] == 100 and line["read_tokens"] > 0 for line in done)
    assert all(line["model"] == "test/notes" and line["seconds"] >= 0 and not line["by_text"] for line in done)
    passes = [line for line in lines if line["what"] == "pass"]
    assert len(passes) >= 30
    assert [line["unread"] >= 150 for line in passes] == [line["due"] for line in passes]
    assert sum(line["due"] for line in passes) == len(done)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    said = path.read_text("utf-8")
    assert "keep port" not in said
    assert "What entry" not in said


async def test_what_was_said_is_there_where_that_is_asked_for(tmp_path: Path) -> None:
    async with talking(options_for(tmp_path, ledger={"debug_log": True, "debug_log_text": True})) as talk:
        await talk.say(10)
        path = log_file(tmp_path, talk.session.id)
    assert any("please keep port 4001 free" in line.get("prompt", "") for line in logged(path))


async def test_a_failure_is_told_by_its_kind_and_without_the_vendors_words(tmp_path: Path) -> None:
    notes = NoteTaker(lambda request: [ModelError(f"You said: secret plans, with {KEY}.", "auth")])
    async with talking(options_for(tmp_path, ledger={"debug_log": True}), notes) as talk:
        await talk.say(10)
        path = log_file(tmp_path, talk.session.id)
    failed = [line for line in logged(path) if line["what"] == "failed"]
    assert {line["kind"] for line in failed} == {"auth"}
    assert "secret plans" not in path.read_text("utf-8")


@pytest.mark.parametrize("with_text", [False, True])
def test_no_key_ever_reaches_it(tmp_path: Path, with_text: bool) -> None:
    log = DebugLog(options_with_keys(tmp_path, debug_log_text=with_text), "s1")
    words = f'{ODD_KEY} "quoted" Bearer abc\\"def https://me:pass@host/x?key=1234567'
    assert log.write("done", text={"prompt": f"{KEY} {words}"}, model=f"openai/{KEY}", nested={"deep": words}) is None
    said = log.path.read_text("utf-8")
    for secret in (KEY, ODD_KEY, "me:pass", "1234567"):
        assert secret not in said
    (line,) = logged(log.path)
    assert line["model"] == "openai/***"
    assert ("prompt" in line) is with_text


def test_it_is_turned_over_to_one_backup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debug_log, "MOST_BYTES", 1_000)
    log = DebugLog(options_with_keys(tmp_path), "s1")
    for number in range(100):
        log.write("done", number=number)
    backup = log.path.with_name(log.path.name + ".1")
    assert sorted(path.name for path in log.path.parent.iterdir()) == [log.path.name, backup.name]
    assert max(log.path.stat().st_size, backup.stat().st_size) <= 1_000
    numbers = [line["number"] for path in (backup, log.path) for line in logged(path)]
    assert numbers == list(range(numbers[0], 100))


def test_a_log_that_cannot_be_written_says_so_once(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("in the way")
    log = DebugLog(options_with_keys(tmp_path), "s1")
    problem = log.write("done")
    assert problem is not None
    assert problem.startswith(f"The debug log {log.path} cannot be written (")
    assert log.write("done") is None


async def test_a_log_that_cannot_be_written_changes_nothing_for_the_memory(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("in the way")
    async with talking(options_for(tmp_path, ledger={"debug_log": True})) as talk:
        await talk.say(20)
        assert not (await talk.state()).empty
        assert [notice.startswith("The debug log ") for notice in talk.notices] == [True]


@pytest.mark.parametrize(
    ("session", "name"),
    [("20260302-garden", "20260302-garden.ndjson"), ("../../x", "______x.ndjson"), ("ä" * 200, "_" * 128 + ".ndjson")],
)
def test_the_name_of_a_session_leads_nowhere_else(tmp_path: Path, session: str, name: str) -> None:
    assert log_file(tmp_path, session) == tmp_path / "logs" / name


def test_lone_surrogates_are_no_reason_to_fail(tmp_path: Path) -> None:
    log = DebugLog(options_with_keys(tmp_path, debug_log_text=True), "s1")
    assert log.write("done", text={"prompt": "half \ud800 of a pair"}) is None
    assert len(logged(log.path)) == 1

"""``otto sessions``: everything that can be done with a whole session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sessions.options import Options
from tests.memory.embedders import MINILM
from tests.otto_tui.processes import here
from tests.sessions.made_sessions import conversation, made, options_for


@pytest.fixture
def options(tmp_path: Path) -> Options:
    options = options_for(tmp_path / "home")
    made(options, "20260302-beans1", conversation(30), title="Beans [/bold] \x1b[2J")
    made(options, "20260303-kale22", conversation(3, words="the zebra grazes"), title="Kale")
    return options


def run(options: Options, *args: str) -> str:
    done = here("sessions", *args, home=options.home)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def run_json(options: Options, *args: str) -> Any:
    return json.loads(run(options, *args, "--json"))


def refused(options: Options, *args: str) -> str:
    done = here("sessions", *args, home=options.home)
    assert (done.returncode, done.stdout) == (1, b"")
    sentence: str = done.stderr.decode()
    assert sentence.startswith("Error: ")
    assert sentence.count("\n") == 1
    return sentence


def test_the_list(options: Options) -> None:
    head, *rows = run(options).splitlines()
    assert head.split() == ["id", "updated", "turns", "title", "workspace"]
    assert [row.split()[0] for row in rows] == ["20260303-kale22", "20260302-beans1"]
    assert "Beans [/bold] ␛[2J" in rows[1]


def test_the_list_as_json(options: Options) -> None:
    newest, oldest = run_json(options)
    assert set(newest) == {"id", "title", "workspace", "turns", "created", "updated", "parent"}
    assert (oldest["id"], oldest["turns"], oldest["parent"]) == ("20260302-beans1", 30, None)
    assert oldest["workspace"] == "/home/sam/garden"
    assert oldest["created"] < oldest["updated"]


def test_an_empty_home(tmp_path: Path) -> None:
    done = here("sessions", home=tmp_path / "home")
    assert done.stdout == b"There is no session yet. Type otto to start one.\n"
    assert here("sessions", "--json", home=tmp_path / "home").stdout == b"[]\n"
    assert not (tmp_path / "home").exists()


def test_a_search_in_titles_and_in_what_was_said(options: Options) -> None:
    assert [row["id"] for row in run_json(options, "beans")] == ["20260302-beans1", "20260303-kale22"]
    (found,) = run_json(options, "zebra", "grazes")
    assert found["id"] == "20260303-kale22"
    assert "zebra" in found["snippet"]
    assert "zebra" in run(options, "zebra").splitlines()[2]
    assert run(options, "submarine") == "No session has these words.\n"


def test_export_to_a_folder_a_file_and_standard_output(
    options: Options, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(options, "--export", "20260303") == "Written to 20260303-kale22.json.\n"
    text = (tmp_path / "20260303-kale22.json").read_text()
    assert json.loads(text)["session"]["id"] == "20260303-kale22"
    assert run(options, "--export", "last", "-o", "-") == text
    report = run_json(options, "--export", "last", "--format", "markdown", "--output", "notes.md")
    assert report == {"id": "20260303-kale22", "path": "notes.md", "format": "markdown"}
    assert (tmp_path / "notes.md").read_text().startswith("# Kale")
    assert "tape" in json.loads(run(options, "--export", "last", "--tape", "-o", "-"))


def test_an_export_replaces_nothing_unasked(options: Options, tmp_path: Path) -> None:
    target = tmp_path / "x.json"
    target.write_text("mine")
    assert "exists already" in refused(options, "--export", "last", "-o", str(target))
    assert target.read_text() == "mine"
    run(options, "--export", "last", "-o", str(target), "--overwrite")
    assert json.loads(target.read_text())["format"] == "otto-session"


def test_export_import_export_is_the_same_under_another_home(options: Options, tmp_path: Path) -> None:
    other = options_for(tmp_path / "other")
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    run(options, "--export", "20260302", "--tape", "-o", str(first))
    done = here("sessions", "--import", str(first), "--json", home=other.home)
    assert json.loads(done.stdout)["id"] == "20260302-beans1"
    assert "recall ranks by keyword and recency" in done.stderr.decode()
    run(other, "--export", "20260302", "--tape", "-o", str(second))
    assert second.read_bytes() == first.read_bytes()
    assert here("verify", "all", home=other.home).returncode == 0


def test_an_import_never_overwrites(options: Options, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    run(options, "--export", "last", "-o", str(file))
    done = here("sessions", "--import", str(file), home=options.home)
    assert b"Note: " in done.stderr
    assert [row["id"] for row in run_json(options)].count("20260303-kale22") == 1
    assert len(run_json(options)) == 3


@pytest.mark.parametrize(
    "content", [b"", b"not json", b"[]", b'{"format": "otto-session"}', b"[" * 100_000, b"\xff\xfe"]
)
def test_what_cannot_be_imported(options: Options, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(content)
    refused(options, "--import", str(file))
    assert len(run_json(options)) == 2


def test_an_import_of_no_file(options: Options, tmp_path: Path) -> None:
    refused(options, "--import", str(tmp_path / "nothing.json"))
    refused(options, "--import", str(tmp_path))


def test_rename(options: Options) -> None:
    assert run(options, "--rename", "20260303", " Zebra\nfood ") == '20260303-kale22 is now called "Zebra food".\n'
    assert run_json(options)[0]["title"] == "Zebra food"
    assert run_json(options, "--rename", "last", "Kale")["title"] == "Kale"
    refused(options, "--rename", "last", " \n ")
    refused(options, "--rename", "nope", "x")


def test_delete_and_undo(options: Options) -> None:
    assert run(options, "--delete", "last").startswith('Deleted "Kale" (20260303-kale22).')
    assert [row["id"] for row in run_json(options)] == ["20260302-beans1"]
    assert run(options, "--undo") == '"Kale" is back as 20260303-kale22.\n'
    assert len(run_json(options)) == 2
    assert "Nothing has been deleted" in refused(options, "--undo")
    refused(options, "--delete", "nope")
    assert "fits 2 sessions" in refused(options, "--delete", "2026")


def test_fork(options: Options) -> None:
    fork = run_json(options, "--fork", "20260302", "--at", "4")
    assert (fork["parent"], fork["turns"]) == ("20260302-beans1", 2)
    assert here("verify", fork["id"], home=options.home).returncode == 0
    refused(options, "--fork", "20260302", "--at", "99999")


def test_reembed_without_an_embedder(options: Options) -> None:
    assert "No embedding model" in refused(options, "--reembed", "last")
    done = here("sessions", "--reembed", "all", home=options.home)
    assert done.returncode == 1
    assert b"2 sessions keep their old vectors" in done.stderr


@pytest.mark.skipif(not MINILM.is_dir(), reason="no weights beside the checkout")
def test_reembed_with_weights_on_disk(options: Options) -> None:
    done = here(
        *("sessions", "--reembed", "all"),
        home=options.home,
        environ={"OTTO_EMBEDDING_MODEL": "", "OTTO_EMBEDDING__MODEL_PATH": str(MINILM)},
    )
    assert (done.returncode, done.stdout) == (0, b"2 of 2 sessions have new vectors.\n")
    assert b"20260303-kale22: " in done.stderr
    status = json.loads(here("status", "last", "--json", home=options.home).stdout)
    assert status["embedding"]["stamp"].startswith("fastembed:")
    assert status["embedding"]["waiting"] == 0
    assert status["embedding"]["embedded"] > 0

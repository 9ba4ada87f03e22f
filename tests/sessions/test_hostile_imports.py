"""Files that are no exports, and files that mean harm: one sentence each, and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from memory.bullet_fold import BulletFold
from memory.errors import StoreUnavailable
from memory.store import MemoryStore
from memory.tier_ledger import COMPACTED
from memory.verify import verify
from sessions import importing, tapes
from sessions.errors import ImportRefused
from sessions.export import export
from sessions.export_document import LARGEST_IMPORT
from sessions.importing import import_file
from sessions.options import Options
from tests.sessions.made_sessions import conversation, made, options_for
from tests.sessions.unprivileged import as_nobody

ID = "20260302-garden"


@pytest.fixture
def options(tmp_path: Path) -> Options:
    return options_for(tmp_path / "home")


@pytest.fixture
def sound(tmp_path: Path) -> bytes:
    elsewhere = options_for(tmp_path / "elsewhere")
    row = made(elsewhere, ID, conversation(20))
    return export(elsewhere, row, tmp_path / "sound.json", format="json", tape=True, overwrite=False).read_bytes()


def refusal_of(options: Options, path: Path) -> str:
    with pytest.raises(ImportRefused) as refusal:
        import_file(options, path)
    said = str(refusal.value)
    assert "\n" not in said
    assert len(said) < 500
    assert not options.home.exists() or not [file for file in options.home.rglob("*") if file.is_file()]
    return said


NOT_EXPORTS = {
    "empty": (b"", "not whole JSON"),
    "prose": (b"Hello, this is a letter.", "not whole JSON"),
    "not UTF-8": (b'{"format": "\xff\xfe"}', "not UTF-8"),
    "UTF-16": ('{"format": 1}'.encode("utf-16"), "not UTF-8"),
    "a list": (b"[]", "format"),
    "a number": (b"5", "format"),
    "null": (b"null", "format"),
    "another format": (b'{"conversations": []}', "format"),
    "only the format": (b'{"format": "otto-session"}', "version"),
    "only the head": (b'{"format": "otto-session", "version": 1}', "session: is missing"),
    "twice the same key": (b'{"format": "otto-session", "format": "otto-session"}', "stands twice"),
    "NaN": (b'{"format": NaN}', "NaN"),
    "infinity": (b'{"format": 1e999}', "too large"),
    "an endless number": (b'{"format": ' + b"9" * 10_000 + b"}", "JSON that can be imported"),
    "nested lists": (b'{"format": ' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}", "nested too deeply"),
    "nested objects": (b'{"a":' * 1_000_000, "nested too deeply"),
    "a database": (b"SQLite format 3\0" + bytes(500), "not whole JSON"),
}


@pytest.mark.parametrize("name", NOT_EXPORTS)
def test_what_is_no_export_is_refused_in_one_sentence(options: Options, tmp_path: Path, name: str) -> None:
    data, said = NOT_EXPORTS[name]
    (tmp_path / "a.json").write_bytes(data)
    assert said in refusal_of(options, tmp_path / "a.json")


def test_a_newer_version_asks_for_an_upgrade(options: Options, tmp_path: Path, sound: bytes) -> None:
    (tmp_path / "a.json").write_text(json.dumps({**json.loads(sound), "version": 2}))
    assert "newer Otto" in refusal_of(options, tmp_path / "a.json")


def test_a_truncated_export_is_refused_wherever_it_ends(options: Options, tmp_path: Path, sound: bytes) -> None:
    for end in range(1, len(sound) - 3, len(sound) // 40):
        (tmp_path / "a.json").write_bytes(sound[:end])
        assert "The file is not" in refusal_of(options, tmp_path / "a.json")


@pytest.mark.parametrize("depth", [5, 90, 110, 300, 900, 990])
def test_nesting_inside_the_extras_of_an_event_is_kept_or_refused(
    options: Options, tmp_path: Path, sound: bytes, depth: int
) -> None:
    document = json.loads(sound)
    del document["tape"]
    document["recent"][0]["meta"]["more"] = "@"
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document).replace('"@"', "[" * depth + "]" * depth))
    if depth > 100:
        assert "nested" in refusal_of(options, path)
        return
    row = import_file(options, path)
    with MemoryStore(tapes.tape_path(options.home, row.id), read_only=True) as store:
        assert verify(store).ok


def test_200_mb_are_refused_before_they_are_read(
    options: Options, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "big.json"
    with path.open("wb") as file:
        file.truncate(200_000_000)

    def no_reading(data: bytes) -> None:
        raise AssertionError("it was read")

    monkeypatch.setattr(importing, "parsed", no_reading)
    assert f"{LARGEST_IMPORT // 1_000_000} MB" in refusal_of(options, path)


def test_a_file_that_grows_past_the_limit_while_it_is_read_is_refused(
    options: Options, tmp_path: Path, sound: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "LARGEST_IMPORT", 100)
    monkeypatch.setattr(Path, "stat", lambda path, **_: os.stat_result((0o100600, 0, 0, 1, 0, 0, 50, 0, 0, 0)))
    with pytest.raises(ImportRefused, match="larger than"):
        importing.read(tmp_path / "sound.json")


@pytest.mark.parametrize("name", ["missing.json", "folder", "name\x1b[2J.json", "nul\0.json", "x" * 5_000])
def test_what_is_no_file_is_one_sentence_without_control_characters(
    options: Options, tmp_path: Path, name: str
) -> None:
    (tmp_path / "folder").mkdir()
    assert "\x1b" not in refusal_of(options, tmp_path / name)


def test_a_file_that_may_not_be_read_is_one_sentence(options: Options, tmp_path: Path) -> None:
    path = tmp_path / "secret.json"
    path.write_text("{}")
    path.chmod(0)
    assert "cannot be read" in as_nobody(tmp_path, lambda: refusal_of(options, path))


def test_a_home_that_cannot_be_written_is_one_sentence(options: Options, tmp_path: Path, sound: bytes) -> None:
    (tmp_path / "sound.json").chmod(0o644)
    options.home.mkdir(mode=0o555)

    def try_it() -> str:
        with pytest.raises(StoreUnavailable) as refusal:
            import_file(options, tmp_path / "sound.json")
        return str(refusal.value)

    said = as_nobody(options.home, try_it)
    assert "OTTO_HOME" in said
    assert "\n" not in said


def test_a_disk_that_fills_up_is_one_sentence_and_leaves_nothing(
    options: Options, sound: bytes, tmp_path: Path
) -> None:
    # A limit on the size of files fails a write as a full disk does.
    code = (
        "import resource, sys; from pathlib import Path;"
        "from memory.errors import StoreUnavailable; from sessions.importing import import_file;"
        "from tests.sessions.made_sessions import options_for;"
        "import memory.migrations, memory.verify;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))\n"
        "try: import_file(options_for(Path(sys.argv[1])), Path(sys.argv[2]))\n"
        "except StoreUnavailable as error: print(error)"
    )
    arguments = [sys.executable, "-c", code, str(options.home), str(tmp_path / "sound.json")]
    done = subprocess.run(arguments, capture_output=True, text=True)
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 1
    assert [file for file in options.home.rglob("*") if file.is_file()] == []


def test_duplicate_ids_are_refused(options: Options, tmp_path: Path, sound: bytes) -> None:
    for place, named in ((("tape", "events"), "tape.events[1].id"), (("recent",), "recent[")):
        document = json.loads(sound)
        part = document
        for step in place:
            part = part[step]
        part[1]["id"] = part[0]["id"]
        (tmp_path / "a.json").write_text(json.dumps(document))
        assert refusal_of(options, tmp_path / "a.json").startswith(named)


def test_references_of_ledger_bullets_cannot_be_used_to_fill_the_memory(
    options: Options, tmp_path: Path, sound: bytes
) -> None:
    document = json.loads(sound)
    compacted = next(row for row in document["tape"]["ledger"] if row["entry"] == "compacted")
    compacted["data"]["added"][0]["seqs"] = [[1, 2**53]]
    (tmp_path / "a.json").write_text(json.dumps(document))
    assert refusal_of(options, tmp_path / "a.json").startswith("tape.ledger[")


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"inherits": ["0123456789ab"]}, "inherits[0]: is no bullet that stood before"),
        ({"inherits": "all"}, "inherits"),
        ({"seqs": []}, "seqs: is empty"),
    ],
)
def test_a_bullet_of_the_ledger_inherits_only_from_what_stood_before_it(
    options: Options, tmp_path: Path, sound: bytes, fields: dict[str, object], named: str
) -> None:
    document = json.loads(sound)
    place, compacted = next(
        (place, row) for place, row in enumerate(document["tape"]["ledger"]) if row["entry"] == "compacted"
    )
    compacted["data"]["added"][0].update(fields)
    (tmp_path / "a.json").write_text(json.dumps(document))
    assert refusal_of(options, tmp_path / "a.json").startswith(f"tape.ledger[{place}].data.added[0].{named}")


def test_bullets_that_inherit_from_each_other_many_times_over_are_walked_once() -> None:
    """Two parents each, for a hundred generations: as many ways back as there are atoms, and 200 lines."""
    fold = BulletFold()
    names = ["a", "b"]
    fold.take(COMPACTED, {"removed": [], "added": [{"id": name, "seqs": [[1, 2]]} for name in names]})
    for _ in range(100):
        added = [{"id": name, "seqs": [], "inherits": names} for name in names]
        fold.take(COMPACTED, {"removed": names, "added": added})
    line = fold.get("a")
    assert line is not None
    assert line.seqs(most=1_000) == (1, 2)
    with pytest.raises(ValueError, match="more than 50 steps"):
        line.seqs(most=50)


def test_hidden_text_in_what_is_refused_does_not_reach_the_sentence(
    options: Options, tmp_path: Path, sound: bytes
) -> None:
    document = json.loads(sound)
    document["session"]["\x1b[2J\u202e" + "x" * 5_000] = 1
    (tmp_path / "a.json").write_text(json.dumps(document))
    said = refusal_of(options, tmp_path / "a.json")
    assert "\x1b" not in said
    assert "\u202e" not in said


IMPORTER = """
import os, signal, sys
from pathlib import Path
from sessions import importing, tape_building
from tests.sessions.made_sessions import options_for

def die(*_args, **_kwargs):
    os.kill(os.getpid(), signal.SIGKILL)

stage = sys.argv[3]
if stage == "written":
    importing._compare = die
elif stage == "verified":
    importing.finish = die
elif stage == "naming":
    tape_building.sync_folder = die
    import sessions.private_files as files
    files.sync_folder = die
importing.import_file(options_for(Path(sys.argv[1])), Path(sys.argv[2]))
"""


@pytest.mark.parametrize("stage", ["written", "verified", "naming"])
def test_a_kill_leaves_a_whole_session_or_none(options: Options, tmp_path: Path, sound: bytes, stage: str) -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTER, str(options.home), str(tmp_path / "sound.json"), stage])
    assert done.returncode == -signal.SIGKILL
    for id in tapes.tape_ids(options.home):
        with MemoryStore(tapes.tape_path(options.home, id), read_only=True) as store:
            assert verify(store).ok
    row = import_file(options, tmp_path / "sound.json")
    assert row.id == (f"{ID}-2" if stage == "naming" else ID)
    left = [file.name for file in tapes.folder(options.home).iterdir() if file.name.startswith(".")]
    assert left == []

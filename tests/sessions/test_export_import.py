"""Export and import: the same bytes again, or a refusal that names the field."""

from __future__ import annotations

import asyncio
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from memory.queue import TieredQueue
from memory.store import CONVERSATION, MemoryStore
from memory.verify import verify
from sessions import tapes
from sessions.errors import ExportRefused, ImportRefused
from sessions.library import Library
from sessions.options import Options
from tests.sessions.made_sessions import conversation, made, options_for, short_summary

ID = "20260302-garden"


@pytest.fixture
def options(tmp_path: Path) -> Options:
    return options_for(tmp_path / "home")


def elsewhere(tmp_path: Path, name: str = "other") -> Library:
    return Library(options_for(tmp_path / name))


async def exported(library: Library, id: str, path: Path, *, tape: bool) -> bytes:
    return (await library.export(id, path, tape=tape, overwrite=True)).read_bytes()


@pytest.mark.parametrize("tape", [False, True])
@pytest.mark.parametrize("turns", [1, 3, 60])
async def test_export_import_export_is_the_same_bytes(options: Options, tmp_path: Path, turns: int, tape: bool) -> None:
    made(options, ID, conversation(turns))
    first = await exported(Library(options), ID, tmp_path / "first.json", tape=tape)
    other = elsewhere(tmp_path)
    row = await other.import_file(tmp_path / "first.json")
    assert row.id == ID
    assert row.notice is None
    second = await exported(other, ID, tmp_path / "second.json", tape=tape)
    assert second == first
    report = await other.verify(ID)
    assert report.ok, report


async def test_an_import_without_the_tape_exports_with_the_tape_and_comes_back_the_same(
    options: Options, tmp_path: Path
) -> None:
    made(options, ID, conversation(40))
    await Library(options).export(ID, tmp_path / "a.json")
    second = elsewhere(tmp_path, "second")
    await second.import_file(tmp_path / "a.json")
    whole = await exported(second, ID, tmp_path / "b.json", tape=True)
    third = elsewhere(tmp_path, "third")
    await third.import_file(tmp_path / "b.json")
    assert await exported(third, ID, tmp_path / "c.json", tape=True) == whole


@pytest.mark.parametrize("tape", [False, True])
async def test_an_export_comes_in_where_tokens_are_counted_otherwise(
    options: Options, tmp_path: Path, tape: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(options, ID, conversation(60, words="ñandú — fünf Öfen, 漢字 — at dawn"))
    await Library(options).export(ID, tmp_path / "a.json", tape=tape)
    given = json.loads((tmp_path / "a.json").read_text())
    monkeypatch.setattr("memory.tokens._encoding", lambda: None)
    other = elsewhere(tmp_path)
    await other.import_file(tmp_path / "a.json")
    assert (await other.verify(ID)).ok
    made_again = json.loads((await other.export(ID, tmp_path / "b.json", tape=tape)).read_text())
    assert made_again["bullets"] == given["bullets"]
    assert made_again["chunks"] == given["chunks"]


async def test_an_import_whose_view_is_over_its_budgets_is_cut_to_them(options: Options, tmp_path: Path) -> None:
    made(options, ID, conversation(20), x_budget=2_000, y_budget=2_000)
    await Library(options).export(ID, tmp_path / "a.json")
    document = json.loads((tmp_path / "a.json").read_text())
    (tmp_path / "b.json").write_bytes(altered(document, ["budgets"], {"x": 100, "y": 200}))
    other = elsewhere(tmp_path)
    await other.import_file(tmp_path / "b.json")
    assert (await other.verify(ID)).ok
    with MemoryStore(tapes.tape_path(other.options.home, ID), read_only=True) as store:
        assert {item.tier for item in store.pending(CONVERSATION)} == {"x", "y"} or store.bullets(CONVERSATION)


async def test_an_import_keeps_tiers_bullets_generation_ids_and_times(options: Options, tmp_path: Path) -> None:
    made(options, ID, conversation(60))
    await Library(options).export(ID, tmp_path / "a.json")
    other = elsewhere(tmp_path)
    await other.import_file(tmp_path / "a.json")
    with (
        MemoryStore(tapes.tape_path(options.home, ID), read_only=True) as old,
        MemoryStore(tapes.tape_path(other.options.home, ID), read_only=True) as new,
    ):
        assert new.generation(CONVERSATION) == old.generation(CONVERSATION) > 2
        assert new.bullets(CONVERSATION) == old.bullets(CONVERSATION)
        assert new.pending(CONVERSATION) == old.pending(CONVERSATION)
        kept = [event for event in old.events() if event.kind != "note"]
        assert new.events() == kept
        assert new.counts().chunks == old.counts().chunks


async def test_an_imported_session_goes_on_and_compacts(options: Options, tmp_path: Path) -> None:
    made(options, ID, conversation(30))
    await Library(options).export(ID, tmp_path / "a.json")
    other = elsewhere(tmp_path)
    await other.import_file(tmp_path / "a.json")
    with MemoryStore(tapes.tape_path(other.options.home, ID)) as store:
        queue = TieredQueue(store, summarize=short_summary, x_budget=120, y_budget=260, restore=True)
        before = queue.generation
        for event in conversation(20):
            queue.append(event)
        assert queue.generation > before
        assert verify(store).ok, verify(store)


async def test_the_transcript_is_the_same_before_and_after_a_compaction(options: Options, tmp_path: Path) -> None:
    made(options, ID, conversation(300), x_budget=100_000, y_budget=100_000)
    library = Library(options)
    markdown = await library.export(ID, tmp_path / "before.md", format="markdown")
    whole = await exported(library, ID, tmp_path / "before.json", tape=True)
    with MemoryStore(tapes.tape_path(options.home, ID), now=options.now) as store:
        queue = TieredQueue(store, summarize=short_summary, x_budget=500, y_budget=1_000, restore=True)
        assert queue.generation > 0
    again = await library.export(ID, tmp_path / "after.md", format="markdown")
    rule = "_" * 10 + "\n\n# Memory\n"
    assert "# Memory" not in markdown.read_text()
    assert again.read_text().startswith(markdown.read_text() + rule)
    after = json.loads(await exported(library, ID, tmp_path / "after.json", tape=True))
    assert after["tape"]["events"] == json.loads(whole)["tape"]["events"]
    assert after["session"] == json.loads(whole)["session"]
    lines = [line for line in whole.decode().splitlines() if '"thread"' in line]
    assert lines == [line for line in (tmp_path / "after.json").read_text().splitlines() if '"thread"' in line]


async def test_an_import_never_overwrites_and_says_what_it_is_called(options: Options, tmp_path: Path) -> None:
    made(options, ID, conversation(3))
    library = Library(options)
    await library.export(ID, tmp_path / "a.json")
    before = tapes.tape_path(options.home, ID).read_bytes()
    second = await library.import_file(tmp_path / "a.json")
    third = await library.import_file(tmp_path / "a.json")
    assert (second.id, third.id) == (f"{ID}-2", f"{ID}-3")
    assert second.notice is not None
    assert ID in second.notice
    assert second.id in second.notice
    assert tapes.tape_path(options.home, ID).read_bytes() == before
    assert {row.id for row in await library.list()} == {ID, f"{ID}-2", f"{ID}-3"}


async def test_an_export_is_private_and_never_overwrites_unless_told(options: Options, tmp_path: Path) -> None:
    made(options, ID, conversation(2))
    library = Library(options)
    path = await library.export(ID, tmp_path / "a.json")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_text("mine")
    with pytest.raises(ExportRefused, match="exists already"):
        await library.export(ID, path)
    assert path.read_text() == "mine"
    await library.export(ID, path, overwrite=True)
    assert json.loads(path.read_text())["format"] == "otto-session"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.json", "home"]


async def test_an_export_into_a_folder_is_named_after_the_session(options: Options, tmp_path: Path) -> None:
    made(options, ID, conversation(1))
    library = Library(options)
    assert await library.export(ID, tmp_path) == tmp_path / f"{ID}.json"
    assert await library.export(ID, tmp_path, format="markdown") == tmp_path / f"{ID}.md"


@pytest.mark.parametrize("name", ["missing/a.json", "home/sessions.db/a.json"])
async def test_an_export_that_cannot_be_written_is_one_sentence(options: Options, tmp_path: Path, name: str) -> None:
    made(options, ID, conversation(1))
    with pytest.raises(ExportRefused, match="cannot be written") as refusal:
        await Library(options).export(ID, tmp_path / name)
    assert "\n" not in str(refusal.value)


async def test_an_export_that_is_too_large_to_come_back_says_so(
    options: Options, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(options, ID, conversation(1))
    library = Library(options)
    await library.export(ID, tmp_path / "a.json")
    assert library.take_notices() == []
    monkeypatch.setattr("sessions.export_document.LARGEST_IMPORT", 100)
    await library.export(ID, tmp_path / "b.json")
    (notice,) = library.take_notices()
    assert "the most that can be imported" in notice


async def test_a_full_disk_leaves_no_half_export(
    options: Options, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(options, ID, conversation(1))
    out = tmp_path / "out"
    out.mkdir()

    def no_space(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sessions.private_files.os.fsync", no_space)
    with pytest.raises(ExportRefused, match="No space left"):
        await Library(options).export(ID, out / "a.json")
    assert list(out.iterdir()) == []


async def test_a_dash_writes_the_same_bytes_to_standard_output(
    options: Options, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    made(options, ID, conversation(2))
    library = Library(options)
    assert await library.export(ID, Path("-")) == Path("-")
    assert capfdbinary.readouterr().out == (await library.export(ID, tmp_path / "a.json")).read_bytes()


async def test_json_holds_nothing_that_a_terminal_obeys(options: Options, tmp_path: Path) -> None:
    hostile = "a\x1b[2Jb\x9b2Jc\x7f\u202ed\u2028e"
    events = [*conversation(1)]
    events[0] = type(events[0])(text=hostile, role="user", source="person")
    made(options, ID, events, title="safe")
    text = (await Library(options).export(ID, tmp_path / "a.json")).read_text()
    assert not [letter for letter in text if letter in "\x1b\x9b\x7f\u202e\u2028"]
    assert json.loads(text)["recent"][0]["text"] == hostile


async def test_an_export_while_the_session_is_written_is_of_one_moment(options: Options, tmp_path: Path) -> None:
    made(options, ID, conversation(20))
    library = Library(options)
    with MemoryStore(tapes.tape_path(options.home, ID), now=options.now) as store:
        queue = TieredQueue(store, summarize=short_summary, x_budget=120, y_budget=260, restore=True)

        def write() -> None:
            for event in conversation(40):
                queue.append(event)

        writing = asyncio.create_task(asyncio.to_thread(write))
        number = 0
        while not writing.done():
            number += 1
            await library.export(ID, tmp_path / f"{number}.json", tape=True)
        await writing
    for each in range(1, number + 1):
        row = await elsewhere(tmp_path, f"home{each}").import_file(tmp_path / f"{each}.json")
        assert row.id == ID


def altered(document: dict[str, Any], path: list[str | int], value: Any) -> bytes:
    copy = json.loads(json.dumps(document))
    part = copy
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    return json.dumps(copy).encode()


REFUSALS: list[tuple[list[str | int], Any, str]] = [
    (["format"], "other", "format"),
    (["version"], 2, "version"),
    (["version"], True, "version"),
    (["version"], "1", "version"),
    (["session", "id"], "../../etc/passwd", "session.id"),
    (["session", "title"], "two\nlines", "session.title"),
    (["session", "title"], "", "session.title"),
    (["session", "created"], "yesterday", "session.created"),
    (["session", "created"], "2026-11-30T00:00:00", "session.created"),
    (["session", "turns"], 7, "session.turns"),
    (["session", "turns"], -1, "session.turns"),
    (["session", "turns"], 1.0, "session.turns"),
    (["session", "parent"], "A B", "session.parent"),
    (["session", "colour"], "red", "session.colour"),
    (["session", "workspace"], "a\0b", "session.workspace"),
    (["generation"], 1, "bullets["),
    (["generation"], "5", "generation"),
    (["budgets"], {"x": 1, "y": 1}, "budgets.x"),
    (["recent"], {}, "recent"),
    (["recent", 0, "seq"], 1, "recent[0].seq"),
    (["recent", 1, "seq"], 1, "recent[1].seq"),
    (["recent", 0, "tier"], "z", "recent[0].tier"),
    (["recent", -1, "tier"], "y", "recent["),
    (["recent", 0, "kind"], "note", "recent[0].kind"),
    (["recent", 0, "role"], "wizard", "recent[0].role"),
    (["recent", 0, "t_event"], 5, "recent[0].t_event"),
    (["recent", 0, "text"], "a\ud800b", "recent[0].text"),
    (["recent", 0, "text"], "nul \0", "recent[0].text"),
    (["recent", 0, "meta"], [], "recent[0].meta"),
    (["recent", 0, "meta"], {"usage": {"prompt_tokens": "many"}}, "recent[0].meta.usage.prompt_tokens"),
    (["recent", 0, "meta"], {"usage": {"prompt_tokens": 2**62}}, "recent[0].meta.usage.prompt_tokens"),
    (["recent", 0, "meta"], {"deep": {"er": "\ud800"}}, "recent[0].meta"),
    (["recent", 0, "spans"], [[5, 2]], "recent[0].spans[0]"),
    (["recent", 0, "spans"], [[0, 10**9]], "recent[0].spans[0][1]"),
    (["recent", 0, "refs"], "abc", "recent[0].refs"),
    (["bullets", 1, "hash_refs", 0], "0123456789abcdef", "bullets[1].hash_refs[0]"),
    (["bullets", 1, "hash_refs", 0], "abc", "bullets[1].hash_refs[0]"),
    (["bullets", 1, "hash_refs"], [], "bullets[1].hash_refs"),
    (["bullets", 1, "seqs"], [], "bullets[1].seqs"),
    (["bullets", 1, "seqs"], [999_999], "bullets[1].seqs[0]"),
    (["bullets", 1, "form"], "poem", "bullets[1].form"),
    (["bullets", 1, "id"], "not hex", "bullets[1].id"),
    (["bullets", 1, "generation"], 99, "bullets[1].generation"),
    (["bullets", 0, "text"], "something else", "bullets[0].text"),
    (["chunks", 0, "hash"], "0123456789abcdef", "chunks[0].hash"),
    (["chunks", 0, "hash"], None, "chunks[0].hash"),
    (["chunks", 0, "text"], "other words", "chunks[0].hash"),
    (["chunks", 0, "start"], 3, "chunks[0].start"),
    (["chunks", 0, "length"], 3, "chunks[0].length"),
    (["chunks", 0, "id"], "else", "chunks[0].hash"),
    (["chunks", 0, "role"], "assistant", "tape.events[0].role"),
    (["tape", "events", 0, "text"], "other", "tape.events[0].text"),
    (["tape", "events", 1, "seq"], 1, "tape.events[1].seq"),
    (["tape", "events"], [], "tape.events"),
    (["tape", "ledger", 0, "data"], {}, "tape.ledger[0].data.at"),
    (["tape", "ledger", 0, "data", "at"], 10**6, "tape.ledger[0].data.at"),
    (["tape", "ledger", 0, "n"], 0, "tape.ledger[0].n"),
    (["tape", "ledger"], [], "generation"),
    (["tape"], None, "tape"),
    (["tape"], 5, "tape"),
]


@pytest.mark.parametrize(
    ("path", "value", "named"), REFUSALS, ids=[f"{named}={value!r:.30}" for _, value, named in REFUSALS]
)
async def test_an_import_refuses_with_the_path_of_the_field(
    options: Options, tmp_path: Path, path: list[str | int], value: Any, named: str
) -> None:
    made(options, ID, conversation(30))
    await Library(options).export(ID, tmp_path / "a.json", tape=True)
    document = json.loads((tmp_path / "a.json").read_text())
    (tmp_path / "b.json").write_bytes(altered(document, path, value))
    other = elsewhere(tmp_path)
    with pytest.raises(ImportRefused) as refusal:
        await other.import_file(tmp_path / "b.json")
    assert str(refusal.value).startswith(named), str(refusal.value)
    assert "Nothing was imported" in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert await other.list() == []
    assert not other.options.home.exists() or not list(other.options.home.rglob("*.db"))

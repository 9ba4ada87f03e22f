"""A list of rows: moving in it by key and mouse, and keeping one's place while it changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from textual.pilot import Pilot

from screens.painting import Line, plain
from screens.row_list import Row, RowList
from tests.screens.stage import Stage, settle, shown

SIZE = (20, 10)


@dataclass(frozen=True)
class Plain:
    """A row of one line, or of more; a heading when its name begins with a capital."""

    key: str
    tall: int = 1

    @property
    def selectable(self) -> bool:
        return self.key[0].islower()

    def height(self, width: int) -> int:
        return self.tall

    def lines(self, width: int) -> Sequence[Line]:
        return [plain(f"{self.key} {n}" if n else self.key) for n in range(self.tall)]


def rows(*keys: str, tall: int = 1) -> list[Row]:
    return [Plain(key, tall) for key in keys]


def numbered(count: int) -> list[Row]:
    return rows(*(f"row {n}" for n in range(count)))


async def listing(pilot: Pilot[None], content: Sequence[Row]) -> RowList:
    found = pilot.app.query_one(RowList)
    found.set_rows(content)
    found.focus()
    await settle(pilot)
    return found


def lines_of(app: Stage) -> list[str]:
    """What stands on the screen, without the scroll bar."""
    return [line.split("  ")[0].strip() for line in shown(app).splitlines()]


def current(found: RowList) -> str | None:
    return found.current.key if found.current else None


async def test_the_cursor_skips_headings_and_shows_the_first_one() -> None:
    app = Stage(RowList)
    async with app.run_test(size=SIZE) as pilot:
        found = await listing(pilot, rows("Fruit", "apple", "pear", "Roots", "beet"))
        assert current(found) == "apple"
        await pilot.press("down", "down")
        assert current(found) == "beet"
        await pilot.press("up", "up", "up")
        assert current(found) == "apple"
        assert "Fruit" in shown(app)


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        (("j", "j", "k"), "row 1"),
        (("end",), "row 99"),
        (("end", "home"), "row 0"),
        (("pagedown",), "row 9"),
        (("pagedown", "pagedown", "pageup"), "row 9"),
        (("end", "down"), "row 99"),
        (("home", "up"), "row 0"),
    ],
)
async def test_keys_move_the_cursor_and_what_it_stands_on_is_in_sight(keys: tuple[str, ...], key: str) -> None:
    app = Stage(RowList)
    async with app.run_test(size=SIZE) as pilot:
        found = await listing(pilot, numbered(100))
        await pilot.press(*keys)
        await settle(pilot)
        assert current(found) == key
        assert key in lines_of(app)


async def test_rows_of_several_lines_are_one_row_for_key_and_mouse() -> None:
    app = Stage(RowList)
    async with app.run_test(size=SIZE) as pilot:
        found = await listing(pilot, rows("apple", "pear", "beet", tall=3))
        await pilot.click(RowList, offset=(2, 5))
        await settle(pilot)
        assert current(found) == "pear"
        await pilot.press("down")
        assert current(found) == "beet"


async def test_new_rows_leave_the_cursor_on_its_row_at_its_place() -> None:
    app = Stage(RowList)
    async with app.run_test(size=SIZE) as pilot:
        found = await listing(pilot, numbered(100))
        await pilot.press("pagedown", "pagedown")
        await settle(pilot)
        line = lines_of(app).index("row 18")
        found.set_rows([*rows("new 1", "new 2", "new 3"), *numbered(100)])
        await settle(pilot)
        assert current(found) == "row 18"
        assert lines_of(app).index("row 18") == line


async def test_at_the_top_new_rows_come_into_sight() -> None:
    app = Stage(RowList)
    async with app.run_test(size=SIZE) as pilot:
        found = await listing(pilot, numbered(100))
        found.set_rows([*rows("new"), *numbered(100)])
        await settle(pilot)
        assert current(found) == "new"
        assert "new" in shown(app)


async def test_when_its_row_is_gone_the_cursor_goes_to_the_first() -> None:
    app = Stage(RowList)
    async with app.run_test(size=SIZE) as pilot:
        found = await listing(pilot, numbered(30))
        await pilot.press("end")
        found.set_rows(rows("apple", "pear"))
        await settle(pilot)
        assert current(found) == "apple"
        found.set_rows(())
        await settle(pilot)
        assert current(found) is None
        assert found.empty in " ".join(shown(app).split())
        await pilot.press("down", "end", "pagedown", "enter")


async def test_a_narrower_list_keeps_the_row_of_the_cursor_in_sight() -> None:
    app = Stage(RowList)
    async with app.run_test(size=SIZE) as pilot:
        await listing(pilot, numbered(100))
        await pilot.press("end")
        await pilot.resize_terminal(15, 5)
        await settle(pilot)
        assert "row 99" in shown(app)


async def test_opening_is_told_with_the_row() -> None:
    opened: list[str] = []

    class Listening(Stage):
        def on_row_list_opened(self, event: RowList.Opened) -> None:
            opened.append(event.row.key)

    app = Listening(RowList)
    async with app.run_test(size=SIZE) as pilot:
        await listing(pilot, rows("Fruit", "apple", "pear"))
        await pilot.press("enter")
        await pilot.click(RowList, offset=(2, 2))
        await pilot.click(RowList, offset=(2, 0))
        await pilot.click(RowList, offset=(2, 8))
        await settle(pilot)
        assert opened == ["apple", "pear"]

"""Text to be read: wrapped, jumped through, kept in place, marked with the mouse."""

from __future__ import annotations

from textual.pilot import Pilot

from screens.passage import Block, Passage
from tests.screens.stage import Stage, settle, shown

SIZE = (30, 8)


def parts(count: int) -> list[Block]:
    blocks = []
    for number in range(count):
        blocks += [Block(f"Part {number}", heading=True), Block("some words\n" * 5)]
    return blocks


async def reading(pilot: Pilot[None], blocks: list[Block]) -> Passage:
    passage = pilot.app.query_one(Passage)
    passage.set_blocks(blocks)
    passage.focus()
    await settle(pilot)
    return passage


def top(app: Stage) -> str:
    return shown(app).splitlines()[0].split("  ")[0].strip()


async def test_n_and_p_go_from_part_to_part() -> None:
    app = Stage(Passage)
    async with app.run_test(size=SIZE) as pilot:
        passage = await reading(pilot, parts(9))
        await pilot.press("n", "n")
        await settle(pilot)
        assert top(app) == "Part 2"
        assert passage.part == 2
        await pilot.press("p")
        await settle(pilot)
        assert top(app) == "Part 1"
        await pilot.press("p", "p")
        await settle(pilot)
        assert top(app) == "Part 0"


async def test_labels_and_indents_hang() -> None:
    app = Stage(Passage)
    async with app.run_test(size=SIZE) as pilot:
        await reading(pilot, [Block("a text that needs two lines here", indent=2, label="! ")])
        lines = shown(app).splitlines()
        assert lines[0].startswith("  ! a text that")
        assert lines[1].startswith("    ")


async def test_it_keeps_its_place_when_text_is_added_and_its_end_when_it_was_there() -> None:
    app = Stage(Passage)
    async with app.run_test(size=SIZE) as pilot:
        passage = await reading(pilot, parts(9))
        await pilot.press("n", "n")
        await settle(pilot)
        passage.set_blocks(parts(12))
        await settle(pilot)
        assert top(app) == "Part 2"
        await pilot.press("end")
        await settle(pilot)
        passage.set_blocks([*parts(12), Block("the very end")])
        await settle(pilot)
        assert "the very end" in shown(app)


async def test_a_new_width_wraps_anew_and_keeps_the_part_on_top() -> None:
    app = Stage(Passage)
    async with app.run_test(size=SIZE) as pilot:
        passage = await reading(pilot, [*parts(3), Block("Long", heading=True), Block("word " * 200), *parts(4)])
        await pilot.press("n", "n", "n")
        await settle(pilot)
        assert top(app) == "Long"
        await pilot.resize_terminal(18, 8)
        await settle(pilot)
        assert top(app) == "Long"
        assert max(len(line) for line in passage.text.splitlines()) <= 18


async def test_marking_with_the_mouse_gives_the_text() -> None:
    app = Stage(Passage)
    async with app.run_test(size=SIZE) as pilot:
        await reading(pilot, [Block("first line\nsecond line\nthird line")])
        await pilot.mouse_down(Passage, offset=(6, 0))
        await pilot.hover(Passage, offset=(5, 1))
        await pilot.mouse_up(Passage, offset=(5, 1))
        await settle(pilot)
        assert app.screen.get_selected_text() == "line\nsecond"


async def test_a_million_characters_are_read_to_their_end() -> None:
    app = Stage(Passage)
    async with app.run_test(size=SIZE) as pilot:
        passage = await reading(pilot, [Block("x" * 1_000_000 + " the end")])
        await pilot.press("end")
        await settle(pilot)
        assert "the end" in shown(app)
        assert len(passage.children) == 0


async def test_nothing_is_said_with_a_sentence() -> None:
    app = Stage(lambda: Passage(empty="There is nothing to read here yet."))
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        assert "There is nothing to read here" in " ".join(shown(app).split())

"""The stand-in summariser: valid bullets, every item cited, the same each time, and loss where a model would lose."""

from __future__ import annotations

from memory.compaction import Batch, Numbered, parse_bullets
from memory.gist import BULLET_WORDS, gist
from memory.values import Event, Item


def test_every_item_is_cited_and_bullets_are_short() -> None:
    prompt = _prompt([f"I moved service {n} to port {4000 + n}. All of its tests pass." for n in range(30)])
    bullets = parse_bullets(gist(prompt), 30)
    assert 0 < len(bullets) <= 10
    assert sorted(number for _, numbers in bullets for number in numbers) == list(range(1, 31))
    assert all(len(text.split()) <= BULLET_WORDS for text, _ in bullets)


def test_the_same_prompt_has_the_same_answer() -> None:
    prompt = _prompt(["The importer lost a line.", "It is fixed in ledger/post.py now.", "Thanks!"])
    assert gist(prompt) == gist(prompt)


def test_particulars_survive_and_small_talk_goes() -> None:
    said = "Good question, thanks for waiting. The limit in export/csv.py is 4,096 rows. That is all for now."
    reply = gist(_prompt([said, said.replace("4,096", "8,192"), "So it goes and so it goes on."] * 3))
    assert "export/csv.py" in reply
    assert "That is all for now" not in reply


def test_code_blocks_shrink_to_a_line() -> None:
    reply = gist(_prompt(["Here it is:\n```python\ndef first():\n    return second_line_42\n```\nDone."]))
    assert "second_line_42" not in reply


def test_items_cannot_forge_other_items() -> None:
    prompt = _prompt(["First.\n[7] not an item", "Second."])
    assert {number for _, numbers in parse_bullets(gist(prompt), 2) for number in numbers} == {1, 2}


def test_a_text_that_is_no_prompt_has_no_bullets() -> None:
    assert gist("Hello there") == ""


def _prompt(texts: list[str]) -> str:
    return Batch(tuple(Numbered(n, _readable(n, text), 10, _item(n, text)) for n, text in enumerate(texts, 1))).prompt


def _readable(number: int, text: str) -> str:
    return f"model, 2026-03-02 09:{number:02d}: {text}"


def _item(seq: int, text: str) -> Item:
    at = f"2026-03-02T09:{seq:02d}:00+00:00"
    event = Event(
        seq=seq,
        id=f"e{seq}",
        thread="main",
        source="model",
        role="assistant",
        kind="message",
        t_event=at,
        t_ingest=at,
        text=text,
    )
    return Item(event, "y", seq, 10)

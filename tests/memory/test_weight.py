"""Lasting rules outweigh decisions, decisions outweigh details, and all of them what is asked for once."""

from __future__ import annotations

import pytest

from memory.excerpt import join_spans, salient
from memory.weight import weight

RULES = [
    "Invoices are never deleted.",
    "Every message goes to Ruth first.",
    "Please always answer in German.",
    "No customer data may leave the office.",
    "Amounts must be whole cents.",
    "Rechnungen werden niemals gelöscht.",
    "Les factures ne sont jamais effacées.",
    "Las facturas nunca se borran.",
    "Faktury nigdy nie są usuwane.",
    "发票必须保留十年。",
    "請求書は必ず保管する。",
]
DECISIONS = ["We moved to SQLite.", "The launch is postponed to May.", "Let us agree on the budget of 300."]
ONCE = [
    "Can you look at ledger/post.py?",
    "Please rename split_line to cut_line before Friday.",
    "Why does it always return None on Tuesdays?",
    "Use the new logo on page 3.",
    "Morning, the train was late.",
]


@pytest.mark.parametrize("rule", RULES)
def test_a_lasting_rule_outweighs_every_decision_and_request(rule: str) -> None:
    assert weight(rule) > max(map(weight, ONCE))


@pytest.mark.parametrize("decision", DECISIONS)
def test_a_decision_outweighs_small_talk(decision: str) -> None:
    assert weight(decision) > weight("Morning, the train was late.")


def test_nothing_has_no_weight() -> None:
    assert weight("") == 0


def test_the_rule_after_a_colon_is_what_an_excerpt_keeps() -> None:
    text = (
        "I walked along the harbour with everybody and the dog fell in, which was funny for all but the dog itself."
        " One thing for the whole project: readings are never deleted, a bad one is only marked. It rained all day."
    )
    assert "readings are never deleted, a bad one is only marked." in join_spans(text, salient(text, 14))


def test_the_weightiest_sentence_is_whole_even_when_it_is_a_little_too_long() -> None:
    rule = "The siren stays silent between 22:00 and 06:30 and must never sound for a level of less than 5.20 metres."
    text = f"Short one. {rule} Another short one."
    assert rule in join_spans(text, salient(text, 20))

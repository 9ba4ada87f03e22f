"""Whom Otto talks with when nobody said."""

from __future__ import annotations

import pytest

from otto_tui.vendors import choose_chat, found_keys
from sessions.options import OFFLINE
from sessions.vendors import VENDORS
from tests.vendors import LoopbackVendor

NO_OLLAMA = {"OLLAMA_HOST": "127.0.0.1:1"}


def test_nobody_there_is_offline() -> None:
    assert choose_chat(NO_OLLAMA) == OFFLINE
    assert choose_chat({**NO_OLLAMA, "OPENAI_API_KEY": "  "}) == OFFLINE


@pytest.mark.parametrize(
    ("key", "vendor"), [("OPENAI_API_KEY", "openai"), ("ANTHROPIC_API_KEY", "anthropic"), ("GOOGLE_API_KEY", "gemini")]
)
def test_a_key_is_enough(key: str, vendor: str) -> None:
    assert choose_chat({**NO_OLLAMA, key: "x"}).startswith(f"{vendor}/")


def test_a_local_ollama_is_found() -> None:
    with LoopbackVendor("ollama") as vendor:
        chosen = choose_chat(vendor.environ)
        assert chosen.startswith("ollama/")
        assert choose_chat({**vendor.environ, "OPENAI_API_KEY": "x"}).startswith("openai/")


@pytest.mark.parametrize("address", ["http://[", "not an address", "http://127.0.0.1:99999", "::::", "http://\u2603:1"])
def test_no_address_stops_the_start(address: str) -> None:
    assert choose_chat({"OLLAMA_HOST": address}) == OFFLINE


def test_only_names_of_keys_are_given() -> None:
    assert found_keys({"GEMINI_API_KEY": "a", "GOOGLE_API_KEY": "b"}, VENDORS["gemini"]) == (
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
    )

"""Which model a session used last, so that a resumed session goes on with it."""

from __future__ import annotations

from memory.store import MemoryStore

MODEL_FACT = "model"
"""What the tape remembers of its model: the settings' model at the time, and the one in use, a line each."""


def remember_model(store: MemoryStore, settings: str, used: str) -> None:
    """Keep the model in ``used`` together with the one that the ``settings`` named."""
    store.set_meta(MODEL_FACT, f"{settings}\n{used}")


def remembered_model(store: MemoryStore, settings: str) -> str | None:
    """The model that was chosen inside the session; None once the settings themselves name another."""
    then, _, used = (store.get_meta(MODEL_FACT) or "").partition("\n")
    return used if used and then == settings else None

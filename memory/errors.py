"""What can go wrong with a memory, each as one sentence that says what happened and what to do."""

from __future__ import annotations


class OttoError(Exception):
    """An expected failure. ``str(error)`` is the sentence that a person reads."""


class StoreDamaged(OttoError):
    """The file is not a database, or its pages are broken. It has been left untouched."""


class StoreTooNew(OttoError):
    """A newer Otto wrote the file."""


class StoreReadOnly(OttoError):
    """A write was asked of a store that was opened for reading only."""


class StoreUnavailable(OttoError):
    """The file or its folder cannot be opened, read or written (missing, permissions, disk full)."""


class EventConflict(OttoError):
    """An event with the same thread and id but other content is already on the tape."""


class UnknownId(OttoError):
    """No event, chunk or bullet has this id."""


class EmbeddingUnavailable(OttoError):
    """The embedding model cannot be reached or loaded. Recall goes on by keyword and recency."""


class RerankerUnavailable(EmbeddingUnavailable):
    """The cross-encoder cannot be loaded, or fails. Recall ranks without it."""


class EmbeddingOnItsWay(EmbeddingUnavailable):
    """The embedding model is being fetched in the background: ask again soon."""


def first_line(error: BaseException) -> str:
    """What an exception says, short enough for a sentence; its type's name where it says nothing."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:200]

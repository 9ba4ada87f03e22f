"""What can go wrong with sessions and their files, each as one sentence that says what happened and what to do."""

from __future__ import annotations

from memory.errors import OttoError


class UnknownSession(OttoError):
    """No session, or more than one, has this id or beginning of an id."""


class SessionBusy(OttoError):
    """Another Otto has the session open for writing."""


class ExportRefused(OttoError):
    """The export cannot be written where it was asked for; nothing there was changed."""


class ImportRefused(OttoError):
    """The file is not an export that can be imported whole; nothing was written.

    Where one field is at fault, the sentence begins with its path: ``bullets[3].hash_refs[0]: ...``.
    """


class TitleRefused(OttoError):
    """The title holds nothing that can be seen."""

"""What the tape accepts as text. SQLite holds neither NUL in text it can measure nor half of a surrogate pair."""

from __future__ import annotations

NUL_PICTURE = "\N{SYMBOL FOR NULL}"


def storable(text: str) -> str:
    """``text`` as it can be stored: NUL becomes its picture, a lone surrogate the replacement character.

    Everything else, escape sequences included, is kept exactly.
    """
    if "\0" in text:
        text = text.replace("\0", NUL_PICTURE)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text

"""How many tokens a text costs, counted with ``cl100k_base`` and never over a network.

The encoding's table is the file that litellm's wheel carries. It is found without importing litellm; where it
cannot be had, a text counts as a quarter of its characters (seed 000).
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiktoken import Encoding

CHARACTERS_A_TOKEN = 4
"""The estimate where the encoding cannot be had."""

_TABLE = Path("litellm_core_utils/tokenizers/9b5ad71b2ce5302211f9c61530b329a4922fc6a4")
_TABLE_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
# The pattern is part of the encoding: with another one the counts would differ from every vendor's.
_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
# The pattern backtracks over runs of whitespace, so very long texts are counted slice by slice.
_SLICE = 50_000


def count_tokens(text: str) -> int:
    """Return the number of tokens of ``text``. Any string will do; deterministic on one machine."""
    encoding = _encoding()
    if encoding is None:
        return len(text) // CHARACTERS_A_TOKEN
    if len(text) <= _SLICE:
        return len(encoding.encode_ordinary(text))
    return sum(len(encoding.encode_ordinary(text[start : start + _SLICE])) for start in range(0, len(text), _SLICE))


def prefix_length(text: str, max_tokens: int) -> int:
    """Return how many leading characters of ``text`` cost at most ``max_tokens``: about the most that fit."""
    if max_tokens <= 0:
        return 0
    encoding = _encoding()
    if encoding is None:
        return min(len(text), max_tokens * CHARACTERS_A_TOKEN)
    text = text[:_SLICE]
    ids = encoding.encode_ordinary(text)
    if len(ids) <= max_tokens:
        return len(text)
    length = len(encoding.decode_bytes(ids[:max_tokens]).decode("utf-8", errors="ignore"))
    # A word cut short may cost more tokens than it did as part of the whole.
    while length > 0 and len(encoding.encode_ordinary(text[:length])) > max_tokens:
        length -= 1
    return length


def exact() -> bool:
    """Whether counts come from the real encoding rather than from the length of the text."""
    return _encoding() is not None


@cache
def _encoding() -> Encoding | None:
    table = _read_table()
    if table is None:
        return None
    try:
        import tiktoken
    except ImportError:
        return None
    ranks = {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, table.splitlines())}
    return tiktoken.Encoding("cl100k_base", pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens={})


def _read_table() -> bytes | None:
    try:
        spec = find_spec("litellm")
    except (ImportError, ValueError):
        return None
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        try:
            table = (Path(folder) / _TABLE).read_bytes()
        except OSError:
            continue
        if hashlib.sha256(table).hexdigest() == _TABLE_SHA256:
            return table
    return None

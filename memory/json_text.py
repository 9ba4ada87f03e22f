"""JSON as the tape writes it: sorted keys and plain Unicode, so that the same value is the same text."""

from __future__ import annotations

import json
from typing import Any


def dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def load(text: str) -> Any:
    return json.loads(text)

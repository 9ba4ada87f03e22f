"""Small questions to a server of the person's own: what it is, which models it has, how much they read."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Mapping
from typing import Any

LARGEST_ANSWER = 4_000_000
"""Bytes."""


async def ask_json(
    url: str,
    *,
    post: Mapping[str, Any] | None = None,
    key: str | None = None,
    timeout: float = 2.0,
) -> Any:
    """What ``url`` answers to a GET, or to a POST of ``post``. None when it answers no JSON in ``timeout`` seconds."""
    httpx = await asyncio.to_thread(importlib.import_module, "httpx")
    # Nothing is encrypted on the way to http://, and reading certificates would take longer than the question.
    verify = not url.startswith("http://")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        async with httpx.AsyncClient(verify=verify, timeout=timeout, trust_env=verify, headers=headers) as client:
            response = await (client.get(url) if post is None else client.post(url, json=dict(post)))
            if response.status_code != 200 or len(response.content) > LARGEST_ANSWER:
                return None
            return response.json()
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError, RecursionError):
        return None

"""Fetching LoCoMo's published file. It is CC BY-NC 4.0: for measuring only, and never part of Otto."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from memory.locomo import LocomoUnreadable, load

ADDRESS = "https://raw.githubusercontent.com/snap-research/locomo/main/data/locomo10.json"
FILE_NAME = "locomo10.json"
PATIENCE = 20.0
"""Seconds without an answer or a byte."""

MOST_BYTES = 64 * 1024 * 1024
"""The file has about 2.8 MB; more than this is something else."""


def cached_file() -> Path:
    """Where the fetched file is kept: the platform's cache folder."""
    from platformdirs import user_cache_path

    return user_cache_path("otto") / FILE_NAME


def fetch(
    target: Path, *, address: str = ADDRESS, progress: Callable[[int, int | None], None] = lambda *_: None
) -> Path:
    """Fetch the file to ``target``, whole or not at all, and return that.

    Args:
        progress: told the bytes that have come, and of how many if the server says.

    Raises:
        LocomoUnreadable: it cannot be fetched or kept, or is not LoCoMo's; the sentence says what to do.
    """
    import httpx

    half = target.with_name(f"{target.name}.{os.getpid()}.half")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with half.open("wb") as file, httpx.stream("GET", address, timeout=PATIENCE, follow_redirects=True) as answer:
            answer.raise_for_status()
            said = answer.headers.get("content-length", "")
            # The length is of what travels, which may be packed.
            expected = int(said) if said.isdigit() and "content-encoding" not in answer.headers else None
            got = 0
            for piece in answer.iter_bytes():
                got += file.write(piece)
                if got > MOST_BYTES:
                    raise LocomoUnreadable(
                        f"{address} is larger than LoCoMo's file, so it was not fetched. {_way_out()}"
                    )
                progress(got, expected)
        _check(half, address)
        half.replace(target)
    except httpx.HTTPStatusError as error:
        raise LocomoUnreadable(f"{address} answered {error.response.status_code}. {_way_out()}") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise LocomoUnreadable(f"LoCoMo's file could not be fetched ({_short(error)}). {_way_out()}") from error
    except OSError as error:
        raise LocomoUnreadable(f"{target} cannot be written ({error.strerror or error}). {_way_out()}") from error
    finally:
        half.unlink(missing_ok=True)
    return target


def _check(file: Path, address: str) -> None:
    try:
        load(file)
    except LocomoUnreadable as error:
        raise LocomoUnreadable(
            f"What {address} answered is not LoCoMo's file, so it was not kept. {_way_out()}"
        ) from error


def _way_out() -> str:
    return (
        f"Get {FILE_NAME} from the LoCoMo project (snap-research/locomo) by other means, and give it with --data PATH."
    )


def _short(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:200]

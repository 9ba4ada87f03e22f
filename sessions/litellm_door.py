"""The one place where litellm is imported, silenced, and kept off the network."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import os
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from sessions.chat_model import ModelError
from sessions.display import one_line
from sessions.quiet_logging import silence

_ENVIRONMENT: Mapping[str, str] = {
    # Each of these would make litellm fetch something, read a .env file or print.
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_OFFLINE_MODE": "true",
    "LITELLM_MODE": "PRODUCTION",
    "LITELLM_DISABLE_BUG_REPORT_LINK": "true",
}

_SETTINGS: Mapping[str, Any] = {
    "suppress_debug_info": True,
    "drop_params": True,
    "telemetry": False,
    "set_verbose": False,
    "num_retries": 0,
    "turn_off_message_logging": True,
    # Where a server sends no usage, a made-up one would take its place, counted on the event loop.
    "disable_token_counter": True,
    "disable_aiohttp_transport": True,
    # A table, a row of dashes or a list of zeros is no failure, however long.
    "REPEATED_STREAMING_CHUNK_LIMIT": 1_000_000_000,
}

_USED_BY_REQUESTS = (
    "anyio._backends._asyncio",
    "httpcore",
    "litellm.litellm_core_utils.default_encoding",
    "litellm.llms.custom_httpx.http_handler",
    "openai.resources.chat.completions.completions",
)

_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "litellm")


@cache
def load_litellm() -> Any:
    """litellm, ready for use. The first call takes seconds; make it on a thread."""
    os.environ.update(_ENVIRONMENT)
    with _collector_at_rest():
        import litellm

    # A warning on stderr would be drawn across the screen.
    warnings.filterwarnings("ignore", module=r"(litellm|pydantic|openai)\b")
    for name, value in _SETTINGS.items():
        setattr(litellm, name, value)
    silence(*_LOGGERS)
    return litellm


async def litellm_ready() -> Any:
    """litellm and all that a request needs of it, imported on a thread when it has not been yet.

    Raises ``ModelError`` when it cannot be imported.
    """
    if load_for_requests.cache_info().currsize:
        return load_for_requests()
    try:
        return await _on_daemon_thread(load_for_requests)
    except Exception as error:
        raise ModelError(
            f"litellm, through which all vendors are reached, cannot be loaded ({one_line(str(error), 200)}): "
            "install Otto again.",
        ) from error


async def _on_daemon_thread(work: Callable[[], Any]) -> Any:
    """The result of ``work``, done on a thread that keeps nobody from quitting."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def settle(result: Any, error: Exception | None) -> None:
        if done.cancelled():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)

    def run() -> None:
        result, error = None, None
        try:
            result = work()
        except Exception as failure:
            error = failure
        # The loop is closed when the person has quit meanwhile.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=run, daemon=True, name="import of litellm").start()
    return await done


@cache
def load_for_requests() -> Any:
    """litellm and everything else that the first request would wait for. Takes seconds; call it on a thread."""
    litellm = load_litellm()
    with _collector_at_rest():
        for module in _USED_BY_REQUESTS:
            # Another version of litellm may keep it elsewhere; then the first request imports it.
            with contextlib.suppress(ImportError):
                importlib.import_module(module)
        from sessions.watched_client import certificates

        certificates()
        # What fails here fails again, and is told, in a real request.
        with contextlib.suppress(Exception):
            asyncio.run(_rehearse(litellm))
    return litellm


async def _rehearse(litellm: Any) -> None:
    """One exchange without a vendor: litellm imports most of itself only then."""
    reply = await litellm.acompletion(
        model="openai/gpt-4o-mini", messages=[{"role": "user", "content": "-"}], mock_response="-", stream=True
    )
    async for _ in reply:
        pass


@contextlib.contextmanager
def _collector_at_rest() -> Iterator[None]:
    """Keeps the garbage collector from stopping the screen, now and whenever it would walk over what is made here.

    litellm is hundreds of thousands of objects that live as long as the process.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_on:
            gc.enable()

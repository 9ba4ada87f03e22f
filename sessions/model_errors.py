"""From whatever went wrong on the way to a model to one sentence that a person can act on."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from sessions.chat_model import ErrorKind, ModelError
from sessions.display import one_line
from sessions.options import Options, utc_now
from sessions.vendors import PLACEHOLDER_KEY, Target
from sessions.wire_watch import Watch

LONGEST_DETAIL = 200
"""Characters of a vendor's own words in a sentence."""


def explain(error: Exception | None, watch: Watch | None, target: Target, options: Options) -> ModelError:
    """The sentence for a request that failed. What was seen on the wire counts before what litellm made of it."""
    if isinstance(error, ModelError):
        return error
    if watch is not None:
        if watch.failure is not None:
            return _connection_failed(watch.failure, watch, target, options)
        if watch.error is not None:
            return _vendor_said(_status_in(watch.error), json.dumps(watch.error), watch.headers, target)
        if watch.status is not None and watch.status >= 400:
            return _vendor_said(watch.status, watch.body.decode("utf-8", "replace"), watch.headers, target)
        if watch.garbled:
            return garbled(target)
        if watch.ended:
            return cut(target)
    return _litellm_said(error, target, options)


def cut(target: Target) -> ModelError:
    return ModelError(
        f"{target.label} ended the connection before the reply was whole: what came is kept, and a retry asks for "
        "all of it.",
        "cut",
    )


def garbled(target: Target) -> ModelError:
    return ModelError(
        f"{target.label} sent an answer that is not the JSON its format promises: retry, and if it happens again, "
        f"check the address {target.place}.",
        "garbled",
    )


def refused(target: Target) -> ModelError:
    return ModelError(
        f"{target.label} held back the reply under its content rules: put it differently, or choose another model.",
        "refused",
    )


def _hung(target: Target, options: Options) -> ModelError:
    return ModelError(
        f"{target.label} has sent nothing for {options.idle_timeout:g} s, so the reply was given up: retry, or raise "
        "idle_timeout if the model needs longer.",
        "timeout",
    )


def _connection_failed(failure: Exception, watch: Watch, target: Target, options: Options) -> ModelError:
    import httpx

    if isinstance(failure, httpx.ConnectTimeout | httpx.PoolTimeout):
        return ModelError(
            f"{target.place} did not answer within {options.connect_timeout:g} s: check the address and the network, "
            "then retry.",
            "timeout",
        )
    if isinstance(failure, httpx.TimeoutException):
        return _hung(target, options)
    if isinstance(failure, httpx.ConnectError | httpx.ProxyError):
        return _unreachable(str(failure), target)
    if isinstance(failure, httpx.UnsupportedProtocol | httpx.LocalProtocolError | httpx.TooManyRedirects):
        return ModelError(f"{target.place} cannot be talked to: check the address of {target.label}.", "unreachable")
    if watch.status is None:
        return ModelError(f"{target.label} closed the connection without an answer: retry in a moment.", "cut")
    return cut(target)


def _unreachable(why: str, target: Target) -> ModelError:
    if "CERTIFICATE" in why.upper():
        return ModelError(
            f"The certificate of {target.place} cannot be trusted: check the address, or set SSL_CERT_FILE to the "
            "certificates of your network.",
            "unreachable",
        )
    if target.route == "ollama":
        sentence = f"Ollama does not answer at {target.place}: start it with `ollama serve`, then retry."
    elif target.own_server:
        sentence = f"Nothing answers at {target.place}: start that server or correct its address, then retry."
    else:
        sentence = f"{target.place} cannot be reached: check the network and the proxy settings, then retry."
    return ModelError(sentence, "unreachable")


def _vendor_said(status: int | None, body: str, headers: Mapping[str, str], target: Target) -> ModelError:
    """``body`` is what the vendor answered, JSON or not."""
    said = detail_in(body)
    kind = kind_of(status, body)
    wait = retry_after(body, headers) if kind in ("rate", "server") else None
    return ModelError(_SENTENCES[kind](status, said, wait, target), _KINDS.get(kind, "other"), wait)


def _litellm_said(error: Exception | None, target: Target, options: Options) -> ModelError:
    """For requests that Otto does not watch, or that litellm refused to send."""
    words = re.sub(r"^(?:(?:litellm\.)?\w+(?:Error|Exception)(?::| -) )+", "", str(error))
    name = type(error).__name__
    if "LLM Provider NOT provided" in words or "LLM Provider NOT provided" in str(getattr(error, "message", "")):
        return ModelError(
            f"No vendor is known for {target.name}: write it as VENDOR/MODEL, for example openai/{target.name} or "
            f"ollama/{target.name}.",
            "no_model",
        )
    if name == "Timeout":
        return _hung(target, options)
    if "before a finish_reason" in words or "not completed" in words or "incomplete" in words:
        return cut(target)
    status = getattr(error, "status_code", None)
    if name in ("APIConnectionError", "InternalServerError") and re.search("connect", words, re.IGNORECASE):
        return _unreachable(words, target)
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    return _vendor_said(status if isinstance(status, int) else None, words, headers, target)


# -- what a vendor's answer means ----------------------------------------------------------------------------


def kind_of(status: int | None, body: str) -> str:
    """What an error response is about: an ``ErrorKind``, or ``no_credit``."""
    for kind, pattern in _TELLING_WORDS:
        if pattern.search(body):
            return kind
    if status in _TELLING_STATUS:
        return _TELLING_STATUS[status]
    return "server" if status is not None and status >= 500 else "other"


_TELLING_WORDS = tuple(
    (kind, re.compile(words, re.IGNORECASE))
    for kind, words in (
        (
            "too_long",
            r"context.?length|context.?window|context.?size|maximum context|prompt is too long|input is too long"
            r"|input token count|too many (?:input )?tokens|request_too_large|exceeds? the (?:model'?s? )?max",
        ),
        (
            "no_credit",
            r"insufficient_quota|credit balance|usage limit|billing is not enabled|insufficient (?:balance|credits)",
        ),
        (
            "refused",
            r"content_policy|content_filter|content filter|safety system|prohibited_content|content policy"
            r"|blocked because of",
        ),
        ("auth", r"invalid_api_key|api_key_invalid|api key not valid|incorrect api key|authentication_error"),
        (
            "no_model",
            r"model_not_found|model_not_exist|not_found_error|(?:unknown|invalid) model"
            r"|models?\b.{0,120}\b(?:not found|does not exist|not exist|is not available|not supported for generate)",
        ),
    )
)

_TELLING_STATUS: Mapping[int | None, str] = {
    401: "auth",
    402: "no_credit",
    403: "auth",
    404: "no_model",
    408: "server",
    413: "too_long",
    429: "rate",
}


def detail_in(body: str) -> str:
    """The vendor's own words in an error response: the first sentence, with nothing secret in it."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = re.sub(r"<[^>]*>", " ", body)
    while isinstance(found, dict):
        found = next((found[key] for key in ("error", "message", "detail") if found.get(key)), "")
    words = one_line(without_secrets(str(found)), 10 * LONGEST_DETAIL)
    return one_line(re.split(r"(?<=[.!?])\s", words)[0], LONGEST_DETAIL).rstrip(".! ")


def without_secrets(text: str) -> str:
    """``text`` without what looks like a key, and without the user and password of a URL."""
    text = re.sub(r"(\w://)[^/\s@]+@", r"\1", text)
    text = re.sub(r"(?i)(bearer\s+|[?&]key=|api[_-]?key[=:]\s*)[^\s&\"']+", r"\1***", text)
    return re.sub(r"\b(?:sk|pk|rk|gsk|xai|hf|key)[-_][\w*-]{6,}|\bAIza[\w-]{10,}", "***", text)


def retry_after(body: str, headers: Mapping[str, str]) -> float | None:
    """Seconds that the vendor asks to wait, from a header or from its words."""
    told = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d+(\.\d+)?", told):
        return float(told)
    if told:
        try:
            return max(0.0, (parsedate_to_datetime(told) - utc_now()).total_seconds())
        except (TypeError, ValueError):
            return None
    found = re.search(r'"retryDelay"\s*:\s*"([\d.]+)(s)"|try again in ([\d.]+)\s*(ms|s|m)\b', body)
    if found is None:
        return None
    amount, unit = (found.group(1), found.group(2)) if found.group(1) else (found.group(3), found.group(4))
    return float(amount) * {"ms": 0.001, "s": 1.0, "m": 60.0}[unit]


def _status_in(error: Any) -> int | None:
    """The HTTP status that a failure reported in mid-stream would have had."""
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) else 500


# -- the sentences -------------------------------------------------------------------------------------------


def _auth(status: int | None, said: str, wait: float | None, target: Target) -> str:
    if target.key_variable and target.api_key in (None, PLACEHOLDER_KEY):
        return f"{target.label} wants a key: set {target.key_variable} and start Otto again, or choose another model."
    if target.key_variable:
        return (
            f"{target.label} refused the key in {target.key_variable}: check that it is whole, still valid and "
            "allowed to use this model, or choose another model."
        )
    if target.route == "ollama":
        return f"Ollama wants you to sign in for {target.model}: run `ollama signin`, or choose another model."
    if target.own_server:
        return (
            f"{target.label} wants a key: give the server a name in [providers.NAME], with api_base and the variable "
            "that holds the key as api_key_env."
        )
    return f"{target.label} wants a key that it was not given ({said or status}): set it, or choose another model."


def _no_credit(status: int | None, said: str, wait: float | None, target: Target) -> str:
    account = f"the account behind {target.key_variable}" if target.key_variable else "your account"
    return f"{target.label} says that {account} has no credit left: add some there, or choose another model."


def _no_model(status: int | None, said: str, wait: float | None, target: Target) -> str:
    if target.route == "ollama":
        return (
            f"Ollama has no model {target.model}: get it with `ollama pull {target.model}`, or choose one that "
            "`ollama list` shows."
        )
    if target.own_server and target.api_base and target.route == "openai":
        return (
            f"{target.label} has no model {target.model}: choose one that {_without_login(target.api_base)}/models "
            "lists, or correct the address."
        )
    return f"{target.label} has no model {target.model} that your key may use: choose another model."


def _rate(status: int | None, said: str, wait: float | None, target: Target) -> str:
    when = f"wait {_seconds(wait)} and retry" if wait else "wait a minute and retry"
    return f"{target.label} takes no more requests for now (rate limit): {when}, or choose another model."


def _server(status: int | None, said: str, wait: float | None, target: Target) -> str:
    what = f"{target.label} failed ({said})" if said else f"{target.label} failed (status {status})"
    when = f"wait {_seconds(wait)} and retry" if wait else "nothing is wrong with what you sent; retry in a moment"
    return f"{what}: {when}, or choose another model."


def _too_long(status: int | None, said: str, wait: float | None, target: Target) -> str:
    return (
        f"The request is longer than {target.model} can read: choose a model that reads more, shorten the system "
        "prompt, or lower x_budget and y_budget."
    )


def _refused(status: int | None, said: str, wait: float | None, target: Target) -> str:
    return f"{target.label} refused the request under its content rules: put it differently, or choose another model."


def _other(status: int | None, said: str, wait: float | None, target: Target) -> str:
    return (
        f"{target.label} did not accept the request ({said or f'status {status}'}): change it, or choose another model."
    )


_SENTENCES = {
    "auth": _auth,
    "no_credit": _no_credit,
    "no_model": _no_model,
    "rate": _rate,
    "server": _server,
    "too_long": _too_long,
    "refused": _refused,
    "other": _other,
}

_KINDS: Mapping[str, ErrorKind] = {
    "auth": "auth",
    "no_credit": "auth",
    "no_model": "no_model",
    "rate": "rate",
    "server": "server",
    "too_long": "too_long",
    "refused": "refused",
}


def _seconds(wait: float) -> str:
    return f"{wait:.0f} s" if wait >= 1 else "a second"


def _without_login(url: str) -> str:
    return re.sub(r"//[^/@]*@", "//", url)

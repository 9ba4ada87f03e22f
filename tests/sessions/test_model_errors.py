"""What a vendor's answer means, and the sentence that it becomes."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.chat_model import ErrorKind
from sessions.model_errors import detail_in, explain, kind_of, retry_after, without_secrets
from sessions.options import Options
from sessions.vendors import Target, find_target
from sessions.wire_formats import FORMATS
from sessions.wire_watch import Watch

OPTIONS = Options(home=Path("unused"), environ={"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"})


def target(name: str = "openai/gpt-4o-mini") -> Target:
    return find_target(name, OPTIONS)


def watch_with(failure: Exception, *, status: int | None = None) -> Watch:
    watch = Watch(FORMATS["openai"])
    watch.failure = failure
    watch.status = status
    return watch


@pytest.mark.parametrize(
    ("failure", "status", "kind", "words"),
    [
        (httpx.ConnectError("[Errno -2] Name or service not known"), None, "unreachable", "api.openai.com cannot be"),
        (httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED]"), None, "unreachable", "SSL_CERT_FILE"),
        (httpx.ProxyError("407"), None, "unreachable", "proxy settings"),
        (httpx.ConnectTimeout(""), None, "timeout", "did not answer within 10 s"),
        (httpx.ReadTimeout(""), None, "timeout", "sent nothing for 90 s"),
        (httpx.ReadTimeout(""), 200, "timeout", "sent nothing for 90 s"),
        (httpx.RemoteProtocolError("disconnected"), None, "cut", "without an answer"),
        (httpx.RemoteProtocolError("incomplete chunked read"), 200, "cut", "before the reply was whole"),
        (httpx.ReadError(""), 200, "cut", "before the reply was whole"),
        (httpx.TooManyRedirects(""), None, "unreachable", "check the address"),
        (httpx.UnsupportedProtocol(""), None, "unreachable", "check the address"),
    ],
)
def test_a_connection_that_fails_says_where_and_what_to_do(
    failure: Exception, status: int | None, kind: ErrorKind, words: str
) -> None:
    error = explain(RuntimeError("whatever litellm says"), watch_with(failure, status=status), target(), OPTIONS)
    assert error.kind == kind
    assert words in str(error)
    assert "litellm" not in str(error)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, '{"error": {"type": "exceed_context_size_error", "message": "the request exceeds"}}', "too_long"),
        (400, '{"message": "This model\'s maximum context length is 8192 tokens."}', "too_long"),
        (400, '{"error": "Input is too long for requested model"}', "too_long"),
        (413, "Request Entity Too Large", "too_long"),
        (400, '{"error": {"message": "prompt is too long: 212345 tokens > 200000 maximum"}}', "too_long"),
        (429, '{"error": {"code": "insufficient_quota", "message": "You exceeded your current quota"}}', "no_credit"),
        (429, '{"error": {"message": "You exceeded your current quota, please check your plan", "code": 429}}', "rate"),
        (400, '{"error": {"message": "Your credit balance is too low to access the API."}}', "no_credit"),
        (402, "{}", "no_credit"),
        (400, '{"error": {"message": "API key not valid. Please pass a valid API key."}}', "auth"),
        (403, '{"error": {"message": "Country not supported"}}', "auth"),
        (400, '{"error": {"message": "Model Not Exist"}}', "no_model"),
        (404, '{"error": {"message": "model \'llama9\' not found"}}', "no_model"),
        (404, "<html>nginx</html>", "no_model"),
        (400, '{"error": {"code": "content_filter"}}', "refused"),
        (500, "", "server"),
        (502, "<html>Bad Gateway</html>", "server"),
        (504, "", "server"),
        (422, '{"detail": "stream_options is not permitted"}', "other"),
        (None, "", "other"),
    ],
)
def test_what_an_error_response_is_about_is_told_by_its_words_then_its_status(
    status: int | None, body: str, kind: str
) -> None:
    assert kind_of(status, body) == kind


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('{"error": {"message": "Too hot. Cool it."}}', "Too hot"),
        ('{"error": "model is busy"}', "model is busy"),
        ('{"detail": "stream_options is not permitted"}', "stream_options is not permitted"),
        ('{"message": "no"}', "no"),
        ("<html><head></head><body>Bad <b>Gateway</b></body></html>", "Bad Gateway"),
        ("", ""),
        ("[1, 2]", "[1, 2]"),
        ('{"error": {}}', ""),
        ("[" * 100_000, "[" * 199 + "…"),
        ('{"error": {"message": "\\u001b[2Jgone\\u0007"}}', "␛[2Jgone␇"),
        (json.dumps({"error": {"message": "x" * 5_000}}), "x" * 199 + "…"),
    ],
)
def test_the_vendors_own_words_are_found_and_made_safe(body: str, words: str) -> None:
    assert detail_in(body) == words


@given(st.text(max_size=300) | st.binary(max_size=300).map(lambda raw: raw.decode("utf-8", "replace")))
def test_any_body_gives_a_line(body: str) -> None:
    assert len(detail_in(body).splitlines()) <= 1
    assert kind_of(400, body)


@pytest.mark.parametrize(
    ("body", "headers", "seconds"),
    [
        ("", {"retry-after": "7"}, 7.0),
        ("", {"retry-after": "0.5"}, 0.5),
        ('{"error": {"details": [{"retryDelay": "38s"}]}}', {}, 38.0),
        ("Please try again in 1.2s.", {}, 1.2),
        ("Please try again in 350ms.", {}, 0.35),
        ("Please try again in 2m", {}, 120.0),
        ("", {"retry-after": "soon"}, None),
        ("", {}, None),
    ],
)
def test_how_long_to_wait_is_read_from_headers_and_words(
    body: str, headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(body, headers) == (None if seconds is None else pytest.approx(seconds))


def test_a_date_to_wait_for_becomes_seconds() -> None:
    wait = retry_after("", {"retry-after": "Fri, 31 Dec 2199 23:59:59 GMT"})
    assert wait is not None
    assert wait > 1_000_000
    assert retry_after("", {"retry-after": "Sat, 01 Jan 2000 00:00:00 GMT"}) == 0.0


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-abcdefghijklmnop",
        "sk-ant-api03-abcdefghijk",
        "AIzaSyA-1234567890abcdefg",
        "gsk_abcdefghijklmnop",
        "xai-abcdefghijklmnop",
    ],
)
def test_what_looks_like_a_key_is_never_shown(secret: str) -> None:
    for text in (
        f"Incorrect API key provided: {secret}.",
        f"Bearer {secret}",
        f"https://u:{secret}@host/v1?key={secret}",
    ):
        assert secret not in without_secrets(text)


def test_words_that_only_look_a_little_like_keys_stay() -> None:
    text = "The key-value store of task-1 at http://host/v1 is full"
    assert without_secrets(text) == text

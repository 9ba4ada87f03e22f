"""A complete ONNX embedding model of a few hundred kilobytes and a cross-encoder, written from scratch.

The embedder's word vectors are a table of fixed pseudo-random rows, so a text's vector depends on its words. The
cross-encoder gives each word a number of its own and adds them up, in the question and in the text. They have the files
and the inputs of real ones, and fastembed loads them as it loads real ones.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "cat", "dog", "sat", "ran", "on", "mat", "budget", "meeting"]
_FLOAT, _INT64 = 1, 7
_INT, _INTS = 2, 7


def write_model(folder: Path, *, dimensions: int = 384, model_file: str = "model.onnx", cls: bool = False) -> Path:
    """Write the embedder's folder and return it."""
    rows = np.random.default_rng(7).standard_normal((len(WORDS), dimensions)).astype(np.float32)
    _write(folder, model_file, _model(rows), dimensions)
    if cls:
        (folder / "1_Pooling").mkdir(exist_ok=True)
        (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    return folder


def write_cross_encoder(folder: Path, worth: Mapping[str, float], *, model_file: str = "model.onnx") -> Path:
    """Write the cross-encoder's folder and return it. ``worth``: what each word adds; those not named add nothing."""
    numbers = np.array([[worth.get(word, 0.0)] for word in WORDS], np.float32)
    _write(folder, model_file, _cross_encoder(numbers), 1)
    return folder


def _write(folder: Path, model_file: str, model: bytes, dimensions: int) -> None:
    (folder / model_file).parent.mkdir(parents=True, exist_ok=True)
    (folder / model_file).write_bytes(model)
    vocabulary = {word: place for place, word in enumerate(WORDS)}
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": n,
                "content": word,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for n, word in enumerate(WORDS[:4])
        ],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
            ],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {
                "[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]},
                "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]},
            },
        },
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
    }
    files = {
        "tokenizer.json": tokenizer,
        "tokenizer_config.json": {"model_max_length": 512, "pad_token": "[PAD]"},
        "special_tokens_map.json": {"unk_token": "[UNK]", "pad_token": "[PAD]"},
        "config.json": {"hidden_size": dimensions, "pad_token_id": 0},
    }
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))


def _model(rows: np.ndarray[tuple[int, int], np.dtype[np.float32]]) -> bytes:
    """ModelProto with one Gather: the row of each input id."""
    gather = _node(b"Gather", [b"table", b"input_ids"], b"last_hidden_state")
    output = _value(b"last_hidden_state", _FLOAT, [b"batch", b"length", rows.shape[1]])
    return _proto([gather], rows, output)


def _cross_encoder(numbers: np.ndarray[tuple[int, int], np.dtype[np.float32]]) -> bytes:
    """ModelProto that adds up the numbers of all input ids."""
    gather = _node(b"Gather", [b"table", b"input_ids"], b"numbers")
    axes = _bytes(1, b"axes") + _int(8, 1) + _int(20, _INTS)
    narrow = _bytes(1, b"keepdims") + _int(3, 0) + _int(20, _INT)
    add = _node(b"ReduceSum", [b"numbers"], b"logits") + _bytes(5, axes) + _bytes(5, narrow)
    return _proto([gather, add], numbers, _value(b"logits", _FLOAT, [b"batch", 1]), opset=11)


def _node(operator: bytes, inputs: list[bytes], output: bytes) -> bytes:
    return b"".join(_bytes(1, name) for name in inputs) + _bytes(2, output) + _bytes(4, operator)


def _proto(
    nodes: list[bytes], rows: np.ndarray[tuple[int, int], np.dtype[np.float32]], output: bytes, opset: int = 13
) -> bytes:
    table = _int(1, rows.shape[0]) + _int(1, rows.shape[1]) + _int(2, _FLOAT) + _bytes(8, b"table")
    table += _bytes(9, rows.tobytes())
    graph = b"".join(_bytes(1, node) for node in nodes) + _bytes(2, b"tiny") + _bytes(5, table)
    for name in (b"input_ids", b"attention_mask", b"token_type_ids"):
        graph += _bytes(11, _value(name, _INT64, [b"batch", b"length"]))
    graph += _bytes(12, output)
    return _int(1, 8) + _bytes(7, graph) + _bytes(8, _int(2, opset))


def _value(name: bytes, kind: int, shape: list[bytes | int]) -> bytes:
    sizes = b"".join(_bytes(1, _int(1, size) if isinstance(size, int) else _bytes(2, size)) for size in shape)
    return _bytes(1, name) + _bytes(2, _bytes(1, _int(1, kind) + _bytes(2, sizes)))


def _int(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)

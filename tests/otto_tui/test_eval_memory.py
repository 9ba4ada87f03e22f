"""``otto eval-memory`` on an invented conversation in LoCoMo's format: what it prints, refuses, fetches and keeps."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from memory import locomo_fetch
from memory.arms import ARMS, RERANKED, WITHOUT_EMBEDDER
from memory.locomo import load
from tests.memory.invented_talk import as_list, invented_talk, write
from tests.memory.tiny_onnx import write_cross_encoder, write_model
from tests.otto_tui.processes import here, otto
from tests.vendors import Failure, LoopbackVendor

SMALL = ("--x-budget", "60", "--y-budget", "200")
COVERAGE = {"questions", "any", "mean", "all"}
ROW = COVERAGE | {
    "arm",
    "embedder",
    "budget",
    "conversations",
    "by_category",
    "at_5",
    "at_10",
    "at_20",
    "tokens_mean",
    "tokens_p95",
    "ms_embed_p50",
    "ms_rank_p50",
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both layouts at once would name a conversation twice: here is the list."""
    return write(tmp_path_factory.mktemp("data") / "locomo10.json", as_list(invented_talk(), invented_talk()))


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where replays are kept for all tests, so that each is made once."""
    return tmp_path_factory.mktemp("kept")


def evaluate(*args: str, home: Path, data: Path, **environ: str) -> subprocess.CompletedProcess[bytes]:
    return here("eval-memory", "--data", str(data), *args, home=home, environ=environ)


def rows(done: subprocess.CompletedProcess[bytes]) -> Any:
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def test_json_is_a_row_for_each_budget_embedder_and_set(tmp_path: Path, data: Path, kept: Path) -> None:
    args = (*SMALL, "--keep-store", str(kept), "--held-out", "8", "--embedder", "none", "--embedder", "box", "--json")
    found = rows(evaluate(*args, home=tmp_path, data=data))
    assert len(found) == 2 * 3 * 3
    for row in found:
        assert set(row) == ROW
        assert set(row["by_category"]) == {"1", "2", "3", "4"}
        assert all(set(each) == COVERAGE for each in row["by_category"].values())
        shares = [row["all"], row["mean"], row["any"]]
        assert shares == sorted(shares)
        assert shares[0] >= 0
        assert shares[2] <= 1
        assert row["questions"] == 4 * len(row["conversations"])
        assert 0 < row["tokens_mean"] <= row["tokens_p95"] <= row["budget"]
    assert {row["budget"] for row in found} == {600, 1500, 3000}
    assert [row["conversations"] for row in found[::3]] == [["7", "8"], ["7"], ["8"]] * 2
    assert found[0]["embedder"] == "none"
    assert found[9]["embedder"].startswith("box")


def test_the_tables_tell_the_three_figures_and_name_the_categories(tmp_path: Path, data: Path, kept: Path) -> None:
    args = (*SMALL, "--keep-store", str(kept), "--embedder", "none", "--budget", "3000", "--seed-tables")
    printed = evaluate(*args, "--conversation", "conv-7", home=tmp_path, data=data)
    assert printed.returncode == 0, printed.stderr.decode()
    text = printed.stdout.decode()
    assert "All together: conversation 7, 4 questions" in text
    for line in ("1 multi-hop", "2 temporal", "3 open-domain", "4 single-hop", "category 5 adversarial: 1 questions"):
        assert line in text
    heads = [line.split() for line in text.splitlines() if line.split()[:3] == ["arm", "embedder", "budget"]]
    assert heads[0][3:8] == ["any", "mean", "all", "tokens", "p95"]
    assert "6 turns are named and found, 2 cannot be resolved (7: D, 7: D9:17)" in text
    assert "seed's any" in text
    assert "As the seed counts" not in text
    assert "60 of 60 pieces stand behind a bullet" in text


def test_both_layouts_have_the_same_figures(tmp_path: Path, data: Path, kept: Path) -> None:
    alone = write(tmp_path / "7.json", invented_talk())
    args = (*SMALL, "--keep-store", str(kept), "--embedder", "none", "--conversation", "7", "--json")
    figures = [rows(evaluate(*args, home=tmp_path, data=path)) for path in (data, alone)]
    for row in (*figures[0], *figures[1]):
        row["ms_rank_p50"] = None
    assert figures[0] == figures[1]


def test_production_budgets_are_refused_by_name(tmp_path: Path, data: Path) -> None:
    done = evaluate("--embedder", "none", home=tmp_path, data=data)
    assert (done.returncode, done.stdout) == (1, b"")
    said = done.stderr.decode()
    assert "24,000 (X) and 80,000 (Y)" in said
    assert "--x-budget 200 --y-budget 400" in said
    assert len(said.splitlines()) == 1


def test_more_is_told_where_more_is_asked_for(tmp_path: Path, data: Path, kept: Path) -> None:
    args = (*SMALL, "--keep-store", str(kept), "--embedder", "none", "--conversation", "7", "--json")
    told = rows(evaluate(*args, "--summarizers", "--show-items", "all", home=tmp_path, data=data))
    assert [set(row) for row in told["rows"]] == [ROW] * 3
    assert [each["summarizer"] for each in told["summarizers"]] == [
        "cites every item",
        "cites ~70% of items",
        "cites none",
    ]
    assert all(each["reachable"] == each["chunks"] == 60 for each in told["summarizers"])
    assert told["evidence"] == {
        "resolved": 6,
        "unresolved": ["7: D", "7: D9:17"],
        "beyond": 0,
        "asked": 4,
        "not_asked": 1,
    }
    assert [each["questions"] for each in told["adversarial"]] == [1, 1, 1]
    assert len(told["items"]) == 5
    assert told["items"][0]["evidence"][0]["found"]
    assert told["knobs"] == []


def test_arms_stand_side_by_side(tmp_path: Path, data: Path, kept: Path) -> None:
    args = (*SMALL, "--keep-store", str(kept), "--conversation", "7", "--budget", "100", "--json")
    done = evaluate(*args, "--arm", "all", "--embedder", "none", "--embedder", "box", home=tmp_path, data=data)
    every = rows(done)
    without_reranker = [name for name, arm in ARMS.items() if not arm.needs_reranker]
    worded = [row["arm"] for row in every if row["embedder"] == "none"]
    assert worded == [name for name in without_reranker if not ARMS[name].needs_embedder]
    assert [row["arm"] for row in every if row["embedder"] != "none"] == without_reranker
    assert done.stderr.decode().count("'shipped, reranked' is left out. No cross-encoder is set.") == 1
    newest = next(row for row in every if row["arm"] == "recency")
    shipped = next(row for row in every if row["arm"] == WITHOUT_EMBEDDER)
    assert newest["mean"] < shipped["mean"]
    (unnamed,) = rows(evaluate(*args, "--embedder", "none", home=tmp_path, data=data))
    assert {**unnamed, "ms_rank_p50": 0} == {**shipped, "ms_rank_p50": 0}


def test_a_cross_encoder_is_measured_where_one_is_set(tmp_path: Path, data: Path, kept: Path) -> None:
    args = (*SMALL, "--keep-store", str(kept), "--conversation", "7", "--budget", "100", "--embedder", "none", "--json")
    folder = write_cross_encoder(tmp_path / "m", {"[UNK]": 1.0})
    reranker = {"OTTO_EMBEDDING__RERANKER": str(folder)}
    every = rows(evaluate(*args, "--arm", "all", home=tmp_path, data=data, **reranker))
    assert [row["arm"] for row in every] == [name for name, arm in ARMS.items() if not arm.needs_embedder]
    shipped, reranked = (next(row for row in every if row["arm"] == name) for name in (WITHOUT_EMBEDDER, RERANKED))
    # This one likes what is long.
    assert shipped["at_5"] != reranked["at_5"]
    # Where none is named the arm that ships is measured, under its own name.
    (unnamed,) = rows(evaluate(*args, home=tmp_path, data=data, **reranker))
    assert {**unnamed, "ms_rank_p50": 0} == {**shipped, "ms_rank_p50": 0}


@pytest.mark.parametrize(("named", "says"), [("", b"No cross-encoder is set."), ("made/up", b"no folder made/up")])
def test_a_cross_encoder_that_cannot_be_had_is_told_first(tmp_path: Path, data: Path, named: str, says: bytes) -> None:
    args = (*SMALL, "--arm", RERANKED, "--embedder", "none")
    done = evaluate(*args, home=tmp_path, data=data, OTTO_EMBEDDING__RERANKER=named)
    assert (done.returncode, done.stdout) == (1, b"")
    assert says in done.stderr
    assert b"replaying" not in done.stderr


def test_an_arm_says_what_it_needs(tmp_path: Path, data: Path, kept: Path) -> None:
    args = (*SMALL, "--keep-store", str(kept), "--arm", "dense", "--embedder", "none")
    done = evaluate(*args, home=tmp_path, data=data)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"needs an embedding model" in done.stderr


def test_failures_are_shown_with_what_came_back(tmp_path: Path, kept: Path) -> None:
    talk = invented_talk()
    talk["qa"][0] |= {"question": "Vilken pryl, tack?", "category": 4}
    args = (*SMALL, "--keep-store", str(kept), "--embedder", "none", "--budget", "60", "--show-items", "failures")
    done = evaluate(*args, home=tmp_path, data=write(tmp_path / "7.json", talk))
    text = done.stdout.decode()
    assert "7, 4 single-hop: Vilken pryl, tack?" in text
    assert "MISSED D2:3 Ines: The plane" not in text
    missed = text.partition("Vilken pryl")[2]
    assert "MISSED D2:3 Ines: " in missed
    assert "returned" in missed
    assert "5 adversarial: Which piano" not in text


def test_a_kept_replay_is_paid_once(tmp_path: Path, data: Path) -> None:
    store = tmp_path / "store"
    args = ("--conversation", "7", "--embedder", "none", "--keep-store", str(store), "--live", "--json", *SMALL)
    with LoopbackVendor("openai") as vendor:
        environ = {**vendor.environ, "OTTO_MODEL__CHAT": vendor.model}
        first = rows(evaluate(*args, home=tmp_path, data=data, **environ))
        asked = len(vendor.summaries)
        assert asked > 3
        again = rows(evaluate(*args, home=tmp_path, data=data, **environ))
        assert len(vendor.summaries) == asked
    assert [row["any"] for row in first] == [row["any"] for row in again]
    assert len(list(store.glob("*.db"))) == 1


def test_a_model_that_fails_stops_the_replay_at_once(tmp_path: Path, data: Path) -> None:
    args = ("--conversation", "7", "--embedder", "none", "--live", *SMALL)
    with LoopbackVendor("openai") as vendor:
        vendor.summarize_with(lambda asked: Failure(401))
        done = evaluate(*args, home=tmp_path, data=data, **vendor.environ, OTTO_MODEL__CHAT=vendor.model)
        assert len(vendor.summaries) == 1
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"Error: The summariser failed, so the replay was stopped. " in done.stderr


def test_live_needs_a_model(tmp_path: Path, data: Path) -> None:
    done = evaluate("--live", "--embedder", "none", *SMALL, home=tmp_path, data=data)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"There is no model to summarise with" in done.stderr


def test_a_local_model_from_the_environment(tmp_path: Path, data: Path, kept: Path) -> None:
    model = write_model(tmp_path / "tiny-model")
    args = (*SMALL, "--keep-store", str(kept), "--conversation", "7", "--budget", "600", "--json")
    environ = {"OTTO_EMBEDDING__MODEL_PATH": str(model), "OTTO_EMBEDDING_MODEL": ""}
    (row,) = rows(evaluate(*args, home=tmp_path, data=data, **environ))
    assert row["embedder"].startswith("fastembed:tiny-model@")
    assert row["ms_embed_p50"] > 0


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["--conversation", "26"], "'26' is none of 7, 8"),
        (["--held-out", "26"], "'26' is none of 7, 8"),
        (["--arm", "wishful"], "'wishful' is none of "),
        (["--turns", "0"], "--turns"),
        (["--budget", "-1"], "--budget"),
        (["--show-items", "some"], "--show-items"),
        (["--x-budget", "10"], "--x-budget"),
    ],
)
def test_wrong_usage_is_2(tmp_path: Path, data: Path, args: list[str], named: str) -> None:
    done = evaluate(*args, home=tmp_path, data=data)
    assert (done.returncode, done.stdout) == (2, b"")
    assert named in done.stderr.decode()


def test_data_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "words.json").write_text("words")
    for path in (tmp_path / "words.json", tmp_path / "none.json"):
        done = evaluate(home=tmp_path, data=path)
        assert (done.returncode, done.stdout) == (1, b"")
        assert done.stderr.decode().startswith(f"Error: {path} ")


def test_a_store_that_is_no_folder_is_one_sentence(tmp_path: Path, data: Path) -> None:
    file = tmp_path / "file"
    file.write_text("taken")
    done = evaluate(*SMALL, "--embedder", "none", "--keep-store", str(file), home=tmp_path, data=data)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.decode() == f"Error: {file} cannot be made (File exists); name another folder.\n"


def test_an_embedder_that_cannot_be_had_is_one_sentence(tmp_path: Path, data: Path, kept: Path) -> None:
    args = (*SMALL, "--keep-store", str(kept), "--embedder", "no/such-model")
    done = evaluate(*args, home=tmp_path, data=data)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"no embedding model named no/such-model" in done.stderr


# -- fetching ----------------------------------------------------------------------------------------------------------


class Site:
    """Serves one body, or breaks off in the middle of it."""

    def __init__(self, body: bytes, status: int = 200, cut: bool = False) -> None:
        self.body, self.status, self.cut = body, status, cut
        self.asked = 0
        self.url = ""


@contextmanager
def serving(site: Site) -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Tests print nothing."""

        def do_GET(self) -> None:
            site.asked += 1
            self.send_response(site.status)
            self.send_header("Content-Length", str(len(site.body)))
            self.end_headers()
            self.wfile.write(site.body[: len(site.body) // 2] if site.cut else site.body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.url = f"http://127.0.0.1:{server.server_address[1]}/locomo10.json"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(locomo_fetch, "cached_file", lambda: tmp_path / "cache" / "otto" / "locomo10.json")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "cache" / "otto" / "locomo10.json"


def test_the_file_is_fetched_once_and_kept(
    tmp_path: Path, cache: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = (*SMALL, "--keep-store", str(kept), "--embedder", "none", "--conversation", "7", "--json")
    with serving(Site(json.dumps(as_list(invented_talk(), invented_talk())).encode())) as site:
        monkeypatch.setattr(locomo_fetch, "ADDRESS", site.url)
        first = here("eval-memory", *args, home=tmp_path)
        assert first.returncode == 0, first.stderr.decode()
        assert "CC BY-NC 4.0" in first.stderr.decode()
        assert [talk.name for talk in load(cache)] == ["7", "8"]
        again = here("eval-memory", *args, home=tmp_path)
        assert (again.returncode, site.asked) == (0, 1)
        assert again.stderr == b""


def test_how_far_it_is_is_told(tmp_path: Path) -> None:
    body = json.dumps(as_list(invented_talk())).encode()
    told: list[tuple[int, int | None]] = []
    with serving(Site(body)) as site:
        locomo_fetch.fetch(tmp_path / "f.json", address=site.url, progress=lambda got, of: told.append((got, of)))
    assert told[-1] == (len(body), len(body))


@pytest.mark.parametrize(
    ("site", "says"),
    [
        (Site(b"gone", status=404), "answered 404"),
        (Site(b'[{"qa": []}]'), "is not LoCoMo's file"),
        (Site(b"<html>"), "is not LoCoMo's file"),
        (Site(b"[" + b" " * 100_000 + b"]", cut=True), "could not be fetched"),
    ],
)
def test_what_cannot_be_used_is_not_kept(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, site: Site, says: str
) -> None:
    with serving(site):
        monkeypatch.setattr(locomo_fetch, "ADDRESS", site.url)
        done = here("eval-memory", home=tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")
    said = done.stderr.decode().splitlines()[-1]
    assert said.startswith("Error: ")
    assert says in said
    assert "--data PATH" in said
    assert not list(cache.parent.glob("*"))


def test_offline_it_says_what_to_do(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locomo_fetch, "ADDRESS", "http://127.0.0.1:1/locomo10.json")
    done = here("eval-memory", home=tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")
    said = done.stderr.decode().splitlines()[-1]
    assert "could not be fetched" in said
    assert "--data PATH" in said


def test_as_a_process(tmp_path: Path, data: Path, kept: Path) -> None:
    args = (*SMALL, "--keep-store", str(kept), "--embedder", "none", "--conversation", "7", "--budget", "600", "--json")
    done = otto("eval-memory", "--data", str(data), *args, home=tmp_path)
    assert len(rows(done)) == 1
    assert done.stderr == b""

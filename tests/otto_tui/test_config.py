"""Settings: which source wins, and what is said of a value that is wrong."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otto_tui.config import load, to_options
from otto_tui.settings import Settings
from sessions.options import LedgerSettings, Options, Provider


class Place:
    """A home and a workspace with settings files to be written."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.workspace = folder / "project"
        (self.workspace / ".otto").mkdir(parents=True)
        self.home.mkdir()
        self.environ: dict[str, str] = {"OTTO_HOME": str(self.home)}

    @property
    def own(self) -> Path:
        return self.home / "config.toml"

    @property
    def folder(self) -> Path:
        return self.workspace / ".otto" / "config.toml"

    def load(self, flags: Mapping[str, object] | None = None) -> tuple[Settings, tuple[str, ...]]:
        return load(self.workspace, self.environ, flags)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_without_any_source_the_defaults_hold(place: Place) -> None:
    assert place.load() == (Settings(), ())


def test_the_defaults_are_those_of_the_options(place: Place) -> None:
    made = to_options(Settings(), home=place.home, environ={}, chat="offline")
    assert made == Options(home=place.home, now=made.now)


def test_each_source_wins_over_the_one_before(place: Place) -> None:
    place.own.write_text("[memory]\nx_budget = 51\ny_budget = 102\nrecall_tokens = 3\nrecall_window = 4\n")
    place.folder.write_text("[memory]\ny_budget = 120\nrecall_tokens = 30\nrecall_window = 40\n")
    place.environ |= {"OTTO_MEMORY__RECALL_TOKENS": "300", "OTTO_MEMORY__RECALL_WINDOW": "50"}
    settings, notices = place.load({"memory.recall_window": 60})
    memory = settings.memory
    assert (memory.x_budget, memory.y_budget, memory.recall_tokens, memory.recall_window) == (51, 120, 300, 60)
    assert notices == ()


def test_every_setting_reaches_the_options(place: Place) -> None:
    place.own.write_text(
        """
        [model]
        chat = "local/qwen"
        api_base = "http://127.0.0.1:1/v1"
        system_prompt = "Be brief."
        temperature = 0.5
        max_output_tokens = 100
        connect_timeout = 1
        idle_timeout = 2.5
        [seats]
        summarize = "offline"
        observe = "openai/small"
        reflect = "openai/middle"
        drop = "openai/other"
        [memory]
        compaction = "ledger"
        x_budget = 200
        y_budget = 400
        scale_to_window = false
        reabstract = false
        recall_chunks = 5
        recall_window = 0
        recall_tokens = 900
        [ledger]
        observe_after_tokens = 1
        reflect_after_tokens = 2
        observer_chunk_max_tokens = 300
        compact_after_tokens = 4
        observations_pool_max_tokens = 60
        observations_pool_target_tokens = 5
        agent_max_turns = 7
        show_worker_notifications = false
        passive = true
        debug_log = true
        debug_log_text = true
        [embedding]
        model = "none"
        model_path = "/weights"
        reranker = "/reranker"
        [providers.local]
        api_base = "http://127.0.0.1:2/v1"
        api_key_env = "LOCAL_KEY"
        """
    )
    settings, notices = place.load()
    options = to_options(settings, home=place.home, environ={"A": "b"}, chat=settings.model.chat or "")
    assert notices == ()
    assert options == Options(
        home=place.home,
        environ={"A": "b"},
        chat="local/qwen",
        summarize="offline",
        observe="openai/small",
        reflect="openai/middle",
        drop="openai/other",
        api_base="http://127.0.0.1:1/v1",
        providers={"local": Provider("local", "http://127.0.0.1:2/v1", "LOCAL_KEY")},
        system_prompt="Be brief.",
        temperature=0.5,
        max_output_tokens=100,
        connect_timeout=1,
        idle_timeout=2.5,
        x_budget=200,
        y_budget=400,
        scale_to_window=False,
        reabstract=False,
        compaction="ledger",
        ledger=LedgerSettings(
            observe_after_tokens=1,
            reflect_after_tokens=2,
            observer_chunk_max_tokens=300,
            compact_after_tokens=4,
            observations_pool_max_tokens=60,
            observations_pool_target_tokens=5,
            agent_max_turns=7,
            show_worker_notifications=False,
            passive=True,
            debug_log=True,
            debug_log_text=True,
        ),
        embedding="none",
        embedding_path=Path("/weights"),
        reranker="/reranker",
        recall_chunks=5,
        recall_window=0,
        recall_tokens=900,
        now=options.now,
    )


def test_the_environment_names_every_level(place: Place) -> None:
    place.environ |= {
        "OTTO_MODEL__CHAT": "openai/gpt-x",
        "OTTO_PROVIDERS__LOCAL__API_BASE": "http://127.0.0.1:2/v1",
        "otto_ui__mouse": "no",
        "OTTO_EMBEDDING__MODEL_PATH": "/weights",
        "OTTO_MODEL__SYSTEM_PROMPT": "",
    }
    settings, notices = place.load()
    assert notices == ()
    assert settings.model.chat == "openai/gpt-x"
    assert settings.model.system_prompt is None
    assert settings.providers["local"].api_base == "http://127.0.0.1:2/v1"
    assert settings.ui.mouse is False
    assert settings.embedding.model_path == "/weights"


def test_the_short_name_of_the_embedding_model(place: Place) -> None:
    place.own.write_text('[embedding]\nmodel = "none"\n')
    place.environ["OTTO_EMBEDDING_MODEL"] = "gemini:gemini-embedding-001"
    assert place.load()[0].embedding.model == "gemini:gemini-embedding-001"
    place.environ["OTTO_EMBEDDING__MODEL"] = "openai:text-embedding-3-small"
    assert place.load()[0].embedding.model == "openai:text-embedding-3-small"


def test_passive_for_one_run(place: Place) -> None:
    place.own.write_text("[ledger]\npassive = false\n")
    for word, passive in (("1", True), ("yes", True), ("on", True), ("0", False), ("off", False), ("", False)):
        place.environ["OTTO_PASSIVE"] = word
        settings, notices = place.load()
        assert (settings.ledger.passive, notices) == (passive, ())
    place.environ |= {"OTTO_PASSIVE": "1", "OTTO_LEDGER__PASSIVE": "no"}
    assert place.load()[0].ledger.passive is False


def test_a_wrong_word_for_passive_is_named_as_it_was_written(place: Place) -> None:
    place.environ["OTTO_PASSIVE"] = "perhaps"
    settings, notices = place.load()
    assert settings == Settings()
    assert notices == (
        'OTTO_PASSIVE in the environment should be true or false, not "perhaps", so it is left out and false is used.',
    )


def test_a_target_is_compared_with_the_maximum_of_another_file(place: Place) -> None:
    place.own.write_text("[ledger]\nobservations_pool_target_tokens = 9000\n")
    place.folder.write_text("[ledger]\nobservations_pool_max_tokens = 8000\n")
    settings, notices = place.load()
    assert (settings.ledger.observations_pool_max_tokens, settings.ledger.observations_pool_target_tokens) == (
        8000,
        None,
    )
    assert [notice.partition(" should be ")[0] for notice in notices] == [
        f"{place.own}: ledger.observations_pool_target_tokens"
    ]


def test_variables_of_others_are_left_alone(place: Place) -> None:
    place.environ |= {"OTTO_DEPLOY": "x", "OTTOMAN__X": "y", "PATH": "/bin"}
    assert place.load() == (Settings(), ())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[memory]\nx_budget = "many"', 'memory.x_budget should be a whole number, not "many", so it is left out and'),
        ("[memory]\nx_budget = 0", "memory.x_budget should be at least 50, not 0, so it is left out and 24000 is used"),
        ("[memory]\nx_budget = 1.5", "memory.x_budget should be a whole number, not 1.5"),
        ("[memory]\nx_budget = true", "memory.x_budget should be a whole number, not true"),
        (f"[memory]\nx_budget = {10**30}", "memory.x_budget should be"),
        ("[memory]\nx_budgte = 5", "memory.x_budgte is not a setting of Otto (did you mean x_budget?)"),
        ("[memory]\nzzz = 5", "memory.zzz is not a setting of Otto (there are x_budget, y_budget,"),
        ("[memmory]\nx_budget = 5", "memmory is not a setting of Otto (did you mean memory?)"),
        ("memory = 5", "memory should be a section"),
        ("memory = []", "memory should be a section"),
        ("[model]\nchat = 5", "model.chat should be text, not 5, so it is left out and the default is used"),
        ("[model]\ntemperature = nan", "model.temperature should be a number, not nan"),
        ("[model]\ntemperature = -1", "model.temperature should be at least 0.0, not -1"),
        ("[model]\nidle_timeout = inf", "model.idle_timeout should be a number, not inf"),
        (
            '[memory]\ncompaction = "fold"',
            'memory.compaction should be auto, ledger or summarize, not "fold", so it is',
        ),
        ("[memory]\ncompaction = true", "memory.compaction should be text, not true, so it is left out and"),
        ("[ledger]\nobserve_after_tokens = 0", "ledger.observe_after_tokens should be more than 0, not 0, so it is"),
        (
            "[ledger]\nobserver_chunk_max_tokens = 255",
            "ledger.observer_chunk_max_tokens should be at least 256, not 255",
        ),
        ('[ledger]\nagent_max_turns = "many"', "ledger.agent_max_turns should be a whole number"),
        ("[ledger]\nobserveAfterTokens = 5", "(did you mean observe_after_tokens?)"),
        (
            "[ledger]\nobservations_pool_target_tokens = 20000",
            "ledger.observations_pool_target_tokens should be less than observations_pool_max_tokens, which is 20000,"
            " not 20000, so it is left out and the default is used",
        ),
        ("[seats]\nobserve = 5", "seats.observe should be text, not 5"),
        ('[ui]\nmouse = "maybe"', 'ui.mouse should be true or false, not "maybe", so it is left out and true is used'),
        ("[providers]\nlocal = 5", "providers.local should be a section"),
        ('[providers.local]\napi_base = "x"\napi_kee = "y"', "providers.local.api_kee is not a setting of Otto"),
        ('[providers.local]\napi_key_env = "A"', "The provider local has no api_base, so it is left out"),
        ("[workspaces]\ntrusted = 5", "workspaces.trusted should be a list"),
        ("[workspaces]\ntrusted = [5]", "workspaces.trusted should be text"),
        ("[memory]\nx_budget = ", "is not valid TOML"),
        ("[memory", "is not valid TOML"),
        ("\x00\x01", "is not valid TOML"),
        ("a = " + "[" * 20_000, "config.toml is n"),
        ("x = " + "9" * 5_000, "config.toml"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_and_the_default_kept(place: Place, text: str, said: str) -> None:
    place.own.write_text(text)
    settings, notices = place.load()
    assert [said in notice for notice in notices] == [True]
    assert notices[0].startswith(str(place.own)) or "The provider local" in notices[0]
    assert replace(settings, providers={}) == Settings()


def test_one_wrong_value_does_not_take_the_others_along(place: Place) -> None:
    place.own.write_text('[memory]\nx_budget = "many"\ny_budget = 500\n[ui]\ntheme = 7\nmouse = false\n')
    settings, notices = place.load()
    assert len(notices) == 2
    assert (settings.memory.y_budget, settings.ui.mouse) == (500, False)


def test_a_wrong_value_gives_way_to_the_one_beneath(place: Place) -> None:
    place.own.write_text("[memory]\nx_budget = 500\n")
    place.environ["OTTO_MEMORY__X_BUDGET"] = "-3"
    settings, notices = place.load()
    assert settings.memory.x_budget == 500
    assert notices == (
        'OTTO_MEMORY__X_BUDGET in the environment should be at least 50, not "-3", so it is left out and 500 is used.',
    )


@pytest.mark.parametrize(
    ("variable", "said"),
    [
        ("OTTO_MODEL", "OTTO_MODEL in the environment is a section, not a setting"),
        ("OTTO_PROVIDERS", "such as OTTO_PROVIDERS__NAME__API_BASE"),
        ("OTTO_NOPE__X", "OTTO_NOPE__X in the environment is not a setting of Otto"),
        ("OTTO_MEMORY__", "OTTO_MEMORY__ in the environment is a section"),
        ("OTTO_MEMORY__X_BUGET", "did you mean x_budget?"),
        ("OTTO_MEMORY__X_BUDGET__Y", "OTTO_MEMORY__X_BUDGET in the environment should be a whole number"),
        ("OTTO_PROVIDERS__LOCAL", "OTTO_PROVIDERS__LOCAL in the environment should be a section"),
    ],
)
def test_what_is_wrong_in_the_environment_is_said(place: Place, variable: str, said: str) -> None:
    place.environ[variable] = "x"
    settings, notices = place.load()
    assert [said in notice for notice in notices] == [True]
    assert settings == Settings()


def test_a_file_that_is_not_text(place: Place) -> None:
    place.own.write_bytes(b"[ui]\ntheme = '\xff\xfe'\n")
    assert place.load() == (Settings(), (f"{place.own} is not UTF-8 text, so none of it is used.",))


def test_a_file_with_a_byte_order_mark(place: Place) -> None:
    place.own.write_bytes(b"\xef\xbb\xbf[ui]\ntheme = 'nord'\n")
    assert place.load()[0].ui.theme == "nord"


def test_a_folder_in_place_of_a_file(place: Place) -> None:
    place.own.mkdir()
    assert place.load()[1] == (f"{place.own} is not a file, so none of it is used.",)


def test_a_pipe_in_place_of_a_file_does_not_hang(place: Place) -> None:
    os.mkfifo(place.own)
    assert place.load()[1] == (f"{place.own} is not a file, so none of it is used.",)


def test_a_file_that_is_far_too_large(place: Place) -> None:
    place.own.write_text("# " + "x" * 1_000_001)
    assert "is larger than 1 MB" in place.load()[1][0]


def test_a_home_that_is_a_file(place: Place) -> None:
    place.home.rmdir()
    place.home.write_text("not a folder")
    assert place.load()[0] == Settings()


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read(place: Place) -> None:
    place.own.write_text("[ui]\ntheme = 'nord'\n")
    place.own.chmod(0)
    assert place.load() == (Settings(), (f"{place.own} cannot be read (Permission denied), so none of it is used.",))


def test_a_key_in_the_place_of_its_name_is_never_repeated(place: Place) -> None:
    place.own.write_text('[providers.local]\napi_base = "http://x"\napi_key_env = "sk-1234-secret"\napi_key = "sk-9"\n')
    settings, notices = place.load()
    assert settings.providers["local"].api_key_env is None
    assert len(notices) == 2
    assert "should be the name of an environment variable" in notices[0]
    assert "sk-" not in "".join(notices)


def test_notices_carry_no_control_characters(place: Place) -> None:
    place.own.write_text('[ui]\n"the\\u001bme" = 1\n[memory]\nx_budget = "\\u001b]52;c;x\\u0007"\n')
    _, notices = place.load()
    assert len(notices) == 2
    assert "\x1b" not in "".join(notices)
    assert "\x07" not in "".join(notices)


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
_variables = st.dictionaries(
    st.sampled_from(
        [
            "OTTO_MODEL",
            "OTTO_MODEL__CHAT",
            "OTTO_MODEL__TEMPERATURE",
            "OTTO_MEMORY__X_BUDGET",
            "OTTO_MEMORY__X_BUDGET__DEEP",
            "OTTO_PROVIDERS__A",
            "OTTO_PROVIDERS__A__API_BASE",
            "OTTO_PROVIDERS__A__API_BASE__DEEP",
            "OTTO_WORKSPACES__TRUSTED",
            "OTTO_EMBEDDING_MODEL",
            "OTTO_PASSIVE",
            "OTTO_LEDGER",
            "OTTO_LEDGER__AGENT_MAX_TURNS",
            "OTTO_LEDGER__OBSERVATIONS_POOL_TARGET_TOKENS",
            "OTTO_EMBEDDING",
            "OTTO_EMBEDDING__MODEL__DEEP",
            "OTTO____",
        ]
    ),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
    | st.sampled_from(["~nobody:/x", "~", "{}", "[]", "[1]", '{"a": 1}', "null", "1", "true"]),
)


@given(_variables)
def test_no_environment_breaks_the_settings(variables: dict[str, str]) -> None:
    settings, notices = load(Path("/nonexistent"), {"OTTO_HOME": "/nonexistent/home", **variables})
    assert isinstance(settings.memory.x_budget, int)
    assert all(notice.endswith((".", ")")) for notice in notices)


@given(st.dictionaries(st.sampled_from(["model", "memory", "ledger", "providers", "workspaces", "ui", "x"]), _values))
def test_no_file_breaks_the_settings(values: dict[str, object]) -> None:
    from otto_tui.config_check import settle
    from otto_tui.config_sources import Layer

    settings, _ = settle([Layer("config.toml", values)], Path("/project"), {})
    assert isinstance(settings, Settings)

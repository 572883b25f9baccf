"""Settings: where they come from, what is refused, what is shown."""

import base64
import json
from collections.abc import Mapping
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from recollect.cli.settings_page import PAGE, render_page
from recollect.kernel.errors import InvalidInput
from recollect.settings import SECRETS, Settings
from recollect.settings.load import LoadedSettings, env_name, fields, load

SECRET = "not-a-real-secret-but-long-enough-for-hs256"
KEY = base64.b64encode(b"0123456789abcdef0123456789abcdef").decode()
OTHER_KEY = base64.b64encode(b"fedcba9876543210fedcba9876543210").decode()

# One good value in the environment for every setting, and what it becomes.
SAMPLES: dict[str, tuple[str, Any]] = {
    "server.host": ("::1", "::1"),
    "server.port": ("9001", 9001),
    "server.shutdown_grace_seconds": ("5", 5),
    "database.url": ("postgresql://db.example/r", "postgresql://db.example/r"),
    "database.pool_size": ("3", 3),
    "database.readers": ("4", 4),
    "database.migrate_at_start": ("true", True),
    "database.backup_passphrase": ("correct horse", "**********"),
    "auth.mode": ("local", "local"),
    "auth.jwt_secret": (SECRET, "**********"),
    "auth.jwks_url": ("https://id.example/jwks", "https://id.example/jwks"),
    "auth.issuer": ("https://id.example", "https://id.example"),
    "auth.audience": ("recollect", "recollect"),
    "auth.roles_claim": ("groups", "groups"),
    "auth.failures_per_minute": ("5", 5),
    "auth.api_keys": ('{"k1": ["key-a", "key-b"]}', {"k1": ["**********", "**********"]}),
    "auth.trusted_clients": ('["k1"]', ["k1"]),
    "auth.agents": (
        '{"k1": {"agent": "helper"}}',
        {"k1": {"agent": "helper", "act_for_owner": False}},
    ),
    "auth.roles": (
        '{"admin": {"users": ["ann"], "token_roles": ["ops"]}}',
        {"admin": {"users": ["ann"], "clients": [], "token_roles": ["ops"]}},
    ),
    "api.emit_after_cursor": ("true", True),
    "admin.require_justification": ("1", True),
    "audit.retention_days": ("30", 30),
    "eviction.batch_size": ("50", 50),
    "eviction.batch_delay_ms": ("0", 0),
    "transfers.ttl_days": ("7", 7),
    "encryption.keys": (
        json.dumps([{"id": "a", "key": KEY}]),
        [{"id": "a", "key": "**********"}],
    ),
    "encryption.allow_missing": ('["lost"]', ["lost"]),
    "encryption.index": ("sealed", "sealed"),
    "search.index_raw_text": ("false", False),
    "search.candidates": ("50", 50),
    "search.exact_max": ("1000", 1000),
    "search.cache_mb": ("64", 64),
    "search.semantic.enabled": ("false", False),
    "search.semantic.min_score": ("0.3", 0.3),
    "search.fulltext.enabled": ("false", False),
    "search.qdrant.url": ("http://vectors.example:6333", "http://vectors.example:6333"),
    "search.qdrant.api_key": (SECRET, "**********"),
    "search.qdrant.collection": ("agents", "agents"),
    "embedding.provider": ("openai", "openai"),
    "embedding.threads": ("2", 2),
    "embedding.query_cache": ("10", 10),
    "embedding.openai.base_url": ("http://models.example/v1", "http://models.example/v1"),
    "embedding.openai.model": ("small", "small"),
    "embedding.openai.api_key": (SECRET, "**********"),
    "embedding.openai.dimensions": ("64", 64),
    "embedding.openai.send_dimensions": ("true", True),
    "embedding.openai.timeout_seconds": ("2.5", 2.5),
    "embedding.openai.retries": ("0", 0),
    "memory.auto_gc": ("false", False),
    "memory.max_entries": ("500", 500),
    "memory.enabled": ("true", True),
    "memory.db_path": ("own/memory.db", "own/memory.db"),
    "extraction.enabled": ("false", False),
    "extraction.confidence_threshold": ("0.5", 0.5),
    "spaces.mode": ("single", "single"),
    "visibility.rules": (
        '[{"pattern": "rust", "visibility": "public"}]',
        [{"pattern": "rust", "visibility": "public"}],
    ),
    "visibility.default": ("private", "private"),
    "privacy.sensitive_in_groups": ("subject_present", "subject_present"),
    "privacy.public_in_groups": ("anyone", "anyone"),
    "privacy.unknown_origin": ("closed", "closed"),
    "pii.mode": ("redact", "redact"),
    "pii.reject_min_risk": ("critical", "critical"),
    "retention.file": ("own/retention.yaml", "own/retention.yaml"),
    "retention.profile": ("none", "none"),
    "runs.session_cleanup": ("run", "run"),
    "approvals.ttl_minutes": ("60", 60),
    "quarantine.threshold": ("0.5", 0.5),
    "events.reads": ("all", "all"),
    "events.poll_ms": ("50", 50),
    "events.heartbeat_seconds": ("5", 5),
    "events.streams_max": ("3", 3),
    "agents.auto_register": ("true", True),
    "people.auto_merge": ("true", True),
    "orgs.members": ('{"acme": ["ann", "bob"]}', {"acme": ["ann", "bob"]}),
    "reconcile.duplicate_min": ("0.99", 0.99),
    "reconcile.supersede_min": ("0.9", 0.9),
    "reconcile.unsure_min": ("0.6", 0.6),
    "reconcile.hearsay_min": ("0.7", 0.7),
    "reconcile.neighbours": ("5", 5),
    "recall.tokenizer": ("bytes3", "bytes3"),
    "gc.interval_hours": ("6", 6),
    "gc.archive_days": ("30", 30),
    "erase.signing_key": (SECRET, "**********"),
    "jobs.embedded_worker": ("false", False),
    "jobs.attempts_max": ("2", 2),
    "jobs.poll_ms": ("20", 20),
    "jobs.lease_seconds": ("9", 9),
    "log.level": ("debug", "debug"),
    "log.format": ("json", "json"),
    "otel.enabled": ("true", True),
    "otel.endpoint": ("http://collector:4318", "http://collector:4318"),
    "otel.traces": ("false", False),
    "otel.metrics": ("false", False),
    "otel.sample_ratio": ("0.1", 0.1),
    "otel.metric_seconds": ("15", 15),
    "grpc.port": ("50051", 50051),
    "grpc.max_connections": ("7", 7),
    "recorder.locators": ("database", "database"),
    "recorder.advertised_address": ("node-1:8080", "node-1:8080"),
    "recorder.directory": ("/tmp/tapes", "/tmp/tapes"),
    "recorder.max_bytes": ("1024", 1024),
    "recorder.max_recordings": ("20", 20),
    "recorder.max_recordings_per_user": ("3", 3),
    "recorder.max_replays": ("40", 40),
    "recorder.max_replays_per_user": ("4", 4),
    "recorder.keep_seconds": ("5", 5),
    "redis.url": ("redis://user:word@cache:6379/0", "redis://user:***@cache:6379/0"),
}

OPERATORS_NAMES = {
    "RECOLLECT_SERVER__HOST",
    "RECOLLECT_SERVER__PORT",
    "RECOLLECT_DATABASE__URL",
    "RECOLLECT_AUTH__MODE",
    "RECOLLECT_AUTH__JWT_SECRET",
    "RECOLLECT_AUTH__JWKS_URL",
    "RECOLLECT_AUTH__ISSUER",
    "RECOLLECT_AUTH__AUDIENCE",
    "RECOLLECT_AUTH__API_KEYS",
    "RECOLLECT_AUTH__TRUSTED_CLIENTS",
    "RECOLLECT_AUTH__ROLES",
    "RECOLLECT_EVICTION__BATCH_SIZE",
    "RECOLLECT_EVICTION__BATCH_DELAY_MS",
    "RECOLLECT_GRPC__PORT",
}


def in_env(values: Mapping[str, str]) -> dict[str, str]:
    return {env_name(key): value for key, value in values.items()}


def loaded_with(**values: str) -> LoadedSettings:
    """`auth__mode="jwt"` stands for RECOLLECT_AUTH__MODE=jwt."""
    return load(environ={f"RECOLLECT_{name.upper()}": value for name, value in values.items()})


def refusal(**values: str) -> str:
    with pytest.raises(InvalidInput) as caught:
        loaded_with(**values)
    return caught.value.message


def value_of(settings: Settings, key: str) -> Any:
    return reduce(getitem, key.split("."), settings.model_dump(mode="json"))


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_setting_can_be_set_in_the_environment() -> None:
    loaded = load(environ=in_env({key: text for key, (text, _) in SAMPLES.items()}))
    assert set(SAMPLES) == set(fields())
    for key, (_, expected) in SAMPLES.items():
        assert value_of(loaded.settings, key) == expected, key
        assert loaded.origins[key] == env_name(key)


def test_every_name_that_operators_use_is_a_setting() -> None:
    assert {env_name(key) for key in fields()} >= OPERATORS_NAMES


def test_without_any_source_everything_is_default() -> None:
    loaded = load(environ={})
    assert loaded.settings == Settings()
    assert set(loaded.origins.values()) == {"default"}


def test_flags_beat_environment_beats_file_beats_default(empty_folder: Path) -> None:
    text = '[server]\nport = 1\nhost = "localhost"\n[database]\nreaders = 3\n[log]\nlevel="debug"'
    (empty_folder / "recollect.toml").write_text(text)
    environ = in_env({"server.port": "2", "database.readers": "4"})
    loaded = load({"server.port": 3, "server.host": None}, environ=environ)
    assert loaded.settings.server.port == 3
    assert loaded.settings.database.readers == 4
    assert loaded.settings.server.host == "localhost"
    assert {key: loaded.origins[key] for key in fields() if loaded.origins[key] != "default"} == {
        "server.port": "--port",
        "server.host": "recollect.toml",
        "database.readers": "RECOLLECT_DATABASE__READERS",
        "log.level": "recollect.toml",
    }


def test_a_named_file_replaces_the_default_one(empty_folder: Path) -> None:
    (empty_folder / "recollect.toml").write_text("[server]\nport = 1")
    (empty_folder / "a.toml").write_text("[server]\nport = 2")
    (empty_folder / "b.toml").write_text("[server]\nport = 3")
    environ = {"RECOLLECT_CONFIG": "a.toml"}
    assert load(environ=environ).settings.server.port == 2
    assert load(environ=environ, config_path=Path("b.toml")).settings.server.port == 3


def test_an_empty_variable_counts_as_not_set() -> None:
    assert loaded_with(server__port="").origins["server.port"] == "default"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[server]\nprot = 1", "server.prot (from recollect.toml): no such setting"),
        ("[sever]\nport = 1", "the nearest is server.port"),
        ("[sever]", "sever (from recollect.toml)"),
        ("port = 1", "the nearest is server.port"),
        ("server = 1", "server (from recollect.toml): no such setting"),
        ('[auth.roles.admin]\nuser = ["a"]', "auth.roles.admin.user (from recollect.toml)"),
        (
            "[search.semantic]\nmin_scor = 1",
            "search.semantic.min_scor (from recollect.toml): no such setting; "
            "the nearest is search.semantic.min_score",
        ),
        ("search.semantic = 1", "search.semantic (from recollect.toml): no such setting"),
        (
            "[embedding.openai]\ndimensions = 0",
            "embedding.openai.dimensions (from recollect.toml): should be greater than",
        ),
        ("[server]\nport = 70000", "server.port (from recollect.toml): should be less than"),
        ("port = = 1", "recollect.toml is not valid TOML"),
    ],
)
def test_a_wrong_file_is_refused_with_the_key_and_the_file(
    empty_folder: Path, text: str, expected: str
) -> None:
    (empty_folder / "recollect.toml").write_text(text)
    with pytest.raises(InvalidInput) as caught:
        load(environ={})
    assert expected in caught.value.message


def test_settings_of_memories_have_the_names_that_agents_give_them(empty_folder: Path) -> None:
    text = (
        "[memory]\nauto_gc = true\nmax_entries = 1000\nextraction_enabled = false\n"
        "extraction_confidence_threshold = 0.6\n"
    )
    (empty_folder / "recollect.toml").write_text(text)
    loaded = load(environ={"RECOLLECT_EXTRACTION__ENABLED": "False"})
    assert loaded.settings.extraction.enabled is False
    assert loaded.settings.extraction.confidence_threshold == 0.6
    assert loaded.settings.memory.max_entries == 1000
    origin = loaded.origins["extraction.confidence_threshold"]
    assert origin == "recollect.toml, as memory.extraction_confidence_threshold"


def test_two_names_of_a_setting_must_agree() -> None:
    message = refusal(memory__extraction_enabled="true", extraction__enabled="false")
    assert message == (
        "memory.extraction_enabled (from RECOLLECT_MEMORY__EXTRACTION_ENABLED): should be the same"
        " as extraction.enabled (from RECOLLECT_EXTRACTION__ENABLED); set one of them"
    )


def test_a_bad_value_under_another_name_is_refused_under_it() -> None:
    assert "memory.extraction_enabled" in refusal(memory__extraction_enabled="perhaps")


def test_a_named_file_that_is_missing_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"can't read the settings file gone\.toml"):
        load(environ={}, config_path=Path("gone.toml"))


@pytest.mark.parametrize("name", ["server__prot", "sever__port"])
def test_an_unknown_variable_is_refused_with_the_nearest_name(name: str) -> None:
    message = refusal(**{name: "1"})
    assert message.startswith(f"RECOLLECT_{name.upper()}: no such setting")
    assert message.endswith("the nearest is RECOLLECT_SERVER__PORT")


@pytest.mark.parametrize("name", ["server_port", "port", "configs"])
def test_a_variable_that_names_no_section_is_somebody_elses(name: str) -> None:
    assert loaded_with(**{name: "1"}) == load(environ={})


def test_an_unknown_flag_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InvalidInput, match=r"auth\.secret .*the nearest is auth\.jwt_secret"):
        load({"auth.secret": SECRET}, environ={})


@pytest.mark.parametrize(
    ("key", "value", "right"),
    [
        ("server.port", "many", "should be a valid integer"),
        ("server.port", "65536", "should be less than or equal to 65535"),
        ("server.port", "-1", "should be greater than or equal to 0"),
        ("auth.mode", "open", "should be 'local' or 'jwt'"),
        ("auth.jwks_url", "ftp://id.example", "should be an http or https URL"),
        ("auth.api_keys", "k1=key", "should be JSON such as {"),
        ("auth.api_keys", '["key-a"]', "should be JSON such as {"),
        ("auth.trusted_clients", '"k1"', "should be JSON such as ["),
        ("auth.agents", '{"k9": {"agent": "helper"}}', "should name clients of auth.api_keys"),
        ("auth.roles", '{"root": {}}', "should be 'admin', 'auditor' or 'indexer'"),
        ("auth.roles", '{"admin": {"user": []}}', "the nearest is users"),
        ("database.url", "mysql://db.example/r", "should be sqlite:///"),
        ("database.url", "sqlite://file.db", "should be sqlite:///"),
        ("database.url", "sqlite:///", "should be sqlite:///"),
        ("database.url", "sqlite:///:memory:", "should be sqlite:///"),
        ("encryption.keys", '[{"id": "a", "key": "c2hvcnQ="}]', "should be 32 random bytes"),
        ("encryption.keys", '[{"id": "a b", "key": "c2hvcnQ="}]', "should match pattern"),
        ("transfers.ttl_days", "99999999999", "should be at most 36500, a hundred years"),
        ("jobs.lease_seconds", "99999999999", "should be at most 3153600000, a hundred years"),
        ("eviction.batch_size", "0", "should be greater than or equal to 1"),
        ("log.level", "loud", "should be 'debug'"),
        ("search.index_raw_text", "perhaps", "should be a valid boolean"),
        ("search.semantic.min_score", "2", "should be less than or equal to 1"),
        ("embedding.provider", "magic", "should be 'builtin', 'openai' or 'none'"),
        ("memory.max_entries", "0", "should be greater than or equal to 1"),
        ("spaces.mode", "triple", "should be 'dual' or 'single'"),
        ("extraction.confidence_threshold", "2", "should be less than or equal to 1"),
        ("visibility.default", "open", "should be 'public' or 'private'"),
        ("visibility.rules", "prefers", "should be JSON such as ["),
        ("visibility.rules", '[{"pattern": "a", "visibility": "open"}]', "should be 'public' or"),
        ("visibility.rules", '[{"pattern": "a", "rule": "public"}]', "the nearest is"),
        ("visibility.rules", '[{"pattern": "", "visibility": "public"}]', "at least 1 character"),
        ("visibility.rules", '[{"pattern": "(", "visibility": "public"}]', "unclosed group"),
        ("visibility.rules", '[{"pattern": "(?=a)", "visibility": "public"}]', "look-around"),
        (
            "visibility.rules",
            '[{"pattern": "(a{999}){999}", "visibility": "public"}]',
            "exceeds size limit",
        ),
        ("privacy.sensitive_in_groups", "always", "should be 'never' or 'subject_present'"),
        ("privacy.public_in_groups", "all", "should be 'known' or 'anyone'"),
        ("privacy.unknown_origin", "ajar", "should be 'open' or 'closed'"),
        ("pii.mode", "ignore", "should be 'tag', 'redact' or 'reject'"),
        ("pii.reject_min_risk", "3", "should be 'low', 'medium', 'high' or 'critical'"),
        ("retention.profile", "all", "should be 'records' or 'none'"),
        ("runs.session_cleanup", "never", "should be 'root' or 'run'"),
        ("approvals.ttl_minutes", "0", "should be greater than or equal to 1"),
        ("approvals.ttl_minutes", "1000000000000000", "should be less than or equal to 525600000"),
        ("quarantine.threshold", "1.1", "should be less than or equal to 1"),
        ("events.reads", "some", "should be 'pii', 'all' or 'none'"),
        ("orgs.members", '["ann"]', 'should be JSON such as {"acme": ["ann", "bob"]}'),
        ("reconcile.neighbours", "0", "should be greater than or equal to 1"),
        ("recall.tokenizer", "words", "should be 'bytes3'"),
        ("gc.archive_days", "-1", "should be greater than or equal to 1"),
    ],
)
def test_a_bad_value_names_key_source_and_what_would_be_right(
    key: str, value: str, right: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        load(environ=in_env({key: value}))
    assert key in caught.value.message
    assert f"(from {env_name(key)}): " in caught.value.message
    assert right in caught.value.message


def test_a_bad_value_is_quoted_unless_it_is_secret() -> None:
    assert "'many'" in refusal(server__port="many")
    assert "hunter" not in refusal(database__url="mysql://ann:hunter@db.example/r")
    assert "hunter" not in refusal(encryption__keys='[{"id": "a", "key": "hunter"}]')
    assert "hunter" not in refusal(auth__api_keys='{"a": ["hunter"], "b": ["hunter"]}')
    assert "hunter" not in refusal(auth__api_keys='{"a": "hunter"}')


def test_all_problems_of_one_kind_are_told_at_once() -> None:
    message = refusal(server__port="many", log__level="loud")
    assert "server.port" in message
    assert "log.level" in message


def test_local_mode_listens_on_loopback_only() -> None:
    for host in ("127.0.0.1", "127.8.8.8", "::1", "localhost"):
        assert loaded_with(server__host=host).settings.server.host == host
    for host in ("0.0.0.0", "::", "192.0.2.1", "host.example"):
        assert "server.host (from RECOLLECT_SERVER__HOST): " in refusal(server__host=host)
    far = loaded_with(server__host="0.0.0.0", auth__mode="jwt", auth__jwt_secret=SECRET)
    assert far.settings.server.host == "0.0.0.0"


def test_jwt_mode_needs_a_secret_or_a_key_set() -> None:
    assert "auth.jwt_secret or auth.jwks_url" in refusal(auth__mode="jwt")
    loaded_with(auth__mode="jwt", auth__jwks_url="https://id.example/jwks")
    loaded_with(auth__mode="jwt", auth__jwt_secret=SECRET)


def test_a_secret_of_less_than_32_bytes_is_refused() -> None:
    refused = refusal(auth__jwt_secret="hunter" * 5)
    assert "auth.jwt_secret" in refused
    assert "at least 32 bytes" in refused
    assert "hunter" not in refused
    assert loaded_with(auth__jwt_secret="ä" * 16).settings.auth.jwt_secret


def test_similarities_of_reconciling_rise_from_unsure_to_duplicate() -> None:
    assert "between reconcile.unsure_min and" in refusal(reconcile__supersede_min="0.98")
    assert "between reconcile.unsure_min and" in refusal(reconcile__unsure_min="0.86")
    loaded_with(reconcile__unsure_min="0.97", reconcile__supersede_min="0.97")


def test_a_key_that_appears_twice_is_refused() -> None:
    assert "'b' repeats one of 'a'" in refusal(auth__api_keys='{"a": ["k"], "b": ["l", "k"]}')
    assert "'a' repeats one of 'a'" in refusal(auth__api_keys='{"a": ["k", "k"]}')


def test_a_trusted_client_without_keys_is_refused() -> None:
    message = refusal(auth__trusted_clients='["k2"]', auth__api_keys='{"k1": ["key"]}')
    assert message.startswith("auth.trusted_clients (from RECOLLECT_AUTH__TRUSTED_CLIENTS): ")
    assert "'k2'" in message


def test_encryption_keys_have_distinct_ids() -> None:
    twice = json.dumps([{"id": "a", "key": KEY}, {"id": "a", "key": OTHER_KEY}])
    assert "'a' is there twice" in refusal(encryption__keys=twice)
    both = json.dumps([{"id": "a", "key": KEY}, {"id": "b", "key": OTHER_KEY}])
    keys = loaded_with(encryption__keys=both).settings.encryption.keys
    assert [(key.id, len(key.to_bytes())) for key in keys] == [("a", 32), ("b", 32)]


def test_unset_settings_follow_from_others() -> None:
    plain = load(environ={}).settings
    assert (plain.indexes_raw_text, plain.database.migrates_at_start) == (True, True)
    keys = json.dumps([{"id": "a", "key": KEY}])
    other = loaded_with(encryption__keys=keys, database__url="postgresql://db.example/r").settings
    assert (other.indexes_raw_text, other.database.migrates_at_start) == (False, False)
    asked = loaded_with(encryption__keys=keys, search__index_raw_text="true").settings
    assert asked.indexes_raw_text


def test_the_sqlite_file_and_the_key_beside_it_come_from_the_url() -> None:
    relative = loaded_with(database__url="sqlite:///data/r.db").settings
    assert relative.database.sqlite_path == Path("data/r.db")
    assert relative.local_key_path == Path("data/recollect.key")
    absolute = loaded_with(database__url="sqlite:////var/r.db").settings
    assert absolute.database.sqlite_path == Path("/var/r.db")
    elsewhere = loaded_with(database__url="postgresql://db.example/r").settings
    assert elsewhere.database.sqlite_path is None
    assert elsewhere.local_key_path == Path("recollect-data/recollect.key")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ann:hunter@db.example/r", "postgresql://ann:***@db.example/r"),
        ("postgresql://ann:hun%40ter@db.example/r", "postgresql://ann:***@db.example/r"),
        (
            "postgresql://db.example/r?user=ann&password=hunter&sslmode=require",
            "postgresql://db.example/r?user=ann&password=***&sslmode=require",
        ),
    ],
)
def test_a_password_in_a_url_is_never_shown(url: str, shown: str) -> None:
    settings = loaded_with(database__url=url).settings
    assert settings.database.url == url
    assert value_of(settings, "database.url") == shown
    assert "hun" not in repr(settings)


@pytest.mark.parametrize("password", ["hun/ter", "hun@ter", "hun@ter@", "/hunter"])
def test_a_password_that_would_pass_for_a_host_is_refused_unseen(password: str) -> None:
    message = refusal(database__url=f"postgresql://ann:{password}@db.example/r")
    assert "written as %40 and %2F" in message
    assert "hun" not in message


def test_no_secret_is_in_what_may_be_shown() -> None:
    texts = {key: text for key, (text, _) in SAMPLES.items()}
    settings = load(environ=in_env(texts)).settings
    for shown in (repr(settings), str(settings.model_dump()), settings.model_dump_json()):
        assert not [secret for secret in (SECRET, "key-a", "key-b", KEY) if secret in shown]


def test_every_secret_field_is_in_the_list_that_messages_respect() -> None:
    secret = {key for key, field in fields().items() if "SecretStr" in repr(field.annotation)}
    urls = {"database.url", "auth.jwks_url", "search.qdrant.url", "embedding.openai.base_url"}
    assert secret | urls | {"encryption.keys", "redis.url"} == SECRETS


def test_settings_can_not_be_changed() -> None:
    settings = load(environ={}).settings
    with pytest.raises(ValidationError, match="frozen"):
        settings.server.port = 1  # type: ignore[misc]


def test_every_setting_is_described_on_the_reference_page() -> None:
    page = render_page()
    for key, field in fields().items():
        assert field.description, key
        assert f"| `{key}` |" in page
        assert f"`{env_name(key)}`" in page


def test_the_reference_page_is_up_to_date() -> None:
    assert (Path(__file__).parents[2] / PAGE).read_text(encoding="utf-8") == render_page()

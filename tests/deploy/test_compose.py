"""The compose file and its proxy: names, ports, settings and checks fit together."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from recollect.api.registry import CONVERSATION_OPERATIONS
from recollect.cli.main import app
from tests.deploy.files import (
    COMPOSE,
    compose,
    image_environment,
    ours,
    proxy_sections,
    settings_of,
)

SCHEMA_CHECK = Path(sys.executable).with_name("check-jsonschema")
SERVICES = ours()
NODES = [name for name, one in SERVICES.items() if one["command"] == ["serve"]]
PORT = image_environment()["RECOLLECT_SERVER__PORT"]


def backend(name: str) -> list[list[str]]:
    """The lines `server` of a backend of the proxy."""
    return [line for line in proxy_sections()[f"backend {name}"] if line[0] == "server"]


def test_it_is_a_compose_file_by_the_specification() -> None:
    command = [str(SCHEMA_CHECK), "--builtin-schema", "vendor.compose-spec", str(COMPOSE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", SERVICES)
def test_every_process_can_read_its_settings(name: str) -> None:
    settings = settings_of(SERVICES[name]["environment"])
    assert settings.auth.mode == "jwt"


@pytest.mark.parametrize("name", SERVICES)
def test_every_process_runs_a_command_that_exists(name: str) -> None:
    commands = typer.main.get_command(app)
    assert SERVICES[name]["command"][0] in getattr(commands, "commands", {})


def test_there_are_two_nodes_and_jobs_have_a_process_of_their_own() -> None:
    assert len(NODES) == 2
    assert ["worker"] in [one["command"] for one in SERVICES.values()]
    for name in NODES:
        assert not settings_of(SERVICES[name]["environment"]).jobs.embedded_worker


def test_every_node_tells_the_others_its_own_address() -> None:
    for name in NODES:
        settings = settings_of(SERVICES[name]["environment"])
        assert settings.recorder.locators == "redis"
        assert settings.recorder.advertised_address == f"{name}:{PORT}"


def test_databases_are_called_by_the_names_and_passwords_they_have() -> None:
    services = compose()["services"]
    settings = settings_of(SERVICES[NODES[0]]["environment"])
    database = services["database"]["environment"]
    assert settings.database.url == (
        f"postgresql://{database['POSTGRES_USER']}:{database['POSTGRES_PASSWORD']}"
        f"@database/{database['POSTGRES_DB']}"
    )
    password = services["valkey"]["environment"]["VALKEY_PASSWORD"]
    assert services["valkey"]["command"][-2:] == ["--requirepass", password]
    assert settings.redis.url == f"redis://:{password}@valkey:6379/0"


def test_no_secret_is_written_in_the_file() -> None:
    written = COMPOSE.read_text(encoding="utf-8")
    for line in re.findall(r"^.*(?:PASSWORD|SECRET|requirepass).*$", written, re.MULTILINE):
        assert re.search(r"\$\{\w+:\?|\$\$VALKEY_PASSWORD", line), line


def test_whoever_is_waited_for_exists_and_can_be_waited_for() -> None:
    services = compose()["services"]
    for name, one in services.items():
        for other, waited in one.get("depends_on", {}).items():
            healthy = waited["condition"] == "service_healthy"
            assert other in services, (name, other)
            assert not healthy or "test" in services[other].get("healthcheck", {}) or other in NODES


def test_backups_are_in_one_folder_for_all_who_vacuum_or_erase() -> None:
    shared = {name: one["volumes"] for name, one in SERVICES.items() if name != "migrate"}
    assert len({str(volumes) for volumes in shared.values()}) == 1
    (mount,) = shared[NODES[0]]
    volume, _, folder = mount.partition(":")
    assert volume in compose()["volumes"]
    assert folder == "/var/lib/recollect/recollect-data/backups"


def test_a_stop_takes_longer_than_the_requests_that_may_end() -> None:
    settings = settings_of(SERVICES[NODES[0]]["environment"])
    seconds = int(SERVICES[NODES[0]]["stop_grace_period"].removesuffix("s"))
    assert seconds > settings.server.shutdown_grace_seconds


@pytest.mark.parametrize("name", ["rest", "grpc"])
def test_the_proxy_knows_every_node(name: str) -> None:
    assert {line[1]: line[2] for line in backend(name)} == {
        node: f"{node}:{PORT}" for node in NODES
    }


def test_the_proxy_speaks_http2_for_grpc_alone_and_goes_by_one_check() -> None:
    (rest_default,) = [w for w in proxy_sections()["backend rest"] if w[0] == "default-server"]
    (grpc_default,) = [w for w in proxy_sections()["backend grpc"] if w[0] == "default-server"]
    assert "check" in rest_default
    assert "proto h2" in " ".join(grpc_default)
    assert "proto" not in rest_default
    assert {line[1]: line[4] for line in backend("grpc")} == {n: f"rest/{n}" for n in NODES}


def test_the_proxy_checks_an_operation_and_hides_the_metrics() -> None:
    paths = {one.path for one in CONVERSATION_OPERATIONS}
    (check,) = [w for w in proxy_sections()["backend rest"] if w[:2] == ["http-check", "send"]]
    assert check[check.index("uri") + 1] in paths
    (deny,) = [w for w in proxy_sections()["frontend public"] if w[0] == "http-request"]
    assert deny[-2] == "/metrics"
    assert deny[-2] in paths


def test_the_proxy_is_more_patient_than_a_silent_stream() -> None:
    settings = settings_of(SERVICES[NODES[0]]["environment"])
    timeouts = {w[1]: w[2] for w in proxy_sections()["defaults"] if w[0] == "timeout"}
    for side in ("client", "server"):
        minutes = int(timeouts[side].removesuffix("m"))
        assert 60 * minutes > 2 * settings.events.heartbeat_seconds


def test_the_published_port_is_the_proxys() -> None:
    (bind,) = [w for w in proxy_sections()["frontend public"] if w[0] == "bind"]
    services = compose()["services"]
    (published,) = services["proxy"]["ports"]
    assert published.endswith(bind[1])
    assert [name for name, one in services.items() if "ports" in one] == ["proxy"]

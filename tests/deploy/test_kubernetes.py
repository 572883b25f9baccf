"""The Kubernetes example: settings, probes and references fit together."""

import re
from pathlib import Path
from typing import Any

import pytest
import typer

from recollect.api.registry import CONVERSATION_OPERATIONS
from recollect.cli.main import app
from recollect.settings import Settings
from tests.deploy.files import (
    KUBERNETES,
    image_environment,
    instructions,
    manifests,
    pods,
    settings_of,
)

PODS = pods()
PORT = int(image_environment()["RECOLLECT_SERVER__PORT"])
SERVER = "recollect-server"


def container(name: str) -> dict[str, Any]:
    """The one container of a pod."""
    (one,) = PODS[name]["containers"]
    found: dict[str, Any] = one
    return found


def named(kind: str) -> dict[str, dict[str, Any]]:
    """Objects of a kind, by name."""
    return {one["metadata"]["name"]: one for one in manifests() if one["kind"] == kind}


def settings_in(name: str, folder: Path) -> Settings:
    """As the process of a pod reads them."""
    one = container(name)
    environ: dict[str, str] = {}
    for source in one["envFrom"]:
        environ |= named("ConfigMap")[source["configMapRef"]["name"]]["data"]
    environ |= {
        variable["name"]: variable["value"].replace("$(POD_IP)", "10.0.0.7")
        for variable in one.get("env", ())
        if variable["name"].startswith("RECOLLECT_")
    }
    mount = next(m["mountPath"] for m in one["volumeMounts"] if m["name"] == "secret")
    (secret,) = manifests("secret.example.yaml")
    written = Path(environ.pop("RECOLLECT_CONFIG"))
    assert str(written.parent) == mount
    config = folder / written.name
    config.write_text(secret["stringData"][written.name], encoding="utf-8")
    return settings_of(environ, config)


@pytest.mark.parametrize("name", PODS)
def test_every_process_can_read_its_settings(name: str, tmp_path: Path) -> None:
    settings = settings_in(name, tmp_path)
    assert settings.auth.jwks_url is not None
    assert settings.recorder.locators == "redis"
    assert not settings.jobs.embedded_worker


@pytest.mark.parametrize("name", PODS)
def test_every_process_runs_a_command_that_exists(name: str) -> None:
    commands = typer.main.get_command(app)
    assert container(name)["args"][0] in getattr(commands, "commands", {})


@pytest.mark.parametrize("name", PODS)
def test_every_process_is_nobody_special_and_finds_no_foreign_variables(name: str) -> None:
    """A service named `recollect` would set RECOLLECT_PORT, which is no setting."""
    (user,) = (one.rest for one in instructions() if one.word == "USER")
    assert re.fullmatch(r"[1-9]\d*:\d+", user)
    assert PODS[name]["enableServiceLinks"] is False
    assert PODS[name]["securityContext"]["runAsNonRoot"] is True
    security = container(name)["securityContext"]
    assert security["readOnlyRootFilesystem"] is True
    assert security["allowPrivilegeEscalation"] is False
    assert security["capabilities"] == {"drop": ["ALL"]}


@pytest.mark.parametrize("name", PODS)
def test_every_process_says_what_it_needs(name: str) -> None:
    resources = container(name)["resources"]
    assert {*resources["requests"]} == {"cpu", "memory"}
    assert "memory" in resources["limits"]


@pytest.mark.parametrize("name", PODS)
def test_every_mount_has_a_volume_and_every_volume_an_object(name: str) -> None:
    (secret,) = manifests("secret.example.yaml")
    volumes = {one["name"]: one for one in PODS[name]["volumes"]}
    assert {mount["name"] for mount in container(name)["volumeMounts"]} == {*volumes}
    for one in volumes.values():
        if "secret" in one:
            assert one["secret"]["secretName"] == secret["metadata"]["name"]
        if "persistentVolumeClaim" in one:
            assert one["persistentVolumeClaim"]["claimName"] in named("PersistentVolumeClaim")


def test_the_schema_is_changed_by_a_job_and_jobs_are_done_by_workers() -> None:
    assert container("recollect-migrate")["args"] == ["migrate"]
    assert container("recollect-worker")["args"] == ["worker"]
    assert (
        named("Job")["recollect-migrate"]["spec"]["template"]["spec"]["restartPolicy"] != "Always"
    )


def test_a_node_tells_the_others_the_address_of_its_pod(tmp_path: Path) -> None:
    variables = {one["name"]: one for one in container(SERVER)["env"]}
    assert variables["POD_IP"]["valueFrom"]["fieldRef"]["fieldPath"] == "status.podIP"
    assert settings_in(SERVER, tmp_path).recorder.advertised_address == f"10.0.0.7:{PORT}"


def test_probes_ask_for_what_there_is() -> None:
    one = container(SERVER)
    (port,) = one["ports"]
    assert port["containerPort"] == PORT
    paths = {
        row.path for row in CONVERSATION_OPERATIONS if row.method == "GET" and row.action is None
    }
    for name in ("readinessProbe", "livenessProbe"):
        assert one[name]["httpGet"]["path"] in paths
        assert one[name]["httpGet"]["port"] == port["name"]
    assert one["startupProbe"]["grpc"] == {"port": PORT}


def test_a_database_that_is_away_makes_a_node_unready_and_does_not_restart_it() -> None:
    one = container(SERVER)
    assert one["readinessProbe"]["httpGet"]["path"] == "/v1/health"
    assert one["livenessProbe"]["httpGet"]["path"] != "/v1/health"


def test_the_service_leads_to_the_servers_port_and_to_them_alone() -> None:
    service = named("Service")["recollect"]["spec"]
    (port,) = container(SERVER)["ports"]
    assert {one["targetPort"] for one in service["ports"]} == {port["name"]}
    labels = named("Deployment")[SERVER]["spec"]["template"]["metadata"]["labels"]
    assert service["selector"].items() <= labels.items()
    worker = named("Deployment")["recollect-worker"]["spec"]["template"]["metadata"]["labels"]
    assert not service["selector"].items() <= worker.items()


def test_one_of_several_nodes_always_stays() -> None:
    budget = named("PodDisruptionBudget")[SERVER]["spec"]
    deployment = named("Deployment")[SERVER]["spec"]
    assert budget["selector"] == deployment["selector"]
    assert deployment["replicas"] > budget["minAvailable"] >= 1


def test_a_stop_takes_longer_than_the_requests_that_may_end(tmp_path: Path) -> None:
    grace = settings_in(SERVER, tmp_path).server.shutdown_grace_seconds
    pause = int(container(SERVER)["lifecycle"]["preStop"]["exec"]["command"][1])
    assert PODS[SERVER]["terminationGracePeriodSeconds"] > grace + pause


def test_backups_are_in_one_folder_for_all_who_vacuum_or_erase() -> None:
    (claim,) = named("PersistentVolumeClaim").values()
    assert claim["spec"]["accessModes"] == ["ReadWriteMany"]
    for name in (SERVER, "recollect-worker"):
        mounts = {mount["name"]: mount["mountPath"] for mount in container(name)["volumeMounts"]}
        assert mounts["backups"] == "/var/lib/recollect/recollect-data/backups"


def test_no_manifest_is_forgotten() -> None:
    beside = {"kustomization.yaml", "secret.example.yaml", "secret.yaml"}
    files = {path.name for path in KUBERNETES.glob("*.yaml")} - beside
    listed = re.findall(r"^  - (\S+\.yaml)$", read("kustomization.yaml"), re.MULTILINE)
    assert {*listed} == files


def read(name: str) -> str:
    """The text of a file."""
    return (KUBERNETES / name).read_text(encoding="utf-8")

"""How risky personal data is says the retention file, wherever it is asked for."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect.kernel.retention_rules import PiiRisk
from tests.conftest import Host
from tests.support.memory.callers import Callers

RULES = """
default_ttl: {session: 3600, long_term: 2592000, org: 7776000}
pii: {tags: {name: {risk: critical}, ssn: {risk: low}}}
"""
MINE: dict[str, Any] = {"space": {"kind": "user"}}


@pytest.fixture
def strict(host: Host, tmp_path: Path) -> Iterator[Callers]:
    """A server where a name is critical, and a social security number is not."""
    rules = tmp_path / "rules.yaml"
    rules.write_text(RULES)
    with host(retention__file=str(rules)) as world:
        yield Callers(world)


def column(callers: Callers, memory_id: str) -> Any:
    ((risk,),) = callers.world.database.rows(
        "SELECT pii_risk FROM memories WHERE id = :id", id=memory_id
    )
    return risk


def test_the_row_has_the_risk_of_the_file_also_after_a_change(strict: Callers) -> None:
    ann = strict.person("ann")
    named = ann.adds("she runs the ferry", pii_tags=["name"], **MINE)
    assert (named["expiry_rule"], column(strict, named["id"])) == ("pii:critical", PiiRisk.CRITICAL)
    number = ann.adds("the number is 219-09-9999", **MINE)
    assert (number["expiry_rule"], column(strict, number["id"])) == ("pii:low", PiiRisk.LOW)
    ann.patch("/memories/{}", number["id"], body={"pii_tags": ["name"]}).expect(200)
    assert column(strict, number["id"]) == PiiRisk.CRITICAL
    plain = ann.adds("the ferry leaves at noon", **MINE)
    assert column(strict, plain["id"]) == 0


@pytest.mark.parametrize(("tag", "masked"), [("name", True), ("ssn", False)])
def test_events_mask_the_key_of_what_is_critical_by_the_file(
    strict: Callers, tag: str, masked: bool
) -> None:
    ann = strict.person("ann")
    body = {"key": "captain", "value": {"n": 1}, "pii_tags": [tag], **MINE}
    memory = ann.post("/memories", body=body).expect(201)["memory"]
    ann.patch("/memories/{}", memory["id"], body={"tags": ["a"]}).expect(200)
    ann.get("/memories/{}", memory["id"]).expect(200)
    ann.delete("/memories/{}", memory["id"]).expect(204)
    told = ann.lists("/events", memory_id=memory["id"])
    types = {event["event_type"] for event in told}
    assert {"memory.write", "memory.update", "memory.delete"} <= types
    assert {event["payload"]["key"] != "captain" for event in told} == {masked}
    assert ("captain" in str(told)) != masked


def test_reads_are_told_of_by_the_risk_of_the_file(strict: Callers) -> None:
    ann = strict.person("ann")
    risky = ann.adds("she runs the ferry", pii_tags=["name"], **MINE)["id"]
    tame = ann.adds("the number is 219-09-9999", **MINE)["id"]
    ann.lists("/memories", spaces="user")
    (event,) = ann.lists("/events", event_type="memory.read")
    assert event["payload"]["ids"] == [risky]
    ann.get("/memories/{}", tame).expect(200)
    assert len(ann.lists("/events", event_type="memory.read")) == 1


def test_what_is_critical_by_the_file_is_not_stored_where_anybody_reads(strict: Callers) -> None:
    ann = strict.person("ann")
    agent = ann.registers()["id"]
    body = {"content": "she runs the ferry", "agent_id": agent, "visibility": "public"}
    refused = ann.post("/memories", body=body | {"pii_tags": ["name"]})
    assert refused.refused(422, "pii_not_allowed")["pii_tags"] == ["name"]
    ann.post("/memories", body=body | {"pii_tags": ["ssn"]}).expect(201)

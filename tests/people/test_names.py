"""Names of people are read by a whole org: what is personal data is no name there."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import Host
from tests.support.api import Reply
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.people import a_name, knows, self_of
from tests.support.memory.portability import MINE, SECRET, SSN, a_line, codes, imports

CARD = "4111 1111 1111 1111"
MAIL = "zqname@example.com"
AT = "2026-01-01T00:00:00Z"

# Every way to make a name, and the member that the answer blames.
WAYS: dict[str, tuple[str, Callable[[Caller, str], Reply]]] = {
    "person": ("name", lambda who, name: who.post("/people", body={"name": name})),
    "rename": (
        "name",
        lambda who, name: who.patch("/people/{}", self_of(who)["id"], body={"name": name}),
    ),
    "alias": (
        "value",
        lambda who, name: who.post("/people/{}/aliases", self_of(who)["id"], body={"value": name}),
    ),
    "alias of somebody new": (
        "aliases[1].value",
        lambda who, name: who.post(
            "/people", body={"name": a_name("Kim"), "aliases": [{"value": "K"}, {"value": name}]}
        ),
    ),
    "relationship": (
        "relationship",
        lambda who, name: who.post(
            "/people/{}/relationships", self_of(who)["id"], body={"relationship": name}
        ),
    ),
    "subject": (
        "subjects[1]",
        lambda who, name: who.post(
            "/memories", body={"content": "owes money", "subjects": ["me", name]} | MINE
        ),
    ),
    "changed subject": (
        "subjects[0]",
        lambda who, name: who.patch(
            "/memories/{}", who.adds(a_name("x"), **MINE)["id"], body={"subjects": [name]}
        ),
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("name", "tag"), [(f"SSN {SSN}", "ssn"), (CARD, "credit_card")])
def test_a_number_of_critical_risk_is_no_name_in_any_mode(
    callers: Callers, way: str, name: str, tag: str
) -> None:
    ann = callers.person("ann")
    field, call = WAYS[way]
    reply = call(ann, name)
    details = reply.refused(422, "pii_not_allowed")
    assert (details["field"], details["pii_tags"]) == (field, [tag])
    assert name not in str(reply.body)
    assert ann.lists("/people", query=name) == []
    told = callers.auditor.lists("/events", event_type="memory.refused")
    (event,) = (one for one in told if one["requester_id"] == ann.name)
    assert (event["payload"]["field"], event["payload"]["pii_tags"]) == (field, [tag])


@pytest.mark.parametrize("mode", ["redact", "reject"])
def test_an_address_is_no_name_where_texts_are_kept_free_of_them(host: Host, mode: str) -> None:
    with host(pii__mode=mode) as world:
        ann = Callers(world).person("ann")
        for field, call in WAYS.values():
            details = call(ann, MAIL).refused(422, "pii_refused")
            assert (details["field"], details["pii_tags"]) == (field, ["email"])
        assert MAIL not in world.database.stored_text()


def test_reject_takes_in_names_what_it_takes_in_texts(host: Host) -> None:
    with host(pii__mode="reject", pii__reject_min_risk="critical") as world:
        ann = Callers(world).person("ann")
        assert knows(ann, MAIL)["name"] == MAIL
        ann.post("/people", body={"name": SSN}).refused(422, "pii_not_allowed")


def test_an_address_may_be_a_name_where_personal_data_is_only_tagged(callers: Callers) -> None:
    ann = callers.person("ann")
    memory = ann.adds("likes tea", subjects=[MAIL], **MINE)
    (person,) = ann.lists("/people", query=MAIL)
    assert memory["subjects"] == [person["id"]]


@pytest.mark.parametrize("mode", ["tag", "redact", "reject"])
def test_a_handle_finds_its_person_in_every_mode(host: Host, mode: str) -> None:
    with host(pii__mode=mode) as world:
        ann = Callers(world).person("ann")
        handles = [{"value": value, "kind": "handle"} for value in (MAIL, "@kim_1")]
        kim = knows(ann, "Kim", aliases=handles)
        for name in (MAIL, "@kim_1", kim["id"]):
            assert ann.adds(f"likes {len(name)} teas", subjects=[name], **MINE)["subjects"] == [
                kim["id"]
            ]


@pytest.mark.parametrize("way", WAYS)
def test_a_secret_is_no_name(callers: Callers, way: str) -> None:
    _, call = WAYS[way]
    reply = call(callers.person("ann"), SECRET)
    assert reply.refused(422, "secret_refused")["family"] == "labelled"


def a_person(**members: Any) -> dict[str, Any]:
    known = {"id": "0198f000-0000-7000-8000-000000000001", "name": "Kim", "created_by": "ann"}
    return {"schema": 1, "type": "person", "created_at": AT, "updated_at": AT} | known | members


def a_claim(**members: Any) -> dict[str, Any]:
    return {
        "id": "0198f000-0000-7000-8000-000000000002",
        "added_by": "ann",
        "created_at": AT,
    } | members


@pytest.mark.parametrize(
    "line",
    [
        a_person(name=SSN),
        a_person(aliases=[a_claim(value=SSN, kind="alias")]),
        a_person(relationships=[a_claim(relationship=SSN)]),
        a_line(subjects=["Kim", SSN]),
        a_line(bare_names=[SSN]),
    ],
)
def test_an_import_brings_no_such_name(callers: Callers, line: dict[str, Any]) -> None:
    ann = callers.person("ann")
    told = imports(ann, [line, a_line("another line")], mode="fail")
    assert (told["created"], codes(told)) == (1, [(1, "pii_not_allowed")])


def test_an_imported_handle_is_no_name(callers: Callers) -> None:
    line = a_person(aliases=[a_claim(value=SSN, kind="handle")])
    assert imports(callers.person("ann"), [line], mode="fail")["created"] == 1

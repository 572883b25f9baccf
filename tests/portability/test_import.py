"""Import: what is believed, refused, kept and told."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.support.memory.callers import Callers
from tests.support.memory.people import person_of
from tests.support.memory.portability import (
    MINE,
    ORDER,
    SECRET,
    SSN,
    a_line,
    codes,
    exports,
    imports,
    send,
)


def test_a_person_of_an_import_is_nobodys_user(callers: Callers) -> None:
    ann, eve = callers.person("ann"), callers.person("eve")
    at = dict.fromkeys(("created_at", "updated_at"), "2026-01-01T00:00:00Z")
    line = {"type": "person", "id": f"p-{eve.name}", "name": "Ann", "created_by": ann.name} | at
    users = {"users": [{"id": ann.name, "orgs": ["default"]}]}
    assert imports(eve, [line | users])["created"] == 1
    person = eve.get("/people/{}", f"p-{eve.name}").expect(200)
    assert (person["user_id"], person["created_by"]) == (None, eve.name)
    assert person_of(ann) != f"p-{eve.name}"


def test_an_owner_brings_lines_back_under_their_own_name(callers: Callers) -> None:
    ann = callers.person("ann")
    memory = ann.adds("The kettle is blue.", tags=["a"], **MINE)
    text = exports(ann, spaces="user")
    ann.delete("/memories/{}", memory["id"]).expect(204)
    report = imports(ann, text)
    assert report["refused"] == []
    back = ann.get("/memories/{}", memory["id"]).expect(200)
    assert back == memory


def test_nobody_but_an_admin_writes_to_the_spaces_of_others(callers: Callers) -> None:
    ann, eve = callers.person("ann"), callers.person("eve")
    agent = ann.registers()["id"]
    lines = [
        a_line(space={"kind": "user", "id": ann.name}),
        a_line(space={"kind": "agent_public", "id": agent}),
        a_line(space={"kind": "chat", "id": "no-such-chat"}),
        {"type": "agent", "id": "x-of-eve", "owner_id": ann.name, "org_id": "default"}
        | {"created_by": ann.name, "created_at": "2026-01-01", "updated_at": "2026-01-01"},
        a_line("Mine."),
    ]
    report = imports(eve, lines)
    assert codes(report) == [
        (1, "not_owner"),
        (2, "not_owner"),
        (3, "not_found"),
        (4, "not_owner"),
    ]
    assert report["created"] == 1
    assert codes(imports(callers.admin, lines[:2])) == []


def test_what_others_said_is_not_believed_from_a_user(callers: Callers) -> None:
    ann, eve = callers.person("ann"), callers.person("eve")
    line = a_line(id=f"m-{eve.name}", stated_by=person_of(ann), trust="fact", written_by=ann.name)
    imports(eve, [line | {"origin": "chat", "learned_in": "somewhere"}])
    memory = eve.get("/memories/{}", f"m-{eve.name}").expect(200)
    told = ("stated_by", "trust", "origin", "learned_in", "source")
    assert [memory[name] for name in told] == [None, "unknown", "unknown", None, "import"]


@pytest.mark.scenario(40)
def test_a_line_that_does_not_say_has_an_unknown_origin(callers: Callers) -> None:
    ann = callers.person("ann")
    line = a_line(id=f"o-{ann.name}", space={"kind": "user", "id": ann.name})
    report = imports(callers.admin, [line])
    assert report["created"] == 1
    memory = ann.get("/memories/{}", f"o-{ann.name}").expect(200)
    assert (memory["origin"], memory["source"]) == ("unknown", "import")


@pytest.mark.scenario(50)
def test_secrets_are_refused_in_every_kind_of_line_and_leave_nothing(callers: Callers) -> None:
    ann = callers.person("ann")
    at = {"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"}
    lines: list[dict[str, Any]] = [
        a_line(SECRET),
        a_line(metadata={"a": SECRET}),
        a_line(tags=[SECRET]),
        a_line() | {"content": None, "key": "k", "value": {"n": SECRET}},
        {"type": "person", "id": f"p-{ann.name}", "name": SECRET} | at,
        {"type": "chat", "id": f"c-{ann.name}", "kind": "group", "title": SECRET}
        | {"created_by": ann.name, "created_at": at["created_at"]},
    ]
    report = imports(ann, lines)
    assert codes(report) == [(n, "secret_refused") for n in range(1, 7)]
    assert report["created"] == 0
    assert "48213377" not in callers.world.database.stored_text()


def test_a_suspicious_text_is_set_aside(callers: Callers) -> None:
    ann = callers.person("ann")
    imports(ann, [a_line(ORDER, id=f"s-{ann.name}")])
    ann.get("/memories/{}", f"s-{ann.name}").refused(404, "not_found")
    assert [one["id"] for one in ann.lists("/quarantine")] == [f"s-{ann.name}"]


def test_the_expiry_is_kept_and_lowered_to_the_cap(callers: Callers) -> None:
    ann = callers.person("ann")
    with callers.world.clock.hold() as now:
        far = (now + timedelta(days=3_000)).isoformat()
        name = ann.name
        imports(
            ann,
            [
                a_line("Plain.", id=f"e1-{name}", expires_at=far),
                a_line(f"Number {SSN}.", id=f"e2-{name}", expires_at=far),
                a_line("Task.", id=f"e3-{name}", memory_type="task"),
                a_line(f"Number two {SSN}.", id=f"e4-{name}", expires_at=far)
                | {"approved_expires_at": far},
            ],
        )
        terms = {
            key: ann.get("/memories/{}", f"{key}-{name}").expect(200)
            for key in ("e1", "e2", "e3", "e4")
        }
        ends = {key: datetime.fromisoformat(m["expires_at"]) - now for key, m in terms.items()}
    assert ends["e1"] == timedelta(days=3_000)
    assert ends["e2"] == ends["e4"] == timedelta(days=30)
    assert ends["e3"] == timedelta(days=14)
    assert terms["e2"]["expiry_rule"] == "pii:critical"


def test_an_approval_counts_in_an_admins_import_alone(callers: Callers) -> None:
    ann = callers.person("ann")
    with callers.world.clock.hold() as now:
        far = (now + timedelta(days=100)).isoformat()

        def lines(id_: str) -> list[dict[str, Any]]:
            memory = a_line(f"Number {SSN}.", id=id_, expires_at=far)
            memory["space"] = {"kind": "user", "id": ann.name}
            approval = {"type": "approval", "id": f"a-{id_}", "memory_id": id_}
            approval |= {"requested_by": ann.name, "requested_expires_at": far}
            approval |= {"status": "approved", "decided_by": "root", "decided_at": now.isoformat()}
            approval |= {"valid_until": far, "created_at": now.isoformat()}
            return [memory, approval]

        own, given = f"own-{ann.name}", f"given-{ann.name}"
        assert imports(ann, lines(own))["skipped"] == 1
        assert imports(callers.admin, lines(given))["created"] == 2
        ends = [
            datetime.fromisoformat(ann.get("/memories/{}", id_).expect(200)["expires_at"]) - now
            for id_ in (own, given)
        ]
    assert ends == [timedelta(days=30), timedelta(days=100)]


def test_records_of_other_systems_are_read(callers: Callers) -> None:
    ann = callers.person("ann")
    agent = ann.registers()["id"]
    base = {"type": "memory", "agent_slug": agent, "key": "k"}
    values = ['{"a": 1}', "plain words", "[1, 2]", {"b": 2}]
    lines = [base | {"memory_id": f"{agent}-{n}", "value": v} for n, v in enumerate(values)]
    assert imports(ann, lines)["created"] == 4
    found = [ann.get("/memories/{}", f"{agent}-{n}").expect(200) for n in range(4)]
    assert [one["value"] for one in found] == [
        {"a": 1},
        {"text": "plain words"},
        {"text": "[1, 2]"},
        {"b": 2},
    ]
    assert {(one["scope"], one["space"]["kind"]) for one in found} == {
        ("long_term", "agent_private")
    }


def test_modes_say_what_happens_to_an_id_that_is_taken(callers: Callers) -> None:
    ann, eve = callers.person("ann"), callers.person("eve")
    memory = ann.adds("As it is.", **MINE)
    older = a_line("Older.", id=memory["id"], updated_at="2020-01-01T00:00:00Z")
    newer = a_line("Newer.", id=memory["id"], updated_at="2099-01-01T00:00:00Z")

    def content() -> str:
        text: str = ann.get("/memories/{}", memory["id"]).expect(200)["content"]
        return text

    assert codes(imports(ann, [newer])) == [(1, "duplicate_id")]
    assert codes(imports(eve, [newer], mode="replace")) == [(1, "duplicate_id")]
    assert imports(ann, [older], mode="merge")["skipped"] == 1
    assert content() == "As it is."
    assert imports(ann, [newer], mode="merge")["updated"] == 1
    assert content() == "Newer."
    assert imports(ann, [older], mode="replace", dry_run=True)["updated"] == 1
    assert content() == "Newer."
    assert imports(ann, [older], mode="replace")["updated"] == 1
    assert content() == "Older."
    moved = older | {"space": {"kind": "agent_private", "id": ann.registers()["id"]}}
    assert codes(imports(ann, [moved], mode="replace")) == [(1, "validation_error")]


def test_lines_that_are_none_are_refused_by_number_and_the_rest_is_stored(callers: Callers) -> None:
    ann = callers.person("ann")
    body = "\n".join(
        [
            "no json",
            "",
            json.dumps({"type": "nothing"}),
            json.dumps(a_line("Stored.")),
            json.dumps(a_line(visibilty="public")),
            json.dumps({"type": "version", "memory_id": "m"}),
            json.dumps(a_line(" ")),
            "[1]",
            json.dumps(a_line(schema=2)),
            json.dumps(a_line(metadata={"a": "\x00"})),
        ]
    )
    report = imports(ann, body)
    assert [line for line, _ in codes(report)] == [1, 3, 5, 6, 7, 8, 9, 10]
    assert {code for _, code in codes(report)} == {"validation_error"}
    assert (report["read"], report["created"]) == (9, 1)


def test_a_line_behind_the_wrong_memory_is_refused(callers: Callers) -> None:
    ann = callers.person("ann")
    version = {"type": "version", "memory_id": "another", "version": 1, "change": "created"}
    version |= {"at": "2026-01-01T00:00:00Z", "by": ann.name, "status": "active"}
    report = imports(ann, [a_line(id=f"v-{ann.name}"), version])
    assert (report["created"], codes(report)) == (1, [(2, "validation_error")])


def test_a_dry_run_must_be_said_and_changes_nothing(callers: Callers) -> None:
    ann = callers.person("ann")
    line = json.dumps(a_line())
    send(ann, line).refused(422, "validation_error")
    send(ann, line, dry_run=True, mode="other").refused(422, "validation_error")
    assert send(ann, line, dry_run=True).expect(200)["created"] == 1
    assert ann.lists("/memories", spaces="user") == []


def test_a_body_of_another_type_is_refused(callers: Callers) -> None:
    ann = callers.person("ann")
    headers = {"content-type": "application/json"}
    assert send(ann, "{}", headers=headers, dry_run=True).status == 415


def test_a_body_of_lines_may_be_larger_than_any_other(callers: Callers) -> None:
    ann = callers.person("ann")
    line = json.dumps(a_line()).encode()
    blank = b" " * 65_536 + b"\n"
    body = blank * 260 + line
    report = send(ann, body, dry_run=True).expect(200)
    assert (report["read"], report["created"]) == (1, 1)
    headers = {"idempotency-key": "k"}
    assert send(ann, body, headers=headers, dry_run=True).status == 413


def test_an_import_under_a_key_is_done_once(callers: Callers) -> None:
    ann = callers.person("ann")
    headers = {"idempotency-key": f"k-{ann.name}"}
    line = json.dumps(a_line())
    first = send(ann, line, headers=headers, dry_run=False).expect(200)
    assert send(ann, line, headers=headers, dry_run=False).expect(200) == first
    assert len(ann.lists("/memories", spaces="user")) == 1


def test_what_was_imported_can_be_rolled_back(callers: Callers) -> None:
    ann = callers.person("ann")
    report = imports(ann, [a_line(f"fact {n}") for n in range(5)])
    body = {"source": {"import_id": report["import_id"]}, "dry_run": False}
    assert ann.post("/rollbacks", body=body).expect(200)["archived"] == 5
    assert ann.lists("/memories", spaces="user") == []


def test_events_tell_the_counts_of_exports_and_imports(callers: Callers) -> None:
    ann = callers.person("ann")
    report = imports(ann, [a_line(), a_line(SECRET)])
    exports(ann)
    events = {
        kind: next(
            event
            for event in callers.auditor.lists("/events", event_type=f"{kind}.done")
            if event["requester_id"] == ann.name
        )
        for kind in ("import", "export")
    }
    assert events["import"]["payload"]["import_id"] == report["import_id"]
    assert events["import"]["payload"]["counts"] == {
        "created": 1,
        "updated": 0,
        "skipped": 0,
        "read": 2,
        "refused": 1,
    }
    assert events["export"]["payload"]["counts"]["memory"] == 1

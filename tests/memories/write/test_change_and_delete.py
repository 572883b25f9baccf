"""Changing and deleting memories: the stored row decides who may."""

from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from tests.support.memory.callers import Caller, Callers
from tests.support.memory.people import person_of
from tests.support.world import at_once

pytestmark = pytest.mark.surfaces("grpc")

MINE: dict[str, Any] = {"space": {"kind": "user"}}
DAY = 86_400


def changes(caller: Caller, memory: dict[str, Any], **members: Any) -> dict[str, Any]:
    """The memory after a change."""
    changed: dict[str, Any] = caller.patch("/memories/{}", memory["id"], body=members).expect(200)
    return changed


def test_a_change_makes_a_version_and_tells_which_members(callers: Callers) -> None:
    ann = callers.person("ann")
    memory = ann.adds("I live in Porto", tags=["home"], **MINE)
    changed = changes(ann, memory, content="I live in Lisbon", tags=["home", "city"], version=1)
    assert (changed["version"], changed["content"]) == (2, "I live in Lisbon")
    assert changed["tags"] == ["home", "city"]
    assert ann.get("/memories/{}", memory["id"]).expect(200) == changed
    assert [hit["id"] for hit in ann.finds("Lisbon", spaces="all")] == [memory["id"]]
    assert ann.finds("Porto", spaces="all") == []
    (event,) = ann.lists("/events", event_type="memory.update", memory_id=memory["id"])
    assert event["payload"]["fields"] == ["content", "tags"]


def test_a_change_of_nothing_makes_no_version(callers: Callers) -> None:
    ann = callers.person("ann")
    memory = ann.adds("I live in Porto", tags=["home"], **MINE)
    assert changes(ann, memory, content="I live in Porto", tags=["home"]) == memory
    assert ann.lists("/events", event_type="memory.update", memory_id=memory["id"]) == []


def test_a_change_of_an_older_version_is_refused(callers: Callers) -> None:
    ann = callers.person("ann")
    memory = ann.adds("I live in Porto", **MINE)
    changes(ann, memory, type="identity")
    body = {"type": "context", "version": 1}
    details = ann.patch("/memories/{}", memory["id"], body=body).refused(409, "conflict")
    assert (details["reason"], details["version"]) == ("version", 2)


def test_of_changes_to_one_version_at_once_one_succeeds(callers: Callers) -> None:
    ann = callers.person("ann")
    memory = ann.adds("I live in Porto", **MINE)
    bodies = [{"tags": [tag], "version": 1} for tag in "abcdef"]
    patch = partial(ann.patch, "/memories/{}", memory["id"])
    replies = at_once([partial(patch, body=body) for body in bodies])
    assert sorted(reply.status for reply in replies) == [200] + [409] * 5


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("id", "x"),
        ("memory_id", "x"),
        ("kind", "record"),
        ("key", "k"),
        ("space", {"kind": "user"}),
        ("visibility", "public"),
        ("scope", "org"),
        ("agent_id", "x"),
        ("run_id", "x"),
        ("created_at", "2026-01-01T00:00:00Z"),
        ("observed_at", "2026-01-01T00:00:00Z"),
        ("stated_by", "x"),
        ("learned_in", "x"),
    ],
)
def test_what_never_changes_is_refused_by_name(callers: Callers, name: str, value: Any) -> None:
    ann = callers.person("ann")
    memory = ann.adds("I live in Porto", **MINE)
    reply = ann.patch("/memories/{}", memory["id"], body={name: value})
    (wrong,) = reply.refused(422, "immutable_field")["violations"]
    assert wrong["field"] == name
    assert ann.get("/memories/{}", memory["id"]).expect(200) == memory


def test_a_misspelt_member_of_a_change_is_named(callers: Callers) -> None:
    ann = callers.person("ann")
    memory = ann.adds("I live in Porto", **MINE)
    reply = ann.patch("/memories/{}", memory["id"], body={"tgas": []})
    (wrong,) = reply.refused(422, "validation_error")["violations"]
    assert wrong["field"] == "tgas"


def test_a_record_changes_its_value_whole_and_has_no_content_to_change(callers: Callers) -> None:
    ann = callers.person("ann")
    body = {"key": "theme", "value": {"name": "dark", "size": 2}} | MINE
    record = ann.post("/memories", body=body).expect(201)["memory"]
    changed = changes(ann, record, value={"name": "light"})
    assert (changed["value"], changed["content"]) == ({"name": "light"}, "theme name light")
    reply = ann.patch("/memories/{}", record["id"], body={"content": "x"})
    (wrong,) = reply.refused(422, "validation_error")["violations"]
    assert wrong["field"] == "content"


def test_a_changed_term_counts_from_the_change(callers: Callers) -> None:
    ann = callers.person("ann")
    memory = ann.adds("It rains", type="observation", **MINE)
    changed = changes(ann, memory, ttl_seconds=10 * DAY)
    assert changed["expiry_rule"] == "explicit"
    updated = datetime.fromisoformat(changed["updated_at"])
    assert datetime.fromisoformat(changed["expires_at"]) == updated + timedelta(days=10)
    cleared = changes(ann, memory, ttl_seconds=None)
    assert (cleared["expires_at"], cleared["expiry_rule"]) == (
        memory["expires_at"],
        "type:observation",
    )


def test_a_tag_that_was_found_stays_and_applies_its_cap(callers: Callers) -> None:
    ann = callers.person("ann")
    memory = ann.adds("Write to ann@example.com", pii_tags=["name"], **MINE)
    assert memory["expiry_rule"] == "pii:high"
    assert changes(ann, memory, pii_tags=[])["pii_tags"] == ["email"]
    ssn = changes(ann, memory, pii_tags=["ssn"])
    assert (ssn["pii_tags"], ssn["expiry_rule"]) == (["email", "ssn"], "pii:critical")


def test_a_tag_of_what_the_history_still_has_stays_with_its_cap(callers: Callers) -> None:
    ann = callers.person("ann")
    memory = ann.adds("My number is 219-09-9999", **MINE)
    changes(ann, memory, content="My number is at the office")
    changes(ann, memory, content="My number is in the safe", pii_tags=[])
    kept = changes(ann, memory, pii_tags=[], tags=["safe"])
    assert (kept["pii_tags"], kept["expires_at"]) == (["ssn"], memory["expires_at"])
    assert kept["expiry_rule"] == "pii:critical"


def test_a_tag_that_only_was_sent_can_be_taken_back(callers: Callers) -> None:
    ann = callers.person("ann")
    memory = ann.adds("It is in the safe", pii_tags=["email", "health"], **MINE)
    changes(ann, memory, content="It is at the office")
    bare = changes(ann, memory, pii_tags=[])
    assert (bare["pii_tags"], bare["expires_at"]) == ([], None)


def test_tags_and_a_new_text_that_come_at_once_lose_no_tag(callers: Callers) -> None:
    ann = callers.person("ann")
    memory = ann.adds("It is in the safe", pii_tags=["name"], **MINE)
    bodies = [{"pii_tags": []}, {"content": "Write to ann@example.com"}] * 4
    patch = partial(ann.patch, "/memories/{}", memory["id"])
    replies = at_once([partial(patch, body=body) for body in bodies])
    assert {reply.status for reply in replies} == {200}
    assert ann.get("/memories/{}", memory["id"]).expect(200)["pii_tags"] == ["email"]


@pytest.mark.scenario(27)
def test_critical_data_lives_longer_only_by_somebody_elses_word(callers: Callers) -> None:
    ann = callers.person("ann")
    body = {"key": "tax", "value": {"n": "219-09-9999"}, "ttl_seconds": 10 * DAY} | MINE
    memory = ann.post("/memories", body=body).expect(201)["memory"]
    change = {"ttl_seconds": 60 * DAY, "tags": ["kept"]}
    reply = ann.patch("/memories/{}", memory["id"], body=change).expect(202)
    assert reply["memory"] == memory
    assert ann.get("/memories/{}", memory["id"]).expect(200) == memory
    approval = ann.get("/approvals/{}", reply["approval_id"]).expect(200)
    assert (approval["status"], approval["memory_id"]) == ("pending", memory["id"])
    word = {"justification": "an audit"}
    callers.admin.post("/approvals/{}/approve", approval["id"], body=word).expect(200)
    longer = ann.get("/memories/{}", memory["id"]).expect(200)
    assert longer["expires_at"] == approval["requested_expires_at"]


@pytest.mark.scenario(27)
def test_a_create_is_clamped_and_may_ask_for_more(callers: Callers) -> None:
    ann = callers.person("ann")
    body = {"key": "tax", "value": {"n": "219-09-9999"}, "ttl_seconds": 60 * DAY} | MINE
    plain = ann.post("/memories", body=body).expect(201)
    assert [warning["code"] for warning in plain["warnings"]] == ["expiry_clamped"]
    asking = ann.post("/memories", body=body | {"request_approval": True}).expect(201)
    codes = [warning["code"] for warning in asking["warnings"]]
    assert codes == ["expiry_clamped", "approval_required"]
    assert [one["memory_id"] for one in ann.lists("/approvals")] == [asking["id"]]


def test_less_privacy_is_for_a_subject_to_give(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    about_bob = {"subjects": [person_of(bob)], "sensitivity": "personal", "portable": False}
    memory = ann.adds("Bob is shy", **about_bob, **MINE)
    looser: list[dict[str, Any]] = [
        {"sensitivity": "public"},
        {"sensitivity": None},
        {"portable": True},
        {"subjects": [person_of(ann)]},
        {"subjects": []},
    ]
    for body in looser:
        reply = ann.patch("/memories/{}", memory["id"], body=body)
        reply.refused(403, "subject_only")
    assert changes(ann, memory, sensitivity="sensitive")["sensitivity"] == "sensitive"
    own = ann.adds("I am shy", subjects=[person_of(ann)], sensitivity="personal", **MINE)
    assert changes(ann, own, sensitivity="public")["sensitivity"] == "public"


def test_other_subjects_change_how_well_it_is_known(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    memory = ann.adds("Tall for the age", **MINE)
    assert memory["trust"] == "fact"
    changed = changes(ann, memory, subjects=[person_of(bob)])
    assert (changed["subjects"], changed["trust"]) == ([person_of(bob)], "hearsay")


def test_a_due_memory_is_not_revived(callers: Callers) -> None:
    ann = callers.person("ann")
    memory = ann.adds("Soon gone", ttl_seconds=60, **MINE)
    callers.world.clock.advance(seconds=61)
    ann.patch("/memories/{}", memory["id"], body={"ttl_seconds": DAY}).refused(404, "not_found")


def test_what_was_replaced_is_not_changed_any_more(callers: Callers) -> None:
    ann = callers.person("ann")
    red = ann.adds("It is red", **MINE)
    ann.adds("It is blue", supersedes=[red["id"]], **MINE)
    details = ann.patch("/memories/{}", red["id"], body={"tags": ["x"]}).refused(409, "conflict")
    assert details["reason"] == "wrong_state"


@pytest.mark.scenario(6)
def test_the_row_and_not_the_request_says_whose_it_is(callers: Callers) -> None:
    owner, other = callers.person("o"), callers.person("u")
    agent, own = owner.registers()["id"], other.registers()["id"]
    public = owner.adds("The gate is open", agent_id=agent)
    private = owner.adds("The safe is too", agent_id=agent, visibility="private")
    other.delete("/memories/{}", public["id"], agent_id=own).refused(403, "not_owner")
    other.delete("/memories/{}", private["id"], agent_id=own).refused(404, "not_found")
    other.patch("/memories/{}", public["id"], body={"tags": ["x"]}).refused(403, "not_owner")
    other.patch("/memories/{}", private["id"], body={"tags": ["x"]}).refused(404, "not_found")
    assert {row["id"] for row in owner.lists("/memories", agent_id=agent)} == {
        public["id"],
        private["id"],
    }


@pytest.mark.scenario(7)
def test_a_deleted_memory_is_gone_from_search_and_a_second_time_unknown(callers: Callers) -> None:
    owner = callers.person("o")
    agent = owner.registers()["id"]
    owner.adds("The ferry sails at dawn", agent_id=agent)
    (hit,) = owner.finds("ferry", agent_id=agent)
    owner.delete("/memories/{}", hit["id"], agent_id="whatever").expect(204)
    assert owner.finds("ferry", agent_id=agent) == []
    unknown = owner.delete("/memories/{}", hit["id"])
    assert unknown.refused(404, "not_found") == {"resource": "memory", "id": hit["id"]}
    (event,) = owner.lists("/events", event_type="memory.delete", memory_id=hit["id"])
    assert event["payload"]["reason"] == "request"


def test_of_deletions_at_once_one_succeeds(callers: Callers) -> None:
    ann = callers.person("ann")
    memory = ann.adds("Only once", **MINE)
    replies = at_once([lambda: ann.delete("/memories/{}", memory["id"])] * 6)
    assert sorted(reply.status for reply in replies) == [204] + [404] * 5


def test_the_id_of_a_removed_predecessor_is_not_given_again(callers: Callers) -> None:
    ann = callers.person("ann")
    red = ann.adds("It is red", **MINE)
    blue = ann.adds("It is blue", supersedes=[red["id"]], **MINE)
    ann.delete("/memories/{}", red["id"]).expect(204)
    body = {"content": "It is red again", "id": red["id"], "supersedes": [blue["id"]]} | MINE
    details = ann.post("/memories", body=body).refused(409, "conflict")
    assert details["reason"] == "duplicate_id"


@pytest.mark.parametrize("memory_id", ["a\x00b", "../x", "a/b", "é" * 300, "%"])
def test_no_id_is_more_than_unknown(callers: Callers, memory_id: str) -> None:
    ann = callers.person("ann")
    ann.patch("/memories/{}", memory_id, body={"tags": []}).refused(404, "not_found")
    ann.delete("/memories/{}", memory_id).refused(404, "not_found")
    ann.post("/memories/{}/move", memory_id, body=MINE).refused(404, "not_found")

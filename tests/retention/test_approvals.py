"""Approvals: a longer life for critical personal data takes somebody else's word."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from recollect.audit.memory_recorder import MemoryAudit
from recollect.identity.model import Principal
from recollect.identity.requester import Requester
from recollect.kernel.ids import MemoryId, UserId
from recollect.kernel.retention_rules import RetentionProfile, RetentionRules
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.expiry import FOREVER
from recollect.memories.model import Memory
from recollect.memories.write.expiry_calculator import ExpiryCalculator
from recollect.retention.approvals import ApprovalService
from tests.conftest import Host
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.store import StoredMemories, open_stored_memories
from tests.support.world import at_once

pytestmark = pytest.mark.surfaces("grpc", scenarios_only=True)

TERMS = ExpiryCalculator(RetentionRules(), RetentionProfile.RECORDS)
DAY = timedelta(days=1)


def an_ssn(stored_memories: StoredMemories, owner: Caller, **fields: Any) -> str:
    """A record with critical personal data, capped as every write would."""
    memory_id = stored_memories.puts(
        Space(SpaceKind.USER, owner.name), key="tax", value={"n": 1}, pii_tags=("ssn",), **fields
    )
    before = stored_memories.stored(memory_id)
    stored_memories.replaces(before, TERMS.apply(before.memory).memory)
    return memory_id


def asks(
    stored_memories: StoredMemories,
    caller: Caller,
    memory_id: str,
    wish: datetime,
    *,
    ttl_minutes: int = 1440,
) -> str:
    """A request, filed as a write files it; its id."""
    storage = stored_memories.storage
    audit = MemoryAudit(storage.context)
    service = ApprovalService(
        storage.context,
        audit,
        expiry=TERMS,
        ttl_minutes=ttl_minutes,
    )
    requester = Requester(Principal(UserId(caller.name)), frozenset())
    stored = stored_memories.stored(memory_id)
    approval = storage.write(
        lambda tx: service.request(tx, requester, stored, until=wish, at=stored_memories.now)
    )
    return approval.id


@pytest.mark.scenario(27)
def test_a_longer_life_for_an_ssn_waits_for_another_admin(callers: Callers) -> None:
    ann = callers.person("ann")
    record = {"key": "tax", "value": {"ssn": "536-22-1234"}, "space": {"kind": "user"}}
    memory = ann.post("/memories", body=record).expect(201)["memory"]
    wish = {"ttl_seconds": 40 * 86_400}
    pending = ann.patch("/memories/{}", memory["id"], body=wish).expect(202)
    assert pending["memory"] == ann.get("/memories/{}", memory["id"]).expect(200) == memory
    approval = ann.get("/approvals/{}", pending["approval_id"]).expect(200)
    callers.admin.post("/approvals/{}/approve", approval["id"]).expect(200)
    extended = ann.get("/memories/{}", memory["id"]).expect(200)
    assert extended["expires_at"] == approval["requested_expires_at"] > memory["expires_at"]


def memory_of(stored_memories: StoredMemories, memory_id: str) -> Memory:
    return stored_memories.stored(memory_id).memory


@pytest.mark.scenario(27)
def test_another_admins_approval_extends_the_memory_as_asked(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann = callers.person("ann")
    memory_id = an_ssn(stored_memories, ann)
    wish = stored_memories.now + 60 * DAY
    approval = asks(stored_memories, ann, memory_id, wish)
    seen = ann.get("/approvals/{}", approval).expect(200)
    assert (seen["status"], seen["requested_by"]) == ("pending", ann.name)
    assert (seen["memory_id"], seen["decided_by"]) == (memory_id, None)
    body = {"justification": "an audit runs"}
    decided = callers.admin.post("/approvals/{}/approve", approval, body=body).expect(200)
    assert (decided["status"], decided["decided_by"]) == ("approved", callers.admin.name)
    memory = memory_of(stored_memories, memory_id)
    assert (memory.expires_at, memory.version) == (wish, 3)
    told = stored_memories.events("approval", "updated")[-1]
    assert (told["approval_id"], told["status"]) == (approval, "approved")


@pytest.mark.scenario(27)
def test_nobody_approves_their_own_request(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    admin = callers.admin
    memory_id = an_ssn(stored_memories, admin)
    before = memory_of(stored_memories, memory_id)
    approval = asks(stored_memories, admin, memory_id, stored_memories.now + 60 * DAY)
    admin.post("/approvals/{}/approve", approval, body={}).refused(403, "forbidden")
    ann = callers.person("ann")
    own = asks(stored_memories, ann, memory_id, stored_memories.now + 60 * DAY)
    ann.post("/approvals/{}/approve", own, body={}).refused(403, "forbidden")
    assert memory_of(stored_memories, memory_id) == before
    assert admin.get("/approvals/{}", approval).expect(200)["status"] == "pending"


@pytest.mark.scenario(27)
def test_a_denied_or_lapsed_request_changes_nothing(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann, admin = callers.person("ann"), callers.admin
    memory_id = an_ssn(stored_memories, ann)
    before = memory_of(stored_memories, memory_id)
    denied, lapsed = (
        asks(stored_memories, ann, memory_id, stored_memories.now + 60 * DAY) for _ in range(2)
    )
    assert admin.post("/approvals/{}/deny", denied).expect(200)["status"] == "denied"
    assert refusal_of(admin.post("/approvals/{}/approve", denied)) == "wrong_state"
    callers.world.clock.advance(minutes=1440)
    assert ann.get("/approvals/{}", lapsed).expect(200)["status"] == "expired"
    for word in ("approve", "deny"):
        assert refusal_of(admin.post(f"/approvals/{{}}/{word}", lapsed)) == "wrong_state"
    assert memory_of(stored_memories, memory_id) == before


def refusal_of(reply: Any) -> str:
    reason: str = reply.refused(409, "conflict")["reason"]
    return reason


def test_a_request_is_never_valid_longer_than_its_memory(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann = callers.person("ann")
    memory_id = an_ssn(
        stored_memories, ann, explicit_expires_at=stored_memories.now + timedelta(hours=1)
    )
    approval = asks(stored_memories, ann, memory_id, stored_memories.now + 60 * DAY)
    seen = ann.get("/approvals/{}", approval).expect(200)
    ends = memory_of(stored_memories, memory_id).expires_at
    assert datetime.fromisoformat(seen["valid_until"]) == ends


def test_a_request_runs_out_with_a_memory_that_got_a_shorter_term(host: Host) -> None:
    with host() as world:
        callers = Callers(world)
        ann, admin = callers.person("ann"), callers.admin
        memory = ann.adds("SSN 536-22-1234", space={"kind": "user"})
        wish = {"ttl_seconds": 100 * 86_400}
        asked = ann.patch("/memories/{}", memory["id"], body=wish).expect(202)["approval_id"]
        shorter = ann.patch("/memories/{}", memory["id"], body={"ttl_seconds": 60}).expect(200)
        seen = ann.get("/approvals/{}", asked).expect(200)
        assert (seen["status"], seen["valid_until"]) == ("pending", shorter["expires_at"])
        world.clock.advance(seconds=60)
        seen = ann.get("/approvals/{}", asked).expect(200)
        assert (seen["status"], seen["valid_until"]) == ("expired", shorter["expires_at"])
        for caller in (ann, admin):
            assert caller.lists("/approvals", status="pending") == []
            assert [one["id"] for one in caller.lists("/approvals", status="expired")] == [asked]
        assert refusal_of(admin.post("/approvals/{}/approve", asked)) == "wrong_state"


def test_a_decision_stays_as_it_is_when_its_memory_ends(host: Host) -> None:
    with host() as world:
        callers = Callers(world)
        ann = callers.person("ann")
        memory = ann.adds("SSN 536-22-1234", space={"kind": "user"})
        wish = {"ttl_seconds": 100 * 86_400}
        asked = ann.patch("/memories/{}", memory["id"], body=wish).expect(202)["approval_id"]
        denied = callers.admin.post("/approvals/{}/deny", asked).expect(200)
        ann.patch("/memories/{}", memory["id"], body={"ttl_seconds": 60}).expect(200)
        world.clock.advance(seconds=60)
        assert ann.get("/approvals/{}", asked).expect(200) == denied


def test_a_wish_without_end_is_granted_without_end(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann = callers.person("ann")
    memory_id = an_ssn(stored_memories, ann, retention_policy="permanent")
    approval = asks(stored_memories, ann, memory_id, FOREVER)
    shown = callers.admin.post("/approvals/{}/approve", approval, body={}).expect(200)
    assert shown["requested_expires_at"] is None
    memory = memory_of(stored_memories, memory_id)
    assert (memory.expires_at, memory.expiry_rule) == (None, "policy:permanent")


def test_a_shorter_policy_does_not_cut_what_was_granted(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann = callers.person("ann")
    memory_id = an_ssn(stored_memories, ann, retention_policy="production")
    wish = stored_memories.now + 60 * DAY
    approval = asks(stored_memories, ann, memory_id, wish)
    callers.admin.post("/approvals/{}/approve", approval, body={}).expect(200)
    memory = memory_of(stored_memories, memory_id)
    assert (memory.expires_at, memory.expiry_rule) == (wish, "explicit")
    assert TERMS.apply(memory).memory == memory


def test_two_admins_at_once_decide_once(callers: Callers, stored_memories: StoredMemories) -> None:
    ann, admin = callers.person("ann"), callers.admin
    memory_id = an_ssn(stored_memories, ann)
    approval = asks(stored_memories, ann, memory_id, stored_memories.now + 60 * DAY)
    calls = [f"/approvals/{{}}/{word}" for word in ("approve", "deny", "approve", "deny")]
    replies = at_once([lambda p=path: admin.post(p, approval) for path in calls])  # type: ignore[misc]
    assert sorted(reply.status for reply in replies) == [200, 409, 409, 409]


def test_requests_are_seen_by_who_asked_and_by_admins(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    memory_id = an_ssn(stored_memories, ann)
    first, second = (
        asks(stored_memories, ann, memory_id, stored_memories.now + 60 * DAY) for _ in range(2)
    )
    bob.get("/approvals/{}", first).refused(404, "not_found")
    assert bob.lists("/approvals") == []
    assert [one["id"] for one in ann.lists("/approvals", limit=1)] == [second, first]
    everything = [one["id"] for one in callers.admin.lists("/approvals", limit=1000)]
    assert everything[:2] == [second, first]
    callers.admin.post("/approvals/{}/deny", first).expect(200)
    by_state = {
        state: [one["id"] for one in ann.lists("/approvals", status=state)]
        for state in ("pending", "denied", "approved", "expired")
    }
    assert by_state == {"pending": [second], "denied": [first], "approved": [], "expired": []}


def test_requests_go_with_their_memory(callers: Callers, stored_memories: StoredMemories) -> None:
    ann = callers.person("ann")
    memory_id = an_ssn(stored_memories, ann)
    approval = asks(stored_memories, ann, memory_id, stored_memories.now + 60 * DAY)
    memories = stored_memories.storage.stores.memories
    stored_memories.storage.do(memories.delete, MemoryId(memory_id), at=stored_memories.now)
    ann.get("/approvals/{}", approval).refused(404, "not_found")
    callers.admin.post("/approvals/{}/approve", approval).refused(404, "not_found")


def test_a_memory_that_expired_is_not_revived(host: Host) -> None:
    with host() as world, open_stored_memories(world) as stored_memories:
        callers = Callers(world)
        ann = callers.person("ann")
        memory_id = an_ssn(stored_memories, ann)
        approval = asks(stored_memories, ann, memory_id, stored_memories.now + 60 * DAY)
        before = stored_memories.stored(memory_id)
        stored_memories.replaces(before, replace(before.memory, expires_at=stored_memories.now))
        assert refusal_of(callers.admin.post("/approvals/{}/approve", approval)) == "wrong_state"
        assert callers.admin.get("/approvals/{}", approval).expect(200)["status"] == "expired"

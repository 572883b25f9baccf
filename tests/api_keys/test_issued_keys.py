"""API keys that admins make: shown once, stored as hashes, ended at once."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from recollect.api_keys.model import KEY_PREFIX
from recollect.kernel.clock import to_text
from tests.conftest import Host, Serve
from tests.support.memory.callers import Callers
from tests.support.streams import following
from tests.support.world import User, World, new_id

pytestmark = pytest.mark.rest_only("administration is REST only")


def create(world: World, client: str = "made-client", **members: Any) -> dict[str, Any]:
    body = {"clientId": client} | members
    made: dict[str, Any] = world.admin.call("create_api_key", body=body).expect(201)
    return made


def calling_with(user: User, key: str) -> User:
    return replace(user, credentials=replace(user.credentials, api_key=key))


def test_a_made_key_names_its_client_and_is_shown_once(world: World) -> None:
    made = create(world, name="of the bot")
    assert made["key"].startswith(KEY_PREFIX)
    tree = new_id()
    ann = calling_with(world.user("ann"), made["key"])
    ann.notes(tree, "what the client remembers")
    [entry] = world.auditor.call("admin_list_entries", tree).expect(200)["data"]
    assert entry["clientId"] == "made-client"
    [listed] = [k for k in world.admin.walks("list_api_keys", limit=1) if k["id"] == made["id"]]
    assert listed == {name: value for name, value in made.items() if name != "key"} | {
        "state": "active",
        "createdBy": world.admin.name,
    }
    assert made["key"] not in world.database.stored_text()


def test_the_event_of_a_key_has_no_key(world: World) -> None:
    made = create(world, justification="a new bot")
    world.admin.call("revoke_api_key", made["id"], justification="gone").expect(204)
    events = world.auditor.call("admin_list_events", kind="admin_write").expect(200)["data"]
    told = [e for e in events if e.get("params", {}).get("apiKeyId") == made["id"]]
    assert [(e["action"], e["justification"]) for e in told] == [
        ("revokeApiKey", "gone"),
        ("createApiKey", "a new bot"),
    ]
    assert all(e["params"]["clientId"] == "made-client" for e in told)
    assert made["key"] not in str(events)


def test_an_expired_key_is_unknown(host: Host) -> None:
    with host() as world:
        made = create(world, expiresAt=to_text(world.clock.now() + timedelta(minutes=5)))
        ann = calling_with(world.user("ann"), made["key"])
        ann.call("list_conversations").expect(200)
        world.clock.advance(minutes=5)
        ann.call("list_conversations").refused(401, "unauthorized")
        assert [k["state"] for k in world.admin.walks("list_api_keys")] == ["expired"]


@pytest.mark.amendment(17)
def test_a_stream_ends_with_the_key_that_opened_it(host: Host) -> None:
    """An event that comes after the revocation is not told."""
    with host(events__heartbeat_seconds=1, events__poll_ms=10) as world:
        made = create(world)
        ann = Callers(world).person("ann")
        keyed = replace(ann, user=calling_with(ann.user, made["key"]))
        with following(keyed) as stream:
            stream.block()
            first = ann.registers()
            assert stream.events(1)[0].event["agent_slug"] == first["id"]
            world.admin.call("revoke_api_key", made["id"]).expect(204)
            ann.registers()
            with pytest.raises(StopIteration):
                stream.events(1)


def test_a_revoked_key_ends_on_every_node_with_the_next_call(host: Host) -> None:
    with host() as one, host(one.database) as other:
        made = create(one)
        callers = [calling_with(world.user("ann"), made["key"]) for world in (one, other)]
        for caller in callers:
            caller.call("list_conversations").expect(200)
        for _ in range(2):
            one.admin.call("revoke_api_key", made["id"]).expect(204)
        for caller in callers:
            caller.call("list_conversations").refused(401, "unauthorized")
        [listed] = other.admin.walks("list_api_keys")
        assert listed["state"] == "revoked"
        assert listed["revokedAt"] >= listed["createdAt"]


def test_only_admins_make_keys_and_only_auditors_list_them(world: World) -> None:
    for user in (world.user("ann"), world.auditor):
        user.call("create_api_key", body={"clientId": "c"}).refused(403, "forbidden")
        user.call("revoke_api_key", new_id()).refused(403, "forbidden")
    world.user("ann").call("list_api_keys").refused(403, "forbidden")
    world.auditor.call("list_api_keys").expect(200)


@pytest.mark.parametrize("client", ["trusted", "operator", "bound"])
def test_no_admin_makes_the_key_of_a_client_that_may_do_more(serve: Serve, client: str) -> None:
    world = serve(
        auth__api_keys={"trusted": ["t"], "bound": []},
        auth__agents={"bound": {"agent": "helper"}},
        auth__roles={"admin": {"users": ["root-admin"], "clients": ["operator"]}},
    )
    refusal = world.admin.call("create_api_key", body={"clientId": client})
    assert "recollect key create" in refusal.refused(403, "forbidden")["message"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "clientId"),
        ({"clientId": ""}, "clientId"),
        ({"clientId": "a\u0001b"}, "clientId"),
        ({"clientId": "c", "expiresAt": "2001-01-01T00:00:00Z"}, "expiresAt"),
        ({"clientId": "c", "expiresAt": "soon"}, "expiresAt"),
        ({"clientId": "c", "name": "x" * 101}, "name"),
    ],
)
def test_a_wrong_field_is_named(world: World, body: dict[str, Any], field: str) -> None:
    reply = world.admin.call("create_api_key", body=body)
    assert field in str(reply.expect(400))


def test_an_unknown_id_is_not_found(world: World) -> None:
    world.admin.call("revoke_api_key", new_id()).refused(404, "not_found")

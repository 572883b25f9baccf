"""What goes out: every operation's answer against its documented shape, and exact bytes."""

from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from recollect.api.openapi.document import admin_document, user_document
from recollect.api.registry import CONVERSATION_OPERATIONS, RESOURCES
from recollect.conversations.entries.append import SyncOutcome
from recollect.http.operation import Operation
from tests.api.fakes import AT, AT_TEXT, ID, Rest, an_entry, seen

BODIES: dict[str, Any] = {
    "appendEntry": {"content": ["a"]},
    "syncEntries": {"content": ["a"], "contentType": "notes"},
    "searchConversations": {"query": "q"},
    "adminSearchConversations": {"query": "q"},
    "indexEntries": [{"conversationId": ID, "entryId": ID, "indexedContent": "t"}],
    "updateConversation": {"title": "t"},
    "shareConversation": {"userId": "bob", "accessLevel": "reader"},
    "updateMembership": {"accessLevel": "reader"},
    "createOwnershipTransfer": {"conversationId": ID, "newOwnerUserId": "bob"},
    "adminCreateApiKey": {"clientId": "k1"},
    "adminEvict": {"retentionPeriod": "P1D", "resourceTypes": ["conversations"]},
}


def target_of(operation: Operation) -> str:
    path = operation.path.replace("{userId}", "bob").replace("{asset}", "style.css")
    for name in ("{id}", "{entryId}", "{transferId}", "{keyId}"):
        path = path.replace(name, ID)
    return path


def schema_of(operation: Operation) -> Any:
    document = admin_document() if operation.family == "admin" else user_document()
    described = document["paths"][operation.path][operation.method.lower()]
    content = described["responses"][str(operation.success)].get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    return schema | {"components": document["components"]}


@pytest.mark.parametrize("operation", CONVERSATION_OPERATIONS, ids=lambda operation: operation.name)
def test_every_operation_answers_as_documented(rest: Rest, operation: Operation) -> None:
    answered = rest.call(
        operation.method, target_of(operation), BODIES.get(operation.name), user="root", key="k1"
    )
    assert answered.status == operation.success, answered.body
    if operation.success == 204:
        assert not answered.body
    elif operation.response is not None and operation.media == "application/json":
        Draft202012Validator(schema_of(operation)).validate(answered.json)


def members(name: str) -> set[str]:
    return set(RESOURCES[name]["properties"])


def test_a_resource_shows_no_undocumented_member(rest: Rest) -> None:
    full = seen(
        title="t",
        metadata={"k": None},
        last_message_preview="p",
        forked_at_conversation_id=ID,
        forked_at_entry_id=ID,
    )
    rest.conversations.answers["get"] = full
    shown = set(rest.call("GET", f"/v1/conversations/{ID}").json)
    # Only a row that can't be decrypted has the mark.
    assert shown == members("Conversation") - {"unreadable"}
    entry = an_entry(user_id="ann", epoch=1, client_id="k1", removed_at=AT)
    rest.entries.answers["append"] = entry
    answered = rest.call("POST", f"/v1/conversations/{ID}/entries", {"content": ["a"]})
    assert set(answered.json) == members("Entry") - {"unreadable"}
    event = rest.call("GET", "/v1/admin/events", user="root").json["data"][0]
    assert set(event) <= members("Event")


def test_null_members_and_empty_metadata_are_left_out(rest: Rest) -> None:
    assert rest.call("GET", f"/v1/conversations/{ID}").json == {
        "id": ID,
        "ownerUserId": "ann",
        "createdAt": AT_TEXT,
        "updatedAt": AT_TEXT,
        "accessLevel": "owner",
    }


def test_only_admins_see_clients_and_deletions(rest: Rest) -> None:
    rest.conversations.answers["get"] = rest.admin.answers["get_conversation"]
    assert "deletedAt" not in rest.call("GET", f"/v1/conversations/{ID}").json
    admin = rest.call("GET", f"/v1/admin/conversations/{ID}", user="root").json
    assert admin["deletedAt"] == AT_TEXT
    entries = rest.call("GET", f"/v1/admin/conversations/{ID}/entries", user="root").json
    assert entries["data"][0]["clientId"] == "k1"


def test_content_goes_out_byte_for_byte(rest: Rest) -> None:
    stored = '[{"z":12345678901234567890, "a" : 1.0,"ü":"\\u00e9 日本"}]'
    rest.entries.answers["append"] = an_entry(stored, content_type='q"\\', user_id='a"b')
    answered = rest.call("POST", f"/v1/conversations/{ID}/entries", {"content": ["a"]})
    assert f'"content":{stored},'.encode() in answered.body
    assert (answered.json["contentType"], answered.json["userId"]) == ('q"\\', 'a"b')


def test_a_sync_always_shows_its_four_members(rest: Rest) -> None:
    path = f"/v1/conversations/{ID}/entries/sync"
    body = {"content": [], "contentType": "notes"}
    nothing = {"epoch": None, "noOp": True, "epochIncremented": False, "entry": None}
    assert rest.call("POST", path, body, key="k1").json == nothing
    rest.entries.answers["sync"] = SyncOutcome(3, False, True, an_entry(epoch=3))
    answered = rest.call("POST", path, body, key="k1").json
    assert (answered["epoch"], answered["noOp"], answered["epochIncremented"]) == (3, False, True)
    assert answered["entry"]["epoch"] == 3


def test_a_membership_names_the_conversation_of_the_path(rest: Rest) -> None:
    other = "11111111-2222-3333-4444-55555555aaaa"
    path = f"/v1/conversations/{other.upper()}/memberships"
    assert rest.call("GET", path).json["data"][0] == {
        "conversationId": other,
        "userId": "bob",
        "accessLevel": "writer",
        "createdAt": AT_TEXT,
    }

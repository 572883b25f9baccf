"""Which operations of the conversation family each surface has: REST, gRPC, the handlers as the
behaviour suite calls them. A new operation is on all of them, or here with the reason why not."""

from collections.abc import Callable, Iterator

import pytest
from starlette.routing import Route

from recollect.api.grpc.server import METHODS
from recollect.api.registry import CONVERSATION_OPERATIONS
from recollect.api.rest.app import PathEndpoint
from recollect.http.operation import OperationFamily
from recollect_client._sync.operations import Operations
from recollect_client.table import OPERATIONS as CLIENT_OPERATIONS
from tests.api.fakes import Rest
from tests.api.grpc import contract
from tests.support.api import Reply
from tests.support.client.api import method_name
from tests.support.engines import a_fast_folder, a_sqlite_database
from tests.support.grpc import api as grpc_api
from tests.support.hosting import a_world
from tests.support.services.api import ROW_OF, SERVED
from tests.support.world import User, World, history, memory, new_id

# Methods that the server answers beside its table → the operation they are another way to.
BESIDE_THE_TABLE = {
    "SystemService/GetHealth": "getHealth",
    "ResponseRecorderService/Record": "recordResponse",
    "ResponseRecorderService/Replay": "replayResponse",
    "ResponseRecorderService/Cancel": "cancelResponse",
}
# Methods that REST has not: whoever asks it, asks one conversation.
ON_GRPC_ALONE = {"ResponseRecorderService/IsEnabled", "ResponseRecorderService/CheckRecordings"}

_DOCUMENT = "a document of REST, served to whoever reads HTTP"
_PAGE = "a page for a browser, or a text for whoever reads HTTP"
_STREAM = "a stream, or what ends one: the recorder's own suite has it"
_VERB = "a verb of a conversation: tests/client has it"
ABSENT: dict[str, dict[str, str]] = {
    "rest": {},
    "grpc": {
        **{
            row.name: "the contract has no methods for administration"
            for row in CONVERSATION_OPERATIONS
            if row.family is OperationFamily.ADMIN
        },
        "getMetrics": "a page for whoever collects metrics over HTTP",
        "getOpenapi": _DOCUMENT,
        "getAdminOpenapi": _DOCUMENT,
        "getMemoriesOpenapi": _DOCUMENT,
        "getMergedOpenapi": _DOCUMENT,
        "getStart": _PAGE,
        "getReference": _PAGE,
        "getLlmsText": _PAGE,
        "getAsset": _PAGE,
    },
    "service": {
        "recordResponse": _STREAM,
        "replayResponse": _STREAM,
        "cancelResponse": _STREAM,
        "getHealth": "asked by nobody in particular, and the words are the adapter's",
        "getMetrics": "a page of the adapter",
        "getOpenapi": _DOCUMENT,
        "getAdminOpenapi": _DOCUMENT,
        "getMemoriesOpenapi": _DOCUMENT,
        "getMergedOpenapi": _DOCUMENT,
        "getStart": _PAGE,
        "getReference": _PAGE,
        "getLlmsText": _PAGE,
        "getAsset": _PAGE,
    },
    "client": {
        "recordResponse": _VERB,
        "replayResponse": _VERB,
        "cancelResponse": _VERB,
        "getMetrics": "a page for whoever collects metrics over HTTP",
        "getReference": _PAGE,
        "getLlmsText": _PAGE,
        "getAsset": _PAGE,
    },
}


def on_rest() -> list[str]:
    """What has a route."""
    names = {(row.method, row.path): row.name for row in CONVERSATION_OPERATIONS}
    return [
        names[method, route.endpoint.path]
        for route in Rest().app.routes
        if isinstance(route, Route) and isinstance(route.endpoint, PathEndpoint)
        for method in route.endpoint.answers
        if method != "HEAD"
    ]


def on_grpc() -> list[str]:
    """What has a method."""
    return [*(method.operation for method in METHODS.values()), *BESIDE_THE_TABLE.values()]


def on_services() -> list[str]:
    """What the behaviour suite asks of a service."""
    return [*SERVED]


def on_clients() -> list[str]:
    """What the behaviour suite asks of the Python client, of a server and in the process."""
    known = {row.name for row in CONVERSATION_OPERATIONS}
    return [
        name
        for name in CLIENT_OPERATIONS
        if name in known and hasattr(Operations, method_name(name))
    ]


SURFACES = {"rest": on_rest, "grpc": on_grpc, "service": on_services, "client": on_clients}


@pytest.mark.parametrize("surface", SURFACES)
def test_every_operation_is_on_the_surface_or_claimed_absent(surface: str) -> None:
    have = SURFACES[surface]()
    assert sorted([*have, *ABSENT[surface]]) == sorted(row.name for row in CONVERSATION_OPERATIONS)


def test_grpc_has_exactly_the_contracts_methods() -> None:
    assert METHODS.keys() | BESIDE_THE_TABLE.keys() | ON_GRPC_ALONE == contract.METHODS.keys()
    assert not METHODS.keys() & (BESIDE_THE_TABLE.keys() | ON_GRPC_ALONE)


def test_the_behaviour_suite_calls_every_method_but_the_recorders_by_its_operation() -> None:
    called = {route.method: ROW_OF[name].name for name, route in grpc_api.ROUTES.items()}
    answered = {name: method.operation for name, method in METHODS.items()}
    assert called == answered | {"SystemService/GetHealth": "getHealth"}


@pytest.fixture(scope="module", params=["service", "client"])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    """A server that is called in this way, and that can't be called in bare REST."""
    with a_fast_folder() as folder:
        database = a_sqlite_database(folder)
        with a_world(database, surface=request.param) as world:
            world.api.http.close()
            yield world


def test_what_a_surface_is_said_to_have_it_has_without_bare_rest(world: World) -> None:
    asked: set[str] = set()

    def ask(user: User, operation: str, *ids: str, **sent: object) -> Reply:
        row = ROW_OF[operation]
        asked.add(row.name)
        reply = user.call(operation, *ids, **sent)
        assert reply.status == row.success, (operation, reply)
        return reply

    _ask_as_users(world, ask)
    _ask_as_staff(world, ask)
    assert asked == SERVED


def _ask_as_users(world: World, ask: Callable[..., Reply]) -> None:
    ann, bob = world.user("ann").with_key("k1"), world.user("bob")
    tree = ask(ann, "create_conversation", body={"title": "a", "metadata": {"b": 1}}).body["id"]
    entry = ask(ann, "append", tree, body=history("hello")).body["id"]
    ask(ann, "sync", tree, body=memory([1, 2]))
    ask(ann, "fork", tree, entry, body={"title": "b"})
    ask(ann, "delete_entry", tree, entry)
    ask(ann, "update_conversation", tree, body={"title": None})
    ask(ann, "share", tree, body={"userId": bob.name, "accessLevel": "reader"})
    ask(ann, "change_membership", tree, bob.name, body={"accessLevel": "writer"})
    for operation in ("get_conversation", "list_entries", "list_forks", "list_memberships"):
        ask(ann, operation, tree)
    ask(ann, "search", body={"query": "hello", "searchType": "fulltext"})
    offer = {"conversationId": tree, "newOwnerUserId": bob.name}
    refused = ask(ann, "create_transfer", body=offer).body["id"]
    ask(bob, "get_transfer", refused)
    ask(bob, "delete_transfer", refused)
    ask(bob, "accept_transfer", ask(ann, "create_transfer", body=offer).body["id"])
    for operation in ("list_conversations", "list_transfers"):
        ask(ann, operation, limit=1)
    ask(bob, "remove_membership", tree, ann.name)
    ask(bob, "delete_conversation", tree)


def _ask_as_staff(world: World, ask: Callable[..., Reply]) -> None:
    tree, root = new_id(), world.admin
    entry = world.user("ann").says(tree, "hello")["id"]
    text = {"conversationId": tree, "entryId": entry, "indexedContent": "hi"}
    ask(world.indexer, "unindexed", limit=1)
    ask(world.indexer, "index", body=[text])
    ask(root, "admin_delete_conversation", tree)
    ask(root, "admin_restore_conversation", tree, body={"justification": "asked for"})
    for what in ("get_conversation", "list_entries", "list_memberships", "list_forks"):
        ask(world.auditor, f"admin_{what}", tree)
    ask(world.auditor, "admin_list_conversations", includeDeleted=True, justification="audit")
    ask(world.auditor, "admin_search", body={"query": "hi", "searchType": "fulltext"})
    ask(world.auditor, "admin_list_events", kind="admin_read")
    ask(root, "admin_health")
    made = ask(root, "create_api_key", body={"clientId": "made"}).body["id"]
    ask(world.auditor, "list_api_keys")
    ask(root, "revoke_api_key", made)
    ask(root, "evict", body={"retentionPeriod": "P1D", "resourceTypes": ["conversations"]})

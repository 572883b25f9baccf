"""The table of operations against the routes, the handlers and the error tree."""

from starlette.routing import Route

from recollect import kernel
from recollect.api import registry, system
from recollect.api.openapi.document import admin_document, memories_document, user_document
from recollect.api.registry import CONVERSATION_OPERATIONS, HANDLERS, OPERATIONS, RESOURCES
from recollect.api.rest.app import PathEndpoint
from recollect.api.rest.routes import SegmentRoute
from recollect.http import errors
from recollect.http.errors import CLI_EXIT, HTTP_STATUS
from recollect.http.operation import OperationFamily
from recollect.identity.actions import NEEDS_CLIENT, NEEDS_ROLE, Action
from recollect.kernel.errors import RecollectError
from tests.api.fakes import Rest
from tests.support.rest_modules import rest_modules

MODULES = [*rest_modules(), system]


def test_the_routes_are_the_table() -> None:
    routed = set()
    for route in Rest().app.routes:
        if isinstance(route, SegmentRoute):
            continue
        assert isinstance(route, Route)
        assert isinstance(route.endpoint, PathEndpoint)
        assert route.path.replace(":user}", "}") == route.endpoint.path
        routed |= {(method, route.endpoint.path) for method in route.endpoint.answers}
    table = {(operation.method, operation.path) for operation in CONVERSATION_OPERATIONS}
    heads = {("HEAD", path) for method, path in table if method == "GET"}
    assert routed == table | heads
    assert len(table) == len(CONVERSATION_OPERATIONS)


def test_every_operation_has_one_handler_and_every_handler_an_operation() -> None:
    answered = [operation.name for operation in OPERATIONS if not operation.open]
    assert sorted(HANDLERS) == sorted(answered)
    found = [name for module in MODULES for name in getattr(module, "HANDLERS", {})]
    assert sorted(found) == sorted(answered)


def test_every_module_with_operations_is_registered() -> None:
    rows = [row for module in MODULES for row in getattr(module, "OPERATIONS", ())]
    assert sorted(row.name for row in rows) == sorted(row.name for row in OPERATIONS)
    names = [name for module in MODULES for name in getattr(module, "RESOURCES", {})]
    assert sorted(names) == sorted(RESOURCES)


def test_every_operation_is_described_under_a_name_of_its_own() -> None:
    names = [operation.name for operation in CONVERSATION_OPERATIONS]
    assert len(set(names)) == len(names)
    assert not [
        operation.name for operation in CONVERSATION_OPERATIONS if len(operation.description) < 15
    ]
    assert not [
        operation.name for operation in CONVERSATION_OPERATIONS if not operation.summary.strip()
    ]


def test_every_answer_has_a_documented_shape() -> None:
    named = {operation.response for operation in OPERATIONS if operation.response}
    assert named <= set(RESOURCES)
    documents = (user_document(), admin_document(), memories_document())
    described = {name for one in documents for name in one["components"]["schemas"]}
    assert set(RESOURCES) <= described


def test_admin_operations_need_a_role_and_are_audited() -> None:
    for operation in CONVERSATION_OPERATIONS:
        is_admin = operation.family is OperationFamily.ADMIN
        needs_role = operation.action in NEEDS_ROLE and operation.action is not Action.INDEX
        assert needs_role is is_admin, operation.name
        assert (operation.audit is not None) is (is_admin and operation.name != "adminGetHealth")
        assert operation.path.startswith("/v1/admin/") is is_admin, operation.name


def test_only_system_operations_are_open() -> None:
    opened = {operation.name for operation in CONVERSATION_OPERATIONS if operation.open}
    assert opened == {o.name for o in CONVERSATION_OPERATIONS if o.family is OperationFamily.SYSTEM}


def test_a_user_operation_always_needs_a_key_a_role_or_nothing() -> None:
    always = {
        o.name: o.action
        for o in CONVERSATION_OPERATIONS
        if o.family is OperationFamily.CONVERSATIONS and o.action
    }
    assert always == {
        "syncEntries": Action.SYNC,
        "indexEntries": Action.INDEX,
        "listUnindexed": Action.INDEX,
    }
    assert {o.name for o in CONVERSATION_OPERATIONS if o.action in NEEDS_CLIENT} == {"syncEntries"}


def test_every_kind_of_error_has_a_status_and_an_exit_code() -> None:
    kinds = [
        kind
        for module in (kernel.errors, errors)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, RecollectError)
    ]
    for kind in {*kinds} - {RecollectError}:
        assert any(ancestor in HTTP_STATUS for ancestor in kind.__mro__), kind
        assert any(ancestor in CLI_EXIT for ancestor in kind.__mro__), kind


def test_nothing_outside_the_rest_package_knows_the_web_framework() -> None:
    for module in (errors, registry):
        assert not [name for name in vars(module) if "starlette" in name.lower()]

"""Before anything else it is asked who asks; then whether the agent exists."""

import re
from typing import Any
from urllib.parse import quote

import pytest

from recollect.api.registry import MEMORY_OPERATIONS
from tests.conftest import Host
from tests.support.memory.callers import Callers
from tests.support.world import new_id

pytestmark = pytest.mark.scenario(5)

UNKNOWN = "nobody-knows-it"
IN_BATCH = {"op": "create", "content": "x", "agent_id": UNKNOWN}
# Method, path, query and body of every call that names an agent.
NAMING: list[tuple[str, str, dict[str, Any], Any]] = [
    ("POST", "/memories", {}, {"content": "x", "agent_id": UNKNOWN}),
    ("POST", "/memories", {}, {"content": "x", "agent_id": UNKNOWN, "scope": "org"}),
    ("POST", "/memories", {}, {"key": "k", "value": {}, "agent_slug": UNKNOWN}),
    ("POST", "/memories/search", {}, {"query": "x", "agent_id": UNKNOWN}),
    ("POST", "/memories/recall", {}, {"query": "x", "agent_id": UNKNOWN}),
    ("POST", "/memories/batch", {}, {"items": [IN_BATCH]}),
    ("GET", "/memories", {"agent_id": UNKNOWN}, None),
    ("GET", "/export", {"agent_id": UNKNOWN}, None),
    ("GET", "/quarantine", {"agent_id": UNKNOWN}, None),
    ("GET", "/runs", {"agent_id": UNKNOWN}, None),
    ("POST", "/runs", {}, {"agent_id": UNKNOWN}),
    ("POST", "/rollbacks", {}, {"source": {"agent_id": UNKNOWN}, "dry_run": True}),
    ("GET", f"/agents/{UNKNOWN}", {}, None),
    ("PATCH", f"/agents/{UNKNOWN}", {}, {"name": "x"}),
    ("PUT", f"/agents/{UNKNOWN}/owner", {}, {"owner_id": "x"}),
    ("DELETE", f"/agents/{UNKNOWN}", {}, None),
]


def test_no_operation_answers_before_it_is_known_who_asks(host: Host) -> None:
    with host(auth__mode="local", auth__roles={}) as world:
        callers = Callers(world)
        known = callers.named_by_header("olga").registers()["id"]
        for row in MEMORY_OPERATIONS:
            for id_ in (known, new_id()):
                path = re.sub(r"{\w+}", quote(id_), row.path.removeprefix("/v1"))
                for query in ({}, {"agent_id": id_}, {"nonsense": "x"}):
                    reply = callers.nobody.call(row.method, path, body={"agent_id": id_}, **query)
                    reply.refused(400, "requester_required")


def test_an_unknown_agent_is_not_found_by_whatever_call_names_it(host: Host) -> None:
    with host(auth__mode="local", auth__roles={}) as world:
        caller = Callers(world).named_by_header("olga")
        for method, path, query, body in NAMING:
            details = caller.call(method, path, body=body, **query).refused(404, "not_found")
            assert (details["resource"], details["id"]) == ("agent", UNKNOWN), path

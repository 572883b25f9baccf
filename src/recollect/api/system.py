"""The operations that need no credentials. Their handlers are in `api/rest/system.py`."""

from recollect.http.operation import PLAIN_TEXT, Operation, system_operation
from recollect.http.params import Schema
from recollect.http.schemas import OBJECT, TEXT, describe, object_schema

RESOURCES: dict[str, Schema] = {
    "Health": object_schema(
        {"status": describe({"type": "string", "const": "ok"}, "That the database answers.")},
        {
            "warnings": describe(
                {"type": "array", "items": TEXT}, "What is wrong all the same, if anything is."
            )
        },
    ),
    "Document": OBJECT,
}
OPERATIONS: tuple[Operation, ...] = (
    system_operation(
        "getHealth",
        "GET /v1/health",
        "Say whether the server and its database answer. `warnings` is there if something is "
        "wrong all the same: another server works on the same SQLite file. Needs no credentials.",
        response="Health",
        refusals=(503,),
    ),
    system_operation(
        "getMetrics",
        "GET /metrics",
        "Get counters in the Prometheus text format. They hold no content and no ids, and need "
        "no credentials: keep the path off the public network.",
        media=PLAIN_TEXT,
        answered_text="# TYPE recollect_queue_depth gauge\nrecollect_queue_depth 0.0\n",
    ),
    system_operation(
        "getOpenapi",
        "GET /openapi.json",
        "Get the description of the user operations.",
        response="Document",
    ),
    system_operation(
        "getAdminOpenapi",
        "GET /openapi-admin.json",
        "Get the description of the admin operations.",
        response="Document",
    ),
    system_operation(
        "getMergedOpenapi",
        "GET /openapi-merged.json",
        "Get the description of all operations in one document, with a name for each enum.",
        response="Document",
    ),
    system_operation(
        "getMemoriesOpenapi",
        "GET /openapi-memories.json",
        "Get the description of the memory operations.",
        response="Document",
    ),
)

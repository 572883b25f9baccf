"""The operations that need no credentials. Their handlers are in `api/rest/system.py`."""

from recollect import __version__
from recollect.http.operation import HTML, PLAIN_TEXT, Operation, system_operation
from recollect.http.params import Schema
from recollect.http.schemas import OBJECT, TEXT, describe, object_schema

RESOURCES: dict[str, Schema] = {
    "Health": object_schema(
        {
            "status": describe(
                {"type": "string", "enum": ["ok", "degraded"]},
                "`degraded` if searches can't find all that they should.",
            )
        },
        {
            "warnings": describe(
                {"type": "array", "items": TEXT}, "What is wrong all the same, if anything is."
            ),
            "advice": describe({"type": "array", "items": TEXT}, "What to do about each warning."),
        },
    ),
    "Start": object_schema(
        {
            "name": describe(TEXT, "What this is.", "Recollect"),
            "status": describe(TEXT, "`ok`, or `unavailable` with 503.", "ok"),
            "mode": describe(TEXT, "How callers say who they are: `local` or `jwt`.", "local"),
            "links": describe(
                OBJECT, "The paths of pages and documents.", {"OpenAPI": "/openapi-merged.json"}
            ),
        },
        {
            "version": describe(TEXT, "The version of the server, in local mode.", __version__),
            "warnings": describe({"type": "array", "items": TEXT}, "As in the health check."),
        },
    ),
    "Document": OBJECT,
}
OPERATIONS: tuple[Operation, ...] = (
    system_operation(
        "getStart",
        "GET /",
        "Say what this is, whether it is well, and where its documents are. A browser, which "
        "accepts `text/html`, gets a page with a first call to copy.",
        response="Start",
        page=True,
        refusals=(503,),
    ),
    system_operation(
        "getReference",
        "GET /docs",
        "Get this reference as a page.",
        media=HTML,
        answered_text="<!doctype html>…",
    ),
    system_operation(
        "getLlmsText",
        "GET /llms.txt",
        "Get what a coding agent has to know, in short.",
        media=PLAIN_TEXT,
        answered_text="# Recollect\n…",
    ),
    system_operation(
        "getAsset",
        "GET /assets/{asset}",
        "Get a file that the pages use.",
        media="*/*",
        answered_text="body { margin: 0; }",
    ),
    system_operation(
        "getHealth",
        "GET /v1/health",
        "Say whether the server and its database answer. `warnings` is there if something is "
        "wrong all the same, and `advice` says what to do: another server works on the same SQLite "
        "file, or the embedding model is missing or damaged. Without the model `status` is "
        "`degraded`: searches find by words only. Needs no credentials.",
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

"""Operations of erasures: start, report, verify."""

from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema

from recollect.erasure.commands import StartErasure, VerifyErasure
from recollect.erasure.model import ErasureStatus
from recollect.erasure.service import EraseService
from recollect.http.call import Call, Handler, Reply
from recollect.http.examples import ERASURE_ID, INSTANT_EXAMPLE
from recollect.http.operation import Operation, memory_operation
from recollect.http.resource import JsonObject, Resource, ResourcePart, resource_schemas
from recollect.http.schemas import INSTANT


class ErasureCheckFields(ResourcePart):
    """What a search for traces of the erased person found in one store."""

    store: str = Field(description="The store that was searched.", examples=["memories"])
    probes: int = Field(description="How many searches were made.", examples=[3])
    found: int = Field(description="How many rows they found.", examples=[0])


# A report is stored, and signed, as JSON: its instants are texts already.
_Instant = Annotated[str, WithJsonSchema(INSTANT)]


class EraseReportResource(Resource):
    """The report of an erasure. It names nobody."""

    id: str = Field(description="The id of the erasure.", examples=[ERASURE_ID])
    status: ErasureStatus = Field(
        description="How far it is; `planned` in a dry run.", examples=["planned"]
    )
    dry_run: bool = Field(description="Whether it only tells what would go.", examples=[True])
    requested_by_role: Literal["person", "admin"] = Field(
        description="Whether the person or an admin asked.", examples=["person"]
    )
    started_at: _Instant = Field(description="When it was asked for.")
    finished_at: _Instant | None = Field(description="When it was done; null before.")
    counts: JsonObject = Field(
        description="How many rows are linked to them, by store.", examples=[{"memories": 2}]
    )
    joint: int = Field(
        description="How many of the deleted memories were also about other people.", examples=[0]
    )
    checks: list[ErasureCheckFields] = Field(
        description="What the search for traces found afterwards, by store.", examples=[[]]
    )
    not_covered: list[str] = Field(
        description="Places that the server can't search.", examples=[["copies_of_callers"]]
    )
    digest: Annotated[str, Field(description="SHA-256 of the rest in canonical JSON.")] = Field(
        examples=["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"]
    )
    signature: str | None = Field(
        description="HMAC-SHA-256 of the same, if the server has `erase.signing_key`."
    )


RESOURCES = resource_schemas(EraseReportResource)

_ERASURE_PATH = "/v1/erasures/{erasure_id}"

_ENDED = {"status": "done", "dry_run": False, "finished_at": INSTANT_EXAMPLE}
OPERATIONS: tuple[Operation, ...] = (
    memory_operation(
        "erase",
        "POST /v1/erasures",
        200,
        "Erase a person or a user everywhere. The user themself or an admin may ask. A dry run "
        "answers 200 with the report; else the answer is 202 with the report of an erasure that "
        "is `running`: what is linked to them is out of all reads, and a job removes it.",
        response="EraseReport",
        also={202: "EraseReport"},
        body=StartErasure,
        refusals=(404, 409),
    ),
    memory_operation(
        "getErasure",
        f"GET {_ERASURE_PATH}",
        200,
        "Get the report of an erasure. It names nobody.",
        response="EraseReport",
        answered=_ENDED,
        introduces=False,
    ),
    memory_operation(
        "verifyErasure",
        f"POST {_ERASURE_PATH}/verify",
        200,
        "Search everything once more for the given names, within 30 days.",
        response="EraseReport",
        body=VerifyErasure,
        answered=_ENDED,
        refusals=(409,),
        introduces=False,
        # Its recorded answer, kept under the erased id, would be a trace.
        only_reads=True,
    ),
)


async def erase(call: Call) -> str | Reply:
    """The report: 200 for a dry run, else 202."""
    command: StartErasure = call.body
    report = await call.services[EraseService].erase(
        call.required_requester, command, reserved_id=call.reserved_id
    )
    rendered = EraseReportResource.render(report)
    return rendered if command.dry_run else Reply(202, rendered.encode())


async def get_erasure(call: Call) -> str:
    return EraseReportResource.render(
        await call.services[EraseService].get(call.required_requester, call.path["erasure_id"])
    )


async def verify_erasure(call: Call) -> str:
    """The report with new checks, for the identifiers in the body."""
    return EraseReportResource.render(
        await call.services[EraseService].verify(
            call.required_requester, call.path["erasure_id"], call.body
        )
    )


HANDLERS: dict[str, Handler] = {
    "erase": erase,
    "getErasure": get_erasure,
    "verifyErasure": verify_erasure,
}

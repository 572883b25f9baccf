"""The declaration of an API operation: one row of the operations table, without its handler.

Routing, checks, OpenAPI and gRPC all read the same rows.
"""

from dataclasses import dataclass
from enum import StrEnum

from recollect.api.bodies import Body
from recollect.api.params import Param
from recollect.policy.actions import Action

PLAIN_TEXT = "text/plain"


class OperationFamily(StrEnum):
    """The API that an operation belongs to, and so the OpenAPI document that describes it."""

    CONVERSATIONS = "conversations"
    ADMIN = "admin"
    SYSTEM = "system"
    MEMORIES = "memories"


class Envelope(StrEnum):
    """How a list is wrapped: A always shows `nextCursor`, B only when another page exists, C has
    the same as A under the name `cursor`, D under the name `next_cursor`."""

    A = "A"
    B = "B"
    C = "C"
    D = "D"

    @property
    def next_cursor(self) -> str:
        """The name of the next page's cursor in a response."""
        return {Envelope.C: "cursor", Envelope.D: "next_cursor"}.get(self, "nextCursor")

    @property
    def cursor_names(self) -> tuple[str, ...]:
        """The names a request may use for its cursor; the first one is documented."""
        if self is Envelope.D:
            return ("after",)
        aliases = ("after", "afterCursor")
        return ("cursor", *aliases) if self is Envelope.C else aliases


@dataclass(frozen=True, slots=True)
class Paging:
    """How a list is paged: its envelope and default page size. A `search` takes cursor and limit in
    the body, and its page names the stages that failed."""

    envelope: Envelope
    limit: int | None = None
    search: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """One API operation.

    `action`: what the caller must be allowed to do, checked before any syntax. `audit`: the name
    under which an admin call is logged. `media`: the response's media type. `takes`: the body's,
    where it is no JSON object and the handler reads it. `streams`: a caller that accepts
    server-sent events gets them. `only_reads`: a repeated POST is answered again, not from the
    recorded answer. `introduces`: an unknown requester is stored by the call.
    """

    name: str
    family: OperationFamily
    method: str
    path: str
    description: str
    success: int
    response: str | None = None
    action: Action | None = None
    audit: str | None = None
    open: bool = False
    body: type[Body] | None = None
    query: tuple[Param, ...] = ()
    paging: Paging | None = None
    media: str = "application/json"
    takes: str = "application/json"
    refusals: tuple[int, ...] = ()
    streams: bool = False
    introduces: bool = True
    only_reads: bool = False

    @property
    def is_strict(self) -> bool:
        """The memory API's rules: unknown fields and parameters are refused, bad input is 422."""
        return self.family is OperationFamily.MEMORIES

    @property
    def new_id_param(self) -> str | None:
        """The path parameter that is the id of something new: the last one of a PUT."""
        last = self.path.rpartition("/")[2]
        return last.strip("{}") if self.method == "PUT" and last.startswith("{") else None

    @property
    def takes_justification(self) -> bool:
        """Does the call take a justification?"""
        return self.family is OperationFamily.ADMIN or self.audit is not None

    @property
    def error_statuses(self) -> list[int]:
        """Every error status the operation may return: its own, and those of the common checks."""
        statuses = {500, *self.refusals}
        statuses |= set() if self.open else {401, 403, 503}
        statuses |= {400, 422} if self.is_strict else set()
        statuses |= (
            {400} if self.query or self.paging or self.body or self.takes_justification else set()
        )
        statuses |= {413, 415} if self.body else set()
        statuses |= {404} if "{" in self.path else set()
        return sorted(statuses)

    @property
    def summary(self) -> str:
        """The first sentence of the description."""
        return self.description.split(". ", maxsplit=1)[0].rstrip(".")

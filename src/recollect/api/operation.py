"""What a row of an operations table says, and nothing of what answers it."""

from dataclasses import dataclass
from enum import StrEnum

from recollect.api.bodies import Body
from recollect.api.params import Param
from recollect.policy.actions import Action

PLAIN_TEXT = "text/plain"


class Family(StrEnum):
    """Which document an operation is described in, and who it is for."""

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
        """What the cursor of the next page is called in an answer."""
        return {Envelope.C: "cursor", Envelope.D: "next_cursor"}.get(self, "nextCursor")

    @property
    def cursor_names(self) -> tuple[str, ...]:
        """What a request may call its cursor; the first is the proper name."""
        if self is Envelope.D:
            return ("after",)
        aliases = ("after", "afterCursor")
        return ("cursor", *aliases) if self is Envelope.C else aliases


@dataclass(frozen=True, slots=True)
class Paging:
    """A list: its envelope, and how many items a page has when nobody says. Of a `search` cursor
    and limit are members of the body, and the page tells which stages failed."""

    envelope: Envelope
    limit: int | None = None
    search: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """One row. `action` is what the caller always needs, before any syntax is looked at;
    `audit` is the name under which an admin call is recorded; `media` is the answer's type, `takes`
    the body's where it is no JSON object and the handler reads it; who asks one that `streams` for
    server-sent events gets them. A POST that `only_reads` is answered anew when it comes again."""

    name: str
    family: Family
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
    def strict(self) -> bool:
        """The memory family's rules: unknown members and parameters are refused, and what is wrong
        with a request is 422."""
        return self.family is Family.MEMORIES

    @property
    def new_id(self) -> str | None:
        """The path's parameter by which a caller may name something new."""
        last = self.path.rpartition("/")[2]
        return last.strip("{}") if self.method == "PUT" and last.startswith("{") else None

    @property
    def justified(self) -> bool:
        """Does the call take a justification?"""
        return self.family is Family.ADMIN or self.audit is not None

    @property
    def error_statuses(self) -> list[int]:
        """Every error status there can be: the row's own, and those of its parts."""
        statuses = {500, *self.refusals}
        statuses |= set() if self.open else {401, 403, 503}
        statuses |= {400, 422} if self.strict else set()
        statuses |= {400} if self.query or self.paging or self.body or self.justified else set()
        statuses |= {413, 415} if self.body else set()
        statuses |= {404} if "{" in self.path else set()
        return sorted(statuses)

    @property
    def summary(self) -> str:
        """The first sentence of the description."""
        return self.description.split(". ", maxsplit=1)[0].rstrip(".")

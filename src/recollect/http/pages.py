"""Pages of lists: which page a request asks for, and how a page is rendered."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from recollect.http.operation import Envelope, Paging
from recollect.http.params import Param, limit_param
from recollect.http.validation import Parameters, read_parameters
from recollect.kernel.errors import ValidationFailed
from recollect.kernel.strict_json import dump

_LIMITS: dict[int | None, Param] = {n: limit_param(n) for n in (None, 20, 50, 100)}


class PagedBody(Protocol):
    """A request body that asks for a page: the cursor under either name, and the limit."""

    after: str | None
    after_cursor: str | None
    limit: int


@dataclass(frozen=True, slots=True)
class RequestedPage:
    """Which page of a list a request asks for. With `echo` the caller uses the name `afterCursor`,
    so the response repeats the next cursor under that name. `limit_sent`: the limit is not the
    default of the list."""

    after: str | None
    limit: int | None
    echo: bool
    limit_sent: bool = False

    @property
    def size(self) -> int:
        """The limit, for a list that always has one. TypeError if its operation has no default."""
        if self.limit is None:
            raise TypeError("the operation's table row gives no default limit")
        return self.limit


def parse_page(parameters: Parameters, paging: Paging, *, echo: bool) -> RequestedPage:
    """The page that the query parameters ask for.

    All names of the cursor are one parameter: two different values are refused.
    """
    echo = echo or "afterCursor" in parameters
    names = paging.envelope.cursor_names
    cursor = _single_cursor((c for name in names for c in parameters.get(name, ())), names[0])
    limit = read_parameters(parameters, (_LIMITS[paging.limit],))["limit"]
    return RequestedPage(cursor, limit, echo, limit_sent="limit" in parameters)


def parse_search_page(body: PagedBody, *, echo: bool) -> RequestedPage:
    """The page that the body of a search asks for, by the same rules."""
    given = [cursor for cursor in (body.after, body.after_cursor) if cursor is not None]
    echo = echo or body.after_cursor is not None
    return RequestedPage(_single_cursor(given, "after"), body.limit, echo)


def render_list(
    items: Iterable[str],
    next_cursor: str | None,
    *,
    envelope: Envelope,
    echo: bool,
    degraded: Sequence[str] = (),
) -> bytes:
    """The JSON of a page from rendered items. `echo` repeats the cursor as `afterCursor`."""
    text = f'{{"data":[{",".join(items)}]'
    if envelope is not Envelope.B or next_cursor is not None:
        cursor = dump(next_cursor)
        text += f',"{envelope.next_cursor}":{cursor}'
        text += f',"afterCursor":{cursor}' if echo else ""
    text += f',"degraded":{dump(list(degraded))}' if degraded else ""
    return (text + "}").encode()


def _single_cursor(given: Iterable[str], field: str) -> str | None:
    cursors = {*given}
    if len(cursors) > 1:
        raise ValidationFailed.for_field(field, "must not be given twice with different values")
    return "".join(cursors) or None
